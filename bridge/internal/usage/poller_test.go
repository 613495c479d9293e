package usage

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/testutil"
	metricsclient "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"

	"github.com/sluice-scheduler/sluice/bridge/internal/feed"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cluster has one node of four cores and 8 GiB, and one pod on it.
type cluster struct{}

func (cluster) Node(name string) *corev1.Node {
	if name != "n1" && name != "bare" {
		return nil
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if name == "n1" {
		node.Status.Capacity = corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi")}
	}
	return node
}

func (cluster) Pod(key string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: types.UID("uid of " + key)}}
	switch key {
	case "shop/web":
		pod.Spec.NodeName = "n1"
	case "shop/waits":
	default:
		return nil
	}
	return pod
}

const (
	nodes = `{"kind":"NodeMetricsList","apiVersion":"metrics.k8s.io/v1beta1","items":[
		{"metadata":{"name":"n1"},"usage":{"cpu":"1","memory":"2Gi"}},
		{"metadata":{"name":"bare"},"usage":{"cpu":"1","memory":"2Gi"}},
		{"metadata":{"name":"gone"},"usage":{"cpu":"1","memory":"2Gi"}}]}`
	pods = `{"kind":"PodMetricsList","apiVersion":"metrics.k8s.io/v1beta1","items":[
		{"metadata":{"name":"web","namespace":"shop"},"containers":[
			{"name":"a","usage":{"cpu":"250m","memory":"64Mi"}},{"name":"b","usage":{"cpu":"100m","memory":"1Mi"}}]},
		{"metadata":{"name":"waits","namespace":"shop"},"containers":[]},
		{"metadata":{"name":"gone","namespace":"shop"},"containers":[]}]}`
)

// start polls server until the test ends.
func start(t *testing.T, server *httptest.Server, interval time.Duration) (*Metrics, <-chan feed.Usage) {
	t.Helper()
	client, err := metricsclient.NewForConfig(&rest.Config{Host: server.URL, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	samples := make(chan feed.Usage, 100)
	poller := Poller{Client: client, Cluster: cluster{}, Interval: interval,
		Sink: func(u feed.Usage) { samples <- u }, Metrics: NewMetrics(metrics.NewKubeRegistry())}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		poller.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		client.RESTClient().(*rest.RESTClient).Client.CloseIdleConnections()
		server.Close()
	})
	return poller.Metrics, samples
}

func next(t *testing.T, samples <-chan feed.Usage) feed.Usage {
	t.Helper()
	select {
	case usage := <-samples:
		return usage
	case <-time.After(time.Minute):
		t.Fatal("no samples came")
		return feed.Usage{}
	}
}

func answer(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/apis/metrics.k8s.io/v1beta1/nodes":
		_, _ = w.Write([]byte(nodes))
	case "/apis/metrics.k8s.io/v1beta1/pods":
		_, _ = w.Write([]byte(pods))
	default:
		http.NotFound(w, r)
	}
}

func TestWhatIsKnownIsMeasured(t *testing.T) {
	_, samples := start(t, httptest.NewServer(http.HandlerFunc(answer)), time.Hour)
	usage := next(t, samples)
	if len(usage.Machines) != 1 || len(usage.Tasks) != 1 {
		t.Fatalf("got %v", usage)
	}
	machine, task := usage.Machines[0], usage.Tasks[0]
	if machine.ResourceId != "n1" || machine.CpusStats[0].CpuUtilization != 0.25 || machine.MemUtilization != 0.25 {
		t.Errorf("machine %v", machine)
	}
	if task.Id != "uid of shop/web" || task.Stats.CpuUsage != 350 || task.Stats.MemWorkingSet != 65<<10 {
		t.Errorf("task %v", task)
	}
}

func TestItAsksOnWhereNobodyAnswers(t *testing.T) {
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch requests.Add(1) {
		case 1:
			http.NotFound(w, r) // there is no metrics-server
		case 2:
			http.Error(w, "not yet", http.StatusInternalServerError)
		default:
			answer(w, r)
		}
	}))
	m, samples := start(t, server, 10*time.Millisecond)
	next(t, samples)
	if got, err := testutil.GetCounterMetricValue(m.polls.WithLabelValues("error")); err != nil || got != 2 {
		t.Errorf("errors: %v, %v", got, err)
	}
}

func TestAServerThatHangsIsLeftAlone(t *testing.T) {
	var requests atomic.Int64
	released := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 1 {
			select {
			case <-r.Context().Done():
			case <-released:
			}
			return
		}
		answer(w, r)
	}))
	t.Cleanup(func() { close(released) })
	_, samples := start(t, server, 10*time.Millisecond)
	next(t, samples)
}
