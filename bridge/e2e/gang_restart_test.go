package e2e

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/sluice-scheduler/sluice/bridge/internal/daemontest"
	"github.com/sluice-scheduler/sluice/bridge/internal/kubetest"
)

// A daemon that starts empty is told of members that ended before its time.
func TestAGangGoesOnAfterTheDaemonForgotIt(t *testing.T) {
	plane := kubetest.StartControlPlane(t, kubetest.AlwaysAllow)
	kubetest.InstallPodGroups(t, plane)
	daemon := daemontest.Start(t)
	bridge := kubetest.StartBridge(t, kubetest.BuildBridge(t), plane.Kubeconfig, daemon)
	c := kubetest.NewCluster(t, plane, "forgotten")
	c.Node("n1", kubetest.Offers("cpu", "3"))
	c.PodGroup("train", 3)
	for i := range 3 {
		c.Pod(fmt.Sprint("train-", i), memberOf("train"), kubetest.Requests("cpu", "1"))
	}
	for i := range 3 {
		c.NodeOf(fmt.Sprint("train-", i))
	}
	c.Finish("train-0", corev1.PodSucceeded)
	c.Finish("train-1", corev1.PodSucceeded)
	c.Finish("train-2", corev1.PodFailed)
	daemon.Kill()
	bridge.Kill()
	daemon.Restart(t)
	if err := bridge.Start(); err != nil {
		t.Fatal(err)
	}
	bridge.WaitReady(t)
	c.Pod("again", memberOf("train"), kubetest.Requests("cpu", "1"))
	c.IsOn("again", "n1")
}
