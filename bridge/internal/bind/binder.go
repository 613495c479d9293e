package bind

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"github.com/sluice-scheduler/sluice/bridge/internal/convert"
	"github.com/sluice-scheduler/sluice/bridge/internal/feed"
	"github.com/sluice-scheduler/sluice/bridge/internal/work"
)

// Timeout is how long a bind or an eviction may take. The API server may still
// carry out one that took longer.
const Timeout = 10 * time.Second

const (
	retryMin = 50 * time.Millisecond
	retryMax = 5 * time.Second
	// A pod whose bind failed keeps its node for so long. Without a pause the
	// daemon might choose the same node at once.
	failureMin = time.Second
	failureMax = time.Minute
	// After so many internal errors over one bind, from a webhook for instance,
	// the binder believes that the bind did not take place.
	failuresBelieved = 5
	// How often the binder looks at claims that are being bound.
	volumesPoll = time.Second
)

// Cluster is what a binder asks of the mirror.
type Cluster interface {
	// Pod returns nil if the pod is gone.
	Pod(key string) *corev1.Pod
	// Node returns nil if there is none of that name.
	Node(name string) *corev1.Node
	convert.Storage
}

// Feed is told of binds that failed.
type Feed interface {
	BindFailed(id, machine, reason string)
	TaskChanged(key string)
}

// Reporter is told how binds and evictions end.
type Reporter interface {
	// Binding is called before a pod is bound. The caller calls bound once it
	// was.
	Binding(pod *corev1.Pod, node string) (bound func())
	BindFailed(pod *corev1.Pod, node string, err error)
	Evicted(pod *corev1.Pod, node string)
	// Moved is told of an evicted pod, and of the node that keeps room for its
	// successor.
	Moved(pod *corev1.Pod, to string)
}

// Deadline returns when a request that begins now must have been sent. If it
// has passed, this replica does not lead any more.
type Deadline func() time.Time

// within returns a context for one request. The request outlives ctx, so that
// its result is known.
func (d Deadline) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithDeadline(context.WithoutCancel(ctx), d())
}

// Binder binds pods.
type Binder struct {
	client   kubernetes.Interface
	cluster  Cluster
	reporter Reporter
	deadline Deadline
	metrics  *Metrics

	assumed  *assumptions
	rejected *rejections
	queue    workqueue.TypedRateLimitingInterface[placement]
	failures workqueue.TypedDelayingInterface[failure]
	// Keys of pods whose rejection of a node has run out.
	reconsidered workqueue.TypedDelayingInterface[string]
	backoff      workqueue.TypedRateLimiter[string] // by uid
}

// placement is an item of the binder's queue.
type placement struct {
	key, uid, node string
}

// String implements fmt.Stringer, for logs.
func (p placement) String() string { return p.key + " on " + p.node }

// failure is a failed bind that waits to be told to the daemon.
type failure struct {
	placement
	reason string
}

// NewBinder makes a binder; client should have limits of its own.
func NewBinder(client kubernetes.Interface, cluster Cluster, reporter Reporter, deadline Deadline, metrics *Metrics) *Binder {
	return &Binder{
		client:   client,
		cluster:  cluster,
		reporter: reporter,
		deadline: deadline,
		metrics:  metrics,
		assumed:  newAssumptions(),
		rejected: newRejections(),
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[placement](retryMin, retryMax),
			workqueue.TypedRateLimitingQueueConfig[placement]{Name: "bind"}),
		failures: workqueue.NewTypedDelayingQueueWithConfig(
			workqueue.TypedDelayingQueueConfig[failure]{Name: "bind_failures"}),
		reconsidered: workqueue.NewTypedDelayingQueueWithConfig(
			workqueue.TypedDelayingQueueConfig[string]{Name: "bind_reconsidered"}),
		backoff: workqueue.NewTypedItemExponentialFailureRateLimiter[string](failureMin, failureMax),
	}
}

// Place begins to bind a pod.
func (b *Binder) Place(delta feed.Delta) {
	b.assumed.set(delta.ID, delta.Machine)
	b.countAssumed()
	b.queue.Add(placement{key: delta.Key, uid: delta.ID, node: delta.Machine})
}

// Assumed is the node to which a pod is being bound, or empty.
func (b *Binder) Assumed(uid string) string { return b.assumed.node(uid) }

// Rejected are the nodes from which a pod keeps away for a while.
func (b *Binder) Rejected(uid string) []string { return b.rejected.nodes(uid) }

// PodSettled says that the API server shows a pod bound, or does not have it.
func (b *Binder) PodSettled(uid string) {
	b.assumed.drop(uid)
	b.rejected.forget(uid)
	b.backoff.Forget(uid)
	b.countAssumed()
}

func (b *Binder) countAssumed() { b.metrics.assumed.Set(float64(b.assumed.count())) }

// Run binds with so many workers until ctx ends, and waits for those at work.
func (b *Binder) Run(ctx context.Context, workers int, feed Feed) {
	var running sync.WaitGroup
	running.Go(func() { work.Run(ctx, b.queue, workers, b.sync) })
	running.Go(func() { work.Drain(b.failures, func(item failure) { b.tell(item, feed) }) })
	running.Go(func() { work.Drain(b.reconsidered, feed.TaskChanged) })
	<-ctx.Done()
	b.failures.ShutDown()
	b.reconsidered.ShutDown()
	running.Wait()
}

// tell reports a failed bind to the daemon, if the pod still counts as placed
// there.
func (b *Binder) tell(item failure, feed Feed) {
	if b.assumed.dropAt(item.uid, item.node) {
		// The daemon must know which nodes the pod rejects before the pod waits
		// again.
		feed.TaskChanged(item.key)
		feed.BindFailed(item.uid, item.node, item.reason)
	}
}

func (b *Binder) sync(ctx context.Context, item placement) (work.Result, error) {
	request, cancel := b.deadline.within(ctx)
	defer cancel()
	defer b.countAssumed()
	again, err := b.bind(request, item)
	if err != nil {
		return work.Result{}, fmt.Errorf("bind pod %q to node %q: %w", item.key, item.node, err)
	}
	return work.Result{After: again}, nil
}

// bind returns an error if the result of the bind is unknown, or a time after
// which to look again.
func (b *Binder) bind(ctx context.Context, item placement) (again time.Duration, err error) {
	assumed := b.assumed.get(item.uid, item.node)
	if assumed == nil {
		// The daemon has decided anew.
		return 0, nil
	}
	pod := b.cluster.Pod(item.key)
	if pod == nil || string(pod.UID) != item.uid || pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil {
		b.assumed.dropAt(item.uid, item.node)
		return 0, nil
	}
	node := b.cluster.Node(item.node)
	if node == nil {
		b.fail(ctx, item, pod, fmt.Errorf("node %q is gone", item.node))
		return 0, nil
	}
	ready, err := b.prepareVolumes(ctx, node, pod, assumed)
	var failed *impossibleError
	switch {
	case errors.As(err, &failed):
		// Another node may fit at once.
		b.rejected.add(item.uid, item.node)
		b.reconsidered.AddAfter(item.key, rejectionTime)
		b.backoff.Forget(item.uid)
		b.fail(ctx, item, pod, err)
		return 0, nil
	case err != nil:
		return 0, err
	case !ready:
		return volumesPoll, nil
	}
	if err := ctx.Err(); err != nil {
		return 0, fmt.Errorf("not tried: %w", err)
	}
	tellBound := b.reporter.Binding(pod, item.node)
	startedAt := time.Now()
	err = b.client.CoreV1().Pods(pod.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: item.node},
	}, metav1.CreateOptions{})
	outcome := b.outcomeOf(err, b.queue.NumRequeues(item))
	b.metrics.duration.WithLabelValues(string(outcome)).Observe(time.Since(startedAt).Seconds())
	switch outcome {
	case bound:
		klog.FromContext(ctx).V(3).Info("Bound", "pod", klog.KObj(pod), "node", item.node)
		tellBound()
		return 0, nil
	case unknown:
		return 0, err
	case doubtful:
		return 0, b.settle(ctx, item, pod, err)
	}
	b.fail(ctx, item, pod, err)
	return 0, nil
}

type outcome string

const (
	bound    outcome = "bound"
	refused  outcome = "refused"
	doubtful outcome = "doubtful" // the pod itself tells
	unknown  outcome = "unknown"  // the same bind must be tried again
)

// outcomeOf calls a bind refused only if it has certainly not taken place.
// Until then no other pod may get the room on its node.
func (b *Binder) outcomeOf(err error, tries int) outcome {
	switch {
	case err == nil:
		return bound
	case apierrors.IsNotFound(err), apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return doubtful
	case apierrors.IsInternalError(err) && tries >= failuresBelieved:
		return doubtful
	case apierrors.IsInternalError(err), apierrors.IsTimeout(err), apierrors.IsServerTimeout(err),
		apierrors.IsTooManyRequests(err), apierrors.IsServiceUnavailable(err),
		apierrors.IsUnauthorized(err), apierrors.IsUnexpectedServerError(err):
		return unknown
	case apierrors.ReasonForError(err) == metav1.StatusReasonUnknown:
		// The API server did not answer: the connection broke, for instance.
		return unknown
	}
	return refused
}

// settle asks the API server for the pod itself, to learn how its bind ended.
func (b *Binder) settle(ctx context.Context, item placement, pod *corev1.Pod, bindErr error) error {
	current, err := b.client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), err == nil && current.UID != types.UID(item.uid):
		b.fail(ctx, item, nil, bindErr)
	case err != nil:
		return fmt.Errorf("look up a pod whose bind failed (%w): %w", bindErr, err)
	case current.Spec.NodeName == "":
		b.fail(ctx, item, current, bindErr)
	}
	// Somebody has bound the pod. The mirror will show it.
	return nil
}

// fail reports the failure to the daemon after a pause. pod is nil if it is
// gone.
func (b *Binder) fail(ctx context.Context, item placement, pod *corev1.Pod, err error) {
	klog.FromContext(ctx).Info("Bind failed", "pod", item.key, "node", item.node, "err", err)
	if pod != nil && pod.DeletionTimestamp == nil {
		b.reporter.BindFailed(pod, item.node, err)
	}
	b.failures.AddAfter(failure{placement: item, reason: err.Error()}, b.backoff.When(item.uid))
}
