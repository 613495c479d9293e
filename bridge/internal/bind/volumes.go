package bind

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/storage/volume"

	"github.com/sluice-scheduler/sluice/bridge/internal/convert"
)

// kube-scheduler waits so long by default.
const volumesTimeout = 10 * time.Minute

// impossibleError says that a pod cannot run where it was placed.
type impossibleError struct{ reason string }

func (e *impossibleError) Error() string { return e.reason }

func impossible(format string, args ...any) error {
	return &impossibleError{reason: fmt.Sprintf(format, args...)}
}

// prepareVolumes gives the claims of pod that wait for their first consumer a
// volume that node reaches, or tells them the node where one has to be made. It
// returns whether all claims are bound.
func (b *Binder) prepareVolumes(ctx context.Context, node *corev1.Node, pod *corev1.Pod, assumed *assumption) (ready bool, err error) {
	demand, obstacle := convert.Volumes(pod, b.cluster)
	if len(demand.Unbound) == 0 && obstacle == nil {
		// A claim may have been bound for another pod meanwhile.
		return true, reaches(node, demand.NodeTerms)
	}
	claims, err := b.unbound(pod.Namespace, demand.Unbound)
	if err != nil {
		return false, err
	}
	chosen, err := b.assumed.reserve(assumed, func(mine, others map[types.UID]string) (map[types.UID]string, error) {
		return b.chooseAll(claims, node, assumed, mine, others)
	})
	if err != nil {
		return false, err
	}
	for _, claim := range claims {
		if name := chosen[claim.UID]; name != "" {
			err = b.give(ctx, name, claim, assumed)
		} else {
			err = b.provision(ctx, claim, node.Name, assumed)
		}
		if err != nil {
			return false, err
		}
	}
	if time.Since(assumed.since) > volumesTimeout {
		return false, impossible("volumes were not bound within %v", volumesTimeout)
	}
	return false, nil
}

func reaches(node *corev1.Node, lists [][]corev1.NodeSelectorTerm) error {
	for _, terms := range lists {
		if ok, err := corev1helpers.MatchNodeSelectorTerms(node, &corev1.NodeSelector{NodeSelectorTerms: terms}); err != nil || !ok {
			return impossible("node %q does not reach a volume of the pod", node.Name)
		}
	}
	return nil
}

// unbound lists claims by size. The smallest chooses first, and so leaves the
// larger volumes to those that need them.
func (b *Binder) unbound(namespace string, names []string) ([]*corev1.PersistentVolumeClaim, error) {
	var claims []*corev1.PersistentVolumeClaim
	for _, name := range names {
		claim, err := b.cluster.Claim(namespace, name)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("look up claim %q: %w", name, err)
		}
		claims = append(claims, claim)
	}
	slices.SortStableFunc(claims, func(a, b *corev1.PersistentVolumeClaim) int {
		return a.Spec.Resources.Requests.Storage().Cmp(*b.Spec.Resources.Requests.Storage())
	})
	return claims, nil
}

// chooseAll returns the volume of each claim that gets one. mine is what it has
// chosen before for this pod, and others is what the claims of other pods get.
func (b *Binder) chooseAll(claims []*corev1.PersistentVolumeClaim, node *corev1.Node, assumed *assumption, mine, others map[types.UID]string) (map[types.UID]string, error) {
	chosen := make(map[types.UID]string)
	for _, claim := range claims {
		taken := make(map[string]*corev1.PersistentVolume)
		for _, reserved := range []map[types.UID]string{others, chosen} {
			for uid, name := range reserved {
				if uid != claim.UID {
					taken[name] = nil
				}
			}
		}
		// Another pod may have the same claim, and its volume was chosen then.
		before, shared := others[claim.UID]
		if !shared {
			before = mine[claim.UID]
		}
		name, err := b.choose(claim, node, assumed, taken, before, shared)
		if err != nil {
			return nil, err
		}
		if name != "" {
			chosen[claim.UID] = name
		}
	}
	return chosen, nil
}

// choose returns the volume for a claim, or nothing if one has to be made. It
// stays with the volume that was chosen before if that still fits; mustStay
// allows no other.
func (b *Binder) choose(claim *corev1.PersistentVolumeClaim, node *corev1.Node, assumed *assumption, taken map[string]*corev1.PersistentVolume, before string, mustStay bool) (string, error) {
	class, err := b.cluster.Class(volume.GetPersistentVolumeClaimClass(claim))
	if err != nil {
		return "", fmt.Errorf("look up the class of claim %q: %w", claim.Name, err)
	}
	volumes, reserved, err := convert.Available(claim, b.cluster)
	if err != nil {
		return "", impossible("%v", err)
	}
	provisions := convert.Provisions(class) && !reserved
	_, told := assumed.told[claim.Name]
	if provisions && (told || claim.Annotations[volume.AnnSelectedNode] != "") {
		return "", nil
	}
	find := func(among []*corev1.PersistentVolume) *corev1.PersistentVolume {
		match, err := volume.FindMatchingVolume(claim, among, node, taken, false, true)
		if err != nil {
			return nil
		}
		return match
	}
	index := slices.IndexFunc(volumes, func(v *corev1.PersistentVolume) bool { return v.Name == before })
	if index >= 0 {
		if match := find(volumes[index : index+1]); match != nil {
			return match.Name, nil
		}
	}
	if mustStay {
		return "", impossible("claim %q is given volume %q for another pod", claim.Name, before)
	}
	if match := find(volumes); match != nil {
		return match.Name, nil
	}
	if !provisions {
		return "", impossible("claim %q didn't find available persistent volumes to bind on node %q", claim.Name, node.Name)
	}
	if terms := convert.AllowedTopologies(class); terms != nil && reaches(node, [][]corev1.NodeSelectorTerm{terms}) != nil {
		return "", impossible("claim %q cannot be provisioned for node %q: its class does not allow it", claim.Name, node.Name)
	}
	return "", nil
}

// give writes on a volume which claim it is for. The controller of volumes then
// binds the two.
func (b *Binder) give(ctx context.Context, name string, claim *corev1.PersistentVolumeClaim, assumed *assumption) error {
	available, err := b.cluster.Volume(name)
	if err != nil {
		return fmt.Errorf("look up volume %q: %w", name, err)
	}
	if assumed.given[name] == available.ResourceVersion && available.ResourceVersion != "" {
		// The volume was written, and the API server does not show it yet.
		return nil
	}
	changed, dirty, err := volume.GetBindVolumeToClaim(available, claim)
	if err != nil {
		return fmt.Errorf("give volume %q to claim %q: %w", name, claim.Name, err)
	}
	if !dirty {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("not tried: %w", err)
	}
	// The API server compares the resource version, and refuses if somebody else
	// was faster.
	if _, err := b.client.CoreV1().PersistentVolumes().Update(ctx, changed, metav1.UpdateOptions{}); err != nil {
		return b.written(fmt.Errorf("give volume %q to claim %q: %w", name, claim.Name, err))
	}
	assumed.given[name] = available.ResourceVersion
	return nil
}

// provision tells a claim for which node its volume has to be made.
func (b *Binder) provision(ctx context.Context, claim *corev1.PersistentVolumeClaim, node string, assumed *assumption) error {
	before, wasTold := assumed.told[claim.Name]
	switch selected := claim.Annotations[volume.AnnSelectedNode]; {
	case selected == node:
		assumed.told[claim.Name] = ""
	case selected != "":
		return impossible("claim %q is being provisioned for node %q", claim.Name, selected)
	case wasTold && before != claim.ResourceVersion:
		return impossible("claim %q cannot be provisioned for node %q", claim.Name, node)
	case !wasTold:
		if err := b.selectNode(ctx, claim, node); err != nil {
			return err
		}
		assumed.told[claim.Name] = claim.ResourceVersion
	}
	return nil
}

func (b *Binder) selectNode(ctx context.Context, claim *corev1.PersistentVolumeClaim, node string) error {
	changed := claim.DeepCopy()
	metav1.SetMetaDataAnnotation(&changed.ObjectMeta, volume.AnnSelectedNode, node)
	if _, err := b.client.CoreV1().PersistentVolumeClaims(claim.Namespace).Update(ctx, changed, metav1.UpdateOptions{}); err != nil {
		return b.written(fmt.Errorf("select node %q for claim %q: %w", node, claim.Name, err))
	}
	return nil
}

// written turns a write that was refused for good into an impossible bind.
// After any other failure the mirror shows later whether the write took place.
func (b *Binder) written(err error) error {
	if b.outcomeOf(err, 0) == refused {
		return impossible("%v", err)
	}
	return err
}
