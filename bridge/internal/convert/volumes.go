package convert

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/storage/volume"
)

// AttachPrefix begins the names of the resources by which attach limits are
// counted. They are the ones under which nodes themselves used to offer them.
const AttachPrefix = "attachable-volumes-csi-"

// Storage looks up what the volumes of pods refer to. Errors of the kind
// NotFound make a pod wait.
type Storage interface {
	Claim(namespace, name string) (*corev1.PersistentVolumeClaim, error)
	Volume(name string) (*corev1.PersistentVolume, error)
	// VolumesFor lists those of the claim's class that are nobody's or its own, in
	// any order.
	VolumesFor(claim *corev1.PersistentVolumeClaim) []*corev1.PersistentVolume
	Class(name string) (*storagev1.StorageClass, error)
	// HasAttachLimit tells whether any node limits the volumes of a driver.
	HasAttachLimit(driver string) bool
}

// VolumeDemand is what the volumes of a pod demand of its node.
type VolumeDemand struct {
	// Of each list one term has to hold.
	NodeTerms [][]corev1.NodeSelectorTerm
	// How much it needs of resources named after AttachPrefix.
	Attachments map[string]int64
	// Claims that get a volume once the node is known. It is filled in also where
	// there is an error.
	Unbound []string
	choices []choice
}

// Volumes follows the claims of pod. An error says for what the pod waits, or
// what cannot be done for it.
func Volumes(pod *corev1.Pod, storage Storage) (VolumeDemand, error) {
	var demand VolumeDemand
	for i := range pod.Spec.Volumes {
		source := &pod.Spec.Volumes[i]
		if isExclusive(source) {
			return demand, field.Forbidden(field.NewPath("spec", "volumes").Index(i),
				fmt.Sprintf("volume %q names a disk; use a PersistentVolumeClaim", source.Name))
		}
		if driver := inlineDriver(source); driver != "" {
			demand.attach(driver, storage)
		}
		name := ClaimName(pod, source)
		if name == "" {
			continue
		}
		claim, err := storage.Claim(pod.Namespace, name)
		if err != nil {
			return demand, fmt.Errorf("volume %q: %w", source.Name, err)
		}
		if source.Ephemeral != nil && !metav1.IsControlledBy(claim, pod) {
			return demand, fmt.Errorf("persistentvolumeclaim %q was not created for this pod", name)
		}
		if err := demand.addClaim(claim, storage); err != nil {
			return demand, err
		}
	}
	return demand, demand.addTogether()
}

// ClaimName is the name of the claim behind a volume, or empty.
func ClaimName(pod *corev1.Pod, source *corev1.Volume) string {
	switch {
	case source.PersistentVolumeClaim != nil:
		return source.PersistentVolumeClaim.ClaimName
	case source.Ephemeral != nil:
		return pod.Name + "-" + source.Name
	}
	return ""
}

// isExclusive is true of disks that a pod names itself and that two pods of one
// node cannot both write: the daemon does not know who uses them.
func isExclusive(source *corev1.Volume) bool {
	return source.GCEPersistentDisk != nil || source.AWSElasticBlockStore != nil ||
		source.ISCSI != nil || source.RBD != nil
}

// inlineDriver is the CSI driver that attaches a disk which a pod names itself,
// of a kind of which two pods of one node can both use one; or empty.
func inlineDriver(source *corev1.Volume) string {
	switch {
	case source.AzureDisk != nil:
		return "disk.csi.azure.com"
	case source.Cinder != nil:
		return "cinder.csi.openstack.org"
	case source.VsphereVolume != nil:
		return "csi.vsphere.vmware.com"
	case source.PortworxVolume != nil:
		return "pxd.portworx.com"
	}
	return ""
}

func (d *VolumeDemand) addClaim(claim *corev1.PersistentVolumeClaim, storage Storage) error {
	if claim.DeletionTimestamp != nil {
		return fmt.Errorf("persistentvolumeclaim %q is being deleted", claim.Name)
	}
	if claim.Status.Phase == corev1.ClaimLost {
		return fmt.Errorf("persistentvolumeclaim %q bound to non-existent persistentvolume %q",
			claim.Name, claim.Spec.VolumeName)
	}
	if claim.Spec.VolumeName == "" {
		return d.addUnbound(claim, storage)
	}
	bound, err := storage.Volume(claim.Spec.VolumeName)
	if err != nil {
		return fmt.Errorf("persistentvolumeclaim %q: %w", claim.Name, err)
	}
	if !metav1.HasAnnotation(claim.ObjectMeta, volume.AnnBindCompleted) {
		return fmt.Errorf("persistentvolumeclaim %q is being bound", claim.Name)
	}
	d.addVolume(bound, storage)
	return nil
}

func (d *VolumeDemand) addVolume(bound *corev1.PersistentVolume, storage Storage) {
	if affinity := bound.Spec.NodeAffinity; affinity != nil && affinity.Required != nil {
		d.NodeTerms = append(d.NodeTerms, affinity.Required.NodeSelectorTerms)
	}
	if terms := zoneTerms(bound.Labels); terms != nil {
		d.NodeTerms = append(d.NodeTerms, terms)
	}
	if csi := bound.Spec.CSI; csi != nil {
		d.attach(csi.Driver, storage)
	}
}

func (d *VolumeDemand) attach(driver string, storage Storage) {
	if !storage.HasAttachLimit(driver) {
		return
	}
	if d.Attachments == nil {
		d.Attachments = make(map[string]int64)
	}
	d.Attachments[AttachPrefix+driver]++
}

// zoneTerms is what the labels of a volume, by which zones were told before
// volumes had node affinity, demand of nodes. A node without any such label is
// in no zone, and takes every volume.
func zoneTerms(labels map[string]string) []corev1.NodeSelectorTerm {
	keys := []string{
		corev1.LabelTopologyZone, corev1.LabelTopologyRegion,
		corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion,
	}
	var inZone, noZone corev1.NodeSelectorTerm
	for _, key := range keys {
		noZone.MatchExpressions = append(noZone.MatchExpressions, corev1.NodeSelectorRequirement{
			Key: key, Operator: corev1.NodeSelectorOpDoesNotExist,
		})
		value, ok := labels[key]
		if !ok {
			continue
		}
		values := strings.Split(value, "__")
		slices.Sort(values)
		inZone.MatchExpressions = append(inZone.MatchExpressions, corev1.NodeSelectorRequirement{
			Key: key, Operator: corev1.NodeSelectorOpIn, Values: values,
		})
	}
	if len(inZone.MatchExpressions) == 0 {
		return nil
	}
	return []corev1.NodeSelectorTerm{inZone, noZone}
}
