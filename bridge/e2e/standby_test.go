package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-scheduler/sluice/bridge/internal/daemontest"
	"github.com/sluice-scheduler/sluice/bridge/internal/kubetest"
)

const takeOvers = 4

// startPair starts a daemon with a bridge of its own, and makes the pod in which
// both are.
func startPair(t *testing.T, plane *kubetest.ControlPlane, binary, name string, flags []string) replica {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{NodeName: "control", SchedulerName: "nobody",
			Containers: []corev1.Container{{Name: "sluice-bridge", Image: "sluice-bridge"}}},
	}
	if _, err := plane.Client.CoreV1().Pods(kubetest.BridgeNamespace).Create(context.Background(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	daemon := daemontest.Start(t)
	flags = append([]string{"--leader-elect", "--leader-elect-resource-namespace=" + kubetest.BridgeNamespace,
		"--standby", "--pod-name=" + name}, flags...)
	return replica{kubetest.StartBridge(t, binary, plane.BridgeKubeconfig(t), daemon, flags...), daemon}
}

// Of two pairs of daemon and bridge the one that leads is killed, again and again,
// while pods come. The other takes over within the rest of the lease, its own
// look at it, and a second; no node ever has more than it takes.
func TestAStandbyTakesOver(t *testing.T) {
	plane := kubetest.StartControlPlane(t, kubetest.RBAC)
	kubetest.GrantBridge(t, plane)
	binary := kubetest.BuildBridge(t)
	pairs := []replica{startPair(t, plane, binary, "pair-0", fast.flags), startPair(t, plane, binary, "pair-1", fast.flags)}
	c := kubetest.NewCluster(t, plane, "standby")
	const nodes = 8
	judge := watch(t, plane, c, nodes)
	core := func(pod *corev1.Pod) { pod.Spec.Containers[0].Resources.Requests = kubetest.Amounts("cpu", "1") }
	bound := 0
	for i := range takeOvers {
		// The last of these are placed and not bound, where it dies.
		for k := range 5 {
			c.Pod(fmt.Sprintf("before-%d-%d", i, k), core)
		}
		leader, other := waitForLeader(t, pairs, judge, 0)
		leader.Kill()
		leader.daemon.Kill()
		killedAt := time.Now()
		name := fmt.Sprint("after-", i)
		c.Pod(name, core)
		node := c.NodeOf(name)
		took := time.Since(killedAt)
		// Three seconds of lease, and up to 0.6 between two looks at it.
		if limit := 4600 * time.Millisecond; took > limit {
			t.Errorf("bound after %v, and not within %v", took, limit)
		}
		t.Logf("bound to %s %v after the leader was killed: %s", node, took.Round(10*time.Millisecond), lastLine(other.Log(), `"Leading"`))
		if !kubetest.Leads(other.HTTP) {
			t.Error("the other does not lead")
		}
		leader.daemon.Restart(t)
		restart(t, leader.Process)
		leader.WaitReady(t)
		bound += 6
		for k := range 5 {
			c.NodeOf(fmt.Sprintf("before-%d-%d", i, k))
		}
	}
	judge.report(t)
	if used := judge.percentUsed(); used != bound*100/(nodes*coresOfANode) {
		t.Errorf("%d%% in use with %d pods", used, bound)
	}
}

// lastLine is the last one of a log that says something, without what precedes
// the message.
func lastLine(log, what string) string {
	at := strings.LastIndex(log, what)
	if at < 0 {
		return "no " + what
	}
	line, _, _ := strings.Cut(log[at:], "\n")
	return line
}

// A leader that ends gives the lease back: the other goes on at once.
func TestAStandbyGoesOnWhereTheLeaderEnds(t *testing.T) {
	plane := kubetest.StartControlPlane(t, kubetest.RBAC)
	kubetest.GrantBridge(t, plane)
	binary := kubetest.BuildBridge(t)
	flags := []string{"--leader-elect-retry-period=750ms"} // and a lease of 15 s
	pairs := []replica{startPair(t, plane, binary, "pair-0", flags), startPair(t, plane, binary, "pair-1", flags)}
	c := kubetest.NewCluster(t, plane, "ends")
	judge := watch(t, plane, c, 2)
	c.Pod("before")
	leader, _ := waitForLeader(t, pairs, judge, 0)
	c.NodeOf("before")
	leader.Terminate()
	endedAt := time.Now()
	c.Pod("after")
	c.NodeOf("after")
	if took := time.Since(endedAt); took > 3*time.Second {
		t.Errorf("bound after %v", took)
	} else {
		t.Logf("bound after %v", took.Round(10*time.Millisecond))
	}
}

// A leader whose daemon stays away gives the lease back.
func TestAStandbyGoesOnWhereTheLeadersDaemonStaysAway(t *testing.T) {
	plane := kubetest.StartControlPlane(t, kubetest.RBAC)
	kubetest.GrantBridge(t, plane)
	binary := kubetest.BuildBridge(t)
	pairs := []replica{startPair(t, plane, binary, "pair-0", fast.flags), startPair(t, plane, binary, "pair-1", fast.flags)}
	c := kubetest.NewCluster(t, plane, "away")
	judge := watch(t, plane, c, 2)
	c.Pod("before")
	leader, other := waitForLeader(t, pairs, judge, 0)
	c.NodeOf("before")
	leader.daemon.Kill()
	c.Pod("after")
	c.NodeOf("after")
	if !kubetest.Leads(other.HTTP) {
		t.Error("the other does not lead")
	}
}
