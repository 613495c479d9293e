package e2e

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/sluice-scheduler/sluice/bridge/internal/daemontest"
	"github.com/sluice-scheduler/sluice/bridge/internal/kubetest"
)

// What the daemon tells to stop is evicted, as soon as its budget allows it.
func TestEvictionsHoldBudgets(t *testing.T) {
	ctx := context.Background()
	plane := kubetest.StartControlPlane(t, kubetest.RBAC)
	kubetest.GrantBridge(t, plane)
	// Nothing else evicts here: no controller that acts on taints runs.
	daemon := daemontest.Start(t, "--evict_on_no_execute")
	kubetest.StartBridge(t, kubetest.BuildBridge(t), plane.BridgeKubeconfig(t), daemon)
	c := kubetest.NewCluster(t, plane, "evict")
	c.Node("n1")
	c.Pod("web", kubetest.Labeled("app", "web"))
	c.IsOn("web", "n1")

	// Budgets are for pods that are ready.
	web := c.GetPod("web")
	web.Status.Phase = corev1.PodRunning
	web.Status.Conditions = append(web.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
	_, err := c.Client.CoreV1().Pods(c.Namespace).UpdateStatus(ctx, web, metav1.UpdateOptions{})
	must(c, err)
	budgets := c.Client.PolicyV1().PodDisruptionBudgets(c.Namespace)
	_, err = budgets.Create(ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: ptr.To(intstr.FromInt32(1)), Selector: selector("web")},
	}, metav1.CreateOptions{})
	must(c, err)
	c.Eventually("the budget is known", func() bool {
		budget, err := budgets.Get(ctx, "web", metav1.GetOptions{})
		must(c, err)
		return budget.Status.ExpectedPods == 1 && budget.Status.ObservedGeneration == budget.Generation
	})

	c.ChangeNode("n1", kubetest.Taint("away", "", corev1.TaintEffectNoExecute))
	time.Sleep(kubetest.SettledTime)
	if pod := c.GetPod("web"); pod == nil || pod.DeletionTimestamp != nil {
		t.Fatal("evicted in spite of its budget")
	}
	must(c, budgets.Delete(ctx, "web", metav1.DeleteOptions{}))
	c.Eventually("the pod is gone", func() bool { return c.GetPod("web") == nil })
	c.HasEvent("web", "Preempted", "n1")
}
