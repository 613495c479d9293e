package kubetest

import (
	"context"
	"maps"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

const kubeletPoll = 100 * time.Millisecond

// Kubelet stands in for those of some nodes: it runs the pods of one namespace
// that are bound to them, as processes.
type Kubelet struct {
	plane     *ControlPlane
	namespace string
	start     func(*corev1.Pod) []*Process

	mu    sync.Mutex
	nodes map[string]bool
	pods  map[types.UID]runningPod
}

type runningPod struct {
	node      string
	processes []*Process
}

// StartKubelet runs pods until the test ends; start makes processes of one and
// starts them.
func StartKubelet(t testing.TB, plane *ControlPlane, namespace string, start func(*corev1.Pod) []*Process, nodes ...string) *Kubelet {
	t.Helper()
	k := &Kubelet{plane: plane, namespace: namespace, start: start,
		nodes: make(map[string]bool), pods: make(map[types.UID]runningPod)}
	for _, node := range nodes {
		k.nodes[node] = true
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			k.sync(ctx)
			time.Sleep(kubeletPoll)
		}
	})
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return k
}

// Lose ends a node as a loss of power does.
func (k *Kubelet) Lose(node string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.nodes, node)
	maps.DeleteFunc(k.pods, func(_ types.UID, pod runningPod) bool {
		if pod.node != node {
			return false
		}
		pod.kill()
		return true
	})
}

func (p runningPod) kill() {
	for _, process := range p.processes {
		process.Kill()
	}
}

func (k *Kubelet) sync(ctx context.Context) {
	pods := k.plane.Client.CoreV1().Pods(k.namespace)
	list, err := pods.List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	present := make(map[types.UID]bool)
	for i := range list.Items {
		pod := &list.Items[i]
		if !k.nodes[pod.Spec.NodeName] {
			continue
		}
		present[pod.UID] = true
		known, isRunning := k.pods[pod.UID]
		switch {
		case pod.DeletionTimestamp != nil:
			known.kill()
			delete(k.pods, pod.UID)
			_ = pods.Delete(ctx, pod.Name, metav1.DeleteOptions{
				GracePeriodSeconds: ptr.To[int64](0), Preconditions: metav1.NewUIDPreconditions(string(pod.UID))})
		case !isRunning:
			k.pods[pod.UID] = runningPod{node: pod.Spec.NodeName, processes: k.start(pod)}
			fallthrough
		case pod.Status.Phase == corev1.PodPending:
			// Where somebody changed it meanwhile the next time does.
			pod.Status.Phase = corev1.PodRunning
			pod.Status.StartTime = ptr.To(metav1.Now())
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
			_, _ = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
		}
	}
	for uid, pod := range k.pods {
		if !present[uid] {
			pod.kill()
			delete(k.pods, uid)
		}
	}
}
