package convert

import (
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
	podresource "k8s.io/component-helpers/resource"

	"github.com/sluice-scheduler/sluice/bridge/internal/api/firmament"
)

// The daemon refuses larger amounts; in its units of memory this is 1 PiB.
const maxAmount = 1 << 60

// Requests is what the scheduler reserves for pod on its node.
func Requests(pod *corev1.Pod) corev1.ResourceList {
	return podresource.PodRequests(pod, podresource.PodResourcesOptions{UseStatusResources: true})
}

// rounding is for amounts that a field cannot hold exactly. Requests are
// rounded up and offers down, so that nothing is promised twice.
type rounding int

const (
	up rounding = iota
	down
)

// resourceVector leaves out amounts that the daemon cannot count, and names them
// as problems below path.
func resourceVector(list corev1.ResourceList, side rounding, path *field.Path) (*firmament.ResourceVector, field.ErrorList) {
	vector := &firmament.ResourceVector{}
	var problems field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(list)) {
		quantity := list[name]
		if quantity.Sign() <= 0 {
			// A resource that is not requested has no effect.
			continue
		}
		if amount(name, quantity) > maxAmount {
			problems = append(problems, field.Invalid(path.Key(string(name)), quantity.String(), "is more than the scheduler can count"))
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
			if vector.ExtendedResources == nil {
				vector.ExtendedResources = make(map[string]int64)
			}
			vector.ExtendedResources[string(name)] = quantity.Value()
		}
	}
	return vector, problems
}

// amount returns a quantity in the units in which the daemon counts the
// resource. It returns 0 for processors, of which the daemon takes any number.
func amount(name corev1.ResourceName, quantity resource.Quantity) uint64 {
	switch name {
	case corev1.ResourceCPU, corev1.ResourcePods:
		return 0
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return thousandths(quantity)
	}
	return uint64(quantity.Value())
}

// Quantities round up by themselves.
func milli(quantity resource.Quantity, side rounding) int64 {
	value := quantity.MilliValue()
	if side == down && quantity.Cmp(*resource.NewMilliQuantity(value, resource.DecimalSI)) < 0 {
		value--
	}
	return value
}

// thousandths rounds up to whole bytes first: fractions of a byte mean nothing.
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
