package mirror

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-helpers/storage/volume"

	"github.com/sluice-scheduler/sluice/bridge/internal/api/firmament"
	"github.com/sluice-scheduler/sluice/bridge/internal/convert"
)

// A node states this for a driver that it does not limit and others do.
const unlimitedAttachments = 1 << 40

// describe always returns a description that suffices for a pod that runs. The
// error says why a pod that waits may not be placed yet. The description keeps
// the pod off the nodes notOn.
func (m *Mirror) describe(pod *corev1.Pod, notOn ...string) (*firmament.TaskDescription, error) {
	gang, gangErr := m.groups.gang(pod.Namespace, convert.PodGroupName(pod))
	volumes, volumesErr := convert.Volumes(pod, m)
	var elsewhere corev1.NodeSelectorTerm
	for _, node := range notOn {
		elsewhere.MatchFields = append(elsewhere.MatchFields, corev1.NodeSelectorRequirement{
			Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpNotIn, Values: []string{node}})
	}
	if len(notOn) > 0 {
		volumes.NodeTerms = append(volumes.NodeTerms, []corev1.NodeSelectorTerm{elsewhere})
	}
	description, problems := convert.Pod(pod, convert.Surroundings{
		NamespaceLabels: m.namespaceLabels(pod.Namespace),
		Gang:            gang,
		Volumes:         volumes,
		DefaultSpread:   m.defaultSpreadOf(pod),
	})
	errs := []error{gangErr, volumesErr, m.exclusiveClaims(pod)}
	for _, problem := range problems {
		errs = append(errs, problem)
	}
	return description, errors.Join(errs...)
}

func (m *Mirror) namespaceLabels(name string) map[string]string {
	namespace, err := m.namespaceLister.Get(name)
	if err != nil {
		return nil
	}
	return namespace.Labels
}

// Claim implements convert.Storage.
func (m *Mirror) Claim(namespace, name string) (*corev1.PersistentVolumeClaim, error) {
	return m.claimLister.PersistentVolumeClaims(namespace).Get(name)
}

// Volume implements convert.Storage.
func (m *Mirror) Volume(name string) (*corev1.PersistentVolume, error) {
	return m.volumeLister.Get(name)
}

// VolumesFor implements convert.Storage. It skips the volumes of other claims,
// which are most of a large cluster.
func (m *Mirror) VolumesFor(claim *corev1.PersistentVolumeClaim) []*corev1.PersistentVolume {
	class := volume.GetPersistentVolumeClaimClass(claim)
	var result []*corev1.PersistentVolume
	for index, value := range map[string]string{byClass: class, byClaim: claim.Namespace + "/" + claim.Name} {
		objects, err := m.volumes.GetIndexer().ByIndex(index, value)
		if err != nil {
			continue
		}
		for _, object := range objects {
			persistent, ok := object.(*corev1.PersistentVolume)
			if ok && volume.GetPersistentVolumeClass(persistent) == class {
				result = append(result, persistent)
			}
		}
	}
	return result
}

// Class implements convert.Storage.
func (m *Mirror) Class(name string) (*storagev1.StorageClass, error) {
	return m.classLister.Get(name)
}

// HasAttachLimit implements convert.Storage.
func (m *Mirror) HasAttachLimit(driver string) bool {
	return slices.Contains(m.csiNodes.GetIndexer().ListIndexFuncValues(byDriver), driver)
}

// attachLimits returns an amount for every driver that some node limits. The
// daemon takes what a machine does not state as none.
func (m *Mirror) attachLimits(node string) map[string]int64 {
	drivers := m.csiNodes.GetIndexer().ListIndexFuncValues(byDriver)
	if len(drivers) == 0 {
		return nil
	}
	limits := make(map[string]int64, len(drivers))
	for _, driver := range drivers {
		limits[convert.AttachPrefix+driver] = unlimitedAttachments
	}
	csiNode, err := m.csiNodeLister.Get(node)
	if err != nil {
		return limits
	}
	for i := range csiNode.Spec.Drivers {
		driver := &csiNode.Spec.Drivers[i]
		if driver.Allocatable != nil && driver.Allocatable.Count != nil {
			limits[convert.AttachPrefix+driver.Name] = int64(*driver.Allocatable.Count)
		}
	}
	return limits
}

// exclusiveClaims lets one pod at a time have a claim that is ReadWriteOncePod.
// The first of those that wait gets it, so that the daemon never places two.
func (m *Mirror) exclusiveClaims(pod *corev1.Pod) error {
	for _, key := range claimsOf(pod) {
		namespace, name, err := cache.SplitMetaNamespaceKey(key)
		if err != nil {
			return err
		}
		claim, err := m.claimLister.PersistentVolumeClaims(namespace).Get(name)
		if err != nil || !slices.Contains(claim.Spec.AccessModes, corev1.ReadWriteOncePod) {
			continue
		}
		users, err := m.pods.GetIndexer().ByIndex(byClaim, key)
		if err != nil {
			return err
		}
		for _, object := range users {
			if user, ok := object.(*corev1.Pod); ok && m.goesBefore(user, pod) {
				return fmt.Errorf("persistentvolumeclaim %q is ReadWriteOncePod, and pod %q has it", name, user.Name)
			}
		}
	}
	return nil
}

func (m *Mirror) goesBefore(other, pod *corev1.Pod) bool {
	switch {
	case other.UID == pod.UID || isTerminal(other):
		return false
	case other.Spec.NodeName != "":
		return true
	case !m.Waits(other):
		return false
	case !other.CreationTimestamp.Equal(&pod.CreationTimestamp):
		return other.CreationTimestamp.Before(&pod.CreationTimestamp)
	}
	return other.UID < pod.UID
}
