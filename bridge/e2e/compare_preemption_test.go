package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/sluice-scheduler/sluice/bridge/internal/daemontest"
	"github.com/sluice-scheduler/sluice/bridge/internal/kubetest"
)

const (
	steadyPriority = 100
	urgentPriority = 1000
	// As long as kube-scheduler lets a pod wait before it tries again.
	quietTime = 11 * time.Second
	setLimit  = 5 * time.Minute
)

// TestPreemptionBesideKubeScheduler gives the same full cluster and the same
// urgent pods to the daemon with its bridge and to kube-scheduler, and fails where
// the daemon breaks a budget, places fewer urgent pods or pays more for as many.
//
// The price of what was stopped is the daemon's own: how many pods of the highest
// priority, then how many of the next. No pod here says that its stop costs more.
//
// $SLUICE_COMPARE_NODES and $SLUICE_COMPARE_SEEDS ask for larger clusters and for
// more of them.
func TestPreemptionBesideKubeScheduler(t *testing.T) {
	nodes, seeds := setting("SLUICE_COMPARE_NODES", 12), setting("SLUICE_COMPARE_SEEDS", 1)
	kubetest.Binaries(t)
	bridge := kubetest.BuildBridge(t)
	schedulers := []string{"sluice", corev1.DefaultSchedulerName}
	outcomes := map[string][]outcome{}
	for seed := range seeds {
		scene := newScene(uint64(seed+1), nodes)
		for _, scheduler := range schedulers {
			t.Run(fmt.Sprintf("seed-%d/%s", seed+1, scheduler), func(t *testing.T) {
				outcomes[scheduler] = append(outcomes[scheduler], scene.play(t, scheduler, bridge))
			})
		}
		if t.Failed() {
			return
		}
		ours, theirs := outcomes["sluice"][seed], outcomes[corev1.DefaultSchedulerName][seed]
		t.Logf("seed %d: %s\n%s", seed+1, scene,
			table(map[string]outcome{"sluice": ours, corev1.DefaultSchedulerName: theirs}))
		ours.check(t, theirs)
	}
	if seeds > 1 {
		medians := map[string]outcome{}
		for _, scheduler := range schedulers {
			medians[scheduler] = median(outcomes[scheduler])
		}
		t.Logf("medians of %d seeds\n%s", seeds, table(medians))
	}
}

// A scene is a cluster that is full of deployments, and the pods that come to it.
type scene struct {
	nodes       []sceneNode
	deployments []deployed
	urgent      []func(*corev1.Pod)
}

type sceneNode struct {
	name        string
	cpu, memory int // milli, Mi
	labels      map[string]string
	// Only what is not urgent tolerates it, and nothing runs there before.
	isSpare bool
}

type deployed struct {
	name        string
	priority    int
	cpu, memory int // milli, Mi
	budget      *policyv1.PodDisruptionBudgetSpec
	// Where each of its pods runs at first.
	nodes []string
}

var toleratesSpares = []corev1.Toleration{{Key: "spare", Operator: corev1.TolerationOpExists}}

// needed is how many pods its budget protects.
func (d *deployed) needed() int {
	switch {
	case d.budget == nil:
		return 0
	case d.budget.MaxUnavailable != nil:
		return len(d.nodes) - d.budget.MaxUnavailable.IntValue()
	}
	needed, err := intstr.GetScaledValueFromIntOrPercent(d.budget.MinAvailable, len(d.nodes), true)
	if err != nil {
		panic(err)
	}
	return needed
}

func newScene(seed uint64, nodes int) *scene {
	random := rand.New(rand.NewPCG(seed, 0))
	s := &scene{deployments: []deployed{
		{name: "web", cpu: 500, memory: 1024},
		{name: "batch", cpu: 1500, memory: 2048},
		{name: "cache", cpu: 1000, memory: 6144,
			budget: &policyv1.PodDisruptionBudgetSpec{MinAvailable: ptr.To(intstr.FromString("75%"))}},
		{name: "api", priority: steadyPriority, cpu: 1000, memory: 2048},
		{name: "db", priority: steadyPriority, cpu: 2000, memory: 6144,
			budget: &policyv1.PodDisruptionBudgetSpec{MaxUnavailable: ptr.To(intstr.FromInt32(1))}},
	}}
	for i := range nodes {
		cores := []int{4, 8, 16}[random.IntN(3)]
		node := sceneNode{name: fmt.Sprint("node-", i), cpu: cores * 1000, memory: cores * 4096,
			labels: map[string]string{}, isSpare: i%6 == 5}
		if i%3 == 0 {
			node.labels["disk"] = "ssd"
		}
		s.nodes = append(s.nodes, node)
		if !node.isSpare {
			s.fill(random, node)
			for range 2 {
				s.urgent = append(s.urgent, urgentPod(random))
			}
		}
	}
	return s
}

// fill runs pods on a node until none has room there.
func (s *scene) fill(random *rand.Rand, node sceneNode) {
	cpu, memory := node.cpu, node.memory
	for {
		var fitting []*deployed
		for i := range s.deployments {
			if d := &s.deployments[i]; d.cpu <= cpu && d.memory <= memory {
				fitting = append(fitting, d)
			}
		}
		if len(fitting) == 0 {
			return
		}
		d := fitting[random.IntN(len(fitting))]
		d.nodes = append(d.nodes, node.name)
		cpu, memory = cpu-d.cpu, memory-d.memory
	}
}

func urgentPod(random *rand.Rand) func(*corev1.Pod) {
	kinds := []func(*corev1.Pod){
		kubetest.Requests("cpu", "750m", "memory", "1Gi"),
		kubetest.Requests("cpu", "1", "memory", "10Gi"),
		kubetest.Requests("cpu", "3", "memory", "6Gi"),
		func(p *corev1.Pod) {
			kubetest.Requests("cpu", "2", "memory", "4Gi")(p)
			p.Spec.NodeSelector = map[string]string{"disk": "ssd"}
		},
		func(p *corev1.Pod) {
			kubetest.Requests("cpu", "1", "memory", "2Gi")(p)
			p.Labels["spread"] = "hosts"
			podAntiAffinity(p).RequiredDuringSchedulingIgnoredDuringExecution = []corev1.PodAffinityTerm{{
				TopologyKey:   corev1.LabelHostname,
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"spread": "hosts"}}}}
		},
	}
	return kinds[random.IntN(len(kinds))]
}

func (s *scene) String() string {
	return fmt.Sprintf("%d nodes, %d pods run, %d urgent ones come", len(s.nodes), s.replicas(), len(s.urgent))
}

func (s *scene) replicas() int {
	count := 0
	for i := range s.deployments {
		count += len(s.deployments[i].nodes)
	}
	return count
}

// play returns what a scheduler does.
func (s *scene) play(t *testing.T, scheduler, bridge string) outcome {
	plane := kubetest.StartControlPlane(t, kubetest.AlwaysAllow)
	c := kubetest.NewCluster(t, plane, "compare")
	c.Scheduler = scheduler
	c.PriorityClass("steady", steadyPriority)
	c.PriorityClass("urgent", urgentPriority)
	s.set(c)
	var names []string
	for _, node := range s.nodes {
		names = append(names, node.name)
	}
	kubetest.StartKubelet(t, plane, c.Namespace, func(*corev1.Pod) []*kubetest.Process { return nil }, names...)
	s.waitUntilAllRuns(c)
	if scheduler == corev1.DefaultSchedulerName {
		kubetest.StartKubeScheduler(t, plane)
	} else {
		daemon := daemontest.Start(t, "--preemption=priority")
		kubetest.StartBridge(t, bridge, plane.Kubeconfig, daemon)
	}
	// Either shows with this that it knows the cluster.
	c.Pod("first", func(p *corev1.Pod) { p.Spec.Tolerations = toleratesSpares })
	c.NodeOf("first")
	c.DeletePod("first")

	a := startAudit(c, s)
	began := time.Now()
	each(len(s.urgent), func(i int) {
		c.Pod(fmt.Sprint("urgent-", i), inClass("urgent"), s.urgent[i])
	})
	return a.wait(began)
}

// set makes the nodes, the deployments and their budgets, and binds all pods.
func (s *scene) set(c *kubetest.Cluster) {
	c.T.Helper()
	ctx := context.Background()
	each(len(s.nodes), func(i int) {
		node := s.nodes[i]
		changes := []func(*corev1.Node){
			kubetest.Offers("cpu", fmt.Sprint(node.cpu, "m"), "memory", fmt.Sprint(node.memory, "Mi")),
			kubetest.Labels(node.labels)}
		if node.isSpare {
			changes = append(changes, kubetest.Taint("spare", "", corev1.TaintEffectNoSchedule))
		}
		c.Node(node.name, changes...)
	})
	for _, d := range s.deployments {
		_, err := c.Client.AppsV1().Deployments(c.Namespace).Create(ctx, d.object(c), metav1.CreateOptions{})
		must(c, err)
		if d.budget != nil {
			budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: d.name}, Spec: *d.budget}
			budget.Spec.Selector = selector(d.name)
			_, err := c.Client.PolicyV1().PodDisruptionBudgets(c.Namespace).Create(ctx, budget, metav1.CreateOptions{})
			must(c, err)
		}
	}
	pods := c.Client.CoreV1().Pods(c.Namespace)
	for _, d := range s.deployments {
		var list *corev1.PodList
		eventually(c, "all pods of "+d.name+" are made", func() bool {
			var err error
			list, err = pods.List(ctx, metav1.ListOptions{LabelSelector: "app=" + d.name})
			must(c, err)
			return len(list.Items) == len(d.nodes)
		})
		each(len(d.nodes), func(i int) {
			must(c, pods.Bind(ctx, &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: list.Items[i].Name},
				Target: corev1.ObjectReference{Kind: "Node", Name: d.nodes[i]}}, metav1.CreateOptions{}))
		})
	}
}

// eventually waits for longer than the cluster does: controllers that lag behind
// their own writes back off.
func eventually(c *kubetest.Cluster, what string, is func() bool) {
	c.T.Helper()
	for deadline := time.Now().Add(setLimit); !is(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.T.Fatalf("not so within %v: %s", setLimit, what)
		}
	}
}

func (d *deployed) object(c *kubetest.Cluster) *appsv1.Deployment {
	pods := template(c, d.name, fmt.Sprint(d.cpu, "m"))
	pods.Spec.Containers[0].Resources.Requests["memory"] = kubetest.Amounts("memory", fmt.Sprint(d.memory, "Mi"))["memory"]
	pods.Spec.TerminationGracePeriodSeconds = ptr.To[int64](30)
	pods.Spec.Tolerations = toleratesSpares
	if d.priority == steadyPriority {
		pods.Spec.PriorityClassName = "steady"
	}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: d.name},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(int32(len(d.nodes))), Selector: selector(d.name), Template: pods},
	}
}

func (s *scene) waitUntilAllRuns(c *kubetest.Cluster) {
	c.T.Helper()
	for _, d := range s.deployments {
		eventually(c, "all pods of "+d.name+" run, and its budget knows", func() bool {
			found, err := c.Client.AppsV1().Deployments(c.Namespace).Get(context.Background(), d.name, metav1.GetOptions{})
			must(c, err)
			if int(found.Status.ReadyReplicas) != len(d.nodes) {
				return false
			}
			if d.budget == nil {
				return true
			}
			budget, err := c.Client.PolicyV1().PodDisruptionBudgets(c.Namespace).Get(context.Background(), d.name, metav1.GetOptions{})
			must(c, err)
			if needed := int(budget.Status.DesiredHealthy); needed > 0 && needed != d.needed() {
				c.T.Fatalf("the budget of %s needs %d of %d pods, not %d", d.name, needed, len(d.nodes), d.needed())
			}
			return int(budget.Status.CurrentHealthy) == len(d.nodes)
		})
	}
}

// An outcome is what a scheduler did in a scene.
type outcome struct {
	placed, waiting int
	// Pods that were stopped, by priority, and the milli of cpu they asked for.
	steady, others, cpu int
	// Those of them that left their budget with less than it needs.
	breaks int
	// As many of what was stopped run again.
	back int
	took time.Duration // until the last urgent pod ran
}

func (o outcome) check(t *testing.T, theirs outcome) {
	if o.breaks > 0 {
		t.Errorf("%d evictions by Sluice broke a budget", o.breaks)
	}
	if o.placed < theirs.placed {
		t.Errorf("%d urgent pods wait with Sluice, %d with kube-scheduler", o.waiting, theirs.waiting)
	}
	if o.placed == theirs.placed && slices.Compare(o.price(), theirs.price()) > 0 {
		t.Errorf("Sluice stops %d pods of priority %d and %d of 0, kube-scheduler %d and %d",
			o.steady, steadyPriority, o.others, theirs.steady, theirs.others)
	}
}

func (o outcome) price() []int { return []int{o.steady, o.others} }

func table(rows map[string]outcome) string {
	var text strings.Builder
	fmt.Fprintf(&text, "| | urgent pods run | wait | stopped | of priority %d | of 0 | cores stopped | budgets broken | back | all run after |\n"+
		"| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n", steadyPriority)
	for _, name := range []string{"sluice", corev1.DefaultSchedulerName} {
		o := rows[name]
		fmt.Fprintf(&text, "| %s | %d | %d | %d | %d | %d | %.1f | %d | %d | %.1f s |\n", name, o.placed, o.waiting,
			o.steady+o.others, o.steady, o.others, float64(o.cpu)/1000, o.breaks, o.back, o.took.Seconds())
	}
	return text.String()
}

// median is that of each figure by itself.
func median(all []outcome) outcome {
	middle := func(of func(outcome) int) int {
		var values []int
		for _, o := range all {
			values = append(values, of(o))
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	return outcome{
		placed:  middle(func(o outcome) int { return o.placed }),
		waiting: middle(func(o outcome) int { return o.waiting }),
		steady:  middle(func(o outcome) int { return o.steady }),
		others:  middle(func(o outcome) int { return o.others }),
		cpu:     middle(func(o outcome) int { return o.cpu }),
		breaks:  middle(func(o outcome) int { return o.breaks }),
		back:    middle(func(o outcome) int { return o.back }),
		took:    time.Duration(middle(func(o outcome) int { return int(o.took) })),
	}
}
