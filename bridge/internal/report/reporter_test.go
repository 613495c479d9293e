package report

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/testutil"

	sluicev1 "github.com/sluice-scheduler/sluice/bridge/internal/api/sluice/v1"
	"github.com/sluice-scheduler/sluice/bridge/internal/feed"
)

// cluster is what the mirror would show, and notes which pods are looked at.
type cluster struct {
	mu           sync.Mutex
	pods         map[string]*corev1.Pod
	nodes        map[string]*corev1.Node
	obstacle     error // of all pods
	nodeProblems map[string]error
	looked       []string
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
	return c.obstacle
}

func (c *cluster) Waits(pod *corev1.Pod) bool { return pod.Spec.NodeName == "" }

func (c *cluster) Node(name string) *corev1.Node {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodes[name]
}

func (c *cluster) NodeProblem(node *corev1.Node) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodeProblems[node.Name]
}

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
		c := &cluster{pods: map[string]*corev1.Pod{}, obstacle: errors.New("no words for it")}
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

const aLongTime = 10 * askAgainMax

// daemon answers with what a test says, and counts how often it is asked.
type daemon struct {
	sluicev1.InspectorClient
	mu     sync.Mutex
	answer func() (*sluicev1.TaskExplanation, error)
	asked  int
}

func (d *daemon) ExplainTask(context.Context, *sluicev1.ExplainTaskRequest, ...grpc.CallOption) (*sluicev1.TaskExplanation, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked++
	return d.answer()
}

func (d *daemon) set(answer func() (*sluicev1.TaskExplanation, error)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answer = answer
}

func says(state sluicev1.Task_State, summary string) func() (*sluicev1.TaskExplanation, error) {
	return func() (*sluicev1.TaskExplanation, error) {
		return &sluicev1.TaskExplanation{Task: &sluicev1.Task{State: state}, Summary: summary}, nil
	}
}

func fails(code codes.Code) func() (*sluicev1.TaskExplanation, error) {
	return func() (*sluicev1.TaskExplanation, error) { return nil, status.Error(code, "as the test says") }
}

// world is what a reporter is among.
type world struct {
	t        *testing.T
	cluster  *cluster
	reporter *Reporter
	client   *fake.Clientset
	daemon   *daemon
	recorder *events.FakeRecorder
}

// inWorld runs a reporter among two pods that wait, web and api, and two nodes,
// and then do.
func inWorld(t *testing.T, do func(*world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, client: fake.NewClientset(), daemon: &daemon{answer: fails(codes.NotFound)},
			recorder: events.NewFakeRecorder(1000),
			cluster: &cluster{pods: map[string]*corev1.Pod{}, nodes: map[string]*corev1.Node{},
				nodeProblems: map[string]error{}}}
		for _, name := range []string{"web", "api"} {
			pod := podOn(name, "")
			pod.Spec.SchedulerName = "sluice"
			w.cluster.pods["shop/"+name] = pod
			if err := w.client.Tracker().Add(pod); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"n1", "n2"} {
			w.cluster.nodes[name] = &corev1.Node{ObjectMeta: metav1.ObjectMeta{
				Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.Now()}}
		}
		w.reporter = New(w.client, w.cluster, w.daemon, w.recorder, NewMetrics(metrics.NewKubeRegistry()))
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { w.reporter.Run(ctx, 2) })
		defer running.Wait()
		defer cancel()
		do(w)
	})
}

// wait lets time pass.
func (w *world) wait(long time.Duration) {
	time.Sleep(long)
	synctest.Wait()
}

// events are those that came since it was called last.
func (w *world) events() []string {
	var got []string
	for len(w.recorder.Events) > 0 {
		got = append(got, <-w.recorder.Events)
	}
	return got
}

func (w *world) expectEvents(what string, want ...string) {
	w.t.Helper()
	if got := w.events(); !slices.Equal(got, want) {
		w.t.Errorf("%s: events %q, want %q", what, got, want)
	}
}

// condition is the message of the pod's PodScheduled, where that says no.
func (w *world) condition(name string) string {
	w.t.Helper()
	pod, err := w.client.CoreV1().Pods("shop").Get(w.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse &&
			condition.Reason == corev1.PodReasonUnschedulable {
			return condition.Message
		}
	}
	return ""
}

func (w *world) expectCount(result string, want float64) {
	w.t.Helper()
	got, err := testutil.GetCounterMetricValue(w.reporter.metrics.attempts.WithLabelValues(result, "sluice"))
	if err != nil || got != want {
		w.t.Errorf("%s: counted %v (%v), want %v", result, got, err, want)
	}
}

func TestWhyAPodWaits(t *testing.T) {
	const full = "0/2 machines: 2 insufficient cpu"
	for _, test := range []struct {
		name     string
		obstacle error
		problem  string
		answer   func() (*sluicev1.TaskExplanation, error)
		want     string
		isAsked  bool
	}{
		{name: "it cannot be stated", obstacle: errors.New(`persistentvolumeclaim "data" not found`),
			answer: says(sluicev1.Task_PENDING, full), want: `persistentvolumeclaim "data" not found`},
		{name: "the daemon has not understood it", problem: "priority: too high",
			answer: says(sluicev1.Task_PENDING, full), want: "priority: too high"},
		{name: "the daemon has no room for it", answer: says(sluicev1.Task_PENDING, full),
			want: "0/2 nodes are available: 2 insufficient cpu", isAsked: true},
		{name: "the daemon has set it aside", answer: says(sluicev1.Task_QUARANTINED, "set aside"), want: "set aside", isAsked: true},
		{name: "it is placed by now", answer: says(sluicev1.Task_RUNNING, full), isAsked: true},
		{name: "the daemon does not know it yet", answer: fails(codes.NotFound), isAsked: true},
		{name: "the daemon is away", answer: fails(codes.Unavailable), want: daemonAbsent, isAsked: true},
		{name: "the daemon fails", answer: fails(codes.Internal), isAsked: true},
		{name: "for more than an event holds", answer: says(sluicev1.Task_PENDING, strings.Repeat("x", 2*noteBytes)),
			want: strings.Repeat("x", noteBytes-len("…")) + "…", isAsked: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.cluster.mu.Lock()
				w.cluster.obstacle = test.obstacle
				w.cluster.mu.Unlock()
				w.daemon.set(test.answer)
				w.reporter.PodChanged("shop/web")
				if test.problem != "" {
					w.reporter.TaskProblem("shop/web", feed.Problem{Message: test.problem})
				}
				w.wait(aLongTime)
				var events []string
				var told float64
				if test.want != "" {
					events, told = []string{"Warning FailedScheduling " + test.want}, 1
				}
				w.expectEvents("in a long time", events...)
				w.expectCount("unschedulable", told)
				if got := w.condition("web"); got != test.want {
					t.Errorf("the condition says %q, want %q", got, test.want)
				}
				if isAsked := w.daemon.asked > 0; isAsked != test.isAsked {
					t.Errorf("asked the daemon: %v", isAsked)
				}
				if looks := w.looks(); looks < int(aLongTime/askAgainMax) || looks > int(aLongTime/askAgainMax)+20 {
					t.Errorf("looked at %d times in a long time", looks)
				}
				if got := w.condition("api"); got != "" {
					t.Errorf("the condition of another says %q", got)
				}
			})
		})
	}
}

func (w *world) looks() int { return len(strings.Fields(w.cluster.lookedAt())) }

func TestAReasonIsToldAgainOnceItIsNews(t *testing.T) {
	inWorld(t, func(w *world) {
		for _, step := range []struct {
			answer func() (*sluicev1.TaskExplanation, error)
			want   []string
		}{
			{says(sluicev1.Task_PENDING, "full"), []string{"Warning FailedScheduling full"}},
			{says(sluicev1.Task_PENDING, "full"), nil},
			{fails(codes.Internal), nil},
			{says(sluicev1.Task_PENDING, "tainted"), []string{"Warning FailedScheduling tainted"}},
			{says(sluicev1.Task_PENDING, "full"), []string{"Warning FailedScheduling full"}},
		} {
			w.daemon.set(step.answer)
			w.reporter.PodChanged("shop/web")
			w.wait(2 * askAgainMax)
			w.expectEvents("after a change", step.want...)
		}
		w.expectCount("unschedulable", 3)
		// One that is bound is looked at no longer.
		bound := podOn("web", "n1")
		w.cluster.set("shop/web", bound)
		w.reporter.PodChanged("shop/web")
		w.wait(2 * askAgainMax)
		asked := w.daemon.asked
		w.wait(aLongTime)
		if more := w.daemon.asked - asked; more > 0 {
			t.Errorf("asked %d times more", more)
		}
		w.expectEvents("once it is bound")
	})
}

func TestAConditionThatIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		errs []error
		want []string
	}{
		"as the pod is gone":          {errs: []error{apierrors.NewNotFound(corev1.Resource("pods"), "web")}},
		"as another has its name":     {errs: []error{apierrors.NewConflict(corev1.Resource("pods"), "web", errors.New("uid"))}},
		"for the moment, is repeated": {errs: []error{apierrors.NewTooManyRequestsError("later"), errors.New("reset by peer")}, want: []string{"Warning FailedScheduling full"}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				var mu sync.Mutex
				w.client.PrependReactor("patch", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
					mu.Lock()
					defer mu.Unlock()
					if len(test.errs) == 0 {
						return false, nil, nil
					}
					err := test.errs[0]
					if test.want != nil {
						test.errs = test.errs[1:]
					}
					return true, nil, err
				})
				w.daemon.set(says(sluicev1.Task_PENDING, "full"))
				w.reporter.PodChanged("shop/web")
				w.wait(aLongTime)
				w.expectEvents("in a long time", test.want...)
			})
		})
	}
}

// A condition that says so is not written again: each write is a change of the
// pod, which everybody hears of.
func TestAConditionIsWrittenOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		w.daemon.set(says(sluicev1.Task_PENDING, "full"))
		w.reporter.PodChanged("shop/web")
		w.wait(askAgainMin)
		since := w.conditionOf("web").LastTransitionTime
		shown, err := w.client.CoreV1().Pods("shop").Get(t.Context(), "web", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		w.cluster.set("shop/web", shown)
		w.client.ClearActions()
		w.wait(aLongTime)
		for _, action := range w.client.Actions() {
			t.Errorf("unexpected %v", action)
		}
		w.daemon.set(says(sluicev1.Task_PENDING, "tainted"))
		w.wait(2 * askAgainMax)
		if got := w.conditionOf("web"); got.Message != "tainted" || !got.LastTransitionTime.Equal(&since) {
			t.Errorf("%q since %v, want since %v", got.Message, got.LastTransitionTime, since)
		}
	})
}

func (w *world) conditionOf(name string) corev1.PodCondition {
	w.t.Helper()
	pod, err := w.client.CoreV1().Pods("shop").Get(w.t.Context(), name, metav1.GetOptions{})
	if err != nil || len(pod.Status.Conditions) != 1 {
		w.t.Fatalf("%v, %v", pod, err)
	}
	return pod.Status.Conditions[0]
}

func TestWhatBecameOfAPod(t *testing.T) {
	for _, test := range []struct {
		name  string
		tell  func(*Reporter, *corev1.Pod)
		event string
		count map[string]float64
	}{
		{"it is bound", func(r *Reporter, pod *corev1.Pod) { r.Binding(pod, "n1")() },
			"Normal Scheduled Successfully assigned shop/web to n1", map[string]float64{"scheduled": 1}},
		{"its bind was not tried after all", func(r *Reporter, pod *corev1.Pod) { r.Binding(pod, "n1") }, "", nil},
		{"its bind failed", func(r *Reporter, pod *corev1.Pod) { r.BindFailed(pod, "n1", errors.New("a policy forbids it")) },
			"Warning FailedScheduling binding to n1: a policy forbids it", map[string]float64{"error": 1}},
		{"it makes room", func(r *Reporter, pod *corev1.Pod) { r.Evicted(pod, "n1") },
			"Normal Preempted Stopped on node n1, whose room the scheduler has given to others", nil},
		{"it moves", func(r *Reporter, pod *corev1.Pod) {
			pod.Spec.NodeName = "n1"
			r.Moved(pod, "n2")
		}, "Normal Moved Stopped on node n1; node n2 keeps room for its successor", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				test.tell(w.reporter, w.cluster.Pod("shop/web").DeepCopy())
				var events []string
				if test.event != "" {
					events = []string{test.event}
				}
				w.expectEvents("of it", events...)
				for _, result := range []string{"scheduled", "unschedulable", "error"} {
					w.expectCount(result, test.count[result])
				}
			})
		})
	}
}

func TestNodesThatTakeNothing(t *testing.T) {
	const told = "Warning NotSchedulable The scheduler places nothing here: "
	noPods := errors.New("status.allocatable: no pods")
	problem := func(w *world, name string, err error) {
		w.cluster.mu.Lock()
		w.cluster.nodeProblems[name] = err
		w.cluster.mu.Unlock()
		w.reporter.NodeChanged(name)
	}
	inWorld(t, func(w *world) {
		for _, step := range []struct {
			name string
			do   func()
			wait time.Duration
			want []string
		}{
			{"one that has just registered", func() { problem(w, "n1", noPods); problem(w, "n2", noPods) }, grace / 2, nil},
			{"one that says then what it has, and one that does not", func() { problem(w, "n2", nil) }, grace,
				[]string{told + noPods.Error()}},
			{"one that changes otherwise", func() { w.reporter.NodeChanged("n1") }, grace, nil},
			{"one with another problem", func() { problem(w, "n1", errors.New("status.allocatable: too much")) }, grace,
				[]string{told + "status.allocatable: too much"}},
			{"one that the daemon does not understand", func() { w.reporter.MachineProblem("n2", feed.Problem{Message: "labels: too many"}) }, 0,
				[]string{told + "labels: too many"}},
			{"the same again", func() { w.reporter.MachineProblem("n2", feed.Problem{Message: "labels: too many"}) }, grace, nil},
			{"one that is not there", func() {
				w.reporter.NodeChanged("n3")
				w.reporter.MachineProblem("n3", feed.Problem{Message: "x"})
			}, grace, nil},
			{"one that is made anew", func() {
				w.cluster.mu.Lock()
				w.cluster.nodes["n2"] = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n2", UID: "uid-anew", CreationTimestamp: metav1.Now()}}
				w.cluster.mu.Unlock()
				w.reporter.MachineProblem("n2", feed.Problem{Message: "labels: too many"})
			}, 0, []string{told + "labels: too many"}},
		} {
			step.do()
			w.wait(step.wait)
			w.expectEvents(step.name, step.want...)
		}
	})
}

func TestHowManyPodsWait(t *testing.T) {
	inWorld(t, func(w *world) {
		expect := func(when string, active, unschedulable float64) {
			t.Helper()
			for queue, want := range map[string]float64{"active": active, "unschedulable": unschedulable} {
				got, err := testutil.GetGaugeMetricValue(w.reporter.metrics.pending.WithLabelValues(queue))
				if err != nil || got != want {
					t.Errorf("%s: %v are %s (%v), want %v", when, got, queue, err, want)
				}
			}
		}
		w.reporter.PodChanged("shop/web")
		w.reporter.PodChanged("shop/api")
		w.wait(2 * sweepPause)
		expect("at first", 2, 0)
		w.daemon.set(says(sluicev1.Task_PENDING, "full"))
		w.wait(2 * askAgainMin)
		expect("once it was told why", 0, 2)
		w.reporter.PodSettled("uid-web")
		w.wait(2 * sweepPause)
		expect("once one is bound", 0, 1)
		w.cluster.set("shop/api", nil)
		w.reporter.PodChanged("shop/api")
		w.wait(2 * sweepPause)
		expect("once the other is gone", 0, 0)
	})
}
