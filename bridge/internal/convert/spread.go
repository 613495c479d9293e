package convert

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sluice-scheduler/sluice/bridge/internal/api/firmament"
)

func topologySpread(list []corev1.TopologySpreadConstraint) ([]*firmament.TopologySpreadConstraint, field.ErrorList) {
	var result []*firmament.TopologySpreadConstraint
	var problems field.ErrorList
	for i := range list {
		source := &list[i]
		switch source.WhenUnsatisfiable {
		case corev1.DoNotSchedule, corev1.ScheduleAnyway:
		default:
			problems = append(problems, field.NotSupported(
				field.NewPath("spec", "topologySpreadConstraints").Index(i).Child("whenUnsatisfiable"), source.WhenUnsatisfiable,
				[]corev1.UnsatisfiableConstraintAction{corev1.DoNotSchedule, corev1.ScheduleAnyway}))
			continue
		}
		constraint := &firmament.TopologySpreadConstraint{
			TopologyKey:       source.TopologyKey,
			MaxSkew:           source.MaxSkew,
			WhenUnsatisfiable: string(source.WhenUnsatisfiable),
			MatchLabelKeys:    unmergedKeys(source),
		}
		if !countsNothing(source) {
			constraint.LabelSelector = selectorOf(source.LabelSelector).near()
		}
		if source.MinDomains != nil {
			constraint.MinDomains = *source.MinDomains
		}
		if source.NodeAffinityPolicy != nil {
			constraint.NodeAffinityPolicy = string(*source.NodeAffinityPolicy)
		}
		if source.NodeTaintsPolicy != nil {
			constraint.NodeTaintsPolicy = string(*source.NodeTaintsPolicy)
		}
		result = append(result, constraint)
	}
	return result, problems
}

// countsNothing is true of a selector without conditions. To pod affinity it
// means every pod, but kube-scheduler's spreading counts none by it.
func countsNothing(constraint *corev1.TopologySpreadConstraint) bool {
	selector := constraint.LabelSelector
	return selector == nil ||
		len(selector.MatchLabels)+len(selector.MatchExpressions)+len(constraint.MatchLabelKeys) == 0
}

// unmergedKeys are those that the API server has not merged into the selector
// yet, as it does from 1.34 on.
func unmergedKeys(constraint *corev1.TopologySpreadConstraint) []string {
	merged := make(map[string]bool)
	if constraint.LabelSelector != nil {
		for _, expression := range constraint.LabelSelector.MatchExpressions {
			if expression.Operator == metav1.LabelSelectorOpIn {
				merged[expression.Key] = true
			}
		}
	}
	var result []string
	for _, key := range constraint.MatchLabelKeys {
		if !merged[key] {
			result = append(result, key)
		}
	}
	return result
}
