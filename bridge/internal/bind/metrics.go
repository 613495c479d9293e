package bind

import "k8s.io/component-base/metrics"

// Metrics of a binder.
type Metrics struct {
	duration *metrics.HistogramVec
	assumed  *metrics.Gauge
}

// NewMetrics registers the metrics of a binder.
func NewMetrics(registry metrics.KubeRegistry) *Metrics {
	m := &Metrics{
		duration: metrics.NewHistogramVec(&metrics.HistogramOpts{
			Namespace: "sluice_bridge", Name: "bind_duration_seconds",
			Help:    "Calls that bind a pod, by outcome: bound, refused, doubtful or unknown.",
			Buckets: metrics.ExponentialBuckets(0.001, 2, 15), StabilityLevel: metrics.ALPHA}, []string{"outcome"}),
		assumed: metrics.NewGauge(&metrics.GaugeOpts{
			Namespace: "sluice_bridge", Name: "assumed_pods",
			Help:           "Pods that were placed and that the API server does not show bound yet.",
			StabilityLevel: metrics.ALPHA}),
	}
	registry.MustRegister(m.duration, m.assumed)
	return m
}
