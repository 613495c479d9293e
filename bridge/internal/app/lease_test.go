package app

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/ptr"

	"github.com/sluice-scheduler/sluice/bridge/internal/bind"
)

const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
)

// replica is one of those that share a lease.
type replica struct {
	*lease
	client   *fake.Clientset
	hadBound bool
	losses   int
}

func newReplica(t *testing.T, client *fake.Clientset, name string) *replica {
	t.Helper()
	lock, err := resourcelock.New(resourcelock.LeasesResourceLock, "sluice", "sluice-bridge",
		client.CoreV1(), client.CoordinationV1(), resourcelock.ResourceLockConfig{Identity: name})
	if err != nil {
		t.Fatal(err)
	}
	r := &replica{client: client}
	r.lease = &lease{
		Interface: lock, leases: client.CoordinationV1().Leases("sluice"), name: "sluice-bridge",
		duration: leaseDuration, renewDeadline: renewDeadline,
		hasBound: func() bool { return r.hadBound }, onLost: func() { r.losses++ },
	}
	return r
}

// take makes the replica the holder, as the elector does.
func (r *replica) take(t *testing.T) {
	t.Helper()
	ctx := context.Background()
	mine := resourcelock.LeaderElectionRecord{HolderIdentity: r.Identity()}
	before, _, err := r.Get(ctx)
	if err != nil {
		err = r.Create(ctx, mine)
	} else {
		mine.LeaderTransitions = before.LeaderTransitions + 1
		err = r.Update(ctx, mine)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// release gives the lease back, as the elector does: it looks at it first.
func (r *replica) release() error {
	if _, _, err := r.Get(context.Background()); err != nil {
		return err
	}
	return r.Update(context.Background(), resourcelock.LeaderElectionRecord{})
}

func (r *replica) settle(t *testing.T) time.Duration {
	t.Helper()
	term, err := r.Term(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(term.SettleMs) * time.Millisecond
}

func (r *replica) holder(t *testing.T) string {
	t.Helper()
	object, err := r.leases.Get(context.Background(), r.name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return ptr.Deref(object.Spec.HolderIdentity, "")
}

func isAbout(got, want time.Duration) bool { return got <= want && got > want-5*time.Second }

func TestALeaderKnowsItsTerm(t *testing.T) {
	client := fake.NewClientset()
	first, second := newReplica(t, client, "first"), newReplica(t, client, "second")
	first.take(t)
	term, err := first.Term(t.Context())
	if err != nil || term.Number != 0 || term.Holder != "first" {
		t.Fatalf("%v, %v", term, err)
	}
	second.take(t)
	term, err = second.Term(t.Context())
	if err != nil || term.Number != 1 || term.Holder != "second" {
		t.Fatalf("%v, %v", term, err)
	}
}

func TestALeaderThatWasFrozenLearnsItByLooking(t *testing.T) {
	for name, look := range map[string]func(*replica) error{
		"for its term":           func(r *replica) error { _, err := r.Term(t.Context()); return err },
		"in order to renew":      func(r *replica) error { _, _, err := r.Get(t.Context()); return err },
		"in order to release it": func(r *replica) error { return r.release() },
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset()
			first, second := newReplica(t, client, "first"), newReplica(t, client, "second")
			first.take(t)
			second.take(t)
			_ = look(first)
			if first.losses != 1 {
				t.Errorf("was told %d times that the lease is lost", first.losses)
			}
			first.endTerm()
			if err := first.release(); err == nil || second.holder(t) != "second" {
				t.Errorf("released what %q holds (%v)", second.holder(t), err)
			}
			if second.losses != 0 {
				t.Error("the other was told, too")
			}
		})
	}
}

func TestALeaseIsNotGivenBackBeforeTheTermHasEnded(t *testing.T) {
	r := newReplica(t, fake.NewClientset(), "first")
	r.take(t)
	if err := r.release(); err == nil || r.holder(t) != "first" {
		t.Errorf("%q holds it (%v)", r.holder(t), err)
	}
	r.endTerm()
	if err := r.release(); err != nil || r.holder(t) != "" {
		t.Errorf("%q holds it (%v)", r.holder(t), err)
	}
}

func TestBindsEndBeforeTheLeaseDoes(t *testing.T) {
	r := newReplica(t, fake.NewClientset(), "first")
	r.take(t)
	if left := time.Until(r.BindDeadline()); !isAbout(left, bind.Timeout) {
		t.Errorf("%v are left after a renewal", left)
	}
	// It was frozen since.
	r.renewedAt = r.renewedAt.Add(-leaseDuration)
	if left := time.Until(r.BindDeadline()); left > 0 {
		t.Errorf("%v are left after the end of the lease", left)
	}
	r.take(t)
	if left := time.Until(r.BindDeadline()); !isAbout(left, bind.Timeout) {
		t.Errorf("%v are left after it was renewed again", left)
	}
}

func TestHowLongFormerLeadersMayAct(t *testing.T) {
	cases := map[string]struct {
		before func(t *testing.T, former, next *replica)
		want   time.Duration
	}{
		"there was none": {func(*testing.T, *replica, *replica) {}, 0},
		"it died":        {func(t *testing.T, former, _ *replica) { former.take(t) }, bind.Timeout},
		"it has given the lease back": {func(t *testing.T, former, _ *replica) {
			former.take(t)
			former.endTerm()
			if err := former.release(); err != nil {
				t.Fatal(err)
			}
		}, bind.Timeout},
		"its lease was deleted": {func(t *testing.T, former, next *replica) {
			former.take(t)
			_, _, _ = next.Get(t.Context())
			if err := next.leases.Delete(t.Context(), next.name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			next.hadBound = true
		}, leaseDuration + bind.Timeout},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset()
			former, next := newReplica(t, client, "former"), newReplica(t, client, "next")
			c.before(t, former, next)
			next.take(t)
			if got := next.settle(t); got != c.want && !isAbout(got, c.want) {
				t.Errorf("%v, want about %v", got, c.want)
			}
		})
	}
}

func TestAReplicaThatHasCaughtUpNeedNotWait(t *testing.T) {
	for name, isDeleted := range map[string]bool{"it died": false, "its lease was deleted": true} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset()
			former, next := newReplica(t, client, "former"), newReplica(t, client, "next")
			next.hadBound = true
			former.take(t)
			if isDeleted {
				if err := former.leases.Delete(t.Context(), former.name, metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if next.isHeld() {
				t.Error("it holds a lease that it never had")
			}
			next.take(t)
			if !next.isHeld() {
				t.Error("it does not hold the lease that it has taken")
			}
			next.caughtUp()
			// A former leader may do something even then, where it goes by a lease of its own.
			if got := next.settle(t); (got > 0) != isDeleted {
				t.Errorf("waits for %v", got)
			}
		})
	}
}
