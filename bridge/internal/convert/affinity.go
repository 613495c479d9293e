package convert

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sluice-scheduler/sluice/bridge/internal/api/firmament"
)

// affinity joins what the pod says with the alternatives that each of its
// volumes leaves.
func affinity(source *corev1.Affinity, volumes [][]corev1.NodeSelectorTerm) (*firmament.Affinity, field.ErrorList) {
	if source == nil {
		source = &corev1.Affinity{}
	}
	node, problems := nodeAffinity(source.NodeAffinity, volumes)
	result := &firmament.Affinity{
		NodeAffinity:    node,
		PodAffinity:     podAffinity(source.PodAffinity),
		PodAntiAffinity: podAntiAffinity(source.PodAntiAffinity),
	}
	if result.NodeAffinity == nil && result.PodAffinity == nil && result.PodAntiAffinity == nil {
		return nil, problems
	}
	return result, problems
}

// labelSelector is a metav1.LabelSelector in either of the daemon's types,
// which mean the same under two names. A nil one means no pod.
type labelSelector struct {
	labels      map[string]string
	expressions []metav1.LabelSelectorRequirement
}

func selectorOf(source *metav1.LabelSelector) *labelSelector {
	if source == nil {
		return nil
	}
	return &labelSelector{labels: source.MatchLabels, expressions: source.MatchExpressions}
}

func (s *labelSelector) near() *firmament.PodLabelSelector {
	if s == nil {
		return nil
	}
	result := &firmament.PodLabelSelector{MatchLabelsMap: s.labels}
	for _, expression := range s.expressions {
		result.MatchExpressions = append(result.MatchExpressions, &firmament.LabelSelectorRequirement{
			Key: expression.Key, Operator: string(expression.Operator), Values: expression.Values,
		})
	}
	return result
}

func (s *labelSelector) away() *firmament.LabelSelectorAntiAff {
	if s == nil {
		return nil
	}
	result := &firmament.LabelSelectorAntiAff{MatchLabelsMap: s.labels}
	for _, expression := range s.expressions {
		result.MatchExpressions = append(result.MatchExpressions, &firmament.LabelSelectorRequirementAntiAff{
			Key: expression.Key, Operator: string(expression.Operator), Values: expression.Values,
		})
	}
	return result
}

// nearTerm leaves out matchLabelKeys and mismatchLabelKeys: the API server has
// merged them into the selector when the pod was made, and by now the pod's
// labels may be others.
func nearTerm(term *corev1.PodAffinityTerm) *firmament.PodAffinityTerm {
	return &firmament.PodAffinityTerm{
		LabelSelector:     selectorOf(term.LabelSelector).near(),
		Namespaces:        term.Namespaces,
		NamespaceSelector: selectorOf(term.NamespaceSelector).near(),
		TopologyKey:       term.TopologyKey,
	}
}

func awayTerm(term *corev1.PodAffinityTerm) *firmament.PodAffinityTermAntiAff {
	return &firmament.PodAffinityTermAntiAff{
		LabelSelector:     selectorOf(term.LabelSelector).away(),
		Namespaces:        term.Namespaces,
		NamespaceSelector: selectorOf(term.NamespaceSelector).away(),
		TopologyKey:       term.TopologyKey,
	}
}

func podAffinity(source *corev1.PodAffinity) *firmament.PodAffinity {
	if source == nil {
		return nil
	}
	result := &firmament.PodAffinity{}
	for i := range source.RequiredDuringSchedulingIgnoredDuringExecution {
		result.RequiredDuringSchedulingIgnoredDuringExecution = append(
			result.RequiredDuringSchedulingIgnoredDuringExecution,
			nearTerm(&source.RequiredDuringSchedulingIgnoredDuringExecution[i]))
	}
	for i := range source.PreferredDuringSchedulingIgnoredDuringExecution {
		weighted := &source.PreferredDuringSchedulingIgnoredDuringExecution[i]
		result.PreferredDuringSchedulingIgnoredDuringExecution = append(
			result.PreferredDuringSchedulingIgnoredDuringExecution,
			&firmament.WeightedPodAffinityTerm{
				Weight: weighted.Weight, PodAffinityTerm: nearTerm(&weighted.PodAffinityTerm),
			})
	}
	return result
}

func podAntiAffinity(source *corev1.PodAntiAffinity) *firmament.PodAntiAffinity {
	if source == nil {
		return nil
	}
	result := &firmament.PodAntiAffinity{}
	for i := range source.RequiredDuringSchedulingIgnoredDuringExecution {
		result.RequiredDuringSchedulingIgnoredDuringExecution = append(
			result.RequiredDuringSchedulingIgnoredDuringExecution,
			awayTerm(&source.RequiredDuringSchedulingIgnoredDuringExecution[i]))
	}
	for i := range source.PreferredDuringSchedulingIgnoredDuringExecution {
		weighted := &source.PreferredDuringSchedulingIgnoredDuringExecution[i]
		result.PreferredDuringSchedulingIgnoredDuringExecution = append(
			result.PreferredDuringSchedulingIgnoredDuringExecution,
			&firmament.WeightedPodAffinityTermAntiAff{
				Weight: weighted.Weight, PodAffinityTerm: awayTerm(&weighted.PodAffinityTerm),
			})
	}
	return result
}
