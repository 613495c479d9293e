package e2e

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/sluice-scheduler/sluice/bridge/internal/daemontest"
	"github.com/sluice-scheduler/sluice/bridge/internal/kubetest"
)

// What pods do to each other where the daemon runs with --preemption=priority.
func TestPreemption(t *testing.T) {
	plane := kubetest.StartControlPlane(t, kubetest.RBAC)
	kubetest.GrantBridge(t, plane)
	daemon := daemontest.Start(t, "--preemption=priority")
	kubetest.StartBridge(t, kubetest.BuildBridge(t), plane.BridgeKubeconfig(t), daemon)
	for _, test := range []testCase{
		{"urgent", urgentPodsDisplaceOthers},
		{"budgets", budgetsHoldAgainstUrgentPods},
		{"never", patientPodsDisplaceNobody},
		{"gone", nominationsEndWithTheirNode},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.run(kubetest.NewCluster(t, plane, "preempt-"+test.name))
		})
	}
}

func urgentPodsDisplaceOthers(c *kubetest.Cluster) {
	c.PriorityClass("urgent", 1000)
	c.Node("n1")
	runWebServers(c)

	c.Pod("urgent", inClass("urgent"), kubetest.Requests("cpu", "2"))
	c.Eventually("two pods are to stop", func() bool { return len(stoppedPods(c)) == 2 })
	isNominated(c, "urgent", "n1")
	for _, pod := range stoppedPods(c) {
		c.HasEvent(pod.Name, "Preempted", "n1")
		if condition := conditionOf(&pod, corev1.DisruptionTarget); condition == nil || condition.Status != corev1.ConditionTrue {
			c.T.Errorf("pod %s has the condition %v", pod.Name, condition)
		}
		c.DeletePod(pod.Name)
	}
	c.IsOn("urgent", "n1")

	// Their controller has made others, which have no room until there is more.
	time.Sleep(kubetest.SettledTime)
	if bound := boundPods(c, "app=web"); len(bound) != 2 {
		c.T.Errorf("%d pods are bound beside the urgent one", len(bound))
	}
	if stopped := stoppedPods(c); len(stopped) > 0 {
		c.T.Errorf("more pods are to stop: %v", stopped)
	}
	c.Node("n2")
	c.Eventually("they run elsewhere", func() bool { return len(boundPods(c, "app=web")) == 4 })
}

func budgetsHoldAgainstUrgentPods(c *kubetest.Cluster) {
	ctx := context.Background()
	c.PriorityClass("urgent", 1000)
	c.Node("n1")
	runWebServers(c)
	budgets := c.Client.PolicyV1().PodDisruptionBudgets(c.Namespace)
	_, err := budgets.Create(ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: ptr.To(intstr.FromInt32(3)), Selector: selector("web")},
	}, metav1.CreateOptions{})
	must(c, err)
	c.Eventually("the budget allows one disruption", func() bool {
		budget, err := budgets.Get(ctx, "web", metav1.GetOptions{})
		must(c, err)
		return budget.Status.ObservedGeneration == budget.Generation && budget.Status.DisruptionsAllowed == 1
	})

	c.Pod("large", inClass("urgent"), kubetest.Requests("cpu", "2"))
	time.Sleep(kubetest.SettledTime)
	if stopped := stoppedPods(c); len(stopped) > 0 {
		c.T.Fatalf("%d pods are to stop, though two may not", len(stopped))
	}
	c.DeletePod("large")
	c.Pod("first", inClass("urgent"), kubetest.Requests("cpu", "1"))
	c.Eventually("one pod is to stop", func() bool { return len(stoppedPods(c)) == 1 })
	c.DeletePod(stoppedPods(c)[0].Name)
	c.IsOn("first", "n1")

	c.Pod("second", inClass("urgent"), kubetest.Requests("cpu", "1"))
	time.Sleep(kubetest.SettledTime)
	if bound := boundPods(c, "app=web"); len(bound) != 3 || len(stoppedPods(c)) > 0 {
		c.T.Fatalf("%d pods are left, of which %d are to stop", len(bound), len(stoppedPods(c)))
	}
	must(c, budgets.Delete(ctx, "web", metav1.DeleteOptions{}))
	c.Eventually("one more is to stop without the budget", func() bool { return len(stoppedPods(c)) == 1 })
	c.DeletePod(stoppedPods(c)[0].Name)
	c.IsOn("second", "n1")
}

func patientPodsDisplaceNobody(c *kubetest.Cluster) {
	c.PriorityClass("patient", 1000, func(class *schedulingv1.PriorityClass) {
		class.PreemptionPolicy = ptr.To(corev1.PreemptNever)
	})
	c.Node("n1")
	runWebServers(c)
	c.Pod("patient", inClass("patient"), kubetest.Requests("cpu", "1"))
	c.Waits("patient", "insufficient cpu")
	time.Sleep(kubetest.SettledTime)
	if stopped := stoppedPods(c); len(stopped) > 0 || c.GetPod("patient").Status.NominatedNodeName != "" {
		c.T.Fatalf("%d pods are to stop, and %q is nominated", len(stopped), c.GetPod("patient").Status.NominatedNodeName)
	}
	// It goes first all the same.
	c.DeletePod(boundPods(c, "app=web")[0].Name)
	c.IsOn("patient", "n1")
}

func nominationsEndWithTheirNode(c *kubetest.Cluster) {
	c.PriorityClass("urgent", 1000)
	c.Node("n1")
	runWebServers(c)
	c.Pod("urgent", inClass("urgent"), kubetest.Requests("cpu", "2"))
	isNominated(c, "urgent", "n1")
	c.DeleteNode("n1")
	isNominated(c, "urgent", "")
}

// isNominated waits until room is kept on node for a pod that waits; with an empty
// node: nowhere.
func isNominated(c *kubetest.Cluster, name, node string) {
	c.T.Helper()
	c.Eventually("pod "+name+" is nominated for node '"+node+"'", func() bool {
		pod := c.GetPod(name)
		return pod.Spec.NodeName == "" && pod.Status.NominatedNodeName == node
	})
}

// runWebServers fills n1 with four pods that take a while to stop.
func runWebServers(c *kubetest.Cluster) {
	c.T.Helper()
	ctx := context.Background()
	pods := template(c, "web", "1")
	pods.Spec.TerminationGracePeriodSeconds = ptr.To[int64](300)
	_, err := c.Client.AppsV1().ReplicaSets(c.Namespace).Create(ctx, &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       appsv1.ReplicaSetSpec{Replicas: ptr.To[int32](4), Selector: selector("web"), Template: pods},
	}, metav1.CreateOptions{})
	must(c, err)
	c.Eventually("four pods are bound", func() bool { return len(boundPods(c, "app=web")) == 4 })
	for _, pod := range boundPods(c, "app=web") {
		pod.Status.Phase = corev1.PodRunning
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
		_, err := c.Client.CoreV1().Pods(c.Namespace).UpdateStatus(ctx, &pod, metav1.UpdateOptions{})
		must(c, err)
	}
}

func inClass(name string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.PriorityClassName = name }
}

func stoppedPods(c *kubetest.Cluster) []corev1.Pod {
	c.T.Helper()
	var stopped []corev1.Pod
	for _, pod := range boundPods(c, "app=web") {
		if pod.DeletionTimestamp != nil {
			stopped = append(stopped, pod)
		}
	}
	return stopped
}

func conditionOf(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}
