package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/sluice-scheduler/sluice/bridge/internal/daemontest"
	"github.com/sluice-scheduler/sluice/bridge/internal/kubetest"
)

const (
	chaosNodes    = 12
	coresOfANode  = 4
	defaultKills  = 12
	churnRest     = 20 * time.Millisecond
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
	judge := watch(t, plane, c, chaosNodes)

	ctx, stop := context.WithCancel(t.Context())
	var churning sync.WaitGroup
	churning.Go(func() {
		churn(ctx, c, rand.New(rand.NewPCG(uint64(seed), 1)),
			load{name: "pod", cores: chaosNodes * coresOfANode, rest: churnRest, flapping: chaosNodes})
	})

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
	name    string        // with which those of its pods begin
	cores   int           // that its pods ask for together
	rest    time.Duration // between its requests
	padding int           // bytes of a pod that nobody needs
	// Of how many nodes one goes away and comes back now and then. Of all churns
	// at a time only one may have any.
	flapping int
}

// churn makes pods, lets them end and deletes them until a context ends, as far as
// the API server is there.
func churn(until context.Context, c *kubetest.Cluster, random *rand.Rand, load load) {
	pods := c.Client.CoreV1().Pods(c.Namespace)
	// A deletion that is broken off may leave a pod that is being deleted for ever:
	// there is no kubelet to end it.
	ctx := context.WithoutCancel(until)
	// It lists no pods, which would cost more than all the rest, but knows its own.
	type ownPod struct {
		name  string
		cores int // none once it has ended
	}
	var own []ownPod
	asked := 0
	for i := 0; until.Err() == nil; i++ {
		time.Sleep(load.rest)
		if load.flapping > 0 && random.IntN(100) == 0 {
			flap(c, fmt.Sprint("n", random.IntN(load.flapping)), time.Duration(random.IntN(500))*time.Millisecond)
		}
		if asked < load.cores {
			pod := ownPod{fmt.Sprint(load.name, "-", i), 1 + random.IntN(3)}
			// It may have been made though there was no answer.
			_, _ = pods.Create(ctx, &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: pod.name, Annotations: map[string]string{"padding": strings.Repeat("x", load.padding)}},
				Spec:       c.Spec(fmt.Sprint(pod.cores)),
			}, metav1.CreateOptions{})
			own = append(own, pod)
			asked += pod.cores
			continue
		}
		victim := random.IntN(len(own))
		if random.IntN(2) == 0 && own[victim].cores > 0 && finish(ctx, pods, own[victim].name) {
			asked -= own[victim].cores
			own[victim].cores = 0
			continue
		}
		err := pods.Delete(ctx, own[victim].name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)})
		if err == nil || apierrors.IsNotFound(err) {
			asked -= own[victim].cores
			own = slices.Delete(own, victim, victim+1)
		}
	}
}

// finish lets a pod end, and tells whether it did: one that waits does not.
func finish(ctx context.Context, pods typedcorev1.PodInterface, name string) bool {
	pod, err := pods.Get(ctx, name, metav1.GetOptions{})
	if err != nil || pod.Spec.NodeName == "" {
		return false
	}
	pod.Status.Phase = corev1.PodSucceeded
	_, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	return err == nil
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
	nodes int // which are called n0, n1, ...
	pods  cache.SharedIndexInformer

	mu      sync.Mutex
	placed  map[string]string // the node of each pod that was ever bound, by uid
	faults  []string
	boundAt []time.Time
}

// watch makes so many nodes, and judges what is bound to them.
func watch(t *testing.T, plane *kubetest.ControlPlane, c *kubetest.Cluster, nodes int) *judge {
	t.Helper()
	for i := range nodes {
		c.Node(fmt.Sprint("n", i))
	}
	factory := informers.NewSharedInformerFactory(plane.Client, 0)
	j := &judge{nodes: nodes, pods: factory.Core().V1().Pods().Informer(), placed: map[string]string{}}
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
	before, wasBound := j.placed[string(pod.UID)]
	if wasBound && before != pod.Spec.NodeName {
		j.faults = append(j.faults, fmt.Sprintf("%s was on %s and is on %s", pod.Name, before, pod.Spec.NodeName))
	}
	if wasBound {
		return
	}
	j.placed[string(pod.UID)] = pod.Spec.NodeName
	j.boundAt = append(j.boundAt, time.Now())
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

// percentUsed is how much of the cores of all nodes is in use.
func (j *judge) percentUsed() int {
	used := int64(0)
	for i := range j.nodes {
		used += j.usedOn(fmt.Sprint("n", i))
	}
	return int(used / int64(10*coresOfANode*j.nodes))
}

// boundLately is how many pods were bound within the last second.
func (j *judge) boundLately() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	first := sort.Search(len(j.boundAt), func(i int) bool { return time.Since(j.boundAt[i]) <= time.Second })
	return len(j.boundAt) - first
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
	for i := range j.nodes {
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
	t.Logf("%d pods were bound", len(j.boundAt))
	for _, fault := range j.faults {
		t.Error(fault)
	}
	if len(j.boundAt) == 0 {
		t.Error("nothing was bound")
	}
}
