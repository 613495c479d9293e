package convert

import (
	"cmp"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sluice-scheduler/sluice/bridge/internal/api/firmament"
)

// Gang is a group of pods of which MinMember run, or none.
type Gang struct {
	ID        string
	Name      string
	MinMember int32
}

// Surroundings is what a pod's description takes from other objects.
type Surroundings struct {
	NamespaceLabels map[string]string
	Gang            *Gang
	Volumes         VolumeDemand
	// Constraints of a pod that has none of its own.
	DefaultSpread []corev1.TopologySpreadConstraint
}

// Pod says what pod demands and prefers. Problems are the fields that the daemon
// has no words for; the description, which is never nil, lacks just those. Where
// there are any, it suffices for a pod that runs, and must not be used to place
// one: a pod must not be placed as if it did not demand them.
func Pod(pod *corev1.Pod, around Surroundings) (*firmament.TaskDescription, field.ErrorList) {
	request, problems := resourceVector(Requests(pod), up, field.NewPath("spec", "containers", "resources"))
	for name, count := range around.Volumes.Attachments {
		if request.ExtendedResources == nil {
			request.ExtendedResources = make(map[string]int64)
		}
		request.ExtendedResources[name] += count
	}
	affinity, affinityProblems := affinity(pod.Spec.Affinity, around.Volumes.NodeTerms)
	constraints := pod.Spec.TopologySpreadConstraints
	if len(constraints) == 0 {
		constraints = around.DefaultSpread
	}
	spread, spreadProblems := topologySpread(constraints)
	tolerations, tolerationProblems := tolerations(pod.Spec.Tolerations)
	features, featureProblems := featureSelectors(pod)
	task := &firmament.TaskDescriptor{
		Name:                      pod.Namespace + "/" + pod.Name,
		Namespace:                 pod.Namespace,
		NamespaceLabels:           around.NamespaceLabels,
		ResourceRequest:           request,
		Priority:                  priority(pod.Spec.Priority),
		Labels:                    sortedLabels(pod.Labels),
		LabelSelectors:            append(nodeSelector(pod.Spec.NodeSelector), features...),
		Affinity:                  affinity,
		Toleration:                tolerations,
		HostPorts:                 hostPorts(pod),
		TopologySpreadConstraints: spread,
		PreemptionPolicy:          preemptionPolicy(pod.Spec.PreemptionPolicy),
		PreemptionCost:            preemptionCost(pod),
	}
	job := jobOf(pod, around.Gang)
	task.JobId = job.Uuid
	if owner := metav1.GetControllerOf(pod); owner != nil {
		task.OwnerRefKind, task.OwnerRefUid = owner.Kind, string(owner.UID)
	}
	problems = slices.Concat(problems, affinityProblems, spreadProblems, tolerationProblems, featureProblems, unknown(pod))
	return &firmament.TaskDescription{TaskDescriptor: task, JobDescriptor: job}, problems
}

// unknown refuses what the daemon has no words for at all.
func unknown(pod *corev1.Pod) field.ErrorList {
	var problems field.ErrorList
	if len(pod.Spec.ResourceClaims) > 0 {
		problems = append(problems, field.Forbidden(field.NewPath("spec", "resourceClaims"),
			"dynamic resource allocation is not supported"))
	}
	if pod.Spec.SchedulingGroup != nil {
		problems = append(problems, field.Forbidden(field.NewPath("spec", "schedulingGroup"),
			"pod groups of scheduling.k8s.io are not supported; the label "+PodGroupLabel+" joins one of scheduling.x-k8s.io"))
	}
	return problems
}

func jobOf(pod *corev1.Pod, gang *Gang) *firmament.JobDescriptor {
	if gang != nil {
		return &firmament.JobDescriptor{
			Uuid:                gang.ID,
			Name:                gang.Name,
			IsGangSchedulingJob: true,
			MinNumberOfTasks:    uint64(gang.MinMember),
		}
	}
	if owner := metav1.GetControllerOf(pod); owner != nil {
		return &firmament.JobDescriptor{
			Uuid: string(owner.UID),
			Name: pod.Namespace + "/" + owner.Name,
		}
	}
	return &firmament.JobDescriptor{Uuid: string(pod.UID), Name: pod.Namespace + "/" + pod.Name}
}

// PriorityZero is what the daemon is told for a priority of 0: its priorities
// have no sign, so Kubernetes' signed ones are moved up.
const PriorityZero uint32 = -math.MinInt32

func priority(value *int32) uint32 {
	if value == nil {
		return PriorityZero
	}
	return uint32(int64(*value) + int64(PriorityZero))
}

func sortedLabels(labels map[string]string) []*firmament.Label {
	result := make([]*firmament.Label, 0, len(labels))
	for key, value := range labels {
		result = append(result, &firmament.Label{Key: key, Value: value})
	}
	slices.SortFunc(result, func(a, b *firmament.Label) int { return cmp.Compare(a.Key, b.Key) })
	return result
}

func nodeSelector(selector map[string]string) []*firmament.LabelSelector {
	var result []*firmament.LabelSelector
	for _, label := range sortedLabels(selector) {
		result = append(result, &firmament.LabelSelector{
			Type:   firmament.LabelSelector_IN_SET,
			Key:    label.Key,
			Values: []string{label.Value},
		})
	}
	return result
}

func tolerations(list []corev1.Toleration) ([]*firmament.Toleration, field.ErrorList) {
	var result []*firmament.Toleration
	var problems field.ErrorList
	for i, toleration := range list {
		switch toleration.Operator {
		case "", corev1.TolerationOpEqual, corev1.TolerationOpExists:
		default:
			problems = append(problems, field.NotSupported(
				field.NewPath("spec", "tolerations").Index(i).Child("operator"), toleration.Operator,
				[]corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists}))
			continue
		}
		result = append(result, &firmament.Toleration{
			Key:               toleration.Key,
			Operator:          string(toleration.Operator),
			Value:             toleration.Value,
			Effect:            string(toleration.Effect),
			TolerationSeconds: toleration.TolerationSeconds,
		})
	}
	return result, problems
}

// hostPorts are those of containers that run as long as the pod does: sidecars
// are, other init containers are not.
func hostPorts(pod *corev1.Pod) []*firmament.HostPort {
	var result []*firmament.HostPort
	add := func(container *corev1.Container) {
		for _, port := range container.Ports {
			if port.HostPort <= 0 {
				continue
			}
			result = append(result, &firmament.HostPort{
				Protocol: string(port.Protocol), Address: port.HostIP, Port: port.HostPort,
			})
		}
	}
	for i := range pod.Spec.InitContainers {
		container := &pod.Spec.InitContainers[i]
		if policy := container.RestartPolicy; policy != nil && *policy == corev1.ContainerRestartPolicyAlways {
			add(container)
		}
	}
	for i := range pod.Spec.Containers {
		add(&pod.Spec.Containers[i])
	}
	return result
}
