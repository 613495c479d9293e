package feed

import "k8s.io/component-base/metrics"

// Metrics of one client.
type Metrics struct {
	disconnects *metrics.Counter
	snapshots   *metrics.Histogram
	events      *metrics.Counter
	deltas      *metrics.CounterVec
	problems    *metrics.CounterVec
}

// NewMetrics registers the metrics of a client.
func NewMetrics(registry metrics.KubeRegistry) *Metrics {
	const namespace, subsystem = "sluice_bridge", "feed"
	m := &Metrics{
		disconnects: metrics.NewCounter(&metrics.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "disconnects_total",
			Help: "How often the call to the daemon ended or could not begin.", StabilityLevel: metrics.ALPHA}),
		snapshots: metrics.NewHistogram(&metrics.HistogramOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "snapshot_duration_seconds",
			Help:    "How long it took to state everything.",
			Buckets: metrics.ExponentialBuckets(0.01, 2, 14), StabilityLevel: metrics.ALPHA}),
		events: metrics.NewCounter(&metrics.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "events_total",
			Help: "Events stated to the daemon.", StabilityLevel: metrics.ALPHA}),
		deltas: metrics.NewCounterVec(&metrics.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "deltas_total",
			Help: "Decisions of the daemon, by type.", StabilityLevel: metrics.ALPHA}, []string{"type"}),
		problems: metrics.NewCounterVec(&metrics.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "problems_total",
			Help: "What the daemon did not understand, by code.", StabilityLevel: metrics.ALPHA}, []string{"code"}),
	}
	registry.MustRegister(m.disconnects, m.snapshots, m.events, m.deltas, m.problems)
	return m
}
