package bind

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/volume"

	"github.com/sluice-scheduler/sluice/bridge/internal/convert"
)

// As long as kube-scheduler waits by default.
const provisionTimeout = 10 * time.Minute

// impossibleError says that a pod cannot run where it was placed.
type impossibleError struct{ reason string }

func (e *impossibleError) Error() string { return e.reason }

func impossible(format string, args ...any) error {
	return &impossibleError{reason: fmt.Sprintf(format, args...)}
}

// provision tells the claims of pod that wait for their first consumer which
// node that is on, and returns whether all are bound.
func (b *Binder) provision(ctx context.Context, item placement, pod *corev1.Pod, assumed *assumption) (ready bool, err error) {
	demand, obstacle := convert.Volumes(pod, b.cluster)
	for _, name := range demand.ToProvision {
		claim, err := b.cluster.Claim(pod.Namespace, name)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("look up claim %q: %w", name, err)
		}
		before, wasTold := assumed.told[name]
		switch selected := claim.Annotations[volume.AnnSelectedNode]; {
		case selected == item.node:
			assumed.told[name] = ""
		case selected != "":
			return false, impossible("claim %q is being provisioned for node %q", name, selected)
		case wasTold && before != claim.ResourceVersion:
			return false, impossible("claim %q cannot be provisioned for node %q", name, item.node)
		case !wasTold:
			if err := b.selectNode(ctx, claim, item.node); err != nil {
				return false, err
			}
			assumed.told[name] = claim.ResourceVersion
		}
	}
	if len(demand.ToProvision) == 0 && obstacle == nil {
		return true, nil
	}
	if time.Since(assumed.since) > provisionTimeout {
		return false, impossible("volumes were not bound within %v", provisionTimeout)
	}
	return false, nil
}

func (b *Binder) selectNode(ctx context.Context, claim *corev1.PersistentVolumeClaim, node string) error {
	changed := claim.DeepCopy()
	metav1.SetMetaDataAnnotation(&changed.ObjectMeta, volume.AnnSelectedNode, node)
	if _, err := b.client.CoreV1().PersistentVolumeClaims(claim.Namespace).Update(ctx, changed, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("select node %q for claim %q: %w", node, claim.Name, err)
	}
	return nil
}
