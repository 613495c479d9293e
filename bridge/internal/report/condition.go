package report

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// setCondition says that pod is unschedulable, and why, unless it says so.
func (r *Reporter) setCondition(ctx context.Context, pod *corev1.Pod, message string) error {
	condition := corev1.PodCondition{
		Type:               corev1.PodScheduled,
		ObservedGeneration: pod.Generation,
		Status:             corev1.ConditionFalse,
		Reason:             corev1.PodReasonUnschedulable,
		Message:            message,
		LastTransitionTime: metav1.Now(),
	}
	for _, known := range pod.Status.Conditions {
		if known.Type != condition.Type {
			continue
		}
		if known.Status == condition.Status && known.Reason == condition.Reason && known.Message == condition.Message {
			return nil
		}
		if known.Status == condition.Status {
			condition.LastTransitionTime = known.LastTransitionTime
		}
	}
	// A strategic merge patch leaves the other conditions as they are, and the uid
	// makes it fail for another pod of that name.
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"status":   map[string]any{"conditions": []corev1.PodCondition{condition}},
	})
	if err != nil {
		return fmt.Errorf("marshal condition: %w", err)
	}
	_, err = r.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name,
		types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil {
		return fmt.Errorf("set condition of pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}
