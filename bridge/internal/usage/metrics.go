package usage

import "k8s.io/component-base/metrics"

// Metrics of a poller.
type Metrics struct {
	polls *metrics.CounterVec
}

// NewMetrics registers the metrics of a poller.
func NewMetrics(registry metrics.KubeRegistry) *Metrics {
	m := &Metrics{polls: metrics.NewCounterVec(&metrics.CounterOpts{
		Namespace: "sluice_bridge", Subsystem: "usage", Name: "polls_total",
		Help: "Requests for what nodes and pods use, by result.", StabilityLevel: metrics.ALPHA}, []string{"result"})}
	registry.MustRegister(m.polls)
	return m
}
