package convert

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	podresource "k8s.io/component-helpers/resource"

	"github.com/sluice-scheduler/sluice/bridge/internal/api/firmament"
)

// The daemon refuses larger amounts; in its units of memory this is 1 PiB.
const maxAmount = 1 << 60

// Requests is what the scheduler reserves for pod on its node.
func Requests(pod *corev1.Pod) corev1.ResourceList {
	return podresource.PodRequests(pod, podresource.PodResourcesOptions{UseStatusResources: true})
}

// rounding says to which side amounts go that a field cannot hold exactly:
// requests up and offers down, so that nothing is promised twice.
type rounding int

const (
	up rounding = iota
	down
)

func resourceVector(list corev1.ResourceList, side rounding, field string) (*firmament.ResourceVector, error) {
	vector := &firmament.ResourceVector{}
	for name, quantity := range list {
		if quantity.Sign() <= 0 {
			// What is not requested is not looked at.
			continue
		}
		switch name {
		case corev1.ResourcePods:
			// Every task counts as one.
		case corev1.ResourceCPU:
			vector.CpuCores = float32Of(milli(quantity, side), side)
		case corev1.ResourceMemory:
			vector.RamCap = thousandths(quantity)
		case corev1.ResourceEphemeralStorage:
			vector.EphemeralCap = thousandths(quantity)
		default:
			value := quantity.Value()
			if value > maxAmount {
				return vector, unsupported(field, "%s of %s is more than the scheduler can count", quantity.String(), name)
			}
			if vector.ExtendedResources == nil {
				vector.ExtendedResources = make(map[string]int64)
			}
			vector.ExtendedResources[string(name)] = value
		}
	}
	if vector.RamCap > maxAmount || vector.EphemeralCap > maxAmount {
		return vector, unsupported(field, "more bytes than the scheduler can count")
	}
	return vector, nil
}

// Quantities round up by themselves.
func milli(quantity resource.Quantity, side rounding) int64 {
	value := quantity.MilliValue()
	if side == down && quantity.Cmp(*resource.NewMilliQuantity(value, resource.DecimalSI)) < 0 {
		value--
	}
	return value
}

// thousandths of a whole number of bytes: fractions of a byte mean nothing.
func thousandths(quantity resource.Quantity) uint64 {
	value := quantity.Value()
	if value > math.MaxInt64/1000 {
		return math.MaxInt64
	}
	return uint64(value) * 1000
}

func float32Of(value int64, side rounding) float32 {
	nearest := float32(value)
	switch {
	case side == up && int64(nearest) < value:
		return math.Nextafter32(nearest, math.MaxFloat32)
	case side == down && int64(nearest) > value:
		return math.Nextafter32(nearest, 0)
	}
	return nearest
}
