package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/sluice-scheduler/sluice/bridge/internal/daemontest"
	"github.com/sluice-scheduler/sluice/bridge/internal/kubetest"
)

const (
	chaosNodes    = 12
	coresOfANode  = 4
	defaultKills  = 12
	settleTimeout = 90 * time.Second
)

// Under churn the bridge, the daemon, the API server and etcd are killed at
// random.
// At no time is a node overcommitted or a pod bound twice, and in the end
// nothing waits that fits. $SLUICE_CHAOS_KILLS makes it longer, and
// $SLUICE_CHAOS_SEED another.
func TestChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	kills, seed := setting("SLUICE_CHAOS_KILLS", defaultKills), setting("SLUICE_CHAOS_SEED", 1)
	t.Logf("%d kills with seed %d", kills, seed)
	plane := kubetest.StartControlPlane(t, kubetest.AlwaysAllow)
	daemon := daemontest.Start(t, "--durability=buffered")
	bridge := kubetest.StartBridge(t, kubetest.BuildBridge(t), plane.Kubeconfig, daemon, "-v=3")
	c := kubetest.NewCluster(t, plane, "chaos")
	for i := range chaosNodes {
		c.Node(fmt.Sprint("n", i))
	}
	judge := watch(t, plane)

	ctx, stop := context.WithCancel(t.Context())
	var churning sync.WaitGroup
	churning.Go(func() { churn(ctx, c, rand.New(rand.NewPCG(uint64(seed), 1)), load{flaps: true}) })

	random := rand.New(rand.NewPCG(uint64(seed), 2))
	for range kills {
		time.Sleep(time.Duration(500+random.IntN(1500)) * time.Millisecond)
		switch random.IntN(6) {
		case 0, 1:
			bridge.Kill()
			time.Sleep(time.Duration(random.IntN(500)) * time.Millisecond)
			restart(t, bridge.Process)
		case 2, 3:
			daemon.Kill()
			time.Sleep(time.Duration(random.IntN(500)) * time.Millisecond)
			daemon.Restart(t)
		case 4:
			plane.APIServer.Kill()
			restart(t, plane.APIServer)
			plane.WaitReady(t)
		case 5:
			plane.Etcd.Kill()
			restart(t, plane.Etcd)
			plane.WaitReady(t)
		}
	}
	stop()
	churning.Wait()
	bridge.WaitReady(t)
	judge.waitUntilNothingThatFitsWaits(c)
	judge.report(t)
}

func setting(name string, otherwise int) int {
	if value, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return value
	}
	return otherwise
}

func restart(t *testing.T, process *kubetest.Process) {
	t.Helper()
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
}

// load is how a churn is.
type load struct {
	flaps   bool // whether nodes go and come back; of one churn at a time
	padding int  // bytes of a pod that nobody needs
}

// churn makes pods, lets them end and deletes them until a context ends, as far as
// the API server is there.
func churn(until context.Context, c *kubetest.Cluster, random *rand.Rand, load load) {
	pods := c.Client.CoreV1().Pods(c.Namespace)
	now := metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}
	// A deletion that is broken off may leave a pod that is being deleted for ever:
	// there is no kubelet to end it.
	ctx := context.WithoutCancel(until)
	for i := 0; until.Err() == nil; i++ {
		time.Sleep(20 * time.Millisecond)
		if load.flaps && random.IntN(100) == 0 {
			flap(c, fmt.Sprint("n", random.IntN(chaosNodes)), time.Duration(random.IntN(500))*time.Millisecond)
		}
		if random.IntN(3) > 0 {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				GenerateName: "pod-", Annotations: map[string]string{"padding": strings.Repeat("x", load.padding)}}, Spec: c.Spec(fmt.Sprint(1 + random.IntN(3)))}
			_, _ = pods.Create(ctx, pod, metav1.CreateOptions{})
		}
		list, err := pods.List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		if err != nil || len(list.Items) < 2*chaosNodes {
			continue
		}
		victim := &list.Items[random.IntN(len(list.Items))]
		if random.IntN(2) == 0 && victim.Spec.NodeName != "" && victim.Status.Phase == corev1.PodPending {
			victim.Status.Phase = corev1.PodSucceeded
			_, _ = pods.UpdateStatus(ctx, victim, metav1.UpdateOptions{})
			continue
		}
		_ = pods.Delete(ctx, victim.Name, now)
	}
}

// flap takes a node away for a while. Its pods stay bound to it.
func flap(c *kubetest.Cluster, name string, pause time.Duration) {
	ctx := context.Background()
	nodes := c.Client.CoreV1().Nodes()
	node, err := nodes.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return
	}
	_ = nodes.Delete(ctx, name, metav1.DeleteOptions{})
	time.Sleep(pause)
	node.ResourceVersion, node.UID = "", ""
	for deadline := time.Now().Add(settleTimeout); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		_, _ = nodes.Create(ctx, node.DeepCopy(), metav1.CreateOptions{})
		current, err := nodes.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			continue
		}
		current.Status = node.Status
		if _, err := nodes.UpdateStatus(ctx, current, metav1.UpdateOptions{}); err == nil {
			return
		}
	}
}

// judge follows the API server's own objects.
type judge struct {
	pods cache.SharedIndexInformer

	mu     sync.Mutex
	nodes  map[string]string // of each pod that was ever bound, by uid
	faults []string
	bound  int
}

func watch(t *testing.T, plane *kubetest.ControlPlane) *judge {
	t.Helper()
	factory := informers.NewSharedInformerFactory(plane.Client, 0)
	j := &judge{pods: factory.Core().V1().Pods().Informer(), nodes: map[string]string{}}
	_, err := j.pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { j.look(object.(*corev1.Pod)) },
		UpdateFunc: func(_, object any) { j.look(object.(*corev1.Pod)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	t.Cleanup(func() {
		cancel()
		factory.Shutdown()
	})
	return j
}

func (j *judge) look(pod *corev1.Pod) {
	if pod.Spec.NodeName == "" {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	before, wasBound := j.nodes[string(pod.UID)]
	if wasBound && before != pod.Spec.NodeName {
		j.faults = append(j.faults, fmt.Sprintf("%s was on %s and is on %s", pod.Name, before, pod.Spec.NodeName))
	}
	if wasBound {
		return
	}
	j.nodes[string(pod.UID)] = pod.Spec.NodeName
	j.bound++
	// The cache is as old as this event, or newer in what ended since.
	if used := j.usedOn(pod.Spec.NodeName); used > coresOfANode*1000 {
		j.faults = append(j.faults, fmt.Sprintf("%s has %dm in use once %s is there", pod.Spec.NodeName, used, pod.Name))
	}
}

func (j *judge) usedOn(node string) (millicores int64) {
	for _, object := range j.pods.GetStore().List() {
		pod := object.(*corev1.Pod)
		if pod.Spec.NodeName == node && pod.Status.Phase == corev1.PodPending {
			millicores += cores(pod)
		}
	}
	return millicores
}

func cores(pod *corev1.Pod) int64 {
	return pod.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
}

func (j *judge) waitUntilNothingThatFitsWaits(c *kubetest.Cluster) {
	c.T.Helper()
	var waits string
	for deadline := time.Now().Add(settleTimeout); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		if waits = j.fitsAndWaits(c); waits == "" {
			return
		}
	}
	c.T.Errorf("waits, and fits: %s", waits)
}

func (j *judge) fitsAndWaits(c *kubetest.Cluster) string {
	free := int64(0)
	for i := range chaosNodes {
		free = max(free, coresOfANode*1000-j.usedOn(fmt.Sprint("n", i)))
	}
	list, err := c.Client.CoreV1().Pods(c.Namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return err.Error()
	}
	for i := range list.Items {
		pod := &list.Items[i]
		if pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil && cores(pod) <= free {
			return fmt.Sprintf("%s asks for %dm, and some node has %dm", pod.Name, cores(pod), free)
		}
	}
	return ""
}

func (j *judge) report(t *testing.T) {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	t.Logf("%d pods were bound", j.bound)
	for _, fault := range j.faults {
		t.Error(fault)
	}
	if j.bound == 0 {
		t.Error("nothing was bound")
	}
}
