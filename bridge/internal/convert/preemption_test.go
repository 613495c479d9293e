package convert_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/sluice-scheduler/sluice/bridge/internal/api/firmament"
	"github.com/sluice-scheduler/sluice/bridge/internal/convert"
)

func TestWhetherAPodMayDisplaceOthers(t *testing.T) {
	for _, test := range []struct {
		policy *corev1.PreemptionPolicy
		want   firmament.TaskDescriptor_PreemptionPolicy
	}{
		{nil, firmament.TaskDescriptor_PREEMPT_LOWER_PRIORITY},
		{ptr.To(corev1.PreemptLowerPriority), firmament.TaskDescriptor_PREEMPT_LOWER_PRIORITY},
		{ptr.To(corev1.PreemptNever), firmament.TaskDescriptor_NEVER},
	} {
		got := task(t, podOf(func(p *corev1.Pod) { p.Spec.PreemptionPolicy = test.policy }), convert.Surroundings{})
		if got.PreemptionPolicy != test.want {
			t.Errorf("%v: %v, want %v", ptr.Deref(test.policy, "none"), got.PreemptionPolicy, test.want)
		}
	}
}

func TestWhatAPodsStopCosts(t *testing.T) {
	for value, want := range map[string]int32{
		"": 0, "7": 7, "-7": 0, "100000": 100_000, "2147483647": 100_000, "-2147483648": 0, "2147483648": 0, "dear": 0,
	} {
		got := task(t, podOf(func(p *corev1.Pod) {
			p.Annotations = map[string]string{corev1.PodDeletionCost: value}
		}), convert.Surroundings{})
		if got.PreemptionCost != want {
			t.Errorf("%q: %d, want %d", value, got.PreemptionCost, want)
		}
	}
}
