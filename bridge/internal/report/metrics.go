package report

import "k8s.io/component-base/metrics"

// Metrics of the pods of our schedulers.
type Metrics struct {
	attempts *metrics.CounterVec
	latency  *metrics.HistogramVec
	pending  *metrics.GaugeVec
}

// NewMetrics registers the metrics of a reporter.
func NewMetrics(registry metrics.KubeRegistry) *Metrics {
	const subsystem = "scheduler"
	m := &Metrics{
		attempts: metrics.NewCounterVec(&metrics.CounterOpts{
			Subsystem: subsystem, Name: "schedule_attempts_total",
			Help:           "Attempts to schedule pods, by result: scheduled, unschedulable, or error where a bind failed.",
			StabilityLevel: metrics.ALPHA}, []string{"result", "profile"}),
		latency: metrics.NewHistogramVec(&metrics.HistogramOpts{
			Subsystem: subsystem, Name: "pod_scheduling_sli_duration_seconds",
			Help:    "From when a pod could first be scheduled to its binding.",
			Buckets: metrics.ExponentialBuckets(0.01, 2, 20), StabilityLevel: metrics.ALPHA}, []string{"attempts"}),
		pending: metrics.NewGaugeVec(&metrics.GaugeOpts{
			Subsystem: subsystem, Name: "pending_pods",
			Help:           "Pods that wait: active, or unschedulable for a reason that was told.",
			StabilityLevel: metrics.ALPHA}, []string{"queue"}),
	}
	registry.MustRegister(m.attempts, m.latency, m.pending)
	return m
}
