package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/klog/v2"

	sluicev1 "github.com/sluice-scheduler/sluice/bridge/internal/api/sluice/v1"
	"github.com/sluice-scheduler/sluice/bridge/internal/feed"
	"github.com/sluice-scheduler/sluice/bridge/internal/mirror"
)

const (
	// The condition of its own pod that a standby writes when it takes over.
	tookOver corev1.PodConditionType = "sluice/TookOver"
	// How long that condition may take to come back. Without it the term begins
	// all the same, and lets the daemon wait.
	catchUpLimit = 5 * time.Second
	// How long a leader's daemon may be away or learn everything anew. Then the
	// leader gives the lease back.
	daemonPatience = 5 * time.Second
	livePoll       = 50 * time.Millisecond
)

// standby states everything to this replica's own daemon while another leads.
// After this replica has taken over, its leader does all else.
type standby struct {
	feed   *feed.Client
	leader atomic.Pointer[leader] // nil: another leads

	// The key of this replica's pod. Its changes show how far the mirror has
	// told.
	own  string
	mu   sync.Mutex
	seen string // its resource version
	news chan struct{}
	// What the daemon did not understand, for the reporter of a later leader.
	badTasks, badMachines map[string]feed.Problem
}

var (
	_ feed.Handler       = (*standby)(nil)
	_ mirror.Listener    = (*standby)(nil)
	_ mirror.Follower    = (*standby)(nil)
	_ mirror.Assumptions = (*standby)(nil)
)

// standBy begins to state everything, and returns what ends that.
func (b *Bridge) standBy(ctx context.Context, lock *lease) (s *standby, end func(), err error) {
	s = &standby{own: b.options.LeaderElection.ResourceNamespace + "/" + b.options.PodName, news: make(chan struct{}, 1),
		badTasks: make(map[string]feed.Problem), badMachines: make(map[string]feed.Problem)}
	term := func(ctx context.Context) (*sluicev1.FeedTerm, error) {
		if !lock.isHeld() {
			return nil, feed.ErrStandby
		}
		return lock.Term(ctx)
	}
	s.feed = feed.NewClient(b.options.Feed, b.daemon, mirror.Source{Mirror: b.mirror, Assumptions: s}, s, term, b.feeds)
	stop, err := b.mirror.Notify(klog.FromContext(ctx), s)
	if err != nil {
		return nil, nil, err
	}
	b.telling.Store(s.feed)
	var running sync.WaitGroup
	running.Go(func() { s.feed.Run(ctx) })
	return s, func() {
		running.Wait()
		b.telling.Store(nil)
		stop()
	}, nil
}

// takeOver leads until ctx ends. Its daemon decides at once if it certainly
// knows all that the former leader did.
func (b *Bridge) takeOver(ctx context.Context, s *standby, lock *lease) {
	logger := klog.FromContext(ctx)
	if ctx.Err() != nil {
		return
	}
	beganAt := time.Now()
	logger.Info("Taking over")
	l, shutdown := b.newLeader(ctx, lock)
	defer shutdown()
	l.feed = s.feed
	s.begin(l)
	defer s.leader.Store(nil)
	b.mirror.Tell(l)
	if err := b.catchUp(ctx, s, lock); err != nil {
		logger.Error(err, "The former leader may have bound pods that are not shown here; waiting until it can bind no more")
	} else {
		lock.caughtUp()
	}
	term, err := lock.Term(ctx)
	if err != nil {
		logger.Error(err, "Cannot read the lease; giving up the take-over")
		return
	}
	s.feed.Lead(term)
	logger.Info("Leading", "after", time.Since(beganAt), "settles", time.Duration(term.SettleMs)*time.Millisecond)
	var running sync.WaitGroup
	running.Go(func() {
		if s.awaitDeath(ctx) {
			logger.Info("The daemon does not answer; giving back the lease", "after", daemonPatience)
			lock.onLost()
		}
	})
	b.work(ctx, l)
	running.Wait()
	logger.Info("Stopped leading")
}

// begin hands everything over to a leader.
func (s *standby) begin(l *leader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leader.Store(l)
	for key, problem := range s.badTasks {
		l.TaskProblem(key, problem)
	}
	for name, problem := range s.badMachines {
		l.MachineProblem(name, problem)
	}
	clear(s.badTasks)
	clear(s.badMachines)
}

// awaitLife waits until the daemon knows everything. It returns false if ctx
// ends before.
func (s *standby) awaitLife(ctx context.Context) bool {
	for !s.feed.IsLive() {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(livePoll):
		}
	}
	return true
}

// awaitDeath waits until the daemon has been away for daemonPatience. It
// returns false if ctx ends before.
func (s *standby) awaitDeath(ctx context.Context) bool {
	aliveAt := time.Now()
	for time.Since(aliveAt) < daemonPatience {
		if s.feed.IsLive() {
			aliveAt = time.Now()
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(livePoll):
		}
	}
	return true
}

// catchUp waits until the feed was told of all pods that are bound by now. It
// changes this replica's own pod and waits for that change. A watch keeps the
// order of changes, so all earlier ones have arrived by then.
func (b *Bridge) catchUp(ctx context.Context, s *standby, lock *lease) error {
	if b.options.PodName == "" {
		return errors.New("--pod-name is not given")
	}
	ctx, cancel := context.WithTimeout(ctx, catchUpLimit)
	defer cancel()
	now := metav1.NewTime(time.Now())
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": []corev1.PodCondition{{
		Type: tookOver, Status: corev1.ConditionTrue, LastTransitionTime: now, Reason: "Leads",
		// The time makes each message a change.
		Message: fmt.Sprintf("as %s at %s", lock.Identity(), now.Format(time.RFC3339Nano)),
	}}}})
	if err != nil {
		return fmt.Errorf("condition of pod %s: %w", s.own, err)
	}
	written, err := b.client.CoreV1().Pods(b.options.LeaderElection.ResourceNamespace).Patch(ctx, b.options.PodName,
		types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil {
		return fmt.Errorf("condition of pod %s: %w", s.own, err)
	}
	return s.awaitOwn(ctx, written.ResourceVersion)
}

// awaitOwn waits until the feed was told of this replica's pod at that resource
// version, or a later one.
func (s *standby) awaitOwn(ctx context.Context, version string) error {
	for {
		s.mu.Lock()
		seen := s.seen
		s.mu.Unlock()
		if seen != "" {
			order, err := resourceversion.CompareResourceVersion(seen, version)
			if err != nil {
				return fmt.Errorf("resource version of pod %s: %w", s.own, err)
			}
			if order >= 0 {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the change of pod %s at %s does not come: %w", s.own, version, ctx.Err())
		case <-s.news:
		}
	}
}

// PodSeen implements mirror.Follower.
func (s *standby) PodSeen(key, resourceVersion string) {
	if key != s.own {
		return
	}
	s.mu.Lock()
	s.seen = resourceVersion
	s.mu.Unlock()
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// Assumed implements mirror.Assumptions.
func (s *standby) Assumed(uid string) string {
	if l := s.leader.Load(); l != nil {
		return l.Assumed(uid)
	}
	return ""
}

// Rejected implements mirror.Assumptions.
func (s *standby) Rejected(uid string) []string {
	if l := s.leader.Load(); l != nil {
		return l.Rejected(uid)
	}
	return nil
}

// NodeChanged implements mirror.Listener.
func (s *standby) NodeChanged(name string) {
	if l := s.leader.Load(); l != nil {
		l.NodeChanged(name)
		return
	}
	s.forget(s.badMachines, name)
	s.feed.MachineChanged(name)
}

// PodChanged implements mirror.Listener.
func (s *standby) PodChanged(key string) {
	if l := s.leader.Load(); l != nil {
		l.PodChanged(key)
		return
	}
	s.forget(s.badTasks, key)
	s.feed.TaskChanged(key)
}

// PodSettled implements mirror.Listener.
func (s *standby) PodSettled(uid string) {
	if l := s.leader.Load(); l != nil {
		l.PodSettled(uid)
	}
}

// BudgetChanged implements mirror.Listener.
func (s *standby) BudgetChanged(id string) { s.feed.BudgetChanged(id) }

// Place implements feed.Handler. A daemon places nothing for a standby.
func (s *standby) Place(delta feed.Delta) {
	if l := s.leader.Load(); l != nil {
		l.Place(delta)
	}
}

// Evict implements feed.Handler.
func (s *standby) Evict(delta feed.Delta) {
	if l := s.leader.Load(); l != nil {
		l.Evict(delta)
	}
}

// Nominate implements feed.Handler.
func (s *standby) Nominate(delta feed.Delta) {
	if l := s.leader.Load(); l != nil {
		l.Nominate(delta)
	}
}

// Restated implements feed.Handler.
func (s *standby) Restated() {
	if l := s.leader.Load(); l != nil {
		l.Restated()
	}
}

// TaskProblem implements feed.Handler. Until this replica leads, another tells
// of it.
func (s *standby) TaskProblem(key string, problem feed.Problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.leader.Load(); l != nil {
		l.TaskProblem(key, problem)
		return
	}
	s.badTasks[key] = problem
}

// MachineProblem implements feed.Handler.
func (s *standby) MachineProblem(name string, problem feed.Problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.leader.Load(); l != nil {
		l.MachineProblem(name, problem)
		return
	}
	s.badMachines[name] = problem
}

// forget drops the problem of an object that is about to be stated anew.
func (s *standby) forget(problems map[string]feed.Problem, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(problems, name)
}
