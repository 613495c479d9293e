package convert_test

import (
	"math"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/sluice-scheduler/sluice/bridge/internal/convert"
)

func TestWhatIsStatedOfADisruptionBudget(t *testing.T) {
	all := &metav1.LabelSelector{}
	for _, test := range []struct {
		name   string
		spec   policyv1.PodDisruptionBudgetSpec
		status policyv1.PodDisruptionBudgetStatus
		want   string
	}{
		{
			name: "a number that stays",
			spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: ptr.To(intstr.FromInt32(2)),
				Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
			status: policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 3, ExpectedPods: 5, DisruptionsAllowed: 1},
			want: `namespace: "shop" labelSelector: {match_labels_map: {key: "app" value: "web"}}
				min_available: "2" expected: 5 allowed: 1`,
		},
		{
			name: "a part that may go, by expressions",
			spec: policyv1.PodDisruptionBudgetSpec{MaxUnavailable: ptr.To(intstr.FromString("30%")),
				Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
					{Key: "tier", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"test"}}}}},
			status: policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 3},
			want: `namespace: "shop" labelSelector: {matchExpressions: {key: "tier" operator: "NotIn" values: "test"}}
				max_unavailable: "30%" allowed: 0`,
		},
		{
			name:   "an empty selector means all pods",
			spec:   policyv1.PodDisruptionBudgetSpec{MinAvailable: ptr.To(intstr.FromString("100%")), Selector: all},
			status: policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 3, DisruptionsAllowed: 2},
			want:   `namespace: "shop" labelSelector: {} min_available: "100%" allowed: 2`,
		},
		{
			name:   "no selector means no pod",
			spec:   policyv1.PodDisruptionBudgetSpec{MinAvailable: ptr.To(intstr.FromInt32(1))},
			status: policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 3},
			want:   `namespace: "shop" min_available: "1" allowed: 0`,
		},
		{
			name:   "Kubernetes has not counted yet",
			spec:   policyv1.PodDisruptionBudgetSpec{MinAvailable: ptr.To(intstr.FromInt32(0)), Selector: all},
			status: policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 2, ExpectedPods: 4, DisruptionsAllowed: 4},
			want:   `namespace: "shop" labelSelector: {} min_available: "0" expected: 4 allowed: 0`,
		},
		{
			name:   "it says neither, and its status makes no sense",
			spec:   policyv1.PodDisruptionBudgetSpec{Selector: all},
			status: policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 3, ExpectedPods: -1, DisruptionsAllowed: -1},
			want:   `namespace: "shop" labelSelector: {} max_unavailable: "0" allowed: 0`,
		},
		{
			name: "more than the daemon counts",
			spec: policyv1.PodDisruptionBudgetSpec{MaxUnavailable: ptr.To(intstr.FromInt32(math.MaxInt32)), Selector: all},
			status: policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 3,
				ExpectedPods: math.MaxInt32, DisruptionsAllowed: math.MaxInt32},
			want: `namespace: "shop" labelSelector: {} max_unavailable: "1000000000" expected: 1000000000 allowed: 1000000000`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			expect(t, convert.Budget(&policyv1.PodDisruptionBudget{
				ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Generation: 3},
				Spec:       test.spec, Status: test.status}), test.want)
		})
	}
}
