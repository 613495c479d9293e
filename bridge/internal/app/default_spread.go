package app

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

const (
	// What kube-scheduler calls its own default constraints.
	systemSpread = "system"
	noSpread     = "none"
	// What they are.
	systemConstraints = corev1.LabelHostname + "=3," + corev1.LabelTopologyZone + "=5"
)

// parseSpread returns the constraints that --default-spread names. They have no
// selector yet.
func parseSpread(text string) ([]corev1.TopologySpreadConstraint, error) {
	switch text {
	case noSpread:
		return nil, nil
	case systemSpread:
		text = systemConstraints
	}
	var result []corev1.TopologySpreadConstraint
	seen := map[string]bool{}
	for _, part := range strings.Split(text, ",") {
		key, number, found := strings.Cut(part, "=")
		skew, err := strconv.ParseInt(number, 10, 32)
		switch {
		case !found:
			return nil, fmt.Errorf("%q is no KEY=SKEW", part)
		case len(validation.IsQualifiedName(key)) > 0:
			return nil, fmt.Errorf("%q is no key of a label", key)
		case err != nil || skew < 1:
			return nil, fmt.Errorf("%q: %q is no skew, a number of 1 or more", part, number)
		case seen[key]:
			return nil, fmt.Errorf("%q is there twice", key)
		}
		seen[key] = true
		result = append(result, corev1.TopologySpreadConstraint{
			TopologyKey: key, MaxSkew: int32(skew), WhenUnsatisfiable: corev1.ScheduleAnyway})
	}
	return result, nil
}
