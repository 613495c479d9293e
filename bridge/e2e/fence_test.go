package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/sluice-scheduler/sluice/bridge/internal/daemontest"
	"github.com/sluice-scheduler/sluice/bridge/internal/kubetest"
)

const (
	defaultPauses = 6
	longestPause  = 8 * time.Second
	churners      = 8
	// What happens in a pause is more than connections hold: the API server ends
	// the watch, and the bridge that goes on knows an old world until it has
	// listed everything anew.
	padding = 20000
)

// Under churn on full nodes the leader is frozen, often for longer than its
// lease lasts, and goes on. The daemon and the other bridge are killed
// meanwhile. At no time is a node overcommitted. $SLUICE_CHAOS_PAUSES makes it
// longer, and $SLUICE_CHAOS_SEED another.
func TestFrozenLeaders(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	pauses, seed := setting("SLUICE_CHAOS_PAUSES", defaultPauses), setting("SLUICE_CHAOS_SEED", 1)
	t.Logf("%d pauses with seed %d", pauses, seed)
	plane := kubetest.StartControlPlane(t, kubetest.RBAC)
	daemon := daemontest.Start(t, "--durability=buffered")
	kubetest.GrantBridge(t, plane)
	binary := kubetest.BuildBridge(t)
	flags := []string{"-v=3", "--leader-elect", "--leader-elect-resource-namespace=" + kubetest.BridgeNamespace,
		"--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=500ms"}
	bridges := []*kubetest.Bridge{
		kubetest.StartBridge(t, binary, plane.BridgeKubeconfig(t), daemon, flags...),
		kubetest.StartBridge(t, binary, plane.BridgeKubeconfig(t), daemon, flags...),
	}
	c := kubetest.NewCluster(t, plane, "fence")
	for i := range chaosNodes {
		c.Node(fmt.Sprint("n", i))
	}
	judge := watch(t, plane)

	ctx, stop := context.WithCancel(t.Context())
	var churning sync.WaitGroup
	for i := range churners {
		churning.Go(func() {
			churn(ctx, c, rand.New(rand.NewPCG(uint64(seed), uint64(10+i))), load{padding: padding, flaps: i == 0})
		})
	}

	random := rand.New(rand.NewPCG(uint64(seed), 2))
	for range pauses {
		var leader, other *kubetest.Bridge
		c.Eventually("one leads", func() bool {
			for i, bridge := range bridges {
				if kubetest.Leads(bridge.HTTP) {
					leader, other = bridge, bridges[1-i]
					return true
				}
			}
			return false
		})
		time.Sleep(time.Duration(random.IntN(1500)) * time.Millisecond)
		leader.Pause()
		pause := time.Second + time.Duration(random.Int64N(int64(longestPause-time.Second)))
		first := time.Duration(random.Int64N(int64(pause)))
		time.Sleep(first)
		switch random.IntN(4) {
		case 0:
			daemon.Kill()
			daemon.Restart(t)
		case 1:
			other.Kill()
			restart(t, other.Process)
		}
		time.Sleep(pause - first)
		leader.Resume()
	}
	stop()
	churning.Wait()
	judge.waitUntilNothingThatFitsWaits(c)
	judge.report(t)
}
