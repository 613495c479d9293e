package convert

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/sluice-scheduler/sluice/bridge/internal/api/firmament"
)

// What the daemon takes as the cost of a stop.
const preemptionCostMax = 100_000

func preemptionPolicy(policy *corev1.PreemptionPolicy) firmament.TaskDescriptor_PreemptionPolicy {
	if policy != nil && *policy == corev1.PreemptNever {
		return firmament.TaskDescriptor_NEVER
	}
	return firmament.TaskDescriptor_PREEMPT_LOWER_PRIORITY
}

// preemptionCost is what a pod says of its deletion. To Kubernetes that only
// orders the pods of a ReplicaSet; here it also tells what is lost when the pod
// is stopped for another. The API server takes no value that is not a number.
func preemptionCost(pod *corev1.Pod) int32 {
	cost, err := strconv.ParseInt(pod.Annotations[corev1.PodDeletionCost], 10, 32)
	if err != nil {
		return 0
	}
	return int32(min(max(cost, 0), preemptionCostMax))
}
