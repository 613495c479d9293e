package convert

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-helpers/nodedeclaredfeatures"

	"github.com/sluice-scheduler/sluice/bridge/internal/api/firmament"
)

// featurePrefix begins the labels by which the daemon knows the features that
// nodes declare. No label of Kubernetes can have a capital letter there.
const featurePrefix = "status.declaredFeatures/"

// featureVersion is that of the API types: a later one may no longer ask for a
// feature that all of its nodes have.
var featureVersion = version.MajorMinor(1, 37)

// featureLabels says which features node declares.
func featureLabels(node *corev1.Node) []*firmament.Label {
	var result []*firmament.Label
	for _, name := range node.Status.DeclaredFeatures {
		result = append(result, &firmament.Label{Key: featurePrefix + name})
	}
	return result
}

// featureSelectors says which features pod needs its node to have, as
// kube-scheduler infers them.
func featureSelectors(pod *corev1.Pod) ([]*firmament.LabelSelector, field.ErrorList) {
	framework := nodedeclaredfeatures.DefaultFramework
	set, err := framework.InferForPodScheduling(&nodedeclaredfeatures.PodInfo{Spec: &pod.Spec}, featureVersion)
	if err != nil {
		return nil, field.ErrorList{field.InternalError(field.NewPath("spec"), fmt.Errorf("features of its node: %w", err))}
	}
	names, err := framework.Unmap(set)
	if err != nil {
		return nil, field.ErrorList{field.InternalError(field.NewPath("spec"), fmt.Errorf("features of its node: %w", err))}
	}
	var result []*firmament.LabelSelector
	for _, name := range names {
		result = append(result, &firmament.LabelSelector{
			Type: firmament.LabelSelector_EXISTS_KEY, Key: featurePrefix + name,
		})
	}
	return result, nil
}
