package e2e

import (
	"testing"

	"github.com/sluice-scheduler/sluice/bridge/internal/daemontest"
	"github.com/sluice-scheduler/sluice/bridge/internal/kubetest"
)

// A pod that waits because the daemon is away says so, and no longer once it is
// back.
func TestPodsNameTheDaemonsAbsence(t *testing.T) {
	plane := kubetest.StartControlPlane(t, kubetest.AlwaysAllow)
	daemon := daemontest.Start(t)
	kubetest.StartBridge(t, kubetest.BuildBridge(t), plane.Kubeconfig, daemon)
	c := kubetest.NewCluster(t, plane, "absent")
	c.Node("n1")
	daemon.Kill()
	c.Pod("web")
	c.Pod("big", kubetest.Requests("cpu", "100"))
	c.Waits("web", "the scheduler's daemon does not answer")
	c.HasEvent("big", "FailedScheduling", "the scheduler's daemon does not answer")
	daemon.Restart(t)
	c.IsOn("web", "n1")
	c.Waits("big", "0/1 nodes are available: 1 insufficient cpu")
}
