package report

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/client-go/tools/events"
)

// created notes when events arrive.
type created struct {
	events.EventSink
	mu sync.Mutex
	at []time.Time
}

func (c *created) Create(_ context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = append(c.at, time.Now())
	return event, nil
}

func TestEventsTravelTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := &created{}
		sink := Sink{EventSink: inner}
		var running sync.WaitGroup
		for range 3 {
			running.Go(func() { _, _ = sink.Create(t.Context(), &eventsv1.Event{}) })
			time.Sleep(sinkPause / 4)
		}
		running.Wait()
		for _, at := range inner.at {
			if !at.Equal(inner.at[0]) {
				t.Errorf("one after another: %v", inner.at)
			}
		}
	})
}
