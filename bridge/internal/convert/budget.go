package convert

import (
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/sluice-scheduler/sluice/bridge/internal/api/firmament"
)

// The largest amount of tasks that the daemon takes.
const budgetAmountMax = 1_000_000_000

// Budget says how many of the pods that source selects are to stay available.
//
// Only Kubernetes knows which pods are healthy, so the bridge states its count
// of how many more may go. That is none until Kubernetes has counted for the
// current budget: the eviction API would refuse.
func Budget(source *policyv1.PodDisruptionBudget) *firmament.DisruptionBudget {
	var allowed int64
	if source.Status.ObservedGeneration >= source.Generation {
		allowed = budgetAmount(source.Status.DisruptionsAllowed)
	}
	budget := &firmament.DisruptionBudget{
		Namespace:     source.Namespace,
		LabelSelector: selectorOf(source.Spec.Selector).near(),
		Expected:      budgetAmount(source.Status.ExpectedPods),
		Allowed:       &allowed,
	}
	switch {
	case source.Spec.MaxUnavailable != nil:
		budget.MaxUnavailable = numberOrPart(*source.Spec.MaxUnavailable)
	case source.Spec.MinAvailable != nil:
		budget.MinAvailable = numberOrPart(*source.Spec.MinAvailable)
	default:
		// A budget that says neither allows nothing.
		budget.MaxUnavailable = "0"
	}
	return budget
}

// numberOrPart is "3" or "40%".
func numberOrPart(value intstr.IntOrString) string {
	if value.Type == intstr.Int {
		value.IntVal = int32(budgetAmount(value.IntVal))
	}
	return value.String()
}

func budgetAmount(value int32) int64 { return int64(min(max(value, 0), budgetAmountMax)) }
