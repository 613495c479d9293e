package bind

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/workqueue"

	"github.com/sluice-scheduler/sluice/bridge/internal/feed"
	"github.com/sluice-scheduler/sluice/bridge/internal/work"
)

// The daemon may take so long to repeat its nominations, counted from when it
// knows everything. One that waits for a former leader to settle takes 10 s.
const renominationTime = 20 * time.Second

// WaitingPods is what a nominator asks of the mirror.
type WaitingPods interface {
	// Pod returns nil if the pod is gone.
	Pod(key string) *corev1.Pod
	// Waits tells whether a pod is ours to place now.
	Waits(pod *corev1.Pod) bool
}

// Nominator writes to pods that wait on which node room is kept for them:
// status.nominatedNodeName.
type Nominator struct {
	client   kubernetes.Interface
	pods     WaitingPods
	assumed  func(uid string) string
	deadline Deadline
	queue    workqueue.TypedRateLimitingInterface[nominee]

	mu sync.Mutex
	// The nominations of the daemon since it was last told everything, by uid.
	// With an empty node, room is kept no longer.
	nominated map[string]nomination
	// The node that was written last, by uid. The mirror may not show it yet.
	written map[string]string
	// When the daemon was last told everything; zero means not yet.
	restatedAt time.Time
}

// nominee is an item of the nominator's queue.
type nominee struct {
	key, uid string
}

// String implements fmt.Stringer, for logs.
func (n nominee) String() string { return n.key }

type nomination struct {
	key, node string
}

// NewNominator makes a nominator. assumed is the node to which a pod is being
// bound, or empty.
func NewNominator(client kubernetes.Interface, pods WaitingPods, assumed func(uid string) string, deadline Deadline) *Nominator {
	return &Nominator{
		client:   client,
		pods:     pods,
		assumed:  assumed,
		deadline: deadline,
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[nominee](retryMin, failureMax),
			workqueue.TypedRateLimitingQueueConfig[nominee]{Name: "nominate"}),
		nominated: make(map[string]nomination),
		written:   make(map[string]string),
	}
}

// Nominate says where room is kept for a pod. With an empty machine, none is
// kept.
func (n *Nominator) Nominate(delta feed.Delta) {
	n.mu.Lock()
	n.nominated[delta.ID] = nomination{key: delta.Key, node: delta.Machine}
	n.mu.Unlock()
	n.queue.Add(nominee{key: delta.Key, uid: delta.ID})
}

// Placed says that a pod is being bound. If the bind fails and room is kept for
// the pod again, the daemon nominates it again.
func (n *Nominator) Placed(delta feed.Delta) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.forget(delta.ID)
}

// Restated says that the daemon was told everything, and nominates anew.
func (n *Nominator) Restated() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.restatedAt = time.Now()
	for uid := range n.nominated {
		n.forget(uid)
	}
}

// forget drops a nomination, and checks the pod later: it may have no other by
// then.
func (n *Nominator) forget(uid string) {
	if known, ok := n.nominated[uid]; ok {
		delete(n.nominated, uid)
		n.queue.AddAfter(nominee{key: known.key, uid: uid}, renominationTime)
	}
}

// PodChanged looks for pods that were nominated before this term. The nominator
// leaves alone what others write later.
func (n *Nominator) PodChanged(key string) {
	pod := n.pods.Pod(key)
	if pod == nil || pod.Status.NominatedNodeName == "" || !n.pods.Waits(pod) {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, isNominated := n.nominated[string(pod.UID)]; !isNominated && n.settlesIn() > 0 {
		n.queue.AddAfter(nominee{key: key, uid: string(pod.UID)}, renominationTime)
	}
}

// PodSettled says that the API server shows a pod bound, or does not have it.
func (n *Nominator) PodSettled(uid string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.nominated, uid)
	delete(n.written, uid)
}

// settlesIn is how long a pod may yet be nominated anew.
func (n *Nominator) settlesIn() time.Duration {
	if n.restatedAt.IsZero() {
		return renominationTime
	}
	return max(0, renominationTime-time.Since(n.restatedAt))
}

// Run writes with so many workers until ctx ends, and waits for those at work.
func (n *Nominator) Run(ctx context.Context, workers int) { work.Run(ctx, n.queue, workers, n.sync) }

func (n *Nominator) sync(ctx context.Context, item nominee) (work.Result, error) {
	request, cancel := n.deadline.within(ctx)
	defer cancel()
	pod := n.pods.Pod(item.key)
	if pod == nil || string(pod.UID) != item.uid || !n.pods.Waits(pod) {
		return work.Result{}, nil
	}
	if n.assumed(item.uid) != "" {
		return work.Result{After: renominationTime}, nil
	}
	node, shown, again := n.wanted(pod)
	if again > 0 || node == shown {
		return work.Result{After: again}, nil
	}
	if err := n.write(request, pod, node); err != nil {
		if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			// The pod is gone, or another has its name by now.
			return work.Result{}, nil
		}
		return work.Result{}, fmt.Errorf("nominate node %q for pod %q: %w", node, item.key, err)
	}
	n.mu.Lock()
	n.written[item.uid] = node
	n.mu.Unlock()
	return work.Result{}, nil
}

// wanted returns the node to write and the node that the pod shows, or how long
// the daemon may still take to nominate one.
func (n *Nominator) wanted(pod *corev1.Pod) (node, shown string, again time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	shown, wasWritten := n.written[string(pod.UID)]
	if !wasWritten {
		shown = pod.Status.NominatedNodeName
	}
	known, isNominated := n.nominated[string(pod.UID)]
	if !isNominated && shown != "" {
		again = n.settlesIn()
	}
	return known.node, shown, again
}

func (n *Nominator) write(ctx context.Context, pod *corev1.Pod, node string) error {
	// The uid makes it fail for another pod of that name.
	status := map[string]any{"nominatedNodeName": nil}
	if node != "" {
		status["nominatedNodeName"] = node
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"status":   status,
	})
	if err != nil {
		return err
	}
	_, err = n.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name,
		types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}
