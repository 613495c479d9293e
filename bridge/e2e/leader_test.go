package e2e

import (
	"testing"

	"github.com/sluice-scheduler/sluice/bridge/internal/daemontest"
	"github.com/sluice-scheduler/sluice/bridge/internal/kubetest"
)

// Of two replicas one leads, and the other takes over when it dies.
func TestAReplicaTakesOver(t *testing.T) {
	plane := kubetest.StartControlPlane(t, kubetest.RBAC)
	daemon := daemontest.Start(t)
	kubetest.GrantBridge(t, plane)
	binary := kubetest.BuildBridge(t)
	flags := []string{"--leader-elect", "--leader-elect-resource-namespace=" + kubetest.BridgeNamespace,
		"--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=500ms"}
	first := kubetest.StartBridge(t, binary, plane.BridgeKubeconfig(t), daemon, flags...)
	kubetest.StartBridge(t, binary, plane.BridgeKubeconfig(t), daemon, flags...)
	c := kubetest.NewCluster(t, plane, "leader")
	c.Node("n1")
	c.Pod("before")
	c.IsOn("before", "n1")
	first.Kill()
	c.Pod("after")
	c.IsOn("after", "n1")
}
