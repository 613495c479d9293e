package convert

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DefaultSelector joins what selects a pod into the selector of the constraints
// that it gets where it states none, as kube-scheduler does: sets of labels, of
// which the later ones win, and the selector of its owner, which may be nil. It
// is nil where there is no condition: then the pod gets no constraints.
func DefaultSelector(sets []map[string]string, owner *metav1.LabelSelector) *metav1.LabelSelector {
	result := &metav1.LabelSelector{MatchLabels: map[string]string{}}
	for _, set := range sets {
		maps.Copy(result.MatchLabels, set)
	}
	if owner != nil {
		for _, key := range slices.Sorted(maps.Keys(owner.MatchLabels)) {
			value := owner.MatchLabels[key]
			if other, ok := result.MatchLabels[key]; ok && other != value {
				// Both hold, so no pod is meant.
				result.MatchExpressions = append(result.MatchExpressions, metav1.LabelSelectorRequirement{
					Key: key, Operator: metav1.LabelSelectorOpIn, Values: []string{value}})
				continue
			}
			result.MatchLabels[key] = value
		}
		result.MatchExpressions = append(result.MatchExpressions, owner.MatchExpressions...)
	}
	if len(result.MatchLabels)+len(result.MatchExpressions) == 0 {
		return nil
	}
	return result
}
