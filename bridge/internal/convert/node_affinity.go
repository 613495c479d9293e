package convert

import (
	"fmt"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sluice-scheduler/sluice/bridge/internal/api/firmament"
)

// A conjunction of alternatives is written out as one list of alternatives,
// which grows by multiplication.
const maxNodeTerms = 256

func nodeAffinity(source *corev1.NodeAffinity, volumes [][]corev1.NodeSelectorTerm) (*firmament.NodeAffinity, field.ErrorList) {
	if source == nil && len(volumes) == 0 {
		return nil, nil
	}
	result := &firmament.NodeAffinity{}
	alternatives := volumes
	if source != nil {
		if required := source.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
			alternatives = append([][]corev1.NodeSelectorTerm{required.NodeSelectorTerms}, volumes...)
		}
		for i := range source.PreferredDuringSchedulingIgnoredDuringExecution {
			preferred := &source.PreferredDuringSchedulingIgnoredDuringExecution[i]
			result.PreferredDuringSchedulingIgnoredDuringExecution = append(
				result.PreferredDuringSchedulingIgnoredDuringExecution,
				&firmament.PreferredSchedulingTerm{
					Weight: preferred.Weight, Preference: nodeTerm(preferred.Preference),
				})
		}
	}
	if len(alternatives) == 0 {
		return result, nil
	}
	terms, problems := conjunction(alternatives)
	selector := &firmament.NodeSelector{}
	for _, term := range terms {
		selector.NodeSelectorTerms = append(selector.NodeSelectorTerms, nodeTerm(term))
	}
	if len(terms) == 0 {
		// A selector without terms matches no node; to the daemon it would be none.
		selector.NodeSelectorTerms = []*firmament.NodeSelectorTerm{{}}
	}
	result.RequiredDuringSchedulingIgnoredDuringExecution = selector
	return result, problems
}

// conjunction lists the terms that hold where one of each list holds.
func conjunction(lists [][]corev1.NodeSelectorTerm) ([]corev1.NodeSelectorTerm, field.ErrorList) {
	result := withoutEmpty(lists[0])
	for i, list := range lists[1:] {
		if slices.ContainsFunc(lists[:i+1], func(former []corev1.NodeSelectorTerm) bool { return reflect.DeepEqual(former, list) }) {
			// Claims of one class have the same volumes to choose from.
			continue
		}
		list = withoutEmpty(list)
		if len(result)*len(list) > maxNodeTerms {
			return result, field.ErrorList{field.Forbidden(field.NewPath("spec", "volumes"), fmt.Sprintf(
				"node affinity of the pod and of its volumes have more than %d combinations", maxNodeTerms))}
		}
		var product []corev1.NodeSelectorTerm
		for _, a := range result {
			for _, b := range list {
				product = append(product, corev1.NodeSelectorTerm{
					MatchExpressions: concatenate(a.MatchExpressions, b.MatchExpressions),
					MatchFields:      concatenate(a.MatchFields, b.MatchFields),
				})
			}
		}
		result = product
	}
	return result, nil
}

// An empty term matches no node, but would match any once joined with another.
func withoutEmpty(terms []corev1.NodeSelectorTerm) []corev1.NodeSelectorTerm {
	var result []corev1.NodeSelectorTerm
	for _, term := range terms {
		if len(term.MatchExpressions)+len(term.MatchFields) > 0 {
			result = append(result, term)
		}
	}
	return result
}

func concatenate(a, b []corev1.NodeSelectorRequirement) []corev1.NodeSelectorRequirement {
	return append(a[:len(a):len(a)], b...)
}

func nodeTerm(term corev1.NodeSelectorTerm) *firmament.NodeSelectorTerm {
	return &firmament.NodeSelectorTerm{
		MatchExpressions: nodeRequirements(term.MatchExpressions),
		MatchFields:      nodeRequirements(term.MatchFields),
	}
}

func nodeRequirements(list []corev1.NodeSelectorRequirement) []*firmament.NodeSelectorRequirement {
	var result []*firmament.NodeSelectorRequirement
	for _, requirement := range list {
		result = append(result, &firmament.NodeSelectorRequirement{
			Key: requirement.Key, Operator: string(requirement.Operator), Values: requirement.Values,
		})
	}
	return result
}
