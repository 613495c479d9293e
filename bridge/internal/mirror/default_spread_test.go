package mirror

import (
	"fmt"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/sluice-scheduler/sluice/bridge/internal/api/firmament"
)

// What kube-scheduler gives pods that state no constraints.
var systemSpread = []corev1.TopologySpreadConstraint{
	{TopologyKey: corev1.LabelHostname, MaxSkew: 3, WhenUnsatisfiable: corev1.ScheduleAnyway},
	{TopologyKey: corev1.LabelTopologyZone, MaxSkew: 5, WhenUnsatisfiable: corev1.ScheduleAnyway},
}

func metaOf(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "shop", Name: name, Annotations: map[string]string{"note": "long"}}
}

func serviceOf(name string, selector map[string]string) *corev1.Service {
	return &corev1.Service{ObjectMeta: metaOf(name), Spec: corev1.ServiceSpec{Selector: selector, ClusterIP: "None"}}
}

func replicaSetOf(name string, selector *metav1.LabelSelector) *appsv1.ReplicaSet {
	return &appsv1.ReplicaSet{ObjectMeta: metaOf(name), Spec: appsv1.ReplicaSetSpec{Selector: selector,
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{NodeName: "large"}}}}
}

func ownedBy(version, kind, name string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: name, UID: "owner", Controller: ptr.To(true)}}
	}
}

func constraintsOf(task *firmament.TaskDescriptor) string {
	stated := &firmament.TaskDescriptor{TopologySpreadConstraints: task.GetTopologySpreadConstraints()}
	return prototext.MarshalOptions{}.Format(stated)
}

func TestBySelectorsPodsAreSpread(t *testing.T) {
	web := map[string]string{"app": "web"}
	selectsWeb := &metav1.LabelSelector{MatchLabels: web}
	byWeb := `match_labels_map {key: "app" value: "web"}`
	for _, test := range []struct {
		name    string
		objects []runtime.Object
		change  func(*corev1.Pod)
		// Of both constraints; empty: there are none.
		selector string
	}{
		{name: "nothing selects it"},
		{name: "a service", objects: []runtime.Object{serviceOf("web", web)}, selector: byWeb},
		{name: "a service that asks for more", objects: []runtime.Object{serviceOf("web", map[string]string{"app": "web", "tier": "front"})}},
		{name: "a service that asks for a label with no value", objects: []runtime.Object{serviceOf("web", map[string]string{"tier": ""})}},
		{name: "a service without a selector", objects: []runtime.Object{serviceOf("web", nil), serviceOf("all", map[string]string{})}},
		{name: "a service of another namespace", objects: []runtime.Object{
			&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "web"}, Spec: corev1.ServiceSpec{Selector: web}}}},
		{name: "services", objects: []runtime.Object{serviceOf("web", web), serviceOf("v1", map[string]string{"version": "1", "app": "web"})},
			selector: byWeb + ` match_labels_map {key: "version" value: "1"}`},
		{name: "a replica set", objects: []runtime.Object{replicaSetOf("web", selectsWeb)},
			change: ownedBy("apps/v1", "ReplicaSet", "web"), selector: byWeb},
		{name: "a replica set that does not control it", objects: []runtime.Object{replicaSetOf("web", selectsWeb)},
			change: func(p *corev1.Pod) {
				ownedBy("apps/v1", "ReplicaSet", "web")(p)
				p.OwnerReferences[0].Controller = nil
			}},
		{name: "a replica set that is gone", change: ownedBy("apps/v1", "ReplicaSet", "web")},
		{name: "what is called a replica set elsewhere", objects: []runtime.Object{replicaSetOf("web", selectsWeb)},
			change: ownedBy("example.com/v1", "ReplicaSet", "web")},
		{name: "a stateful set", objects: []runtime.Object{&appsv1.StatefulSet{ObjectMeta: metaOf("web"),
			Spec: appsv1.StatefulSetSpec{Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: "app", Operator: metav1.LabelSelectorOpExists}}}}}},
			change: ownedBy("apps/v1", "StatefulSet", "web"), selector: `matchExpressions {key: "app" operator: "Exists"}`},
		{name: "a replication controller", objects: []runtime.Object{&corev1.ReplicationController{ObjectMeta: metaOf("web"),
			Spec: corev1.ReplicationControllerSpec{Selector: web}}},
			change: ownedBy("v1", "ReplicationController", "web"), selector: byWeb},
		{name: "a job", change: ownedBy("batch/v1", "Job", "web")},
		{name: "a job of a service", objects: []runtime.Object{serviceOf("web", web)},
			change: ownedBy("batch/v1", "Job", "web"), selector: byWeb},
		{name: "a service and a replica set", objects: []runtime.Object{serviceOf("web", web),
			replicaSetOf("web", &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web", "version": "1"}})},
			change:   ownedBy("apps/v1", "ReplicaSet", "web"),
			selector: byWeb + ` match_labels_map {key: "version" value: "1"}`},
		{name: "another scheduler's", objects: []runtime.Object{serviceOf("web", web)},
			change: func(p *corev1.Pod) { p.Spec.SchedulerName, p.Spec.NodeName = "default-scheduler", "n1" }},
	} {
		t.Run(test.name, func(t *testing.T) {
			pod := podOf("web", func(p *corev1.Pod) {
				p.Labels = map[string]string{"app": "web", "version": "1"}
				if test.change != nil {
					test.change(p)
				}
			})
			m, _ := start(t, append(test.objects, pod)...)
			got := Source{Mirror: m, Assumptions: assumptions{}}.Task("shop/web").Stated.Description.TaskDescriptor
			want := &firmament.TaskDescriptor{}
			if test.selector != "" {
				text := ""
				for key, skew := range map[string]int{corev1.LabelHostname: 3, corev1.LabelTopologyZone: 5} {
					text = fmt.Sprintf("topology_spread_constraints {topologyKey: %q maxSkew: %d whenUnsatisfiable: \"ScheduleAnyway\" labelSelector {%s}} ",
						key, skew, test.selector) + text
				}
				if err := prototext.Unmarshal([]byte(text), want); err != nil {
					t.Fatal(err)
				}
				slices.SortFunc(want.TopologySpreadConstraints, func(a, b *firmament.TopologySpreadConstraint) int { return int(a.MaxSkew - b.MaxSkew) })
			}
			if !proto.Equal(want, &firmament.TaskDescriptor{TopologySpreadConstraints: got.TopologySpreadConstraints}) {
				t.Errorf("%s, want %s", constraintsOf(got), constraintsOf(want))
			}
		})
	}
}

func TestOwnConstraintsAreTheOnlyOnes(t *testing.T) {
	m, _ := start(t, serviceOf("web", map[string]string{"app": "web"}), podOf("web", func(p *corev1.Pod) {
		p.Labels = map[string]string{"app": "web"}
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{
			{TopologyKey: "rack", MaxSkew: 1, WhenUnsatisfiable: corev1.DoNotSchedule}}
	}))
	stated := Source{Mirror: m, Assumptions: assumptions{}}.Task("shop/web").Stated.Description.TaskDescriptor.TopologySpreadConstraints
	if len(stated) != 1 || stated[0].TopologyKey != "rack" {
		t.Errorf("%v", stated)
	}
}

// Without default constraints nothing is watched for them, so that the bridge
// needs no leave to do so.
func TestWithoutDefaultConstraintsServicesAreNotWatched(t *testing.T) {
	m, client := startWith(t, nil, serviceOf("web", map[string]string{"app": "web"}),
		podOf("web", func(p *corev1.Pod) { p.Labels = map[string]string{"app": "web"} }))
	if stated := (Source{Mirror: m, Assumptions: assumptions{}}).Task("shop/web").Stated.Description.TaskDescriptor; len(stated.TopologySpreadConstraints) > 0 {
		t.Errorf("%s", constraintsOf(stated))
	}
	for _, action := range client.Actions() {
		switch resource := action.GetResource().Resource; resource {
		case "services", "replicationcontrollers", "replicasets", "statefulsets":
			t.Errorf("%s %s", action.GetVerb(), resource)
		}
	}
}

func TestOfWhatSelectsPodsOnlyTheSelectorIsKept(t *testing.T) {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	m, _ := start(t, serviceOf("web", selector.MatchLabels), replicaSetOf("web", selector))
	kept := 0
	for _, informer := range m.spread.informers {
		for _, object := range informer.GetStore().List() {
			kept++
			if accessor := object.(metav1.Object); len(accessor.GetAnnotations()) > 0 {
				t.Errorf("%v", accessor)
			}
			switch object := object.(type) {
			case *corev1.Service:
				if object.Spec.ClusterIP != "" {
					t.Errorf("%v", object)
				}
			case *appsv1.ReplicaSet:
				if object.Spec.Template.Spec.NodeName != "" {
					t.Errorf("%v", object)
				}
			}
		}
	}
	if kept != 2 {
		t.Errorf("%d objects are kept", kept)
	}
}

func TestPodsThatWaitHearOfWhatSelectsThem(t *testing.T) {
	labeled := func(name, app string, change func(*corev1.Pod)) *corev1.Pod {
		return podOf(name, func(p *corev1.Pod) {
			p.Labels = map[string]string{"app": app}
			change(p)
		})
	}
	waits := func(*corev1.Pod) {}
	m, client := start(t, labeled("web", "web", waits), labeled("api", "api", waits),
		labeled("runs", "web", func(p *corev1.Pod) { p.Spec.NodeName = "n1" }))
	l := &listener{}
	stop, err := m.Notify(klog.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	l.eventually(t, "what is there", func() bool { return len(l.pods) == 3 })
	services, sets := client.CoreV1().Services("shop"), client.AppsV1().ReplicaSets("shop")
	web, api := map[string]string{"app": "web"}, map[string]string{"app": "api"}
	ctx := t.Context()
	for _, step := range []struct {
		what string
		do   func() error
		told []string
	}{
		{"a service that appears", func() error { _, err := services.Create(ctx, serviceOf("s", web), metav1.CreateOptions{}); return err },
			[]string{"shop/web"}},
		{"a service that selects others", func() error { _, err := services.Update(ctx, serviceOf("s", api), metav1.UpdateOptions{}); return err },
			[]string{"shop/api", "shop/web"}},
		{"a service that is deleted", func() error { return services.Delete(ctx, "s", metav1.DeleteOptions{}) },
			[]string{"shop/api"}},
		{"a replica set that appears", func() error {
			_, err := sets.Create(ctx, replicaSetOf("r", &metav1.LabelSelector{MatchLabels: web}), metav1.CreateOptions{})
			return err
		}, []string{"shop/web"}},
	} {
		l.mu.Lock()
		l.pods = nil
		l.mu.Unlock()
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		l.eventually(t, step.what, func() bool { return len(l.pods) >= len(step.told) })
		l.mu.Lock()
		slices.Sort(l.pods)
		if !slices.Equal(l.pods, step.told) {
			t.Errorf("%s: told %v, want %v", step.what, l.pods, step.told)
		}
		l.mu.Unlock()
	}
}

// Most changes of a service or a replica set are not of its selector.
func TestOtherChangesOfWhatSelectsPodsAreNotTold(t *testing.T) {
	m, _ := start(t, podOf("web", func(p *corev1.Pod) { p.Labels = map[string]string{"app": "web"} }))
	l := &listener{}
	handler := handlerOfNew(klog.Background(), (&notifier{Mirror: m, listener: l}).selectionChanged)
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	before, after := replicaSetOf("web", selector), replicaSetOf("web", selector)
	after.Status.ReadyReplicas = 1
	handler.OnUpdate(before, after)
	handler.OnAdd(before, true)
	if len(l.pods) > 0 {
		t.Errorf("told %v", l.pods)
	}
	handler.OnAdd(before, false)
	if !slices.Equal(l.pods, []string{"shop/web"}) {
		t.Errorf("told %v", l.pods)
	}
}

// What it costs to state a pod of one of a hundred services and replica sets. The
// caches are filled by hand, because the fake API server is slow to take so many.
func BenchmarkStating(b *testing.B) {
	const services, pods = 100, 10000
	labelsOf := func(i int) map[string]string {
		return map[string]string{"app.kubernetes.io/name": fmt.Sprint("app-", i), "app.kubernetes.io/part-of": "shop", "pod-template-hash": fmt.Sprint(i)}
	}
	for name, spread := range map[string][]corev1.TopologySpreadConstraint{"none": nil, "system": systemSpread} {
		b.Run(name, func(b *testing.B) {
			m, _ := startWith(b, spread)
			add := func(informer cache.SharedIndexInformer, object runtime.Object) {
				if err := informer.GetStore().Add(object); err != nil {
					b.Fatal(err)
				}
			}
			for i := range services {
				selected := labelsOf(i)
				delete(selected, "pod-template-hash")
				add(m.factory.Core().V1().Services().Informer(), serviceOf(fmt.Sprint("app-", i), selected))
				add(m.factory.Apps().V1().ReplicaSets().Informer(),
					replicaSetOf(fmt.Sprint("app-", i), &metav1.LabelSelector{MatchLabels: labelsOf(i)}))
			}
			for i := range pods {
				add(m.pods, podOf(fmt.Sprint("pod-", i), func(p *corev1.Pod) {
					p.Labels = labelsOf(i % services)
					ownedBy("apps/v1", "ReplicaSet", fmt.Sprint("app-", i%services))(p)
				}))
			}
			source := Source{Mirror: m, Assumptions: assumptions{}}
			keys := source.TaskKeys()
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				stated := source.Task(keys[i%len(keys)]).Stated
				if _, err := (proto.MarshalOptions{Deterministic: true}).Marshal(stated); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
