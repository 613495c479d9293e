package verdict

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-base/metrics"

	"github.com/sluice-scheduler/sluice/bridge/internal/api/firmament"
	sluicev1 "github.com/sluice-scheduler/sluice/bridge/internal/api/sluice/v1"
	"github.com/sluice-scheduler/sluice/bridge/internal/convert"
	"github.com/sluice-scheduler/sluice/bridge/internal/daemontest"
	"github.com/sluice-scheduler/sluice/bridge/internal/feed"
)

const defaultSeeds = 8

// Once nothing was placed for so long, what waits does not fit.
const quiet = 1500 * time.Millisecond

// Where Sluice places a pod kube-scheduler's filters would let it go, in the
// order in which it is told, and what it leaves waiting they let go nowhere.
// $SLUICE_VERDICT_SEEDS makes it longer.
func TestKubeSchedulerAgrees(t *testing.T) {
	seeds := defaultSeeds
	if value, err := strconv.Atoi(os.Getenv("SLUICE_VERDICT_SEEDS")); err == nil {
		seeds = value
	}
	placed, waiting := 0, 0
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			p, w := judgeWorld(t, newWorld(uint64(seed)))
			placed, waiting = placed+p, waiting+w
		})
	}
	t.Logf("%d placements and %d pods that wait were judged", placed, waiting)
}

func judgeWorld(t *testing.T, w *world) (placed, waiting int) {
	daemon := daemontest.Start(t)
	source := newSource(t, w)
	ctx, cancel := context.WithCancel(t.Context())
	client := feed.NewClient("verdict", daemon.Dial(t), source, source, feed.NoTerm, feed.NewMetrics(metrics.NewKubeRegistry()))
	source.client = client
	done := make(chan struct{})
	go func() {
		defer close(done)
		client.Run(ctx)
	}()
	source.waitUntilQuiet()
	cancel()
	<-done

	scheduler := newScheduler(t, w)
	all := make([]string, 0, len(w.nodes))
	for _, node := range w.nodes {
		all = append(all, node.Name)
	}
	for _, delta := range source.placed {
		pod := source.pods[delta.Key]
		for node, reason := range scheduler.refuses(t.Context(), pod, delta.Machine) {
			t.Errorf("%s on %s: %s", delta.Key, node, reason)
		}
		scheduler.place(pod, delta.Machine)
		delete(source.pods, delta.Key)
	}
	for key, pod := range source.pods {
		refused := scheduler.refuses(t.Context(), pod, all...)
		if len(refused) < len(all) {
			fits := slices.DeleteFunc(slices.Clone(all), func(node string) bool { return refused[node] != "" })
			t.Errorf("%s waits, and fits on %v", key, fits)
		}
	}
	return len(source.placed), len(source.pods)
}

// source states a world, and takes every placement for done.
type source struct {
	w      *world
	client *feed.Client
	pods   map[string]*corev1.Pod
	nodes  map[string]*corev1.Node

	mu     sync.Mutex
	runsOn map[string]string
	placed []feed.Delta
	last   time.Time
}

func newSource(t *testing.T, w *world) *source {
	s := &source{
		w: w, pods: map[string]*corev1.Pod{}, nodes: map[string]*corev1.Node{},
		runsOn: map[string]string{}, last: time.Now(),
	}
	for _, pod := range w.pods {
		s.pods[pod.Namespace+"/"+pod.Name] = pod
		if _, err := convert.Pod(pod, s.around(pod)); err != nil {
			t.Fatal(err)
		}
	}
	for _, node := range w.nodes {
		s.nodes[node.Name] = node
	}
	return s
}

func (s *source) around(pod *corev1.Pod) convert.Surroundings {
	for _, namespace := range s.w.namespaces {
		if namespace.Name == pod.Namespace {
			return convert.Surroundings{NamespaceLabels: namespace.Labels}
		}
	}
	return convert.Surroundings{}
}

func (s *source) MachineNames() []string {
	var names []string
	for _, node := range s.w.nodes {
		names = append(names, node.Name)
	}
	return names
}

func (s *source) PriorityZero() uint32 { return convert.PriorityZero }

func (s *source) TaskKeys() []string {
	var keys []string
	for _, pod := range s.w.pods {
		keys = append(keys, pod.Namespace+"/"+pod.Name)
	}
	return keys
}

func (s *source) Machine(name string) *firmament.ResourceTopologyNodeDescriptor {
	machine, err := convert.Node(s.nodes[name], nil)
	if err != nil {
		return nil
	}
	return machine
}

func (s *source) Task(key string) feed.Task {
	pod := s.pods[key]
	description, err := convert.Pod(pod, s.around(pod))
	if err != nil {
		return feed.Task{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return feed.Task{Stated: &sluicev1.TaskStated{
		Id: string(pod.UID), Description: description, RunsOn: s.runsOn[key]}}
}

func (s *source) TaskKeysOn(string) []string { return nil }

func (s *source) Place(delta feed.Delta) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.placed = append(s.placed, delta)
	s.runsOn[delta.Key] = delta.Machine
	s.last = time.Now()
	s.client.TaskChanged(delta.Key)
}

func (s *source) Evict(feed.Delta) {}

func (s *source) Misunderstood(string, feed.Problem) {}

func (s *source) MachineMisunderstood(string, feed.Problem) {}

func (s *source) waitUntilQuiet() {
	for {
		time.Sleep(100 * time.Millisecond)
		s.mu.Lock()
		since := time.Since(s.last)
		s.mu.Unlock()
		if since > quiet && s.client.IsLive() {
			return
		}
	}
}
