package convert

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/volume"
)

// Provisions tells whether volumes of a class are made when they are needed.
func Provisions(class *storagev1.StorageClass) bool {
	return class.Provisioner != "" && class.Provisioner != volume.NotSupportedProvisioner
}

// Available lists the volumes that an unbound claim may have, by name. Where
// one is reserved for the claim, it is the only one.
func Available(claim *corev1.PersistentVolumeClaim, storage Storage) (volumes []*corev1.PersistentVolume, reserved bool, err error) {
	for _, candidate := range storage.VolumesFor(claim) {
		match, err := volume.FindMatchingVolume(claim, []*corev1.PersistentVolume{candidate}, nil, nil, false, true)
		switch {
		case err != nil:
			return nil, false, fmt.Errorf("persistentvolumeclaim %q: %w", claim.Name, err)
		case match == nil:
		case volume.IsVolumeBoundToClaim(match, claim):
			return []*corev1.PersistentVolume{match}, true, nil
		// Without a node the search above does not look at access modes.
		case volume.CheckAccessModes(claim, match):
			volumes = append(volumes, match)
		}
	}
	slices.SortFunc(volumes, func(a, b *corev1.PersistentVolume) int { return cmp.Compare(a.Name, b.Name) })
	return volumes, false, nil
}

// addUnbound adds a claim that gets its volume on the node of the pod.
func (d *VolumeDemand) addUnbound(claim *corev1.PersistentVolumeClaim, storage Storage) error {
	className := volume.GetPersistentVolumeClaimClass(claim)
	if className == "" {
		return fmt.Errorf("pod has unbound immediate PersistentVolumeClaims: %q", claim.Name)
	}
	class, err := storage.Class(className)
	if err != nil {
		return fmt.Errorf("persistentvolumeclaim %q: %w", claim.Name, err)
	}
	if class.VolumeBindingMode == nil || *class.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer {
		return fmt.Errorf("pod has unbound immediate PersistentVolumeClaims: %q", claim.Name)
	}
	d.Unbound = append(d.Unbound, claim.Name)
	volumes, reserved, err := Available(claim, storage)
	if err != nil {
		return err
	}
	provisions := Provisions(class) && !reserved
	if node := claim.Annotations[volume.AnnSelectedNode]; node != "" && provisions {
		// The volume is being provisioned there, and the claim gets no other.
		volumes = nil
		d.NodeTerms = append(d.NodeTerms, []corev1.NodeSelectorTerm{{
			MatchFields: []corev1.NodeSelectorRequirement{{
				Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node},
			}},
		}})
	}
	if len(volumes) == 0 && !provisions {
		return fmt.Errorf("persistentvolumeclaim %q didn't find available persistent volumes to bind", claim.Name)
	}
	if !provisions {
		d.choices = append(d.choices, choice{claim: claim, volumes: volumes})
	}
	var places [][]corev1.NodeSelectorTerm
	var drivers []string
	for _, available := range volumes {
		places = append(places, affinityOf(available))
		if csi := available.Spec.CSI; csi != nil {
			drivers = append(drivers, csi.Driver)
		}
	}
	if provisions {
		places = append(places, AllowedTopologies(class))
		drivers = append(drivers, class.Provisioner)
	}
	if terms := anyOf(places); terms != nil {
		d.NodeTerms = append(d.NodeTerms, terms)
	}
	// The driver is not known yet, so there has to be room for each.
	slices.Sort(drivers)
	for _, driver := range slices.Compact(drivers) {
		d.attach(driver, storage)
	}
	return nil
}

// affinityOf returns nil where every node reaches the volume.
func affinityOf(available *corev1.PersistentVolume) []corev1.NodeSelectorTerm {
	if affinity := available.Spec.NodeAffinity; affinity != nil && affinity.Required != nil {
		return affinity.Required.NodeSelectorTerms
	}
	return nil
}

// anyOf joins alternatives, of which nil is every node. Terms that demand one
// label each become one term: there is a local volume for every node, and terms
// are multiplied later.
func anyOf(alternatives [][]corev1.NodeSelectorTerm) []corev1.NodeSelectorTerm {
	var result []corev1.NodeSelectorTerm
	known := make(map[string]bool)
	values := make(map[string][]string)
	var keys []string
	for _, terms := range alternatives {
		if terms == nil {
			return nil
		}
		for _, term := range terms {
			if len(term.MatchFields) == 0 && len(term.MatchExpressions) == 1 &&
				term.MatchExpressions[0].Operator == corev1.NodeSelectorOpIn {
				only := term.MatchExpressions[0]
				if _, ok := values[only.Key]; !ok {
					keys = append(keys, only.Key)
				}
				values[only.Key] = append(values[only.Key], only.Values...)
				continue
			}
			if text := fmt.Sprintf("%q", term); !known[text] {
				known[text] = true
				result = append(result, term)
			}
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		slices.Sort(values[key])
		result = append(result, corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{
			Key: key, Operator: corev1.NodeSelectorOpIn, Values: slices.Compact(values[key]),
		}}})
	}
	return result
}

// AllowedTopologies is where volumes of a class may be made; nil is everywhere.
func AllowedTopologies(class *storagev1.StorageClass) []corev1.NodeSelectorTerm {
	var result []corev1.NodeSelectorTerm
	for _, topology := range class.AllowedTopologies {
		var term corev1.NodeSelectorTerm
		for _, expression := range topology.MatchLabelExpressions {
			term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{
				Key: expression.Key, Operator: corev1.NodeSelectorOpIn, Values: expression.Values,
			})
		}
		if len(term.MatchExpressions) == 0 {
			// A topology without demands allows every node.
			return nil
		}
		result = append(result, term)
	}
	return result
}
