package feed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"github.com/sluice-scheduler/sluice/bridge/internal/api/firmament"
	sluicev1 "github.com/sluice-scheduler/sluice/bridge/internal/api/sluice/v1"
)

// Client speaks for one feed. All methods but Run may be called at any time, by
// any goroutine.
type Client struct {
	name    string
	stub    sluicev1.FeedClient
	source  Source
	handler Handler
	term    Term
	metrics *Metrics
	queue   workqueue.TypedInterface[change]
	live    atomic.Bool
	usage   chan Usage // the newest that nobody has taken
}

// Usage is what machines and tasks were measured to use. Tasks go by ids.
type Usage struct {
	Machines []*firmament.ResourceStats
	Tasks    []*sluicev1.TaskUsage
}

func (u Usage) isEmpty() bool { return len(u.Machines)+len(u.Tasks) == 0 }

// NewClient makes a client for the feed of that name.
func NewClient(name string, connection grpc.ClientConnInterface, source Source, handler Handler, term Term, metrics *Metrics) *Client {
	return &Client{
		name:    name,
		stub:    sluicev1.NewFeedClient(connection),
		source:  source,
		handler: handler,
		term:    term,
		metrics: metrics,
		queue: workqueue.NewTypedWithConfig(
			workqueue.TypedQueueConfig[change]{Name: "feed"}),
		usage: make(chan Usage, 1),
	}
}

// MachineChanged says that the source may have something new about a machine.
func (c *Client) MachineChanged(name string) { c.queue.Add(change{kind: machineChanged, name: name}) }

// TaskChanged says that the source may have something new about a key.
func (c *Client) TaskChanged(key string) { c.queue.Add(change{kind: taskChanged, name: key}) }

// BudgetChanged says that the source may have something new about a budget.
func (c *Client) BudgetChanged(id string) { c.queue.Add(change{kind: budgetChanged, name: id}) }

// BindFailed says that a task could not be bound to the machine on which it was
// placed. It waits again, and may be placed there again at once.
func (c *Client) BindFailed(id, machine, reason string) {
	c.queue.Add(change{kind: bindFailed, name: id, machine: machine, reason: reason})
}

// Lead makes a client that stands by lead under this term. Changes that it was
// told of before are stated before. A later connection asks for its term
// anyway.
func (c *Client) Lead(term *sluicev1.FeedTerm) { c.queue.Add(change{kind: leads, term: term}) }

// Measured hands over samples. One goroutine calls it. New samples replace
// older ones that were not sent yet.
func (c *Client) Measured(usage Usage) {
	select {
	case <-c.usage:
	default:
	}
	c.usage <- usage
}

// IsLive tells whether the daemon knows everything, and decides, if this client
// leads.
func (c *Client) IsLive() bool { return c.live.Load() }

// Run states everything until ctx ends, and connects again whenever the call
// breaks. The source must be complete before. A client runs once.
func (c *Client) Run(ctx context.Context) {
	changes := make(chan change)
	pumped := make(chan struct{})
	go func() {
		defer close(pumped)
		c.pump(ctx, changes)
	}()
	defer func() {
		c.queue.ShutDown()
		<-pumped
	}()

	logger := klog.FromContext(ctx).WithName("feed").WithValues("feed", c.name)
	backoff := newBackoff()
	for ctx.Err() == nil {
		wasLive, err := c.runSession(klog.NewContext(ctx, logger), changes)
		if ctx.Err() != nil {
			return
		}
		if wasLive {
			backoff = newBackoff()
		}
		pause := backoff.Step()
		c.metrics.disconnects.Inc()
		logger.Error(err, "No connection to the daemon; trying again", "after", pause)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

func newBackoff() wait.Backoff {
	return wait.Backoff{Duration: 50 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 8, Cap: 5 * time.Second}
}

// pump moves changes from the queue to a channel, on which a goroutine can
// select.
func (c *Client) pump(ctx context.Context, changes chan<- change) {
	for {
		item, shutdown := c.queue.Get()
		if shutdown {
			return
		}
		// Done comes first, so that a further change is queued again.
		c.queue.Done(item)
		select {
		case changes <- item:
		case <-ctx.Done():
			return
		}
	}
}

// runSession serves one call, and tells whether it ever came to the end of its
// snapshot.
func (c *Client) runSession(ctx context.Context, changes <-chan change) (wasLive bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// Each connection asks for its term. Another replica may lead by now, and
	// this one's statements may be long out of date.
	term, err := c.term(ctx)
	isStandby := errors.Is(err, ErrStandby)
	if err != nil && !isStandby {
		return false, fmt.Errorf("term of feed %q: %w", c.name, err)
	}
	stream, err := c.stub.Connect(ctx)
	if err != nil {
		return false, fmt.Errorf("open feed %q: %w", c.name, err)
	}
	session := newSession(c, stream, term)
	session.isStandby = isStandby
	defer c.live.Store(false)

	sendErr := make(chan error, 1)
	go func() { sendErr <- session.send(ctx) }()
	receiveErr := make(chan error, 1)
	go func() { receiveErr <- session.receive(ctx) }()

	err = session.run(ctx, changes, receiveErr)
	// Both goroutines end with the call. After them nobody uses the stream any
	// more.
	cancel()
	if sent := <-sendErr; err == nil {
		err = sent
	}
	session.drain()
	return session.phase == live, err
}

var errClosed = errors.New("the daemon has closed the call")

// receive hands responses to the goroutine that owns the session.
func (s *session) receive(ctx context.Context) error {
	defer close(s.responses)
	for {
		response, err := s.stream.Recv()
		if errors.Is(err, io.EOF) {
			return errClosed
		}
		if err != nil {
			return fmt.Errorf("receive: %w", err)
		}
		select {
		case s.responses <- response:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// send writes requests one after another. The owner of the session never waits
// for it. While the daemon reads nothing, changes gather in the queue, which
// merges those of one pod.
func (s *session) send(ctx context.Context) error {
	for {
		select {
		case request := <-s.requests:
			if err := s.stream.Send(request); err != nil {
				// Recv returns the cause.
				return nil
			}
			select {
			case s.sent <- struct{}{}:
			case <-ctx.Done():
				return nil
			}
		case <-ctx.Done():
			return nil
		}
	}
}
