package e2e

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/sluice-scheduler/sluice/bridge/internal/daemontest"
	"github.com/sluice-scheduler/sluice/bridge/internal/kubetest"
)

// Pods that move where the daemon runs with --preemption=full.
func TestMoves(t *testing.T) {
	plane := kubetest.StartControlPlane(t, kubetest.RBAC)
	kubetest.GrantBridge(t, plane)
	daemon := daemontest.Start(t, "--preemption=full", "--min_run_time=0")
	kubetest.StartBridge(t, kubetest.BuildBridge(t), plane.BridgeKubeconfig(t), daemon)
	for _, test := range []testCase{
		{"room", podsMakeRoomForOthers},
		{"better", podsGoToNodesThatTheyPrefer},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.run(kubetest.NewCluster(t, plane, "move-"+test.name))
		})
	}
}

func podsMakeRoomForOthers(c *kubetest.Cluster) {
	c.Node("n1")
	runOneWebServer(c, func(*corev1.PodSpec) {})
	c.Node("n2")
	// Nobody would make another one of this pod: it stays.
	c.Pod("alone", kubetest.Requests("cpu", "2"), func(p *corev1.Pod) {
		p.Spec.NodeSelector = map[string]string{corev1.LabelHostname: "n2"}
	})
	c.IsOn("alone", "n2")

	c.Pod("large", kubetest.Requests("cpu", "3"))
	c.Eventually("the web server is to stop", func() bool { return len(stoppedPods(c)) == 1 })
	stopped := stoppedPods(c)[0].Name
	c.HasEvent(stopped, "Moved", "n2")
	isNominated(c, "large", "n1")
	c.Eventually("another one runs on n2 already", func() bool { return len(webServersOn(c, "n2")) == 1 })
	c.DeletePod(stopped)
	c.IsOn("large", "n1")
	time.Sleep(kubetest.SettledTime)
	if stopped := stoppedPods(c); len(stopped) > 0 {
		c.T.Errorf("more pods are to stop: %v", stopped)
	}
}

func podsGoToNodesThatTheyPrefer(c *kubetest.Cluster) {
	c.Node("n1")
	runOneWebServer(c, func(spec *corev1.PodSpec) {
		spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
				Weight: 50,
				Preference: corev1.NodeSelectorTerm{
					MatchExpressions: []corev1.NodeSelectorRequirement{requirement("disk", corev1.NodeSelectorOpIn, "ssd")}},
			}}}}
	})
	c.Node("n2", kubetest.Labels(map[string]string{"disk": "ssd"}))
	c.Eventually("the web server is to stop", func() bool { return len(stoppedPods(c)) == 1 })
	stopped := stoppedPods(c)[0].Name
	c.HasEvent(stopped, "Moved", "n2")
	c.Eventually("another one runs on n2", func() bool { return len(webServersOn(c, "n2")) == 1 })
	c.DeletePod(stopped)
}

// runOneWebServer runs one pod of two cores that takes a while to stop.
func runOneWebServer(c *kubetest.Cluster, change func(*corev1.PodSpec)) {
	c.T.Helper()
	pods := template(c, "web", "2")
	pods.Spec.TerminationGracePeriodSeconds = ptr.To[int64](300)
	change(&pods.Spec)
	_, err := c.Client.AppsV1().ReplicaSets(c.Namespace).Create(context.Background(), &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       appsv1.ReplicaSetSpec{Replicas: ptr.To[int32](1), Selector: selector("web"), Template: pods},
	}, metav1.CreateOptions{})
	must(c, err)
	c.Eventually("it is bound", func() bool { return len(webServersOn(c, "n1")) == 1 })
}

// webServersOn returns those that are not to stop.
func webServersOn(c *kubetest.Cluster, node string) []corev1.Pod {
	c.T.Helper()
	var found []corev1.Pod
	for _, pod := range boundPods(c, "app=web") {
		if pod.Spec.NodeName == node && pod.DeletionTimestamp == nil {
			found = append(found, pod)
		}
	}
	return found
}
