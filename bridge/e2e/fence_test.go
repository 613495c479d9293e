package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/sluice-scheduler/sluice/bridge/internal/daemontest"
	"github.com/sluice-scheduler/sluice/bridge/internal/kubetest"
)

const (
	defaultPauses = 6
	churners      = 8
	// What happens in a pause is more than connections hold: the API server ends
	// the watch, and the bridge that goes on knows an old world until it has
	// listed everything anew.
	padding = 20000
)

// pace is how fast leases end, and what goes with it.
type pace struct {
	flags        []string // of the bridges
	longestPause time.Duration
	rest         time.Duration // of churns
	percentUsed  int           // of the cores, at least, when a leader is frozen
}

var (
	fast = pace{
		flags: []string{"--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s",
			"--leader-elect-retry-period=500ms"},
		longestPause: 8 * time.Second,
		rest:         churnRest,
		percentUsed:  50,
	}
	// The bridge's own leases. Fewer requests, so that pods live for about as long
	// as a lease: those that a frozen leader was told to bind are still there when
	// it goes on.
	asDeployed = pace{
		longestPause: 30 * time.Second,
		rest:         150 * time.Millisecond,
		percentUsed:  85,
	}
)

// Under churn on full nodes the leader is frozen, often for longer than its
// lease lasts, and goes on. The daemon and the other bridge are killed
// meanwhile. At no time is a node overcommitted. $SLUICE_CHAOS_PAUSES makes it
// longer, $SLUICE_CHAOS_SEED another and $SLUICE_CHAOS_NODES larger;
// $SLUICE_CHAOS_LEASES=default takes the bridge's own leases and pauses of up to
// 30 s.
func TestFrozenLeaders(t *testing.T) {
	freezeLeaders(t, func(plane *kubetest.ControlPlane, binary string, flags []string) []replica {
		daemon := daemontest.Start(t, "--durability=buffered")
		return []replica{
			{kubetest.StartBridge(t, binary, plane.BridgeKubeconfig(t), daemon, flags...), daemon},
			{kubetest.StartBridge(t, binary, plane.BridgeKubeconfig(t), daemon, flags...), daemon},
		}
	})
}

// The same where each bridge has a daemon of its own, which it keeps warm.
func TestFrozenLeadersWithStandbys(t *testing.T) {
	freezeLeaders(t, func(plane *kubetest.ControlPlane, binary string, flags []string) []replica {
		return []replica{startPair(t, plane, binary, "pair-0", flags), startPair(t, plane, binary, "pair-1", flags)}
	})
}

// replica is a bridge with its daemon, which may be the other's, too.
type replica struct {
	*kubetest.Bridge
	daemon *daemontest.Daemon
}

func freezeLeaders(t *testing.T, start func(plane *kubetest.ControlPlane, binary string, flags []string) []replica) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	pauses, seed := setting("SLUICE_CHAOS_PAUSES", defaultPauses), setting("SLUICE_CHAOS_SEED", 1)
	nodes, pace := setting("SLUICE_CHAOS_NODES", chaosNodes), fast
	if os.Getenv("SLUICE_CHAOS_LEASES") == "default" {
		pace = asDeployed
	}
	t.Logf("%d pauses of up to %v with %d nodes and seed %d", pauses, pace.longestPause, nodes, seed)
	plane := kubetest.StartControlPlane(t, kubetest.RBAC)
	kubetest.GrantBridge(t, plane)
	binary := kubetest.BuildBridge(t)
	flags := append([]string{"-v=3", "--leader-elect", "--leader-elect-resource-namespace=" + kubetest.BridgeNamespace}, pace.flags...)
	replicas := start(plane, binary, flags)
	c := kubetest.NewCluster(t, plane, "fence")
	judge := watch(t, plane, c, nodes)

	ctx, stop := context.WithCancel(t.Context())
	var churning sync.WaitGroup
	for i := range churners {
		load := load{name: fmt.Sprint("pod-", i), cores: max(1, nodes*coresOfANode/churners), rest: pace.rest, padding: padding}
		if i == 0 {
			load.flapping = nodes
		}
		churning.Go(func() { churn(ctx, c, rand.New(rand.NewPCG(uint64(seed), uint64(10+i))), load) })
	}

	random := rand.New(rand.NewPCG(uint64(seed), 2))
	var used, rate int
	for i := range pauses {
		leader, other := waitForLeader(t, replicas, judge, pace.percentUsed)
		time.Sleep(time.Duration(random.IntN(1500)) * time.Millisecond)
		leader.Pause()
		percent, lately := judge.percentUsed(), judge.boundLately()
		used, rate = used+percent, rate+lately
		pause := time.Second + time.Duration(random.Int64N(int64(pace.longestPause-time.Second)))
		first := time.Duration(random.Int64N(int64(pause)))
		t.Logf("pause %d of %v: %d%% in use, %d binds in the second before", i+1, pause.Round(100*time.Millisecond), percent, lately)
		time.Sleep(first)
		switch random.IntN(4) {
		case 0:
			other.daemon.Kill()
			other.daemon.Restart(t)
		case 1:
			other.Kill()
			restart(t, other.Process)
		}
		time.Sleep(pause - first)
		leader.Resume()
	}
	t.Logf("on average %d%% in use and %d binds a second when pauses began", used/max(1, pauses), rate/max(1, pauses))
	stop()
	churning.Wait()
	judge.waitUntilNothingThatFitsWaits(c)
	judge.report(t)
}

// waitForLeader waits until only one of two replicas says that it leads, pods are
// bound and enough is in use. It returns that one and the other.
func waitForLeader(t *testing.T, replicas []replica, judge *judge, percentUsed int) (leader, other replica) {
	t.Helper()
	for deadline := time.Now().Add(settleTimeout); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		first, second := kubetest.Leads(replicas[0].HTTP), kubetest.Leads(replicas[1].HTTP)
		switch {
		case first == second || judge.boundLately() == 0 || judge.percentUsed() < percentUsed:
		case first:
			return replicas[0], replicas[1]
		case second:
			return replicas[1], replicas[0]
		}
	}
	t.Fatalf("after %v no leader binds, or less than %d%% is in use", settleTimeout, percentUsed)
	return replica{}, replica{}
}
