package bind

import (
	"context"
	"fmt"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/workqueue"

	"github.com/sluice-scheduler/sluice/bridge/internal/feed"
	"github.com/sluice-scheduler/sluice/bridge/internal/work"
)

// Evictor stops pods through the eviction API, which keeps their disruption
// budgets. Where a budget refuses, the evictor tries again until the pod may go
// or is gone.
type Evictor struct {
	client   kubernetes.Interface
	cluster  Cluster
	reporter Reporter
	deadline Deadline
	queue    workqueue.TypedRateLimitingInterface[eviction]
}

// eviction stops a pod on the node, or makes its successor run there.
type eviction struct {
	placement
	moves bool
}

// NewEvictor makes an evictor.
func NewEvictor(client kubernetes.Interface, cluster Cluster, reporter Reporter, deadline Deadline) *Evictor {
	return &Evictor{
		client:   client,
		cluster:  cluster,
		reporter: reporter,
		deadline: deadline,
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[eviction](retryMin, failureMax),
			workqueue.TypedRateLimitingQueueConfig[eviction]{Name: "evict"}),
	}
}

// Evict begins to stop a pod.
func (e *Evictor) Evict(delta feed.Delta) {
	e.queue.Add(eviction{
		placement: placement{key: delta.Key, uid: delta.ID, node: delta.Machine},
		moves:     delta.Moves,
	})
}

// Run evicts with so many workers until ctx ends, and waits for those at work.
func (e *Evictor) Run(ctx context.Context, workers int) { work.Run(ctx, e.queue, workers, e.sync) }

func (e *Evictor) sync(ctx context.Context, item eviction) (work.Result, error) {
	request, cancel := e.deadline.within(ctx)
	defer cancel()
	return work.Result{}, e.evict(request, item)
}

func (e *Evictor) evict(ctx context.Context, item eviction) error {
	pod := e.cluster.Pod(item.key)
	if pod == nil || string(pod.UID) != item.uid || pod.DeletionTimestamp != nil {
		return nil
	}
	uid := types.UID(item.uid)
	err := e.client.PolicyV1().Evictions(pod.Namespace).Evict(ctx, &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}},
	})
	switch {
	case err == nil && item.moves:
		e.reporter.Moved(pod, item.node)
		return nil
	case err == nil:
		e.reporter.Evicted(pod, item.node)
		return nil
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		// The pod is gone, or another has its name by now.
		return nil
	}
	return fmt.Errorf("evict pod %q: %w", item.key, err)
}
