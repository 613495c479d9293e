package work

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"k8s.io/client-go/util/workqueue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	pauseMin = time.Second
	pauseMax = time.Minute
)

func newQueue() workqueue.TypedRateLimitingInterface[string] {
	return workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[string](pauseMin, pauseMax))
}

func TestWhenAnItemComesBack(t *testing.T) {
	type answer struct {
		result Result
		err    error
	}
	again := answer{result: Result{Again: true}}
	failed := answer{err: errors.New("no answer")}
	later := answer{result: Result{After: 10 * time.Second}}
	for _, test := range []struct {
		name    string
		answers []answer // of which the last has it done
		want    []time.Duration
	}{
		{name: "never, where it is done", answers: []answer{{}}, want: []time.Duration{0}},
		{name: "after a pause that doubles, where it fails", answers: []answer{failed, failed, failed, {}},
			want: []time.Duration{0, 1 * time.Second, 3 * time.Second, 7 * time.Second}},
		{name: "as well, where that is asked for", answers: []answer{again, again, again, {}},
			want: []time.Duration{0, 1 * time.Second, 3 * time.Second, 7 * time.Second}},
		{name: "after the pause that is asked for", answers: []answer{later, later, {}},
			want: []time.Duration{0, 10 * time.Second, 20 * time.Second}},
		{name: "with a longer pause the next time, where it waits in between", answers: []answer{failed, later, failed, {}},
			want: []time.Duration{0, 1 * time.Second, 11 * time.Second, 13 * time.Second}},
		{name: "after the pause of the queue, where an error comes with another",
			answers: []answer{{result: later.result, err: failed.err}, {}}, want: []time.Duration{0, 1 * time.Second}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				queue := newQueue()
				ctx, cancel := context.WithCancel(t.Context())
				var running sync.WaitGroup
				defer running.Wait()
				defer cancel()
				var at []time.Duration
				beganAt := time.Now()
				running.Go(func() {
					Run(ctx, queue, 1, func(context.Context, string) (Result, error) {
						now := test.answers[len(at)]
						at = append(at, time.Since(beganAt))
						return now.result, now.err
					})
				})
				queue.Add("a")
				time.Sleep(time.Hour)
				synctest.Wait()
				if !slices.Equal(at, test.want) {
					t.Errorf("handled at %v, want %v", at, test.want)
				}
				if got := queue.NumRequeues("a"); got != 0 {
					t.Errorf("%d requeues are not forgotten", got)
				}
			})
		})
	}
}

func TestItemsAreHandledByAllWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := newQueue()
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		var atWork atomic.Int32
		release := make(chan struct{})
		running.Go(func() {
			Run(ctx, queue, 3, func(context.Context, string) (Result, error) {
				atWork.Add(1)
				<-release
				return Result{}, nil
			})
		})
		for _, item := range []string{"a", "b", "c", "d", "a"} {
			queue.Add(item)
		}
		synctest.Wait()
		if got := atWork.Load(); got != 3 {
			t.Errorf("%d are at work", got)
		}
		close(release)
		synctest.Wait()
		if got := atWork.Load(); got != 4 {
			t.Errorf("%d were handled, and each waits once", got)
		}
	})
}

func TestTheEndWaitsForThoseAtWorkAndDropsTheRest(t *testing.T) {
	for name, err := range map[string]error{"where they are done": nil, "where they fail": errors.New("broken off")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				queue := newQueue()
				ctx, cancel := context.WithCancel(t.Context())
				var handled, hasEnded atomic.Int32
				var running sync.WaitGroup
				running.Go(func() {
					Run(ctx, queue, 1, func(context.Context, string) (Result, error) {
						handled.Add(1)
						time.Sleep(time.Minute)
						return Result{}, err
					})
					hasEnded.Store(1)
				})
				queue.Add("a")
				queue.Add("b")
				synctest.Wait()
				cancel()
				time.Sleep(time.Second)
				if hasEnded.Load() != 0 {
					t.Error("it has ended while one is at work")
				}
				running.Wait()
				if got := handled.Load(); got != 1 || queue.Len() != 0 {
					t.Errorf("%d were handled, %d wait", got, queue.Len())
				}
			})
		})
	}
}

func TestADrainEndsWithItsQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := workqueue.NewTyped[string]()
		var got []string
		var running sync.WaitGroup
		running.Go(func() { Drain(queue, func(item string) { got = append(got, item) }) })
		queue.Add("a")
		synctest.Wait()
		queue.Add("b")
		queue.ShutDown()
		running.Wait()
		if !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("handed on %v", got)
		}
	})
}
