// Package work runs the workers of client-go's queues.
package work

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// Result says when to look at an item again, if at all.
type Result struct {
	// After is a pause after which to look again, if it is not 0.
	After time.Duration
	// Again asks for the next pause of the queue's rate limiter, where After is 0.
	Again bool
}

// Run has so many workers handle the items of queue until ctx ends, and waits
// for those at work. It shuts the queue down; what is in it then is dropped.
//
// Where handle returns an error, the item comes back as with Result.Again.
func Run[T comparable](ctx context.Context, queue workqueue.TypedRateLimitingInterface[T], workers int,
	handle func(context.Context, T) (Result, error)) {
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			Drain(queue, func(item T) {
				if ctx.Err() == nil {
					step(ctx, queue, item, handle)
				}
			})
		})
	}
	<-ctx.Done()
	queue.ShutDown()
	running.Wait()
}

// Drain hands on the items of queue, one at a time, until it is shut down.
func Drain[T comparable](queue workqueue.TypedInterface[T], handle func(T)) {
	for {
		item, shutdown := queue.Get()
		if shutdown {
			return
		}
		func() {
			defer queue.Done(item)
			handle(item)
		}()
	}
}

func step[T comparable](ctx context.Context, queue workqueue.TypedRateLimitingInterface[T], item T,
	handle func(context.Context, T) (Result, error)) {
	result, err := handle(ctx, item)
	switch {
	case ctx.Err() != nil:
		// An error may come from that.
	case err != nil:
		klog.FromContext(ctx).V(2).Info("An attempt failed; trying again", "item", fmt.Sprint(item), "err", err)
		queue.AddRateLimited(item)
	case result.After > 0:
		queue.AddAfter(item, result.After)
	case result.Again:
		queue.AddRateLimited(item)
	default:
		queue.Forget(item)
	}
}
