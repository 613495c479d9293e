package report

import (
	"context"
	"fmt"
	"regexp"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/client-go/util/workqueue"

	sluicev1 "github.com/sluice-scheduler/sluice/bridge/internal/api/sluice/v1"
	"github.com/sluice-scheduler/sluice/bridge/internal/feed"
	"github.com/sluice-scheduler/sluice/bridge/internal/work"
)

const (
	// A pod that is placed within its grace was never unschedulable.
	grace = 2 * time.Second
	// How often the reporter looks for pods whose grace is over.
	sweepPause = time.Second
	// The first and the longest pause before the reporter asks for the reason
	// again.
	askAgainMin = 5 * time.Second
	askAgainMax = 2 * time.Minute
	// An explanation visits every machine. The limit keeps the daemon free to
	// decide.
	questionsPerSecond = 20
	// The API server refuses longer notes in events.
	noteBytes = 1024
)

// Cluster is what a reporter asks of the mirror.
type Cluster interface {
	Pod(key string) *corev1.Pod
	// Waits tells whether a pod is ours to place now.
	Waits(pod *corev1.Pod) bool
	// Obstacle says why a pod cannot even be stated to the daemon.
	Obstacle(pod *corev1.Pod) error
	Node(name string) *corev1.Node
	// NodeProblem says why a node takes no pods.
	NodeProblem(node *corev1.Node) error
}

// Reporter tells of pods that wait, of why, and of what became of them.
type Reporter struct {
	client    kubernetes.Interface
	cluster   Cluster
	inspector sluicev1.InspectorClient
	recorder  events.EventRecorder
	metrics   *Metrics

	waiting *waiting
	// Nodes about which the reporter has told something.
	unusable *waiting
	asking   flowcontrol.RateLimiter
	pods     workqueue.TypedRateLimitingInterface[string]
	nodes    workqueue.TypedRateLimitingInterface[string]
}

// New makes a reporter.
func New(client kubernetes.Interface, cluster Cluster, inspector sluicev1.InspectorClient, recorder events.EventRecorder, metrics *Metrics) *Reporter {
	queue := func(name string) workqueue.TypedRateLimitingInterface[string] {
		return workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](askAgainMin, askAgainMax),
			workqueue.TypedRateLimitingQueueConfig[string]{Name: name})
	}
	return &Reporter{
		client:    client,
		cluster:   cluster,
		inspector: inspector,
		recorder:  recorder,
		metrics:   metrics,
		waiting:   newWaiting(),
		unusable:  newWaiting(),
		asking:    flowcontrol.NewTokenBucketRateLimiter(questionsPerSecond, questionsPerSecond),
		pods:      queue("report_pods"),
		nodes:     queue("report_nodes"),
	}
}

// PodChanged says that a pod may have begun or ended to wait. Most pods are
// placed within their grace, and the reporter never looks at them.
func (r *Reporter) PodChanged(key string) {
	pod := r.cluster.Pod(key)
	switch {
	case pod == nil:
		r.pods.Forget(key)
	case !r.cluster.Waits(pod):
		r.pods.Forget(key)
		r.waiting.end(string(pod.UID))
	case time.Since(r.waiting.begin(key, string(pod.UID))) >= grace:
		r.pods.Add(key)
	}
}

// NodeChanged says that a node may have become unusable.
func (r *Reporter) NodeChanged(name string) { r.nodes.Add(name) }

// PodSettled says that a pod is bound or gone.
func (r *Reporter) PodSettled(uid string) { r.waiting.end(uid) }

// TaskProblem notes why the daemon will not place a pod.
func (r *Reporter) TaskProblem(key string, problem feed.Problem) {
	if pod := r.cluster.Pod(key); pod != nil {
		r.waiting.begin(key, string(pod.UID))
		r.waiting.setProblem(string(pod.UID), problem.Message)
		r.pods.Add(key)
	}
}

// MachineProblem tells why the daemon does not take a node as it is.
func (r *Reporter) MachineProblem(name string, problem feed.Problem) {
	if node := r.cluster.Node(name); node != nil {
		r.tellOfNode(node, problem.Message)
	}
}

// Binding is called before a pod is bound. The caller calls bound once it was.
// The API server may show the pod bound before it answers the bind.
func (r *Reporter) Binding(pod *corev1.Pod, node string) (bound func()) {
	since, attempts := r.waiting.attempt(string(pod.UID))
	return func() {
		r.metrics.attempts.WithLabelValues("scheduled", pod.Spec.SchedulerName).Inc()
		r.metrics.latency.WithLabelValues(attempts).Observe(time.Since(since).Seconds())
		r.recorder.Eventf(pod, nil, corev1.EventTypeNormal, "Scheduled", "Binding",
			"Successfully assigned %s/%s to %s", pod.Namespace, pod.Name, node)
	}
}

// BindFailed tells of a pod that waits again.
func (r *Reporter) BindFailed(pod *corev1.Pod, node string, err error) {
	r.metrics.attempts.WithLabelValues("error", pod.Spec.SchedulerName).Inc()
	r.waiting.attempted(string(pod.UID))
	r.recorder.Eventf(pod, nil, corev1.EventTypeWarning, "FailedScheduling", "Binding",
		"%s", cut(fmt.Sprintf("binding to %s: %v", node, err)))
}

// Evicted tells of a pod that was told to stop.
func (r *Reporter) Evicted(pod *corev1.Pod, node string) {
	r.recorder.Eventf(pod, nil, corev1.EventTypeNormal, "Preempted", "Preempting",
		"Stopped on node %s, whose room the scheduler has given to others", node)
}

// Moved tells of a pod that was told to stop, so that its successor runs on
// another node.
func (r *Reporter) Moved(pod *corev1.Pod, to string) {
	r.recorder.Eventf(pod, nil, corev1.EventTypeNormal, "Moved", "Moving",
		"Stopped on node %s; node %s keeps room for its successor", pod.Spec.NodeName, to)
}

// Run reports with so many workers until ctx ends, and waits for those at work.
func (r *Reporter) Run(ctx context.Context, workers int) {
	var running sync.WaitGroup
	running.Go(func() { work.Run(ctx, r.pods, workers, r.reportPod) })
	running.Go(func() { work.Run(ctx, r.nodes, 1, r.reportNode) })
	running.Go(func() { r.sweep(ctx) })
	running.Wait()
}

func (r *Reporter) reportPod(ctx context.Context, key string) (work.Result, error) {
	pod := r.cluster.Pod(key)
	if pod == nil || !r.cluster.Waits(pod) {
		if pod != nil {
			r.waiting.end(string(pod.UID))
		}
		return work.Result{}, nil
	}
	uid := string(pod.UID)
	r.waiting.begin(key, uid)
	if obstacle := r.cluster.Obstacle(pod); obstacle != nil {
		return work.Result{Again: true}, r.tell(ctx, pod, obstacle.Error())
	}
	if problem := r.waiting.problem(uid); problem != "" {
		return work.Result{Again: true}, r.tell(ctx, pod, problem)
	}
	reason, err := r.ask(ctx, uid)
	if err != nil || reason == "" {
		return work.Result{Again: true}, err
	}
	return work.Result{Again: true}, r.tell(ctx, pod, reason)
}

// ask returns why the daemon lets a pod wait; empty: the pod does not wait.
func (r *Reporter) ask(ctx context.Context, uid string) (string, error) {
	if err := r.asking.Wait(ctx); err != nil {
		return "", err
	}
	answer, err := r.inspector.ExplainTask(ctx, &sluicev1.ExplainTaskRequest{Task: uid})
	switch status.Code(err) {
	case codes.NotFound:
		// The feed will have stated the pod by the next time.
		return "", nil
	case codes.Unavailable:
		return daemonAbsent, nil
	}
	if err != nil {
		return "", fmt.Errorf("ask the daemon about pod %s: %w", uid, err)
	}
	switch answer.GetTask().GetState() {
	case sluicev1.Task_PENDING, sluicev1.Task_QUARANTINED:
		return inNodes(answer.GetSummary()), nil
	}
	return "", nil
}

// The reason why a pod waits while no daemon decides.
const daemonAbsent = "the scheduler's daemon does not answer: pods wait until it is back"

var countOfMachines = regexp.MustCompile(`^(\d+/\d+) machines: `)

// inNodes rewords a summary of the daemon as kube-scheduler would. Tools look
// for those words.
func inNodes(summary string) string {
	return countOfMachines.ReplaceAllString(summary, "$1 nodes are available: ")
}

// tell sets the condition and makes an event, if the reason is news.
func (r *Reporter) tell(ctx context.Context, pod *corev1.Pod, reason string) error {
	reason = cut(reason)
	if err := r.setCondition(ctx, pod, reason); err != nil {
		if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			return nil
		}
		return err
	}
	if r.waiting.tell(string(pod.UID), reason) {
		r.waiting.attempted(string(pod.UID))
		r.metrics.attempts.WithLabelValues("unschedulable", pod.Spec.SchedulerName).Inc()
		r.recorder.Eventf(pod, nil, corev1.EventTypeWarning, "FailedScheduling", "Scheduling", "%s", reason)
	}
	return nil
}

func (r *Reporter) reportNode(_ context.Context, name string) (work.Result, error) {
	node := r.cluster.Node(name)
	if node == nil {
		return work.Result{}, nil
	}
	problem := r.cluster.NodeProblem(node)
	if problem == nil {
		return work.Result{}, nil
	}
	if time.Since(node.CreationTimestamp.Time) < grace {
		// A kubelet registers its node first, and states its resources later.
		return work.Result{After: grace}, nil
	}
	r.tellOfNode(node, problem.Error())
	return work.Result{}, nil
}

func (r *Reporter) tellOfNode(node *corev1.Node, problem string) {
	r.unusable.begin(node.Name, string(node.UID))
	if r.unusable.tell(string(node.UID), problem) {
		r.recorder.Eventf(node, nil, corev1.EventTypeWarning, "NotSchedulable", "Scheduling",
			"%s", cut("The scheduler places nothing here: "+problem))
	}
}

// sweep forgets pods that wait no more, counts the others, and queues those
// whose grace is over.
func (r *Reporter) sweep(ctx context.Context) {
	for {
		r.waiting.retain(func(key, uid string) bool {
			pod := r.cluster.Pod(key)
			return pod != nil && string(pod.UID) == uid && r.cluster.Waits(pod)
		})
		r.unusable.retain(func(name, uid string) bool {
			node := r.cluster.Node(name)
			return node != nil && string(node.UID) == uid
		})
		for _, key := range r.waiting.overdue(grace) {
			r.pods.Add(key)
		}
		active, unschedulable := r.waiting.counts()
		r.metrics.pending.WithLabelValues("active").Set(float64(active))
		r.metrics.pending.WithLabelValues("unschedulable").Set(float64(unschedulable))
		select {
		case <-ctx.Done():
			return
		case <-time.After(sweepPause):
		}
	}
}

func cut(text string) string {
	if len(text) <= noteBytes {
		return text
	}
	const ellipsis = "…"
	end := noteBytes - len(ellipsis)
	for end > 0 && text[end]&0xC0 == 0x80 {
		end--
	}
	return text[:end] + ellipsis
}
