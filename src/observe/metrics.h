// What the daemon counts and measures, for Prometheus.
//
// Each row of observe/metrics.def makes one member, which is used in place:
// `metrics.rounds.Increment()`,
// `metrics.events.With("task_submitted").Increment()`.
//
// Threads: any.

#ifndef SLUICE_OBSERVE_METRICS_H_
#define SLUICE_OBSERVE_METRICS_H_

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <string>
#include <string_view>

namespace sluice {

// A metric with one label: a counter or a gauge for each of its values.
template <class Metric>
class Labeled {
 public:
  // `family` must outlive the result.
  Labeled(prometheus::Family<Metric>& family, std::string_view label)
      : family_(family), label_(label) {}

  // The metric for `value`, made at its first use; valid as long as Metrics.
  // Each value stays for ever, so it must come from a fixed set in our code and
  // never from input.
  Metric& With(std::string_view value) const {
    return family_.Add({{label_, std::string(value)}});
  }

 private:
  prometheus::Family<Metric>& family_;
  const std::string label_;
};

class Metrics {
 public:
  using Counter = prometheus::Counter;
  using Gauge = prometheus::Gauge;
  using Histogram = prometheus::Histogram;

  Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // All metrics in the text format of Prometheus.
  std::string Text() const;

 private:
  // Declared first: the members below refer to it.
  prometheus::Registry registry_;

 public:
#define METRIC_COUNTER(member, name, unit, help) Counter& member;
#define METRIC_GAUGE(member, name, unit, help) Gauge& member;
#define METRIC_HISTOGRAM(member, name, unit, help) Histogram& member;
#define METRIC_COUNTER_BY(member, name, label, unit, help) \
  const Labeled<Counter> member;
#define METRIC_GAUGE_BY(member, name, label, unit, help) \
  const Labeled<Gauge> member;
#include "observe/metrics.def"
#undef METRIC_COUNTER
#undef METRIC_GAUGE
#undef METRIC_HISTOGRAM
#undef METRIC_COUNTER_BY
#undef METRIC_GAUGE_BY
};

}  // namespace sluice

#endif  // SLUICE_OBSERVE_METRICS_H_
