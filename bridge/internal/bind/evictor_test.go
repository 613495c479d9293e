package bind

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/sluice-scheduler/sluice/bridge/internal/feed"
)

// evictions is an API server that answers them with errs, one after another, and
// with success from then on.
type evictions struct {
	t *testing.T

	mu   sync.Mutex
	errs []error
	at   []time.Time // when each was asked for
	uids []string    // of which pod each was
}

func (e *evictions) created(action clienttesting.Action) (bool, runtime.Object, error) {
	create, ok := action.(clienttesting.CreateAction)
	if !ok || action.GetSubresource() != "eviction" {
		// Nothing but the eviction API holds budgets.
		e.t.Errorf("unexpected %v", action)
		return true, nil, nil
	}
	eviction, ok := create.GetObject().(*policyv1.Eviction)
	if !ok || eviction.DeleteOptions == nil || eviction.DeleteOptions.Preconditions == nil {
		e.t.Errorf("no precondition in %v", create.GetObject())
		return true, nil, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.at = append(e.at, time.Now())
	e.uids = append(e.uids, string(*eviction.DeleteOptions.Preconditions.UID))
	if len(e.errs) == 0 {
		return true, nil, nil
	}
	err := e.errs[0]
	e.errs = e.errs[1:]
	return true, nil, err
}

func (o *outcomes) drainEvicted() []string {
	var got []string
	for len(o.evicted) > 0 {
		got = append(got, <-o.evicted)
	}
	return got
}

func TestEvictions(t *testing.T) {
	onN1 := feed.Delta{Key: "shop/web", ID: "uid-1", Machine: "n1"}
	toN2 := feed.Delta{Key: "shop/web", ID: "uid-1", Machine: "n2", Moves: true}
	budget := apierrors.NewTooManyRequestsError("would violate the budget")
	for _, test := range []struct {
		name   string
		change func(*corev1.Pod)
		isGone bool
		deltas []feed.Delta
		errs   []error
		asked  int // how often
		told   []string
	}{
		{name: "of a pod that runs", deltas: []feed.Delta{onN1}, asked: 1, told: []string{"n1"}},
		{name: "of a pod that moves", deltas: []feed.Delta{toN2}, asked: 1, told: []string{"to n2"}},
		{name: "that are asked for twice are done once", deltas: []feed.Delta{onN1, onN1}, asked: 1, told: []string{"n1"}},
		{name: "that a budget refuses are repeated", deltas: []feed.Delta{onN1}, errs: []error{budget, budget, budget},
			asked: 4, told: []string{"n1"}},
		{name: "that get no answer are repeated", deltas: []feed.Delta{onN1},
			errs:  []error{errors.New("connection reset by peer"), apierrors.NewInternalError(errors.New("webhook"))},
			asked: 3, told: []string{"n1"}},
		{name: "of a pod that the API server does not have", deltas: []feed.Delta{onN1},
			errs: []error{apierrors.NewNotFound(pods, "web")}, asked: 1},
		{name: "of a pod whose name another has", deltas: []feed.Delta{onN1},
			errs: []error{apierrors.NewConflict(pods, "web", errors.New("the UID in the precondition differs"))}, asked: 1},
		{name: "of a pod that is gone", isGone: true, deltas: []feed.Delta{onN1}},
		{name: "of a pod that is another by now", change: func(p *corev1.Pod) { p.UID = "uid-2" }, deltas: []feed.Delta{onN1}},
		{name: "of a pod that ends already", change: func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }, deltas: []feed.Delta{onN1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pod := webPod()
				pod.Spec.NodeName = "n1"
				if test.change != nil {
					test.change(pod)
				}
				c := &cluster{pods: map[string]*corev1.Pod{}}
				if !test.isGone {
					c.pods["shop/web"] = pod
				}
				server := &evictions{t: t, errs: test.errs}
				o := newOutcomes()
				stop := startEvictor(t, c, server, o, test.deltas...)
				defer stop()
				time.Sleep(time.Hour)
				synctest.Wait()
				if told := o.drainEvicted(); !slices.Equal(told, test.told) {
					t.Errorf("told of %q, want %q", told, test.told)
				}
				if len(server.uids) != test.asked {
					t.Errorf("asked %d times, want %d", len(server.uids), test.asked)
				}
				for _, uid := range server.uids {
					if uid != "uid-1" {
						t.Errorf("asked to evict %s", uid)
					}
				}
			})
		})
	}
}

// startEvictor runs one that is told deltas before.
func startEvictor(t *testing.T, c *cluster, server *evictions, o *outcomes, deltas ...feed.Delta) (stop func()) {
	client := fake.NewClientset()
	client.PrependReactor("*", "*", server.created)
	e := NewEvictor(client, c, o, soon)
	for _, delta := range deltas {
		e.Evict(delta)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { e.Run(ctx, 2) })
	return func() {
		cancel()
		running.Wait()
	}
}

// A budget may refuse for hours. A server is asked ever more seldom, and at least
// once in failureMax; a pod that is gone meanwhile ends it.
func TestABudgetThatRefusesForLongIsAskedSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pod := webPod()
		pod.Spec.NodeName = "n1"
		c := &cluster{pods: map[string]*corev1.Pod{"shop/web": pod}}
		server := &evictions{t: t}
		for range 1000 {
			server.errs = append(server.errs, apierrors.NewTooManyRequestsError("would violate the budget"))
		}
		o := newOutcomes()
		stop := startEvictor(t, c, server, o, placed)
		defer stop()
		time.Sleep(time.Hour)
		synctest.Wait()
		asked := len(server.at)
		for i := 1; i < asked; i++ {
			if pause := server.at[i].Sub(server.at[i-1]); pause < retryMin || pause > failureMax {
				t.Errorf("pause %d is %v", i, pause)
			}
		}
		if fewest := int(time.Hour / failureMax); asked < fewest || asked > fewest+20 {
			t.Errorf("asked %d times in an hour", asked)
		}
		c.mu.Lock()
		delete(c.pods, "shop/web")
		c.mu.Unlock()
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(server.at) > asked || len(o.evicted) > 0 {
			t.Errorf("asked %d times more, told of %q", len(server.at)-asked, o.drainEvicted())
		}
	})
}

func TestNothingIsEvictedAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pod := webPod()
		pod.Spec.NodeName = "n1"
		server := &evictions{t: t, errs: []error{apierrors.NewTooManyRequestsError("would violate the budget")}}
		o := newOutcomes()
		stop := startEvictor(t, &cluster{pods: map[string]*corev1.Pod{"shop/web": pod}}, server, o, placed)
		synctest.Wait()
		stop()
		time.Sleep(time.Hour)
		if len(server.at) != 1 || len(o.evicted) > 0 {
			t.Errorf("asked %d times, told of %q", len(server.at), o.drainEvicted())
		}
	})
}
