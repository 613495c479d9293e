package mirror

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

func TestBudgetsAreMirrored(t *testing.T) {
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Generation: 1},
		Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: ptr.To(intstr.FromInt32(2)),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
		Status: policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: 1,
			Conditions: []metav1.Condition{{Type: policyv1.DisruptionAllowedCondition}}},
	}
	m, client := start(t, budget)
	if ids := m.BudgetIDs(); !slices.Equal(ids, []string{"shop/web"}) {
		t.Errorf("budgets %q", ids)
	}
	if got := m.Budget("shop/web"); got.GetMinAvailable() != "2" || got.GetAllowed() != 1 {
		t.Errorf("got %v", got)
	}
	l := &listener{}
	stop, err := m.Notify(klog.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	told := func() bool { return slices.Contains(l.budgets, "shop/web") }
	l.eventually(t, "the budget that is there", told)

	for _, step := range []struct {
		what string
		do   func() error
		is   func() bool
	}{
		{"a disruption less", func() error {
			changed := budget.DeepCopy()
			changed.Status.DisruptionsAllowed = 0
			_, err := client.PolicyV1().PodDisruptionBudgets("shop").UpdateStatus(t.Context(), changed, metav1.UpdateOptions{})
			return err
		}, func() bool { return m.Budget("shop/web").GetAllowed() == 0 }},
		{"no budget any more", func() error {
			return client.PolicyV1().PodDisruptionBudgets("shop").Delete(t.Context(), "web", metav1.DeleteOptions{})
		}, func() bool { return m.Budget("shop/web") == nil }},
	} {
		l.mu.Lock()
		l.budgets = nil
		l.mu.Unlock()
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		l.eventually(t, step.what, func() bool { return told() && step.is() })
	}
}

// Else each nomination would state the pod anew, and make a round.
func TestANominationChangesNothingThatIsStated(t *testing.T) {
	m, client := start(t, podOf("web", func(*corev1.Pod) {}))
	source := Source{Mirror: m, Assumptions: assumptions{}}
	before := source.Task("shop/web").Stated
	l := &listener{}
	stop, err := m.Notify(klog.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	nominated := podOf("web", func(p *corev1.Pod) { p.Status.NominatedNodeName = "n1" })
	if _, err := client.CoreV1().Pods("shop").UpdateStatus(t.Context(), nominated, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	l.eventually(t, "the nomination", func() bool { return m.Pod("shop/web").Status.NominatedNodeName == "n1" })
	if after := source.Task("shop/web").Stated; before == nil || !proto.Equal(before, after) {
		t.Errorf("stated %v, and then %v", before, after)
	}
}
