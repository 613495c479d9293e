package verdict

import (
	"fmt"
	"math/rand/v2"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// world is a random cluster and the pods that wait in it, as the API server
// would have them, defaults filled in.
type world struct {
	random     *rand.Rand
	namespaces []*corev1.Namespace
	nodes      []*corev1.Node
	pods       []*corev1.Pod
	// What selects pods: services, and their controllers.
	selecting []runtime.Object
}

const (
	nodesOfAWorld = 24
	podsOfAWorld  = 260
	appsOfAWorld  = 14
)

func newWorld(seed uint64) *world {
	w := &world{random: rand.New(rand.NewPCG(seed, 1))}
	for i := range 3 {
		w.namespaces = append(w.namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprint("ns", i), Labels: map[string]string{"team": fmt.Sprint("t", i%2)}}})
	}
	for i := range nodesOfAWorld {
		w.nodes = append(w.nodes, w.node(fmt.Sprint("n", i)))
	}
	apps := make([]*corev1.Pod, appsOfAWorld)
	for i := range apps {
		apps[i] = w.app(i)
		w.addSelecting(apps[i])
	}
	for i := range podsOfAWorld {
		pod := apps[w.random.IntN(len(apps))].DeepCopy()
		pod.Name = fmt.Sprint("pod-", i)
		pod.UID = types.UID(fmt.Sprint("uid-", i))
		w.pods = append(w.pods, pod)
	}
	return w
}

// objects are all that there is.
func (w *world) objects() []runtime.Object {
	objects := slices.Clone(w.selecting)
	for _, namespace := range w.namespaces {
		objects = append(objects, namespace)
	}
	for _, node := range w.nodes {
		objects = append(objects, node)
	}
	for _, pod := range w.pods {
		objects = append(objects, pod)
	}
	return objects
}

// oneIn says yes once in n times.
func (w *world) oneIn(n int) bool { return w.random.IntN(n) == 0 }

func (w *world) pick(values ...string) string { return values[w.random.IntN(len(values))] }

func (w *world) node(name string) *corev1.Node {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
		Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
			"cpu":    *resource.NewMilliQuantity(int64(2000+w.random.IntN(6)*1000), resource.DecimalSI),
			"memory": *resource.NewQuantity(int64(4+w.random.IntN(12))<<30, resource.BinarySI),
			"pods":   *resource.NewQuantity(int64(6+w.random.IntN(12)), resource.DecimalSI),
		}},
	}
	if !w.oneIn(8) {
		node.Labels[corev1.LabelTopologyZone] = w.pick("a", "b", "c")
	}
	if w.oneIn(2) {
		node.Labels["disk"] = w.pick("ssd", "hdd")
	}
	if w.oneIn(2) {
		node.Labels["cores"] = w.pick("4", "8", "16", "many")
	}
	if w.oneIn(4) {
		node.Status.Allocatable["nvidia.com/gpu"] = *resource.NewQuantity(int64(w.random.IntN(4)), resource.DecimalSI)
	}
	if w.oneIn(5) {
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: "dedicated", Value: w.pick("x", "y"),
			Effect: corev1.TaintEffect(w.pick("NoSchedule", "NoExecute", "PreferNoSchedule"))})
	}
	if w.oneIn(12) {
		node.Spec.Unschedulable = true
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
	node.Status.Capacity = node.Status.Allocatable
	return node
}

// app is a template of pods, with rules at random.
func (w *world) app(i int) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.namespaces[w.random.IntN(len(w.namespaces))].Name,
			Labels:    map[string]string{"app": fmt.Sprint("app-", i), "tier": w.pick("web", "db")},
		},
		Spec: corev1.PodSpec{
			SchedulerName: "sluice", Priority: ptr.To(int32(w.random.IntN(3) * 100)),
			Containers: []corev1.Container{{Name: "main", Resources: w.request()}},
			Affinity:   &corev1.Affinity{},
		},
	}
	if w.oneIn(4) {
		pod.Spec.InitContainers = []corev1.Container{{Name: "init", Resources: w.request()}}
		if w.oneIn(2) {
			pod.Spec.InitContainers[0].RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
		}
	}
	if w.oneIn(6) {
		pod.Spec.NodeSelector = map[string]string{"disk": w.pick("ssd", "hdd")}
	}
	if w.oneIn(3) {
		pod.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: w.nodeSelector()}
	}
	if w.oneIn(3) {
		pod.Spec.Tolerations = []corev1.Toleration{w.toleration()}
	}
	if w.oneIn(8) {
		pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{
			HostPort: int32(8000 + w.random.IntN(3)), ContainerPort: 80, HostIP: w.pick("", "127.0.0.1"),
			Protocol: corev1.Protocol(w.pick("TCP", "UDP"))}}
	}
	w.addPodRules(pod)
	return pod
}

// addSelecting makes services that may select the pods of an app, and a controller
// of them.
func (w *world) addSelecting(pod *corev1.Pod) {
	app := pod.Labels["app"]
	metaOf := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: pod.Namespace, Name: name}
	}
	for i := range w.random.IntN(3) {
		selector := map[string]string{"app": app}
		switch w.random.IntN(5) {
		case 0:
			selector["tier"] = w.pick("web", "db")
		case 1:
			selector = map[string]string{"tier": w.pick("web", "db", "")}
		case 2:
			selector = nil
		}
		w.selecting = append(w.selecting, &corev1.Service{
			ObjectMeta: metaOf(fmt.Sprint(app, "-", i)), Spec: corev1.ServiceSpec{Selector: selector}})
	}
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
	if w.oneIn(3) {
		selector.MatchExpressions = []metav1.LabelSelectorRequirement{{
			Key: "tier", Operator: metav1.LabelSelectorOperator(w.pick("In", "NotIn")), Values: []string{"web", w.pick("db", "cache")}}}
	}
	owner := metav1.OwnerReference{Name: app, UID: types.UID(app), Controller: ptr.To(!w.oneIn(6))}
	switch w.random.IntN(5) {
	case 0:
		owner.APIVersion, owner.Kind = "v1", "ReplicationController"
		w.selecting = append(w.selecting, &corev1.ReplicationController{ObjectMeta: metaOf(app),
			Spec: corev1.ReplicationControllerSpec{Selector: map[string]string{"app": w.pick(app, "other")}}})
	case 1:
		owner.APIVersion, owner.Kind = "apps/v1", "ReplicaSet"
		w.selecting = append(w.selecting, &appsv1.ReplicaSet{ObjectMeta: metaOf(app), Spec: appsv1.ReplicaSetSpec{Selector: selector}})
	case 2:
		owner.APIVersion, owner.Kind = "apps/v1", "StatefulSet"
		w.selecting = append(w.selecting, &appsv1.StatefulSet{ObjectMeta: metaOf(app), Spec: appsv1.StatefulSetSpec{Selector: selector}})
	case 3:
		owner.APIVersion, owner.Kind = w.pick("batch/v1", "apps/v1beta1"), w.pick("Job", "ReplicaSet")
	default:
		return
	}
	pod.OwnerReferences = []metav1.OwnerReference{owner}
}

func (w *world) request() corev1.ResourceRequirements {
	requests := corev1.ResourceList{}
	if !w.oneIn(5) {
		requests["cpu"] = *resource.NewMilliQuantity(int64(100+w.random.IntN(9)*100), resource.DecimalSI)
	}
	if w.oneIn(2) {
		requests["memory"] = *resource.NewQuantity(int64(128+w.random.IntN(16)*64)<<20, resource.BinarySI)
	}
	if w.oneIn(12) {
		requests["nvidia.com/gpu"] = resource.MustParse("1")
	}
	return corev1.ResourceRequirements{Requests: requests}
}

func (w *world) toleration() corev1.Toleration {
	toleration := corev1.Toleration{
		Key: w.pick("dedicated", corev1.TaintNodeUnschedulable), Value: w.pick("x", "y"),
		Effect: corev1.TaintEffect(w.pick("", "NoSchedule", "NoExecute")),
	}
	switch w.random.IntN(3) {
	case 0:
		toleration.Operator, toleration.Value = corev1.TolerationOpExists, ""
	case 1:
		toleration.Operator = corev1.TolerationOpEqual
	}
	if w.oneIn(10) {
		return corev1.Toleration{Operator: corev1.TolerationOpExists}
	}
	return toleration
}

func (w *world) nodeSelector() *corev1.NodeSelector {
	selector := &corev1.NodeSelector{}
	for range 1 + w.random.IntN(2) {
		var term corev1.NodeSelectorTerm
		for range w.random.IntN(3) {
			term.MatchExpressions = append(term.MatchExpressions, w.nodeRequirement())
		}
		if w.oneIn(6) {
			term.MatchFields = []corev1.NodeSelectorRequirement{{Key: metav1.ObjectNameField,
				Operator: corev1.NodeSelectorOperator(w.pick("In", "NotIn")), Values: []string{fmt.Sprint("n", w.random.IntN(nodesOfAWorld))}}}
		}
		selector.NodeSelectorTerms = append(selector.NodeSelectorTerms, term)
	}
	return selector
}

func (w *world) nodeRequirement() corev1.NodeSelectorRequirement {
	switch w.random.IntN(6) {
	case 0:
		return corev1.NodeSelectorRequirement{Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: []string{w.pick("ssd", "hdd")}}
	case 1:
		return corev1.NodeSelectorRequirement{Key: "disk", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"ssd"}}
	case 2:
		return corev1.NodeSelectorRequirement{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"a", "b"}}
	case 3:
		return corev1.NodeSelectorRequirement{Key: "cores", Operator: corev1.NodeSelectorOpGt, Values: []string{w.pick("4", "7")}}
	case 4:
		return corev1.NodeSelectorRequirement{Key: "cores", Operator: corev1.NodeSelectorOpLt, Values: []string{"16"}}
	}
	return corev1.NodeSelectorRequirement{Key: "cores", Operator: corev1.NodeSelectorOperator(w.pick("Exists", "DoesNotExist"))}
}

func (w *world) addPodRules(pod *corev1.Pod) {
	if w.oneIn(4) {
		pod.Spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{w.podTerm(pod)}}
	}
	if w.oneIn(5) {
		pod.Spec.Affinity.PodAffinity = &corev1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{w.podTerm(pod)}}
	}
	if w.oneIn(4) {
		constraint := corev1.TopologySpreadConstraint{
			MaxSkew: int32(1 + w.random.IntN(2)), TopologyKey: w.pick(corev1.LabelTopologyZone, corev1.LabelHostname),
			WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: w.podSelector(pod),
		}
		if w.oneIn(4) {
			constraint.MinDomains = ptr.To(int32(2 + w.random.IntN(3)))
		}
		if w.oneIn(3) {
			constraint.NodeTaintsPolicy = ptr.To(corev1.NodeInclusionPolicy(w.pick("Honor", "Ignore")))
			constraint.NodeAffinityPolicy = ptr.To(corev1.NodeInclusionPolicy(w.pick("Honor", "Ignore")))
		}
		pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{constraint}
	}
}

func (w *world) podSelector(pod *corev1.Pod) *metav1.LabelSelector {
	switch w.random.IntN(5) {
	case 0:
		return &metav1.LabelSelector{}
	case 1:
		return &metav1.LabelSelector{MatchLabels: map[string]string{"tier": w.pick("web", "db")}}
	case 2:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
			Key: "app", Operator: metav1.LabelSelectorOperator(w.pick("In", "NotIn")),
			Values: []string{fmt.Sprint("app-", w.random.IntN(appsOfAWorld)), pod.Labels["app"]}}}}
	}
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": pod.Labels["app"]}}
}

func (w *world) podTerm(pod *corev1.Pod) corev1.PodAffinityTerm {
	term := corev1.PodAffinityTerm{
		TopologyKey: w.pick(corev1.LabelHostname, corev1.LabelTopologyZone), LabelSelector: w.podSelector(pod)}
	switch w.random.IntN(6) {
	case 0:
		term.Namespaces = []string{"ns0", "ns1"}
	case 1:
		term.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "t0"}}
	case 2:
		term.NamespaceSelector = &metav1.LabelSelector{}
	}
	return term
}
