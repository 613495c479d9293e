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
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/component-base/metrics"

	"github.com/sluice-scheduler/sluice/bridge/internal/daemontest"
	"github.com/sluice-scheduler/sluice/bridge/internal/feed"
	"github.com/sluice-scheduler/sluice/bridge/internal/mirror"
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

// source states a world as the bridge does, and takes every placement for done.
type source struct {
	mirror.Source
	client *feed.Client
	pods   map[string]*corev1.Pod // that wait, by key

	mu     sync.Mutex
	runsOn map[string]string // by uid
	placed []feed.Delta
	last   time.Time
}

func newSource(t *testing.T, w *world) *source {
	s := &source{pods: map[string]*corev1.Pod{}, runsOn: map[string]string{}, last: time.Now()}
	s.Source = mirror.Source{Mirror: newMirror(t, w), Assumptions: s}
	for _, pod := range w.pods {
		s.pods[pod.Namespace+"/"+pod.Name] = pod
		if err := s.Obstacle(pod); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// newMirror shows a world as the API server would.
func newMirror(t *testing.T, w *world) *mirror.Mirror {
	t.Helper()
	client := fake.NewClientset(w.objects()...)
	m, err := mirror.New(client, dynamicfake.NewSimpleDynamicClient(runtime.NewScheme()), client.Discovery(),
		[]string{"sluice"}, systemSpread)
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
	return m
}

// Assumed implements mirror.Assumptions.
func (s *source) Assumed(uid string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runsOn[uid]
}

// Rejected implements mirror.Assumptions.
func (s *source) Rejected(string) []string { return nil }

func (s *source) Place(delta feed.Delta) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.placed = append(s.placed, delta)
	s.runsOn[delta.ID] = delta.Machine
	s.last = time.Now()
	s.client.TaskChanged(delta.Key)
}

func (s *source) Evict(feed.Delta) {}

func (s *source) Nominate(feed.Delta) {}

func (s *source) Restated() {}

func (s *source) TaskProblem(string, feed.Problem) {}

func (s *source) MachineProblem(string, feed.Problem) {}

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
