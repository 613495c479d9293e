#include "observe/metrics.h"

#include <prometheus/text_serializer.h>

namespace sluice {
namespace {

prometheus::Family<prometheus::Counter>& AddCounter(
    prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

prometheus::Family<prometheus::Gauge>& AddGauge(prometheus::Registry& registry,
                                                const char* name,
                                                const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}

// The bounds go from the handling of one event (10 us) to a round over the
// largest cluster (100 s), three per decade.
prometheus::Histogram& AddHistogram(prometheus::Registry& registry,
                                    const char* name, const char* help) {
  return prometheus::BuildHistogram()
      .Name(name)
      .Help(help)
      .Register(registry)
      .Add({}, prometheus::Histogram::BucketBoundaries{
                   1e-5, 2.5e-5, 5e-5,   1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3,
                   5e-3, 1e-2,   2.5e-2, 5e-2, 0.1,    0.25, 0.5,  1,
                   2.5,  5,      10,     25,   50,     100});
}

}  // namespace

// The list of initializers starts with the registry, so that each row can
// begin with its comma.
Metrics::Metrics()
    : registry_()
#define METRIC_COUNTER(member, name, unit, help) \
  , member(AddCounter(registry_, name, help).Add({}))
#define METRIC_GAUGE(member, name, unit, help) \
  , member(AddGauge(registry_, name, help).Add({}))
#define METRIC_HISTOGRAM(member, name, unit, help) \
  , member(AddHistogram(registry_, name, help))
#define METRIC_COUNTER_BY(member, name, label, unit, help) \
  , member(AddCounter(registry_, name, help), label)
#define METRIC_GAUGE_BY(member, name, label, unit, help) \
  , member(AddGauge(registry_, name, help), label)
#include "observe/metrics.def"
#undef METRIC_COUNTER
#undef METRIC_GAUGE
#undef METRIC_HISTOGRAM
#undef METRIC_COUNTER_BY
#undef METRIC_GAUGE_BY
{
}

std::string Metrics::Text() const {
  return prometheus::TextSerializer().Serialize(registry_.Collect());
}

}  // namespace sluice
