package mirror

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/sluice-scheduler/sluice/bridge/internal/convert"
)

// slim drops what the bridge does not read before an object enters a cache.
// Managed fields and the commands of pods would take most of the memory. Of
// services and controllers the bridge reads only the selectors.
func slim(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	switch object := object.(type) {
	case *corev1.Pod:
		slimPod(object)
	case *corev1.Node:
		object.Status.Images = nil
		object.Status.VolumesInUse = nil
		object.Status.VolumesAttached = nil
	case *policyv1.PodDisruptionBudget:
		object.Annotations = nil
		object.Status.DisruptedPods = nil
		object.Status.Conditions = nil
	case *corev1.Service:
		object.Annotations = nil
		object.Spec = corev1.ServiceSpec{Selector: object.Spec.Selector}
		object.Status = corev1.ServiceStatus{}
	case *corev1.ReplicationController:
		object.Annotations = nil
		object.Spec = corev1.ReplicationControllerSpec{Selector: object.Spec.Selector}
		object.Status = corev1.ReplicationControllerStatus{}
	case *appsv1.ReplicaSet:
		object.Annotations = nil
		object.Spec = appsv1.ReplicaSetSpec{Selector: object.Spec.Selector}
		object.Status = appsv1.ReplicaSetStatus{}
	case *appsv1.StatefulSet:
		object.Annotations = nil
		object.Spec = appsv1.StatefulSetSpec{Selector: object.Spec.Selector}
		object.Status = appsv1.StatefulSetStatus{}
	}
	return object, nil
}

func slimPod(pod *corev1.Pod) {
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			container := &containers[i]
			containers[i] = corev1.Container{
				Name:          container.Name,
				Ports:         container.Ports,
				Resources:     container.Resources,
				RestartPolicy: container.RestartPolicy,
				// kube-scheduler infers from these which features a node must have.
				RestartPolicyRules: container.RestartPolicyRules,
				VolumeMounts:       withBindOptions(container.VolumeMounts),
			}
		}
	}
	pod.Spec.EphemeralContainers = nil
	if isTerminal(pod) && convert.PodGroupName(pod) == "" {
		pod.Spec = corev1.PodSpec{NodeName: pod.Spec.NodeName, SchedulerName: pod.Spec.SchedulerName}
		pod.Status = corev1.PodStatus{Phase: pod.Status.Phase}
	}
}

func withBindOptions(mounts []corev1.VolumeMount) []corev1.VolumeMount {
	var result []corev1.VolumeMount
	for i := range mounts {
		if options := mounts[i].BindMountOptions; len(options) > 0 {
			result = append(result, corev1.VolumeMount{BindMountOptions: options})
		}
	}
	return result
}

func isTerminal(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}
