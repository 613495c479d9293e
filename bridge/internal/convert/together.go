package convert

import (
	"errors"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// choice is a claim that gets one of these volumes, and no new one.
type choice struct {
	claim   *corev1.PersistentVolumeClaim
	volumes []*corev1.PersistentVolume
}

// addTogether leaves only places where each claim of a pod gets a volume of its
// own. Each claim by itself would accept a node with one volume for two.
//
// It looks at volumes that demand one value of a label, as local volumes do.
// Others count as if every node reached them. The binder finds out later if
// they do not suffice.
func (d *VolumeDemand) addTogether() error {
	if len(d.choices) < 2 {
		return nil
	}
	slices.SortStableFunc(d.choices, func(a, b choice) int {
		return a.claim.Spec.Resources.Requests.Storage().Cmp(*b.claim.Spec.Resources.Requests.Storage())
	})
	key := d.commonKey()
	values := make(map[string]bool)
	for _, one := range d.choices {
		for _, available := range one.volumes {
			if only := onlyLabel(available); only != nil && only.Key == key {
				for _, value := range only.Values {
					values[value] = true
				}
			}
		}
	}
	if d.suffice("", "") {
		return nil
	}
	var places []string
	for _, value := range slices.Sorted(maps.Keys(values)) {
		if d.suffice(key, value) {
			places = append(places, value)
		}
	}
	if len(places) == 0 {
		return errors.New("no node has enough available persistent volumes to bind for all persistentvolumeclaims")
	}
	d.NodeTerms = append(d.NodeTerms, []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{
		Key: key, Operator: corev1.NodeSelectorOpIn, Values: places}}}})
	return nil
}

// onlyLabel returns the one label that a volume demands of its node, or nil.
func onlyLabel(available *corev1.PersistentVolume) *corev1.NodeSelectorRequirement {
	terms := affinityOf(available)
	if len(terms) != 1 || len(terms[0].MatchFields) > 0 || len(terms[0].MatchExpressions) != 1 ||
		terms[0].MatchExpressions[0].Operator != corev1.NodeSelectorOpIn {
		return nil
	}
	return &terms[0].MatchExpressions[0]
}

// commonKey is the label by which most volumes are bound to a place.
func (d *VolumeDemand) commonKey() string {
	counts := make(map[string]int)
	for _, one := range d.choices {
		for _, available := range one.volumes {
			if only := onlyLabel(available); only != nil {
				counts[only.Key]++
			}
		}
	}
	var common string
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		if counts[key] > counts[common] {
			common = key
		}
	}
	return common
}

// suffice tells whether every claim gets a volume where the label has the
// value. Each claim in turn takes the smallest, as in the binder. Without a key
// only volumes without a place count.
func (d *VolumeDemand) suffice(key, value string) bool {
	taken := make(map[string]bool)
	for _, one := range d.choices {
		var smallest *corev1.PersistentVolume
		for _, available := range one.volumes {
			only := onlyLabel(available)
			isElsewhere := only != nil && (key == "" || only.Key == key && !slices.Contains(only.Values, value))
			if taken[available.Name] || isElsewhere {
				continue
			}
			if smallest == nil || available.Spec.Capacity.Storage().Cmp(*smallest.Spec.Capacity.Storage()) < 0 {
				smallest = available
			}
		}
		if smallest == nil {
			return false
		}
		taken[smallest.Name] = true
	}
	return true
}
