package e2e

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/sluice-scheduler/sluice/bridge/internal/daemontest"
	"github.com/sluice-scheduler/sluice/bridge/internal/kubetest"
)

// Each on a fresh control plane: first a backlog of pods that were made before
// the scheduler started, then half as many that are made while it runs, and at
// last as many again in a stream of $SLUICE_COMPARE_RATE pods a second.
var comparisons = []struct {
	name   string
	change func(int, *corev1.Pod)
}{
	{"plain", func(int, *corev1.Pod) {}},
	{"node affinity", func(i int, p *corev1.Pod) {
		requires(requirement(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, zone(i)))(p)
	}},
	{"spread by zone", func(i int, p *corev1.Pod) {
		p.Labels = map[string]string{"app": fmt.Sprint("app-", i%10)}
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels}}}
	}},
	{"anti-affinity by host", func(i int, p *corev1.Pod) {
		p.Labels = map[string]string{"app": fmt.Sprint("app-", i%20)}
		podAntiAffinity(p).RequiredDuringSchedulingIgnoredDuringExecution = []corev1.PodAffinityTerm{{
			TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels}}}
	}},
}

func zone(i int) string { return fmt.Sprint("zone-", i%5) }

// TestCompare measures the daemon with its bridge beside kube-scheduler. It is
// no test of either, and runs where $SLUICE_COMPARE_NODES and
// $SLUICE_COMPARE_PODS say how many.
func TestCompare(t *testing.T) {
	nodes, pods := setting("SLUICE_COMPARE_NODES", 0), setting("SLUICE_COMPARE_PODS", 0)
	if nodes == 0 || pods == 0 {
		t.Skip("measures only where $SLUICE_COMPARE_NODES and $SLUICE_COMPARE_PODS are set")
	}
	bridge := kubetest.BuildBridge(t)
	for _, comparison := range comparisons {
		for _, name := range []string{"sluice", corev1.DefaultSchedulerName} {
			t.Run(comparison.name+"/"+name, func(t *testing.T) {
				if only := os.Getenv("SLUICE_COMPARE_ONLY"); !strings.Contains(comparison.name, only) {
					t.Skip("not asked for")
				}
				plane := kubetest.StartControlPlane(t, kubetest.AlwaysAllow)
				plane.ControllerManager.Kill()
				r := newRun(t, plane, name, comparison.change)
				r.makeNodes(nodes)
				r.makePods("backlog", pods)
				began := time.Now()
				processes := map[string]int{}
				if name == "sluice" {
					daemon := daemontest.Start(t, "--durability=buffered")
					process := kubetest.StartBridge(t, bridge, plane.Kubeconfig, daemon, "--profiling")
					processes["sluiced"], processes["sluice-bridge"] = daemon.PID(), process.PID()
				} else {
					processes[name] = kubetest.StartKubeScheduler(t, plane).PID()
				}
				bound := r.wait(pods)
				first, last := r.span()
				t.Logf("backlog: %d of %d bound, %.0f/s from the first to the last, the last %.1f s after the start",
					bound, pods, float64(bound-1)/last.Sub(first).Seconds(), last.Sub(began).Seconds())
				r.logUsage(processes)
				r.makePods("later", pods/2)
				bound = r.wait(pods + pods/2)
				r.logLatencies()
				t.Logf("%d of %d bound on %d nodes", bound, pods+pods/2, r.nodesUsed())
				r.logUsage(processes)
				r.streamPods("stream", pods/2, setting("SLUICE_COMPARE_RATE", 100))
				bound = r.wait(2 * pods)
				r.logLatencies()
				t.Logf("%d of %d bound", bound, 2*pods)
				r.logUsage(processes)
			})
		}
	}
}

type run struct {
	t      *testing.T
	c      *kubetest.Cluster
	change func(int, *corev1.Pod)
	count  int

	mu      sync.Mutex
	made    map[string]time.Time
	bound   map[string]time.Time
	nodes   map[string]int
	latency []time.Duration

	used map[string]time.Duration // processor time, by process
}

func newRun(t *testing.T, plane *kubetest.ControlPlane, scheduler string, change func(int, *corev1.Pod)) *run {
	t.Helper()
	c := kubetest.NewCluster(t, plane, "compare")
	c.Scheduler = scheduler
	r := &run{t: t, c: c, change: change, made: map[string]time.Time{}, bound: map[string]time.Time{}, nodes: map[string]int{},
		used: map[string]time.Duration{}}
	factory := informers.NewSharedInformerFactory(plane.Client, 0)
	_, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { r.look(object.(*corev1.Pod)) },
		UpdateFunc: func(_, object any) { r.look(object.(*corev1.Pod)) },
	})
	must(c, err)
	ctx, cancel := context.WithCancel(context.Background())
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	t.Cleanup(func() {
		cancel()
		factory.Shutdown()
	})
	return r
}

func (r *run) look(pod *corev1.Pod) {
	if pod.Spec.NodeName == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.bound[pod.Name]; known {
		return
	}
	now := time.Now()
	r.bound[pod.Name] = now
	r.nodes[pod.Spec.NodeName]++
	if !strings.HasPrefix(pod.Name, "backlog") {
		r.latency = append(r.latency, now.Sub(r.made[pod.Name]))
	}
}

// each calls do for 0 to count-1, sixteen at a time.
func each(count int, do func(int)) {
	var running sync.WaitGroup
	numbers := numbersTo(count)
	for range 16 {
		running.Go(func() {
			for i := range numbers {
				do(i)
			}
		})
	}
	running.Wait()
}

func numbersTo(count int) <-chan int {
	numbers := make(chan int)
	go func() {
		defer close(numbers)
		for i := range count {
			numbers <- i
		}
	}()
	return numbers
}

func (r *run) makeNodes(count int) {
	each(count, func(i int) {
		r.c.Node(fmt.Sprint("node-", i), kubetest.Offers("cpu", "32", "memory", "128Gi"),
			kubetest.Labels(map[string]string{corev1.LabelTopologyZone: zone(i)}))
	})
}

func (r *run) makePods(prefix string, count int) {
	offset := r.count
	r.count += count
	each(count, func(i int) { r.makePod(prefix, offset, i) })
}

// streamPods makes pods at a steady rate.
func (r *run) streamPods(prefix string, count, rate int) {
	offset := r.count
	r.count += count
	var running sync.WaitGroup
	ticker := time.NewTicker(time.Second / time.Duration(rate))
	defer ticker.Stop()
	for i := range count {
		<-ticker.C
		running.Go(func() { r.makePod(prefix, offset, i) })
	}
	running.Wait()
}

func (r *run) makePod(prefix string, offset, i int) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(prefix, "-", i)}, Spec: r.c.Spec("100m")}
	pod.Spec.Containers[0].Resources.Requests["memory"] = kubetest.Amounts("memory", "128Mi")["memory"]
	r.change(offset+i, pod)
	r.mu.Lock()
	r.made[pod.Name] = time.Now()
	r.mu.Unlock()
	_, err := r.c.Client.CoreV1().Pods(r.c.Namespace).Create(context.Background(), pod, metav1.CreateOptions{})
	must(r.c, err)
}

// wait returns how many are bound, once that is count or no more come.
func (r *run) wait(count int) int {
	const patience = 30 * time.Second
	last, since := 0, time.Now()
	for {
		r.mu.Lock()
		bound := len(r.bound)
		r.mu.Unlock()
		if bound != last {
			last, since = bound, time.Now()
		}
		if bound >= count || time.Since(since) > patience {
			return bound
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (r *run) span() (first, last time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, at := range r.bound {
		if first.IsZero() || at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	return first, last
}

func (r *run) nodesUsed() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.nodes)
}

func (r *run) logLatencies() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.latency) == 0 {
		return
	}
	slices.Sort(r.latency)
	defer func() { r.latency = nil }()
	r.t.Logf("from creation to binding: p50 %v, p99 %v",
		r.latency[len(r.latency)/2].Round(time.Millisecond), r.latency[len(r.latency)*99/100].Round(time.Millisecond))
}

// logUsage tells what each process has used since it was asked last.
func (r *run) logUsage(processes map[string]int) {
	for _, name := range slices.Sorted(maps.Keys(processes)) {
		usage, err := kubetest.UsageOf(processes[name])
		must(r.c, err)
		r.t.Logf("%s: %.2f s of processor time, %d MiB at most",
			name, (usage.CPU - r.used[name]).Seconds(), usage.PeakMemory>>20)
		r.used[name] = usage.CPU
	}
}
