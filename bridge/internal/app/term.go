package app

import (
	"context"
	"sync"

	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"

	sluicev1 "github.com/sluice-scheduler/sluice/bridge/internal/api/sluice/v1"
	"github.com/sluice-scheduler/sluice/bridge/internal/bind"
	"github.com/sluice-scheduler/sluice/bridge/internal/feed"
	"github.com/sluice-scheduler/sluice/bridge/internal/mirror"
	"github.com/sluice-scheduler/sluice/bridge/internal/report"
	"github.com/sluice-scheduler/sluice/bridge/internal/usage"
)

// tenure is what one leader does. Its parts know each other by small interfaces
// and share no state but the mirror.
type tenure struct {
	*bind.Binder
	evictor   *bind.Evictor
	nominator *bind.Nominator
	reporter  *report.Reporter
	feed      *feed.Client
}

// newTenure makes all parts but the feed. The caller calls shutdown in the end.
func (b *Bridge) newTenure(ctx context.Context, leading leadership) (t *tenure, shutdown func()) {
	broadcaster := events.NewBroadcaster(report.Sink{EventSink: &events.EventSinkImpl{Interface: b.recording.EventsV1()}})
	if err := broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		// Pods are scheduled without events, too.
		klog.FromContext(ctx).Error(err, "No events will be recorded")
	}
	t = &tenure{}
	t.reporter = report.New(b.client, b.mirror, sluicev1.NewInspectorClient(b.daemon),
		broadcaster.NewRecorder(scheme.Scheme, b.options.Schedulers[0]), b.reports)
	t.Binder = bind.NewBinder(b.binding, b.mirror, t.reporter, leading.BindDeadline, b.binds)
	t.evictor = bind.NewEvictor(b.client, b.mirror, t.reporter, leading.BindDeadline)
	t.nominator = bind.NewNominator(b.client, b.mirror, t.Assumed, leading.BindDeadline)
	return t, broadcaster.Shutdown
}

// serveTerm leads until ctx ends.
func (b *Bridge) serveTerm(ctx context.Context, leading leadership) {
	logger := klog.FromContext(ctx)
	if ctx.Err() != nil {
		return
	}
	logger.Info("Leading")
	t, shutdown := b.newTenure(ctx, leading)
	defer shutdown()
	source := mirror.Source{Mirror: b.mirror, Assumptions: t.Binder}
	t.feed = feed.NewClient(b.options.Feed, b.daemon, source, t, leading.Term, b.feeds)

	// The informers tell of everything there is, once, and of changes from here on.
	stop, err := b.mirror.Notify(logger, t)
	if err != nil {
		logger.Error(err, "The informers have stopped; not leading")
		return
	}
	defer stop()
	b.telling.Store(t.feed)
	defer b.telling.Store(nil)

	var running sync.WaitGroup
	running.Go(func() { t.feed.Run(ctx) })
	b.work(ctx, t)
	running.Wait()
	logger.Info("Stopped leading")
}

// work does what a leader does, but for its feed, until ctx ends.
func (b *Bridge) work(ctx context.Context, t *tenure) {
	var running sync.WaitGroup
	running.Go(func() { t.Binder.Run(ctx, b.options.BindWorkers, t.feed) })
	running.Go(func() { t.evictor.Run(ctx, evictWorkers) })
	running.Go(func() { t.nominator.Run(ctx, nominateWorkers) })
	running.Go(func() { t.reporter.Run(ctx, reportWorkers) })
	if b.options.UsageInterval > 0 {
		poller := usage.Poller{Client: b.measured, Cluster: b.mirror, Sink: t.feed.Measured,
			Interval: b.options.UsageInterval, Metrics: b.usages}
		running.Go(func() { poller.Run(ctx) })
	}
	running.Wait()
}

const (
	evictWorkers    = 4
	nominateWorkers = 4
	reportWorkers   = 4
)

// Misunderstood implements feed.Handler.
func (t *tenure) Misunderstood(key string, problem feed.Problem) {
	t.reporter.Misunderstood(key, problem)
}

// MachineMisunderstood implements feed.Handler.
func (t *tenure) MachineMisunderstood(name string, problem feed.Problem) {
	t.reporter.MachineMisunderstood(name, problem)
}

// NodeChanged implements mirror.Listener.
func (t *tenure) NodeChanged(name string) {
	t.feed.MachineChanged(name)
	t.reporter.NodeChanged(name)
}

// PodChanged implements mirror.Listener.
func (t *tenure) PodChanged(key string) {
	t.feed.TaskChanged(key)
	t.nominator.PodChanged(key)
	t.reporter.PodChanged(key)
}

// PodSettled implements mirror.Listener.
func (t *tenure) PodSettled(uid string) {
	t.Binder.PodSettled(uid)
	t.nominator.PodSettled(uid)
	t.reporter.PodSettled(uid)
}

// BudgetChanged implements mirror.Listener.
func (t *tenure) BudgetChanged(id string) { t.feed.BudgetChanged(id) }

// Place implements feed.Handler.
func (t *tenure) Place(delta feed.Delta) {
	t.Binder.Place(delta)
	t.nominator.Placed(delta)
}

// Nominate implements feed.Handler.
func (t *tenure) Nominate(delta feed.Delta) { t.nominator.Nominate(delta) }

// Restated implements feed.Handler.
func (t *tenure) Restated() { t.nominator.Restated() }

// Evict implements feed.Handler.
func (t *tenure) Evict(delta feed.Delta) { t.evictor.Evict(delta) }
