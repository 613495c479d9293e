package report

import (
	"context"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/client-go/tools/events"
)

// Events are created once in so long: a request costs less beside others than
// when it wakes up everything for itself.
const sinkPause = 100 * time.Millisecond

// Sink creates events together that come soon after one another.
type Sink struct{ events.EventSink }

// Create implements events.EventSink. It may wait: the broadcaster calls it in a
// goroutine of the event's own.
func (s Sink) Create(ctx context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	now := time.Now()
	select {
	case <-ctx.Done():
	case <-time.After(now.Truncate(sinkPause).Add(sinkPause).Sub(now)):
	}
	return s.EventSink.Create(ctx, event)
}
