package app

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	kubetesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/component-base/metrics"
	"k8s.io/klog/v2"

	sluicev1 "github.com/sluice-scheduler/sluice/bridge/internal/api/sluice/v1"
	"github.com/sluice-scheduler/sluice/bridge/internal/bind"
	"github.com/sluice-scheduler/sluice/bridge/internal/daemontest"
	"github.com/sluice-scheduler/sluice/bridge/internal/feed"
	"github.com/sluice-scheduler/sluice/bridge/internal/mirror"
	"github.com/sluice-scheduler/sluice/bridge/internal/report"
	"github.com/sluice-scheduler/sluice/bridge/internal/usage"
)

func TestAStandbyIsSureOnceItsOwnPodHasCome(t *testing.T) {
	s := &standby{own: "sluice/pair-0", news: make(chan struct{}, 1)}
	s.PodSeen("sluice/pair-0", "99")
	s.PodSeen("sluice/pair-1", "5000")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := s.awaitOwn(ctx, "100"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("sure by an older change, or by another's pod: %v", err)
	}
	came := make(chan error, 1)
	go func() { came <- s.awaitOwn(t.Context(), "100") }()
	for _, version := range []string{"99", "100"} {
		s.PodSeen("sluice/pair-0", version)
	}
	if err := <-came; err != nil {
		t.Error(err)
	}
	s.PodSeen("sluice/pair-0", "101")
	if err := s.awaitOwn(t.Context(), "100"); err != nil {
		t.Errorf("not sure by a newer change: %v", err)
	}
	s.PodSeen("sluice/pair-0", "odd")
	if err := s.awaitOwn(t.Context(), "100"); err == nil {
		t.Error("sure by what is no resource version")
	}
}

// server is as much of an API server as pairs need: it binds pods, and numbers
// the changes of their status.
type server struct {
	*fake.Clientset
	mu      sync.Mutex
	version int
	mute    bool // changes of conditions get lost on the way to watches
}

func newServer(t *testing.T, objects ...runtime.Object) *server {
	t.Helper()
	s := &server{Clientset: fake.NewClientset(objects...), version: 1000}
	pods := corev1.SchemeGroupVersion.WithResource("pods")
	change := func(namespace, name string, change func(*corev1.Pod)) (runtime.Object, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		object, err := s.Tracker().Get(pods, namespace, name)
		if err != nil {
			return nil, err
		}
		pod := object.(*corev1.Pod).DeepCopy()
		s.version++
		pod.ResourceVersion = strconv.Itoa(s.version)
		change(pod)
		if s.mute && pod.Spec.SchedulerName == "nobody" {
			return pod, nil
		}
		return pod, s.Tracker().Update(pods, pod, namespace)
	}
	s.PrependReactor("create", "pods", func(action kubetesting.Action) (bool, runtime.Object, error) {
		if action.GetSubresource() != "binding" {
			return false, nil, nil
		}
		binding := action.(kubetesting.CreateAction).GetObject().(*corev1.Binding)
		pod, err := change(action.GetNamespace(), binding.Name, func(pod *corev1.Pod) { pod.Spec.NodeName = binding.Target.Name })
		return true, pod, err
	})
	s.PrependReactor("patch", "pods", func(action kubetesting.Action) (bool, runtime.Object, error) {
		pod, err := change(action.GetNamespace(), action.(kubetesting.PatchAction).GetName(), func(*corev1.Pod) {})
		return true, pod, err
	})
	return s
}

func node(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name},
		Status: corev1.NodeStatus{
			Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("110")},
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}}
}

func pod(namespace, name, scheduler string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(name), ResourceVersion: "1"},
		Spec: corev1.PodSpec{SchedulerName: scheduler, Containers: []corev1.Container{{Name: "main",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending}}
}

func (s *server) add(t *testing.T, name string) {
	t.Helper()
	if _, err := s.CoreV1().Pods("shop").Create(t.Context(), pod("shop", name, "sluice"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (s *server) nodeOf(name string) string {
	pod, err := s.CoreV1().Pods("shop").Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		return ""
	}
	return pod.Spec.NodeName
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if is() {
			return
		}
	}
	t.Fatalf("not so within 20 s: %s", what)
}

// onePair is a bridge with a daemon of its own.
type onePair struct {
	*Bridge
	daemon *daemontest.Daemon
	end    func()
}

func startPair(t *testing.T, s *server, name string) *onePair {
	t.Helper()
	p := &onePair{daemon: daemontest.Start(t)}
	options := NewOptions()
	options.DaemonAddress, options.HTTPAddress, options.UsageInterval = p.daemon.Address, "", 0
	options.Standby, options.PodName = true, name
	election := &options.LeaderElection
	election.ResourceNamespace = "sluice"
	election.LeaseDuration.Duration, election.RenewDeadline.Duration, election.RetryPeriod.Duration = 30*time.Second, 20*time.Second, 200*time.Millisecond
	if err := options.Validate(); err != nil {
		t.Fatal(err)
	}
	connection, err := dialDaemon(options)
	if err != nil {
		t.Fatal(err)
	}
	registry := metrics.NewKubeRegistry()
	p.Bridge = &Bridge{options: options, client: s, binding: s, recording: s, daemon: connection, registry: registry,
		feeds: feed.NewMetrics(registry), binds: bind.NewMetrics(registry), reports: report.NewMetrics(registry),
		usages: usage.NewMetrics(registry), watchdog: leaderelection.NewLeaderHealthzAdaptor(watchdogTolerance)}
	p.mirror, err = mirror.New(s, dynamicfake.NewSimpleDynamicClient(runtime.NewScheme()), s.Discovery(), options.Schedulers, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), klog.Background()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := p.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	p.end = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	t.Cleanup(p.end)
	return p
}

func (p *onePair) state(t *testing.T) sluicev1.FeedState_State {
	status, err := sluicev1.NewInspectorClient(p.Bridge.daemon).GetStatus(t.Context(), &sluicev1.GetStatusRequest{})
	if err != nil || len(status.GetFeeds()) != 1 {
		return sluicev1.FeedState_STATE_UNSPECIFIED
	}
	return status.GetFeeds()[0].GetState()
}

func (s *server) withPairs(t *testing.T) (leader, other *onePair) {
	t.Helper()
	leader = startPair(t, s, "pair-0")
	eventually(t, "the first leads", func() bool { return leader.state(t) == sluicev1.FeedState_LIVE })
	other = startPair(t, s, "pair-1")
	eventually(t, "the second stands by", func() bool { return other.state(t) == sluicev1.FeedState_STANDBY && other.notReady() == "" })
	return leader, other
}

func objects() []runtime.Object {
	return []runtime.Object{node("n1"), pod("sluice", "pair-0", "nobody"), pod("sluice", "pair-1", "nobody")}
}

func TestAStandbyTakesOverAtOnce(t *testing.T) {
	s := newServer(t, objects()...)
	leader, other := s.withPairs(t)
	for i := range 3 {
		s.add(t, fmt.Sprint("before-", i))
	}
	eventually(t, "the leader binds", func() bool { return s.nodeOf("before-0")+s.nodeOf("before-1")+s.nodeOf("before-2") == "n1n1n1" })
	leader.end()
	endedAt := time.Now()
	s.add(t, "after-0")
	s.add(t, "after-1")
	eventually(t, "the other binds", func() bool { return s.nodeOf("after-0")+s.nodeOf("after-1") == "n1" })
	took := time.Since(endedAt)
	t.Logf("bound after %v", took)
	// What is not sure waits for bind.Timeout.
	if took > 8*time.Second {
		t.Errorf("bound after %v", took)
	}
	if state := other.state(t); state != sluicev1.FeedState_LIVE {
		t.Errorf("the other is %v", state)
	}
	// The node takes four of them.
	time.Sleep(300 * time.Millisecond)
	if s.nodeOf("after-0")+s.nodeOf("after-1") != "n1" {
		t.Error("the node has more than it takes")
	}
}

// Where its own pod's change does not come back, it waits.
func TestAStandbyThatIsNotSureWaits(t *testing.T) {
	s := newServer(t, objects()...)
	leader, other := s.withPairs(t)
	s.add(t, "before")
	eventually(t, "the leader binds", func() bool { return s.nodeOf("before") != "" })
	s.mu.Lock()
	s.mute = true
	s.mu.Unlock()
	leader.end()
	endedAt := time.Now()
	s.add(t, "after")
	eventually(t, "the other waits", func() bool { return other.state(t) == sluicev1.FeedState_SETTLING })
	eventually(t, "the other binds", func() bool { return s.nodeOf("after") != "" })
	if took := time.Since(endedAt); took < bind.Timeout {
		t.Errorf("bound after %v", took)
	}
}

func TestALeaderWhoseDaemonStaysAwayLetsTheOtherLead(t *testing.T) {
	s := newServer(t, objects()...)
	leader, other := s.withPairs(t)
	leader.daemon.Kill()
	s.add(t, "after")
	eventually(t, "the other binds", func() bool { return s.nodeOf("after") != "" && other.state(t) == sluicev1.FeedState_LIVE })
	if reason := leader.notReady(); !strings.Contains(reason, "the daemon does not know everything") {
		t.Errorf("the former leader is not ready for %q", reason)
	}
	leader.daemon.Restart(t)
	eventually(t, "the former leader stands by", func() bool { return leader.state(t) == sluicev1.FeedState_STANDBY })
}
