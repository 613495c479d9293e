package convert

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sluice-scheduler/sluice/bridge/internal/api/firmament"
)

// ErrNoPods is returned for a node that does not say how many pods it takes.
// To Kubernetes it takes none; the daemon would assume a default.
var ErrNoPods = errors.New("status.allocatable: no pods")

// Node says what node offers. extra is added to what it can allocate.
//
// A machine goes by the name of its node and not by the uid: it is by the name
// that pods are bound, and a node that is made anew has the pods of the old one.
func Node(node *corev1.Node, extra map[string]int64) (*firmament.ResourceTopologyNodeDescriptor, error) {
	pods := node.Status.Allocatable.Pods().Value()
	if pods <= 0 {
		return nil, ErrNoPods
	}
	available, problems := resourceVector(node.Status.Allocatable, down, field.NewPath("status", "allocatable"))
	if len(problems) > 0 {
		return nil, problems.ToAggregate()
	}
	if len(extra) > 0 && available.ExtendedResources == nil {
		available.ExtendedResources = make(map[string]int64, len(extra))
	}
	for name, value := range extra {
		available.ExtendedResources[name] = value
	}
	capacity, problems := resourceVector(node.Status.Capacity, down, field.NewPath("status", "capacity"))
	if len(problems) > 0 {
		capacity = nil
	}
	return &firmament.ResourceTopologyNodeDescriptor{
		ResourceDesc: &firmament.ResourceDescriptor{
			Uuid:               node.Name,
			FriendlyName:       node.Name,
			Type:               firmament.ResourceDescriptor_RESOURCE_MACHINE,
			AvailableResources: available,
			ResourceCapacity:   capacity,
			MaxPods:            uint64(pods),
			Labels:             append(sortedLabels(node.Labels), featureLabels(node)...),
			Taints:             taints(node.Spec.Taints),
			Unschedulable:      node.Spec.Unschedulable,
			Conditions:         badConditions(node.Status.Conditions),
		},
	}, nil
}

func taints(list []corev1.Taint) []*firmament.Taint {
	var result []*firmament.Taint
	for _, taint := range list {
		result = append(result, &firmament.Taint{
			Key: taint.Key, Value: taint.Value, Effect: string(taint.Effect),
		})
	}
	return result
}

// badConditions are those that keep pods off. Good ones are left out, so that
// a node's first report changes nothing.
func badConditions(list []corev1.NodeCondition) []*firmament.MachineCondition {
	var result []*firmament.MachineCondition
	for _, condition := range list {
		good := corev1.ConditionFalse
		switch condition.Type {
		case corev1.NodeReady:
			good = corev1.ConditionTrue
		case corev1.NodeMemoryPressure, corev1.NodeDiskPressure,
			corev1.NodePIDPressure, corev1.NodeNetworkUnavailable:
			if condition.Status == corev1.ConditionUnknown {
				continue
			}
		default:
			continue
		}
		if condition.Status != good {
			result = append(result, &firmament.MachineCondition{
				Type: string(condition.Type), Status: string(condition.Status),
			})
		}
	}
	return result
}
