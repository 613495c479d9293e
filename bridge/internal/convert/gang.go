package convert

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// PodGroupLabel names the PodGroup of a pod, in the pod's own namespace.
const PodGroupLabel = "scheduling.x-k8s.io/pod-group"

// LegacyPodGroupLabel is what scheduler-plugins read before.
const LegacyPodGroupLabel = "pod-group.scheduling.x-k8s.io"

// PodGroupName is the name of pod's group, or empty.
func PodGroupName(pod *corev1.Pod) string {
	if name := pod.Labels[PodGroupLabel]; name != "" {
		return name
	}
	return pod.Labels[LegacyPodGroupLabel]
}

// PodGroup says what a PodGroup of scheduler-plugins demands.
//
// The daemon takes the minimum of a gang from what it is told first, so a group
// whose minimum changes is another gang, which its pods join.
func PodGroup(group *unstructured.Unstructured) (*Gang, error) {
	minimum, found, err := unstructured.NestedInt64(group.Object, "spec", "minMember")
	if err != nil || !found || minimum < 1 || minimum > 1<<24 {
		return nil, field.Invalid(field.NewPath("PodGroup", "spec", "minMember"), minimum, fmt.Sprintf("must be from 1 to %d", 1<<24))
	}
	return &Gang{
		ID:        fmt.Sprintf("%s/%d", group.GetUID(), minimum),
		Name:      group.GetNamespace() + "/" + group.GetName(),
		MinMember: int32(minimum),
	}, nil
}
