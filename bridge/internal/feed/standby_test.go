package feed

import (
	"testing"
	"time"

	sluicev1 "github.com/sluice-scheduler/sluice/bridge/internal/api/sluice/v1"
	"github.com/sluice-scheduler/sluice/bridge/internal/daemontest"
)

func (c *cluster) setTerm(term *sluicev1.FeedTerm, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leads, c.termErr = term, err
}

// feedState is how the daemon sees the only feed.
func feedState(t *testing.T, daemon *daemontest.Daemon) func() *sluicev1.FeedState {
	inspector := sluicev1.NewInspectorClient(daemon.Dial(t))
	return func() *sluicev1.FeedState {
		status, err := inspector.GetStatus(t.Context(), &sluicev1.GetStatusRequest{})
		if err != nil || len(status.GetFeeds()) != 1 {
			return nil
		}
		return status.GetFeeds()[0]
	}
}

func (c *cluster) places1(id string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.places[id]
}

// A standby states everything, and is told nothing. Once it leads, what others
// have bound takes room, and all else is placed at once.
func TestAStandbyDecidesOnceItLeads(t *testing.T) {
	daemon := daemontest.Start(t)
	state := feedState(t, daemon)
	c := newCluster()
	c.machines["n1"] = 1000
	c.tasks["shop/a"] = statedTask("shop/a", "uid-a", "", 600)
	c.tasks["shop/b"] = statedTask("shop/b", "uid-b", "", 600)
	c.termErr = ErrStandby
	c.connect(t, daemon.Address)
	eventually(t, "the daemon knows everything", func() bool {
		return c.client.IsLive() && state().GetState() == sluicev1.FeedState_STANDBY && state().GetTasks() == 2
	})
	time.Sleep(300 * time.Millisecond)
	if c.runsOn("shop/a")+c.runsOn("shop/b") != "" {
		t.Fatal("a standby was told to place")
	}
	// The leader's daemon chose b.
	c.setTask("shop/b", "uid-b", "n1", 600)
	term := &sluicev1.FeedTerm{Lease: "lease", Number: 2, Holder: "me"}
	c.setTerm(term, nil)
	c.client.Lead(term)
	eventually(t, "it leads", func() bool {
		return state().GetState() == sluicev1.FeedState_LIVE && state().GetHolder() == "me" && state().GetTerm() == 2
	})
	time.Sleep(300 * time.Millisecond)
	if on := c.runsOn("shop/a"); on != "" {
		t.Fatalf("a was placed on %s, which b fills", on)
	}
	beganAt := time.Now()
	c.removeTask("shop/b")
	eventually(t, "a is placed", func() bool { return c.runsOn("shop/a") == "n1" })
	t.Logf("placed after %v", time.Since(beganAt))
}

// Nothing is restated: the same call goes on.
func TestATakeOverIsOneMessage(t *testing.T) {
	daemon := daemontest.Start(t)
	state := feedState(t, daemon)
	c := newCluster()
	for _, name := range []string{"n1", "n2"} {
		c.machines[name] = 1000
	}
	c.tasks["shop/a"] = statedTask("shop/a", "uid-a", "", 600)
	c.termErr = ErrStandby
	c.connect(t, daemon.Address)
	eventually(t, "it stands by", func() bool { return state().GetState() == sluicev1.FeedState_STANDBY })
	term := &sluicev1.FeedTerm{Lease: "lease", Number: 2, Holder: "me"}
	// Asking for the term would begin another call.
	c.setTerm(nil, ErrStandby)
	beganAt := time.Now()
	c.client.Lead(term)
	eventually(t, "a is placed", func() bool { return c.runsOn("shop/a") != "" })
	t.Logf("placed %v after the take-over", time.Since(beganAt))
	// A second time it says nothing.
	c.client.Lead(&sluicev1.FeedTerm{Lease: "lease", Number: 1, Holder: "nobody"})
	c.setTask("shop/b", "uid-b", "", 600)
	eventually(t, "b is placed", func() bool { return c.runsOn("shop/b") != "" })
	if holder := state().GetHolder(); holder != "me" {
		t.Errorf("%s holds the lease", holder)
	}
}

// A standby whose daemon does not know what the former leader was told waits as
// long as that one may still act.
func TestATakeOverMaySettle(t *testing.T) {
	daemon := daemontest.Start(t)
	state := feedState(t, daemon)
	c := newCluster()
	c.machines["n1"] = 1000
	c.tasks["shop/a"] = statedTask("shop/a", "uid-a", "", 600)
	c.termErr = ErrStandby
	c.connect(t, daemon.Address)
	eventually(t, "it stands by", func() bool { return state().GetState() == sluicev1.FeedState_STANDBY })
	term := &sluicev1.FeedTerm{Lease: "lease", Number: 2, Holder: "me", SettleMs: 1500}
	c.setTerm(term, nil)
	beganAt := time.Now()
	c.client.Lead(term)
	eventually(t, "it settles", func() bool { return state().GetState() == sluicev1.FeedState_SETTLING })
	eventually(t, "a is placed", func() bool { return c.runsOn("shop/a") == "n1" })
	if took := time.Since(beganAt); took < 1500*time.Millisecond {
		t.Errorf("placed after %v", took)
	}
}

// One that led, and connects again as a standby, has its daemon forget what that
// one decided and nobody carried out.
func TestAFormerLeaderStandsByAgain(t *testing.T) {
	daemon := daemontest.Start(t)
	state := feedState(t, daemon)
	c := newCluster()
	c.machines["n1"] = 1000
	c.refuses["n1"] = true // what is placed is never said to run
	c.leads = &sluicev1.FeedTerm{Lease: "lease", Number: 1, Holder: "me"}
	c.tasks["shop/a"] = statedTask("shop/a", "uid-a", "", 600)
	disconnect := c.connect(t, daemon.Address)
	eventually(t, "a was placed", func() bool { return c.places1("uid-a") > 0 })
	disconnect()
	c.setTerm(nil, ErrStandby)
	c.mu.Lock()
	c.refuses = map[string]bool{}
	c.mu.Unlock()
	c.connect(t, daemon.Address)
	eventually(t, "it stands by", func() bool { return state().GetState() == sluicev1.FeedState_STANDBY })
	inspector := sluicev1.NewInspectorClient(daemon.Dial(t))
	status, err := inspector.GetStatus(t.Context(), &sluicev1.GetStatusRequest{})
	if err != nil || status.GetRunningTasks() != 0 || state().GetUntoldDeltas() != 0 {
		t.Errorf("%v: %d run, %d deltas wait", err, status.GetRunningTasks(), state().GetUntoldDeltas())
	}
	told := c.places1("uid-a")
	// Another leads in term 2, this one again in term 3.
	term := &sluicev1.FeedTerm{Lease: "lease", Number: 3, Holder: "me"}
	c.client.Lead(term)
	eventually(t, "a is placed", func() bool { return c.runsOn("shop/a") == "n1" && c.places1("uid-a") > told })
}

// A standby that shares its daemon with the leader does not disturb it.
func TestAStandbyIsRefusedWhereAnotherLeads(t *testing.T) {
	daemon := daemontest.Start(t)
	leader, standby := newCluster(), newCluster()
	leader.machines["n1"] = 1000
	leader.leads = &sluicev1.FeedTerm{Lease: "lease", Number: 1, Holder: "leader"}
	leader.connect(t, daemon.Address)
	eventually(t, "it leads", leader.client.IsLive)
	standby.termErr = ErrStandby
	standby.connect(t, daemon.Address)
	time.Sleep(300 * time.Millisecond)
	leader.setTask("shop/a", "uid-a", "", 600)
	eventually(t, "a is placed", func() bool { return leader.runsOn("shop/a") == "n1" })
}
