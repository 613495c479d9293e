package bind

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/component-base/metrics"
	"k8s.io/component-helpers/storage/volume"

	"github.com/sluice-scheduler/sluice/bridge/internal/feed"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("k8s.io/klog/v2.(*flushDaemon).run.func1"))
}

// cluster is what the mirror would show.
type cluster struct {
	mu      sync.Mutex
	pods    map[string]*corev1.Pod
	claims  map[string]*corev1.PersistentVolumeClaim
	volumes map[string]*corev1.PersistentVolume
	classes map[string]*storagev1.StorageClass
}

func (c *cluster) Pod(key string) *corev1.Pod {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pods[key]
}

func (c *cluster) Node(name string) *corev1.Node {
	if name == "gone" {
		return nil
	}
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}}}
}

func (c *cluster) Claim(_, name string) (*corev1.PersistentVolumeClaim, error) {
	return find(c, c.claims, "persistentvolumeclaim", name)
}
func (c *cluster) Volume(name string) (*corev1.PersistentVolume, error) {
	return find(c, c.volumes, "persistentvolume", name)
}
func (c *cluster) VolumesFor(claim *corev1.PersistentVolumeClaim) []*corev1.PersistentVolume {
	class := volume.GetPersistentVolumeClaimClass(claim)
	c.mu.Lock()
	defer c.mu.Unlock()
	var result []*corev1.PersistentVolume
	for _, persistent := range c.volumes {
		if persistent.Spec.StorageClassName == class {
			result = append(result, persistent)
		}
	}
	return result
}
func (c *cluster) Class(name string) (*storagev1.StorageClass, error) {
	return find(c, c.classes, "storageclass", name)
}
func (c *cluster) HasAttachLimit(string) bool { return false }

func find[T any](c *cluster, objects map[string]*T, kind, name string) (*T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if object, ok := objects[name]; ok {
		return object, nil
	}
	return nil, apierrors.NewNotFound(corev1.Resource(kind), name)
}

// outcomes of one pod's bind.
type outcomes struct {
	bound, failed, told, evicted chan string
}

func newOutcomes() *outcomes {
	return &outcomes{
		bound: make(chan string, 100), failed: make(chan string, 100),
		told: make(chan string, 100), evicted: make(chan string, 100)}
}

func (o *outcomes) Binding(_ *corev1.Pod, node string) func() { return func() { o.bound <- node } }
func (o *outcomes) BindFailed(_ *corev1.Pod, node string, err error) {
	o.failed <- node + ": " + err.Error()
}
func (o *outcomes) Evicted(_ *corev1.Pod, node string) { o.evicted <- node }

func (o *outcomes) Moved(_ *corev1.Pod, to string) { o.evicted <- "to " + to }
func (o *outcomes) TaskChanged(string)             {}

// What the daemon is told; the method of Reporter has the same name.
type toldFeed struct{ *outcomes }

func (f toldFeed) BindFailed(id, machine, reason string) {
	f.told <- id + " on " + machine + ": " + reason
}

func webPod() *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid-1"}}
}

// start runs a binder whose API server answers binds with errs, one after
// another, and with success from then on.
func start(t *testing.T, pod *corev1.Pod, errs ...error) (*Binder, *outcomes, *cluster, *fake.Clientset) {
	t.Helper()
	client := fake.NewClientset(pod)
	var mu sync.Mutex
	client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if action.GetSubresource() != "binding" {
			return false, nil, nil
		}
		mu.Lock()
		defer mu.Unlock()
		if len(errs) == 0 {
			return true, &corev1.Binding{}, nil
		}
		err := errs[0]
		errs = errs[1:]
		return true, nil, err
	})
	o := newOutcomes()
	c := &cluster{pods: map[string]*corev1.Pod{"shop/web": pod}}
	b := NewBinder(client, c, o, soon, NewMetrics(metrics.NewKubeRegistry()))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.Run(ctx, 4, toldFeed{o})
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return b, o, c, client
}

var placed = feed.Delta{Key: "shop/web", ID: "uid-1", Machine: "n1"}

func next(t *testing.T, what string, from <-chan string) string {
	t.Helper()
	select {
	case got := <-from:
		return got
	case <-time.After(20 * time.Second):
		t.Fatalf("not within 20 s: %s", what)
		return ""
	}
}

func none(t *testing.T, what string, from <-chan string) {
	t.Helper()
	select {
	case got := <-from:
		t.Errorf("%s: %s", what, got)
	case <-time.After(300 * time.Millisecond):
	}
}

var pods = corev1.Resource("pods")

func TestABindThatGotNoAnswerIsRepeated(t *testing.T) {
	b, o, _, _ := start(t, webPod(),
		errors.New("connection reset by peer"), apierrors.NewTimeoutError("slow", 0),
		apierrors.NewServiceUnavailable("starting"), apierrors.NewTooManyRequestsError("later"),
		apierrors.NewInternalError(errors.New("webhook")))
	b.Place(placed)
	if node := next(t, "bound", o.bound); node != "n1" {
		t.Errorf("bound to %s", node)
	}
	none(t, "told the daemon", o.told)
	if node := b.Assumed("uid-1"); node != "n1" {
		t.Errorf("assumed to be on %q until the API server shows it", node)
	}
	b.PodSettled("uid-1")
	if node := b.Assumed("uid-1"); node != "" {
		t.Errorf("still assumed to be on %q", node)
	}
}

func TestABindThatIsRefusedIsToldAfterAPause(t *testing.T) {
	for name, err := range map[string]error{
		"a policy":            apierrors.NewForbidden(pods, "web", errors.New("not there")),
		"an invalid object":   apierrors.NewBadRequest("no"),
		"a conflict, unbound": apierrors.NewConflict(pods, "web", errors.New("busy")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, o, _, _ := start(t, webPod(), err)
			began := time.Now()
			b.Place(placed)
			next(t, "an event", o.failed)
			if node := b.Assumed("uid-1"); node != "n1" && time.Since(began) < failureMin {
				t.Errorf("assumed to be on %q during the pause", node)
			}
			next(t, "told", o.told)
			if pause := time.Since(began); pause < failureMin/2 {
				t.Errorf("told after %v", pause)
			}
			if node := b.Assumed("uid-1"); node != "" {
				t.Errorf("assumed to be on %q", node)
			}
			none(t, "bound", o.bound)
		})
	}
}

func TestAServerThatFailsForGoodIsBelieved(t *testing.T) {
	var errs []error
	for range failuresBelieved + 1 {
		errs = append(errs, apierrors.NewInternalError(errors.New("failed calling webhook")))
	}
	b, o, _, _ := start(t, webPod(), errs...)
	b.Place(placed)
	next(t, "told", o.told)
}

func TestAConflictOfAPodThatIsBoundIsNoFailure(t *testing.T) {
	pod := webPod()
	b, o, c, client := start(t, pod, apierrors.NewConflict(pods, "web", errors.New("already assigned")))
	bound := pod.DeepCopy()
	bound.Spec.NodeName = "n1"
	if err := client.Tracker().Update(corev1.SchemeGroupVersion.WithResource("pods"), bound, "shop"); err != nil {
		t.Fatal(err)
	}
	b.Place(placed)
	none(t, "told the daemon", o.told)
	c.mu.Lock()
	c.pods["shop/web"] = bound
	c.mu.Unlock()
	b.Place(placed)
	none(t, "bound again", o.bound)
}

func TestAPodThatIsGoneIsNotBound(t *testing.T) {
	for name, change := range map[string]func(*corev1.Pod) *corev1.Pod{
		"deleted":     func(*corev1.Pod) *corev1.Pod { return nil },
		"another":     func(p *corev1.Pod) *corev1.Pod { p.UID = "uid-2"; return p },
		"terminating": func(p *corev1.Pod) *corev1.Pod { p.DeletionTimestamp = &metav1.Time{}; return p },
		"bound":       func(p *corev1.Pod) *corev1.Pod { p.Spec.NodeName = "n2"; return p },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, o, c, _ := start(t, webPod())
			c.mu.Lock()
			c.pods["shop/web"] = change(webPod())
			c.mu.Unlock()
			b.Place(placed)
			none(t, "bound", o.bound)
			if node := b.Assumed("uid-1"); node != "" {
				t.Errorf("assumed to be on %q", node)
			}
		})
	}
}

func TestANodeThatIsGoneIsAFailure(t *testing.T) {
	b, o, _, _ := start(t, webPod())
	b.Place(feed.Delta{Key: "shop/web", ID: "uid-1", Machine: "gone"})
	next(t, "told", o.told)
}

func TestTheNewestDecisionCounts(t *testing.T) {
	b, o, _, _ := start(t, webPod(), errors.New("no answer"))
	b.Place(placed)
	b.Place(feed.Delta{Key: "shop/web", ID: "uid-1", Machine: "n2"})
	if node := b.Assumed("uid-1"); node != "n2" {
		t.Errorf("assumed to be on %q", node)
	}
	if node := next(t, "bound", o.bound); node != "n2" {
		t.Errorf("bound to %s", node)
	}
}

func soon() time.Time { return time.Now().Add(Timeout) }

// A leader that was frozen for longer than its lease lasts decides on nothing.
func TestNothingIsBoundAfterTheDeadline(t *testing.T) {
	pod := webPod()
	client := fake.NewClientset(pod)
	o := newOutcomes()
	var leads atomic.Bool
	deadline := func() time.Time {
		if leads.Load() {
			return soon()
		}
		return time.Now().Add(-time.Second)
	}
	b := NewBinder(client, &cluster{pods: map[string]*corev1.Pod{"shop/web": pod}}, o, deadline, NewMetrics(metrics.NewKubeRegistry()))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.Run(ctx, 1, toldFeed{o})
	}()
	defer func() {
		cancel()
		<-done
	}()
	b.Place(placed)
	none(t, "bound after the deadline", o.bound)
	leads.Store(true)
	next(t, "bound when it leads again", o.bound)
}
