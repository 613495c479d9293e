package feed

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"k8s.io/utils/ptr"

	"github.com/sluice-scheduler/sluice/bridge/internal/api/firmament"
	sluicev1 "github.com/sluice-scheduler/sluice/bridge/internal/api/sluice/v1"
)

// scribe is a daemon that writes down what it is told, and says what the test
// wants.
type scribe struct {
	sluicev1.UnimplementedFeedServer
	says chan *sluicev1.FeedResponse
	// Ends a call.
	hangUp chan struct{}

	mu    sync.Mutex
	heard []string // of the newest call
}

func startScribe(t *testing.T) (*scribe, string) {
	t.Helper()
	s := &scribe{says: make(chan *sluicev1.FeedResponse), hangUp: make(chan struct{})}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	sluicev1.RegisterFeedServer(server, s)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	t.Cleanup(func() {
		server.Stop()
		<-done
	})
	return s, listener.Addr().String()
}

// Connect implements sluicev1.FeedServer.
func (s *scribe) Connect(stream grpc.BidiStreamingServer[sluicev1.FeedRequest, sluicev1.FeedResponse]) error {
	s.mu.Lock()
	s.heard = nil
	s.mu.Unlock()
	ended := make(chan error, 1)
	go func() {
		for {
			request, err := stream.Recv()
			if err != nil {
				ended <- err
				return
			}
			s.hear(request)
		}
	}()
	for {
		select {
		case response := <-s.says:
			if err := stream.Send(response); err != nil {
				return err
			}
		case err := <-ended:
			return err
		case <-s.hangUp:
			return context.Canceled
		}
	}
}

func (s *scribe) hear(request *sluicev1.FeedRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, event := range request.Events {
		switch event := event.Event.(type) {
		case *sluicev1.FeedEvent_BeginSnapshot:
			s.heard = append(s.heard, "begin")
		case *sluicev1.FeedEvent_EndSnapshot:
			s.heard = append(s.heard, "end")
		case *sluicev1.FeedEvent_Task:
			s.heard = append(s.heard, "task "+event.Task.Id)
		case *sluicev1.FeedEvent_Budget:
			s.heard = append(s.heard, fmt.Sprintf("%s keeps %s, allows %d",
				event.Budget.Id, event.Budget.Budget.MinAvailable, event.Budget.Budget.GetAllowed()))
		case *sluicev1.FeedEvent_BudgetGone:
			s.heard = append(s.heard, event.BudgetGone.Id+" is gone")
		}
	}
}

func (s *scribe) hears(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	defer func() {
		if t.Failed() {
			t.Logf("heard %q, want %q", got, want)
		}
	}()
	eventually(t, "the daemon is told", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		got = slices.Clone(s.heard)
		return slices.Equal(got, want)
	})
}

func (c *cluster) setBudget(id string, budget *firmament.DisruptionBudget) {
	c.mu.Lock()
	if budget == nil {
		delete(c.budgets, id)
	} else {
		c.budgets[id] = budget
	}
	c.mu.Unlock()
	c.client.BudgetChanged(id)
}

func TestBudgetsAreStatedInTheSnapshotAndAsTheyChange(t *testing.T) {
	daemon, address := startScribe(t)
	budget := func(allowed int64) *firmament.DisruptionBudget {
		return &firmament.DisruptionBudget{Namespace: "shop", MinAvailable: "2", Allowed: ptr.To(allowed)}
	}
	c := newCluster()
	c.budgets["shop/a"] = budget(0)
	c.connect(t, address)
	daemon.hears(t, "begin", "shop/a keeps 2, allows 0", "end")
	c.setBudget("shop/a", budget(1))
	daemon.hears(t, "begin", "shop/a keeps 2, allows 0", "end", "shop/a keeps 2, allows 1")
	c.setBudget("shop/a", budget(1)) // nothing new
	c.setBudget("shop/never", nil)
	c.setBudget("shop/a", nil)
	daemon.hears(t, "begin", "shop/a keeps 2, allows 0", "end", "shop/a keeps 2, allows 1", "shop/a is gone")
	// The same again is something new once it was gone.
	c.setBudget("shop/a", budget(1))
	daemon.hears(t, "begin", "shop/a keeps 2, allows 0", "end", "shop/a keeps 2, allows 1", "shop/a is gone",
		"shop/a keeps 2, allows 1")

	// What went while nobody listened is not stated anew.
	c.mu.Lock()
	delete(c.budgets, "shop/a")
	c.budgets["shop/b"] = budget(3)
	c.mu.Unlock()
	daemon.hangUp <- struct{}{}
	daemon.hears(t, "begin", "shop/b keeps 2, allows 3", "end")
}

func TestNominationsAreHandedOver(t *testing.T) {
	daemon, address := startScribe(t)
	c := newCluster()
	c.tasks["shop/a"] = statedTask("shop/a", "uid-a", "", 1000)
	c.connect(t, address)
	daemon.hears(t, "begin", "task uid-a", "end")
	isNominated := func(to string) func() bool {
		return func() bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			node, ok := c.nominated["uid-a"]
			return ok && node == to && len(c.nominated) == 1
		}
	}
	say := func(task, machine string) {
		daemon.says <- &sluicev1.FeedResponse{Nominations: []*sluicev1.FeedNomination{{Task: task, Machine: machine}}}
	}
	say("uid-unknown", "n1")
	say("uid-a", "n1")
	eventually(t, "room is kept on n1", isNominated("n1"))
	say("uid-a", "")
	eventually(t, "room is kept no longer", isNominated(""))
	daemon.hangUp <- struct{}{}
	eventually(t, "everything is stated anew, and nominated anew", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.nominated) == 0
	})
}
