package verdict

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/helper"

	"github.com/sluice-scheduler/sluice/bridge/internal/api/firmament"
)

// The constraints that kube-scheduler gives pods which have none.
var systemSpread = []corev1.TopologySpreadConstraint{
	{TopologyKey: corev1.LabelHostname, MaxSkew: 3, WhenUnsatisfiable: corev1.ScheduleAnyway},
	{TopologyKey: corev1.LabelTopologyZone, MaxSkew: 5, WhenUnsatisfiable: corev1.ScheduleAnyway},
}

// A pod without constraints is spread among the pods that kube-scheduler's own
// function selects, and is not where it selects none.
func TestKubeSchedulerSpreadsAmongTheSamePods(t *testing.T) {
	const worlds = 40
	spread, alone := 0, 0
	for seed := range worlds {
		w := newWorld(uint64(seed))
		source := newSource(t, w)
		selectors := defaultSelectors(t, w)
		for _, pod := range w.pods {
			if len(pod.Spec.TopologySpreadConstraints) > 0 {
				continue
			}
			stated := source.Task(pod.Namespace + "/" + pod.Name).Stated.Description.TaskDescriptor.TopologySpreadConstraints
			want := selectors(pod)
			if want.Empty() {
				alone++
				if len(stated) > 0 {
					t.Fatalf("seed %d: %s is spread by %v, and kube-scheduler does not spread it", seed, pod.Name, stated)
				}
				continue
			}
			spread++
			if len(stated) != len(systemSpread) {
				t.Fatalf("seed %d: %s has %d constraints", seed, pod.Name, len(stated))
			}
			got := selectorFrom(t, stated[0])
			for _, other := range w.pods {
				if set := labels.Set(other.Labels); got.Matches(set) != want.Matches(set) {
					t.Fatalf("seed %d: %s is spread by %v, kube-scheduler has %v", seed, pod.Name, got, want)
				}
			}
		}
	}
	t.Logf("%d pods are spread, %d are not", spread, alone)
	if spread == 0 || alone == 0 {
		t.Error("one of the cases did not occur")
	}
}

// defaultSelectors is kube-scheduler's function over a world.
func defaultSelectors(t *testing.T, w *world) func(*corev1.Pod) labels.Selector {
	t.Helper()
	ctx := t.Context()
	factory := informers.NewSharedInformerFactory(fake.NewClientset(w.objects()...), 0)
	core, apps := factory.Core().V1(), factory.Apps().V1()
	services, controllers := core.Services().Lister(), core.ReplicationControllers().Lister()
	replicaSets, statefulSets := apps.ReplicaSets().Lister(), apps.StatefulSets().Lister()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	return func(pod *corev1.Pod) labels.Selector {
		return helper.DefaultSelector(pod, services, controllers, replicaSets, statefulSets)
	}
}

func selectorFrom(t *testing.T, stated *firmament.TopologySpreadConstraint) labels.Selector {
	t.Helper()
	selector := &metav1.LabelSelector{MatchLabels: stated.LabelSelector.GetMatchLabelsMap()}
	for _, expression := range stated.LabelSelector.GetMatchExpressions() {
		selector.MatchExpressions = append(selector.MatchExpressions, metav1.LabelSelectorRequirement{
			Key: expression.Key, Operator: metav1.LabelSelectorOperator(expression.Operator), Values: expression.Values})
	}
	result, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	return result
}
