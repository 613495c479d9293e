package e2e

import (
	"context"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/sluice-scheduler/sluice/bridge/internal/kubetest"
)

// An audit follows the pods of a scene in the order in which the API server
// changes them. An informer would join what happens to one pod.
type audit struct {
	c *kubetest.Cluster
	s *scene

	mu       sync.Mutex
	pods     map[types.UID]auditedPod
	healthy  map[string]int // by app
	outcome  outcome
	changed  time.Time
	lastRuns time.Time // when the last urgent pod began to run
}

type auditedPod struct {
	app                       string
	isBound, isReady, isGoing bool
}

func (p auditedPod) isHealthy() bool { return p.isReady && !p.isGoing }

func startAudit(c *kubetest.Cluster, s *scene) *audit {
	c.T.Helper()
	a := &audit{c: c, s: s, pods: map[types.UID]auditedPod{}, healthy: map[string]int{}, changed: time.Now()}
	ctx, cancel := context.WithCancel(context.Background())
	pods := c.Client.CoreV1().Pods(c.Namespace)
	list, err := pods.List(ctx, metav1.ListOptions{})
	must(c, err)
	for i := range list.Items {
		a.look(apiwatch.Added, &list.Items[i])
	}
	watcher, err := watchtools.NewRetryWatcherWithContext(ctx, list.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (apiwatch.Interface, error) {
			return pods.Watch(ctx, options)
		}})
	must(c, err)
	var running sync.WaitGroup
	running.Go(func() {
		for event := range watcher.ResultChan() {
			pod, isPod := event.Object.(*corev1.Pod)
			if !isPod {
				c.T.Errorf("the watch of pods ends: %v", event.Object)
				return
			}
			a.look(event.Type, pod)
		}
	})
	c.T.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return a
}

func (a *audit) look(event apiwatch.EventType, pod *corev1.Pod) {
	a.mu.Lock()
	defer a.mu.Unlock()
	before, isKnown := a.pods[pod.UID]
	ready := conditionOf(pod, corev1.PodReady)
	now := auditedPod{
		app:     pod.Labels["app"],
		isBound: pod.Spec.NodeName != "",
		isReady: ready != nil && ready.Status == corev1.ConditionTrue,
		isGoing: pod.DeletionTimestamp != nil || event == apiwatch.Deleted,
	}
	if isKnown && now == before && event != apiwatch.Deleted {
		return
	}
	a.changed = time.Now()
	if event == apiwatch.Deleted {
		delete(a.pods, pod.UID)
	} else {
		a.pods[pod.UID] = now
	}
	if before.isHealthy() {
		a.healthy[now.app]--
	}
	if now.isHealthy() {
		a.healthy[now.app]++
	}
	if now.isGoing && !before.isGoing && before.isBound {
		a.stopped(pod, before)
	}
	if now.isHealthy() && isUrgent(pod) {
		a.lastRuns = a.changed
	}
}

func isUrgent(pod *corev1.Pod) bool { return strings.HasPrefix(pod.Name, "urgent-") }

func (a *audit) stopped(pod *corev1.Pod, before auditedPod) {
	if isUrgent(pod) {
		a.c.T.Errorf("the urgent pod %s is stopped", pod.Name)
		return
	}
	a.outcome.cpu += int(pod.Spec.Containers[0].Resources.Requests.Cpu().MilliValue())
	if *pod.Spec.Priority == steadyPriority {
		a.outcome.steady++
	} else {
		a.outcome.others++
	}
	for i := range a.s.deployments {
		d := &a.s.deployments[i]
		if d.name == before.app && before.isReady && a.healthy[d.name] < d.needed() {
			a.outcome.breaks++
		}
	}
}

// wait returns the outcome once all pods run, or nothing has changed for a while.
func (a *audit) wait(began time.Time) outcome {
	for {
		time.Sleep(50 * time.Millisecond)
		a.mu.Lock()
		urgent, others := 0, 0
		isMoving := false
		for _, pod := range a.pods {
			isMoving = isMoving || pod.isGoing
			if !pod.isHealthy() {
				continue
			}
			if pod.app == "" {
				urgent++
			} else {
				others++
			}
		}
		o := a.outcome
		o.placed, o.waiting = urgent, len(a.s.urgent)-urgent
		o.back = o.steady + o.others - (a.s.replicas() - others)
		o.took = a.lastRuns.Sub(began)
		isDone := !isMoving && o.waiting == 0 && others == a.s.replicas()
		isQuiet := time.Since(a.changed) > quietTime
		a.mu.Unlock()
		if isDone || isQuiet {
			return o
		}
	}
}
