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

// leader does what a replica does while it leads, for one term. Its parts know
// each other by small interfaces and share no state but the mirror.
type leader struct {
	*bind.Binder
	evictor   *bind.Evictor
	nominator *bind.Nominator
	reporter  *report.Reporter
	feed      *feed.Client
}

// newLeader makes all parts but the feed. The caller calls shutdown in the end.
func (b *Bridge) newLeader(ctx context.Context, leading leadership) (l *leader, shutdown func()) {
	broadcaster := events.NewBroadcaster(report.Sink{EventSink: &events.EventSinkImpl{Interface: b.recording.EventsV1()}})
	if err := broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		// Pods are scheduled without events, too.
		klog.FromContext(ctx).Error(err, "No events will be recorded")
	}
	l = &leader{}
	l.reporter = report.New(b.client, b.mirror, sluicev1.NewInspectorClient(b.daemon),
		broadcaster.NewRecorder(scheme.Scheme, b.options.Schedulers[0]), b.reports)
	l.Binder = bind.NewBinder(b.binding, b.mirror, l.reporter, leading.BindDeadline, b.binds)
	l.evictor = bind.NewEvictor(b.client, b.mirror, l.reporter, leading.BindDeadline)
	l.nominator = bind.NewNominator(b.client, b.mirror, l.Assumed, leading.BindDeadline)
	return l, broadcaster.Shutdown
}

// serveTerm leads until ctx ends.
func (b *Bridge) serveTerm(ctx context.Context, leading leadership) {
	logger := klog.FromContext(ctx)
	if ctx.Err() != nil {
		return
	}
	logger.Info("Leading")
	l, shutdown := b.newLeader(ctx, leading)
	defer shutdown()
	source := mirror.Source{Mirror: b.mirror, Assumptions: l.Binder}
	l.feed = feed.NewClient(b.options.Feed, b.daemon, source, l, leading.Term, b.feeds)

	// The informers tell of everything there is, once, and of changes from here on.
	stop, err := b.mirror.Notify(logger, l)
	if err != nil {
		logger.Error(err, "The informers have stopped; not leading")
		return
	}
	defer stop()
	b.telling.Store(l.feed)
	defer b.telling.Store(nil)

	var running sync.WaitGroup
	running.Go(func() { l.feed.Run(ctx) })
	b.work(ctx, l)
	running.Wait()
	logger.Info("Stopped leading")
}

// work does what a leader does, but for its feed, until ctx ends.
func (b *Bridge) work(ctx context.Context, l *leader) {
	var running sync.WaitGroup
	running.Go(func() { l.Binder.Run(ctx, b.options.BindWorkers, l.feed) })
	running.Go(func() { l.evictor.Run(ctx, evictWorkers) })
	running.Go(func() { l.nominator.Run(ctx, nominateWorkers) })
	running.Go(func() { l.reporter.Run(ctx, reportWorkers) })
	if b.options.UsageInterval > 0 {
		poller := usage.Poller{Client: b.measured, Cluster: b.mirror, Sink: l.feed.Measured,
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

// TaskProblem implements feed.Handler.
func (l *leader) TaskProblem(key string, problem feed.Problem) {
	l.reporter.TaskProblem(key, problem)
}

// MachineProblem implements feed.Handler.
func (l *leader) MachineProblem(name string, problem feed.Problem) {
	l.reporter.MachineProblem(name, problem)
}

// NodeChanged implements mirror.Listener.
func (l *leader) NodeChanged(name string) {
	l.feed.MachineChanged(name)
	l.reporter.NodeChanged(name)
}

// PodChanged implements mirror.Listener.
func (l *leader) PodChanged(key string) {
	l.feed.TaskChanged(key)
	l.nominator.PodChanged(key)
	l.reporter.PodChanged(key)
}

// PodSettled implements mirror.Listener.
func (l *leader) PodSettled(uid string) {
	l.Binder.PodSettled(uid)
	l.nominator.PodSettled(uid)
	l.reporter.PodSettled(uid)
}

// BudgetChanged implements mirror.Listener.
func (l *leader) BudgetChanged(id string) { l.feed.BudgetChanged(id) }

// Place implements feed.Handler.
func (l *leader) Place(delta feed.Delta) {
	l.Binder.Place(delta)
	l.nominator.Placed(delta)
}

// Nominate implements feed.Handler.
func (l *leader) Nominate(delta feed.Delta) { l.nominator.Nominate(delta) }

// Restated implements feed.Handler.
func (l *leader) Restated() { l.nominator.Restated() }

// Evict implements feed.Handler.
func (l *leader) Evict(delta feed.Delta) { l.evictor.Evict(delta) }
