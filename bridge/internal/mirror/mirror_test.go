package mirror

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("k8s.io/klog/v2.(*flushDaemon).run.func1"))
}

func podOf(name string, change func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: "uid-1"},
		Spec:       corev1.PodSpec{SchedulerName: "sluice", Containers: []corev1.Container{{Name: "main", Command: []string{"run"}}}},
		Status:     corev1.PodStatus{Phase: corev1.PodPending},
	}
	change(pod)
	return pod
}

func start(t testing.TB, objects ...runtime.Object) (*Mirror, *fake.Clientset) {
	t.Helper()
	return startWith(t, systemSpread, objects...)
}

func startWith(t testing.TB, spread []corev1.TopologySpreadConstraint, objects ...runtime.Object) (*Mirror, *fake.Clientset) {
	t.Helper()
	client := fake.NewClientset(objects...)
	m, err := New(client, dynamicfake.NewSimpleDynamicClient(runtime.NewScheme()), client.Discovery(), []string{"sluice"}, spread)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	m.Start(ctx)
	t.Cleanup(func() {
		cancel()
		m.Stop()
	})
	if !m.WaitForSync(ctx) {
		t.Fatal("not synced")
	}
	return m, client
}

type assumptions map[string]string

func (a assumptions) Assumed(uid string) string { return a[uid] }
func (a assumptions) Rejected(string) []string  { return nil }

func TestWhatIsStatedOfAPod(t *testing.T) {
	for _, test := range []struct {
		name    string
		change  func(*corev1.Pod)
		assumed string
		stated  bool
		runsOn  string
		foreign bool
		stopped bool
	}{
		{name: "waits", change: func(*corev1.Pod) {}, stated: true},
		{name: "is being bound", change: func(*corev1.Pod) {}, assumed: "n1", stated: true, runsOn: "n1"},
		{name: "runs", change: func(p *corev1.Pod) { p.Spec.NodeName = "n1" }, stated: true, runsOn: "n1"},
		{name: "terminates where it runs", change: func(p *corev1.Pod) {
			p.Spec.NodeName, p.DeletionTimestamp, p.Finalizers = "n1", &metav1.Time{Time: time.Now()}, []string{"x.io/y"}
		}, stated: true, runsOn: "n1", stopped: true},
		{name: "terminates unbound", change: func(p *corev1.Pod) {
			p.DeletionTimestamp, p.Finalizers = &metav1.Time{Time: time.Now()}, []string{"x.io/y"}
		}},
		{name: "is another's and runs", change: func(p *corev1.Pod) {
			p.Spec.SchedulerName, p.Spec.NodeName = "default-scheduler", "n1"
		}, stated: true, runsOn: "n1", foreign: true},
		{name: "is another's and waits", change: func(p *corev1.Pod) { p.Spec.SchedulerName = "default-scheduler" }},
		{name: "has a gate", change: func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "x"}} }},
		{name: "has succeeded", change: func(p *corev1.Pod) { p.Spec.NodeName, p.Status.Phase = "n1", corev1.PodSucceeded }},
		{name: "is not understood", change: func(p *corev1.Pod) { p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}} }},
		{name: "is not understood and runs", change: func(p *corev1.Pod) {
			p.Spec.NodeName, p.Spec.ResourceClaims = "n1", []corev1.PodResourceClaim{{Name: "gpu"}}
		}, stated: true, runsOn: "n1"},
		{name: "lacks its group", change: func(p *corev1.Pod) {
			p.Labels = map[string]string{"scheduling.x-k8s.io/pod-group": "train"}
		}},
		{name: "lacks its claim", change: func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, _ := start(t, podOf("web", test.change))
			got := Source{Mirror: m, Assumptions: assumptions{"uid-1": test.assumed}}.Task("shop/web")
			if (got.Stated != nil) != test.stated {
				t.Fatalf("stated: %v", got.Stated)
			}
			if got.Stated != nil && (got.Stated.RunsOn != test.runsOn || got.Stated.IsForeign != test.foreign ||
				got.Stated.IsTerminating != test.stopped || got.Stated.Id != "uid-1") {
				t.Errorf("got %v", got.Stated)
			}
		})
	}
}

func TestWhatNobodyReadsIsNotKept(t *testing.T) {
	m, _ := start(t, podOf("web", func(p *corev1.Pod) {
		p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	}))
	pod := m.Pod("shop/web")
	if len(pod.ManagedFields) > 0 || len(pod.Spec.Containers[0].Command) > 0 {
		t.Errorf("kept %v", pod)
	}
}

// listener writes down what it is told.
type listener struct {
	mu            sync.Mutex
	pods, settled []string
	nodes         []string
	budgets       []string
}

func (l *listener) NodeChanged(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.nodes = append(l.nodes, name)
}

func (l *listener) PodChanged(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pods = append(l.pods, key)
}

func (l *listener) PodSettled(uid string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settled = append(l.settled, uid)
}

func (l *listener) BudgetChanged(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.budgets = append(l.budgets, id)
}

func (l *listener) eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		l.mu.Lock()
		ok := is()
		l.mu.Unlock()
		if ok {
			return
		}
	}
	t.Fatalf("not told within 10 s: %s", what)
}

func TestAListenerIsToldOfWhatIsThereAndOfChanges(t *testing.T) {
	m, client := start(t, podOf("web", func(*corev1.Pod) {}), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}})
	l := &listener{}
	stop, err := m.Notify(klog.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	l.eventually(t, "the pod that is there", func() bool { return slices.Contains(l.pods, "shop/web") })

	l.mu.Lock()
	l.pods = nil
	l.mu.Unlock()
	_, err = client.CoreV1().Namespaces().Update(t.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"team": "x"}}}, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	l.eventually(t, "the pod, as its namespace's labels changed", func() bool { return slices.Contains(l.pods, "shop/web") })

	err = client.CoreV1().Pods("shop").Delete(t.Context(), "web", metav1.DeleteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	l.eventually(t, "that the pod is gone", func() bool { return slices.Contains(l.settled, "uid-1") })
}

func TestPodsHearOfVolumesThatTheirClaimsMayHave(t *testing.T) {
	pod := podOf("web", func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	})
	class := "local"
	m, client := start(t, pod, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "data"},
		Spec:       corev1.PersistentVolumeClaimSpec{StorageClassName: &class}})
	l := &listener{}
	stop, err := m.Notify(klog.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	told := func() bool { return slices.Contains(l.pods, "shop/web") }
	l.eventually(t, "what is there", told)
	volumes := client.CoreV1().PersistentVolumes()
	free := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "v1"}, Spec: corev1.PersistentVolumeSpec{StorageClassName: class},
		Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeAvailable}}
	taken := free.DeepCopy()
	taken.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "other", Name: "data"}
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"a volume that appears", func() error { _, err := volumes.Create(t.Context(), free, metav1.CreateOptions{}); return err }},
		{"a volume that is taken", func() error { _, err := volumes.Update(t.Context(), taken, metav1.UpdateOptions{}); return err }},
		{"a volume that is free again", func() error { _, err := volumes.Update(t.Context(), free, metav1.UpdateOptions{}); return err }},
		{"a volume that is deleted", func() error { return volumes.Delete(t.Context(), "v1", metav1.DeleteOptions{}) }},
	} {
		l.mu.Lock()
		l.pods = nil
		l.mu.Unlock()
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		l.eventually(t, step.what, told)
	}
}

// An API server that was away may show another pod of that name, or nothing but
// what was known last of one that is gone.
func TestMissedEndsAreTold(t *testing.T) {
	m, _ := start(t)
	before := podOf("web", func(*corev1.Pod) {})
	after := podOf("web", func(p *corev1.Pod) { p.UID = "uid-2" })
	l := &listener{}
	handler := handlerOf(klog.Background(), (&notifier{Mirror: m, listener: l}).podChanged)
	handler.OnUpdate(before, after)
	handler.OnDelete(cache.DeletedFinalStateUnknown{Key: "shop/web", Obj: after})
	if want := []string{"uid-1", "uid-2"}; !slices.Equal(l.settled, want) {
		t.Errorf("settled %v, want %v", l.settled, want)
	}
	if want := []string{"shop/web", "shop/web"}; !slices.Equal(l.pods, want) {
		t.Errorf("changed %v, want %v", l.pods, want)
	}
}

func TestWhatIsOfAnotherTypeIsLoggedAndSkipped(t *testing.T) {
	m, _ := start(t)
	pod, node := podOf("web", func(*corev1.Pod) {}), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	for _, test := range []struct {
		name string
		tell func(cache.ResourceEventHandler)
		want string
	}{
		{"an object that comes", func(h cache.ResourceEventHandler) { h.OnAdd(node, false) }, `got="*v1.Node"`},
		{"an object before a change", func(h cache.ResourceEventHandler) { h.OnUpdate(node, pod) }, `got="*v1.Node"`},
		{"an object after a change", func(h cache.ResourceEventHandler) { h.OnUpdate(pod, node) }, `got="*v1.Node"`},
		{"an object that goes", func(h cache.ResourceEventHandler) { h.OnDelete(node) }, `got="*v1.Node"`},
		{"nothing", func(h cache.ResourceEventHandler) { h.OnAdd(nil, false) }, `got="<nil>"`},
		{"a tombstone of another type", func(h cache.ResourceEventHandler) {
			h.OnDelete(cache.DeletedFinalStateUnknown{Key: "shop/web", Obj: node})
		}, `key="shop/web" want="*v1.Pod" got="*v1.Node"`},
		{"a tombstone of nothing", func(h cache.ResourceEventHandler) {
			h.OnDelete(cache.DeletedFinalStateUnknown{Key: "shop/web"})
		}, `key="shop/web" want="*v1.Pod" got="<nil>"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true)))
			l := &listener{}
			test.tell(handlerOf(logger, (&notifier{Mirror: m, listener: l}).podChanged))
			if len(l.pods)+len(l.settled) > 0 {
				t.Errorf("told of %v and %v", l.pods, l.settled)
			}
			underlier, ok := logger.GetSink().(ktesting.Underlier)
			if !ok {
				t.Fatal("no buffer")
			}
			if log := underlier.GetBuffer().String(); !strings.Contains(log, "Skipped an object of another type") || !strings.Contains(log, test.want) {
				t.Errorf("logged %q, want %q", log, test.want)
			}
		})
	}
}

func TestOnlyVolumesThatAClaimMayHaveAreLookedAt(t *testing.T) {
	named := func(name, class, claim string) *corev1.PersistentVolume {
		v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: corev1.PersistentVolumeSpec{StorageClassName: class}}
		if claim != "" {
			v.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "shop", Name: claim}
		}
		return v
	}
	m, _ := start(t, named("free", "local", ""), named("own", "local", "data"), named("taken", "local", "other"),
		named("other-class", "far", ""), named("own-of-other-class", "far", "data"))
	class := "local"
	var names []string
	for _, v := range m.VolumesFor(&corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "data"},
		Spec:       corev1.PersistentVolumeClaimSpec{StorageClassName: &class}}) {
		names = append(names, v.Name)
	}
	slices.Sort(names)
	if want := []string{"free", "own"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
}

// keepsAway is a pod that could not have its volumes on some nodes.
type keepsAway []string

func (keepsAway) Assumed(string) string      { return "" }
func (k keepsAway) Rejected(string) []string { return k }

func TestAPodKeepsAwayFromNodesWithoutItsVolumes(t *testing.T) {
	m, _ := start(t, podOf("web", func(*corev1.Pod) {}))
	got := Source{Mirror: m, Assumptions: keepsAway{"n1", "n2"}}.Task("shop/web").Stated.Description.String()
	for _, want := range []string{`key:"metadata.name"`, `"NotIn"`, `"n1"`, `"n2"`} {
		if !strings.Contains(strings.ReplaceAll(got, ": ", ":"), want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
}
