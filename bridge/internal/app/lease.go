package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/ptr"

	sluicev1 "github.com/sluice-scheduler/sluice/bridge/internal/api/sluice/v1"
	"github.com/sluice-scheduler/sluice/bridge/internal/bind"
	"github.com/sluice-scheduler/sluice/bridge/internal/feed"
)

// leadership tells a leader what it may do.
type leadership interface {
	// BindDeadline is when a bind that begins now must have been sent.
	BindDeadline() time.Time
	// Term asks under which term this replica leads. An error means that it does
	// not, or cannot know.
	Term(context.Context) (*sluicev1.FeedTerm, error)
}

// sole leads because there are no other replicas.
type sole struct{}

func (sole) BindDeadline() time.Time                              { return time.Now().Add(bind.Timeout) }
func (sole) Term(ctx context.Context) (*sluicev1.FeedTerm, error) { return feed.NoTerm(ctx) }

// lease is the lock by which replicas elect a leader. It fences the leader: a
// process may be frozen for longer than its lease lasts, and cannot tell when
// it goes on. The elector notices only when it has failed to renew the lease
// for --leader-elect-renew-deadline from then on.
//
// Durations are measured by the monotonic clock.
type lease struct {
	resourcelock.Interface
	leases        coordinationv1.LeaseInterface
	name          string
	duration      time.Duration
	renewDeadline time.Duration
	hasBound      func() bool // whether a leader has ever bound a pod
	onLost        func()

	mu       sync.Mutex
	leads    bool
	hasEnded bool // the term; the lease may be given back
	// When the bridge asked for the last renewal that the API server granted.
	renewedAt time.Time
	// From then on former leaders do nothing any more.
	settledAt time.Time
	// Whether somebody deleted the lease of the former leader.
	wasDeleted bool
}

// Get implements resourcelock.Interface.
func (l *lease) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if err == nil && record.HolderIdentity != l.Identity() {
		l.lose()
	}
	return record, raw, err
}

// Create implements resourcelock.Interface.
func (l *lease) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	askedAt := time.Now()
	if err := l.Interface.Create(ctx, record); err != nil {
		return err
	}
	l.renewed(askedAt, true)
	return nil
}

// Update implements resourcelock.Interface.
func (l *lease) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	isRelease := record.HolderIdentity != l.Identity()
	if isRelease && !l.mayRelease() {
		return errors.New("it runs out by itself: another holds it, or this replica may still act")
	}
	askedAt := time.Now()
	if err := l.Interface.Update(ctx, record); err != nil {
		return err
	}
	if !isRelease {
		l.renewed(askedAt, false)
	}
	return nil
}

// endTerm says that this replica does nothing more as the leader.
func (l *lease) endTerm() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hasEnded = true
}

// mayRelease tells whether the elector may give the lease back. The elector
// tries to do so after it failed to renew the lease, even if the term still
// goes on. It trusts its last look at the lease, which another may hold by now.
func (l *lease) mayRelease() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.leads && l.hasEnded
}

func (l *lease) renewed(askedAt time.Time, isNew bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.renewedAt = askedAt
	if l.leads {
		return
	}
	l.leads = true
	l.settledAt = time.Now().Add(l.settleTime(isNew))
	l.wasDeleted = isNew && l.hasBound()
}

// settleTime is how long former leaders may still act once this one leads. Even
// after one that has given the lease back, this replica may know less than that
// one did: it may have been frozen itself.
func (l *lease) settleTime(isNew bool) time.Duration {
	switch {
	case isNew && !l.hasBound():
		// There was no leader.
		return 0
	case isNew:
		// Somebody has deleted the lease of a leader.
		return min(l.duration+bind.Timeout, time.Hour)
	}
	return bind.Timeout
}

// isHeld tells whether this replica leads, as far as it knows.
func (l *lease) isHeld() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.leads
}

// caughtUp says that this replica knows all that former leaders had done at a
// time after it got the lease. Their requests had a deadline before the end of
// their lease, by the difference of its duration and
// --leader-elect-renew-deadline. A lease that somebody deleted had no such end.
func (l *lease) caughtUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.wasDeleted {
		l.settledAt = time.Now()
	}
}

// lose ends the leadership, if this replica leads.
func (l *lease) lose() {
	l.mu.Lock()
	led := l.leads
	l.leads = false
	l.mu.Unlock()
	if led {
		l.onLost()
	}
}

// BindDeadline implements leadership. It is --leader-elect-renew-deadline after
// the last renewal, which is before the end of the lease: a bind that is sent
// just before it still arrives within the lease.
func (l *lease) BindDeadline() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	deadline := time.Now().Add(bind.Timeout)
	if fence := l.renewedAt.Add(l.renewDeadline); fence.Before(deadline) {
		return fence
	}
	return deadline
}

// Term implements leadership.
func (l *lease) Term(ctx context.Context) (*sluicev1.FeedTerm, error) {
	ctx, cancel := context.WithTimeout(ctx, l.renewDeadline)
	defer cancel()
	object, err := l.leases.Get(ctx, l.name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("look at lease %s: %w", l.Describe(), err)
	}
	if holder := ptr.Deref(object.Spec.HolderIdentity, ""); holder != l.Identity() {
		l.lose()
		return nil, fmt.Errorf("lease %s: %q holds it now", l.Describe(), holder)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return &sluicev1.FeedTerm{
		Lease:    string(object.UID),
		Number:   int64(ptr.Deref(object.Spec.LeaseTransitions, 0)),
		Holder:   l.Identity(),
		SettleMs: max(0, time.Until(l.settledAt).Milliseconds()),
	}, nil
}
