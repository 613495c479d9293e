package report

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/component-base/metrics"
)

// cluster has pods that cannot be stated, and notes which are looked at.
type cluster struct {
	mu     sync.Mutex
	pods   map[string]*corev1.Pod
	looked []string
}

func (c *cluster) Pod(key string) *corev1.Pod {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pods[key]
}

func (c *cluster) set(key string, pod *corev1.Pod) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pods[key] = pod
}

func (c *cluster) Obstacle(pod *corev1.Pod) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looked = append(c.looked, pod.Name)
	return errors.New("no words for it")
}

func (c *cluster) Waits(pod *corev1.Pod) bool     { return pod.Spec.NodeName == "" }
func (c *cluster) Node(string) *corev1.Node       { return nil }
func (c *cluster) NodeProblem(*corev1.Node) error { return nil }

func (c *cluster) lookedAt() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.looked, " ")
}

func podOn(name, node string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name)},
		Spec: corev1.PodSpec{NodeName: node}}
}

func TestPodsAreLookedAtOnceTheirGraceIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{pods: map[string]*corev1.Pod{}}
		recorder := events.NewFakeRecorder(10)
		r := New(fake.NewClientset(podOn("late", "")), c, nil, recorder, NewMetrics(metrics.NewKubeRegistry()))
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { r.Run(ctx, 1) })
		defer running.Wait()
		defer cancel()

		time.Sleep(100 * time.Millisecond)
		for _, name := range []string{"late", "soon"} {
			c.set("shop/"+name, podOn(name, ""))
			r.PodChanged("shop/" + name)
		}
		time.Sleep(grace / 2)
		c.set("shop/soon", podOn("soon", "node"))
		r.PodChanged("shop/soon")
		r.PodChanged("shop/late")
		synctest.Wait()
		if got := c.lookedAt(); got != "" {
			t.Errorf("looked at %s within the grace", got)
		}

		time.Sleep(grace/2 + sweepPause)
		synctest.Wait()
		if got := c.lookedAt(); got != "late" {
			t.Errorf("looked at %q after the grace", got)
		}
		select {
		case event := <-recorder.Events:
			if !strings.Contains(event, "FailedScheduling no words for it") {
				t.Errorf("told %q", event)
			}
		default:
			t.Error("nothing was told")
		}

		r.PodChanged("shop/late")
		synctest.Wait()
		if got := c.lookedAt(); got != "late late" {
			t.Errorf("looked at %q after a change", got)
		}
	})
}
