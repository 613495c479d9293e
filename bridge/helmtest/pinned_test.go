package helmtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"github.com/sluice-scheduler/sluice/bridge/internal/daemontest"
	"github.com/sluice-scheduler/sluice/bridge/internal/kubetest"
)

// Short leases, so that the test is.
const pinnedValues = `pinned: [node-a, node-b, node-c]
schedulerNames: [sluice, default-scheduler]
bridge: {flags: [--leader-elect-lease-duration=3s, --leader-elect-renew-deadline=2s, --leader-elect-retry-period=500ms]}
`

// With no other scheduler in the cluster, the chart's pods come back by
// themselves whatever becomes of them, and schedule what waits.
func TestPinnedPodsNeedNoScheduler(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	plane := kubetest.StartControlPlane(t, kubetest.RBAC)
	client, err := dynamic.NewForConfig(plane.Config)
	if err != nil {
		t.Fatal(err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(plane.Client.Discovery()))
	own := kubetest.NewCluster(t, plane, namespace)
	apps := kubetest.NewCluster(t, plane, "apps")
	apps.Scheduler = corev1.DefaultSchedulerName
	nodes := []string{"node-a", "node-b", "node-c"}
	for _, node := range nodes {
		apps.Node(node)
	}
	chartPods := &programs{t: t, daemon: daemontest.Binary(t), bridge: kubetest.BuildBridge(t),
		kubeconfig: plane.BridgeKubeconfig(t), addresses: map[string]string{}}
	kubelet := kubetest.StartKubelet(t, plane, namespace, chartPods.start, nodes...)
	install := func(values string) {
		t.Helper()
		objects, err := render(t, parse(t, values))
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range objects {
			apply(t, client, mapper, object)
		}
	}
	count := 0
	schedules := func(when string) {
		t.Helper()
		count++
		name := fmt.Sprint("app-", count)
		apps.Pod(name)
		began := time.Now()
		node := apps.NodeOf(name)
		t.Logf("%s: bound to %s after %v", when, node, time.Since(began).Round(100*time.Millisecond))
	}

	install(pinnedValues)
	schedules("installed")
	for _, node := range nodes {
		deletePods(own, func(pod *corev1.Pod) bool { return pod.Spec.NodeName == node })
		schedules("after the pod of " + node + " was deleted")
	}
	deletePods(own, func(*corev1.Pod) bool { return true })
	schedules("after all pods were deleted")
	own.Eventually("all pods are back", func() bool { return len(running(own)) == len(nodes) })

	lost := chartPods.leader(own)
	kubelet.Lose(lost)
	schedules("after the node of the leader, " + lost + ", was lost")
	apps.DeleteNode(lost)
	schedules("after it was taken out of the cluster")

	before := running(own)
	install(pinnedValues + "daemon: {podAnnotations: {upgraded: \"yes\"}}")
	own.Eventually("the pods are replaced", func() bool {
		now := running(own)
		return len(now) == len(nodes)-1 && !slices.ContainsFunc(now, func(pod corev1.Pod) bool {
			return slices.ContainsFunc(before, func(former corev1.Pod) bool { return former.UID == pod.UID })
		})
	})
	schedules("after an upgrade")
}

// programs are what the chart's pods run. All pods share one address, so each
// gets ports of its own.
type programs struct {
	t                          *testing.T
	daemon, bridge, kubeconfig string

	mu        sync.Mutex
	addresses map[string]string // of the bridge's HTTP, by node
}

func (p *programs) start(pod *corev1.Pod) []*kubetest.Process {
	replacer := strings.NewReplacer("127.0.0.1:9090", daemontest.FreeAddress(p.t), "0.0.0.0:9091", daemontest.FreeAddress(p.t))
	var processes []*kubetest.Process
	for i := range pod.Spec.Containers {
		container := &pod.Spec.Containers[i]
		binary := p.daemon
		var arguments []string
		for _, argument := range container.Args {
			arguments = append(arguments, replacer.Replace(argument))
		}
		if container.Name == "sluice-bridge" {
			binary = p.bridge
			address := daemontest.FreeAddress(p.t)
			arguments = append(arguments, "--kubeconfig="+p.kubeconfig,
				"--http-address="+address, "--leader-elect-resource-namespace="+pod.Namespace)
			p.mu.Lock()
			p.addresses[pod.Spec.NodeName] = address
			p.mu.Unlock()
		}
		process, err := kubetest.StartProcess(p.t, binary, arguments...)
		if err != nil {
			p.t.Error(err)
		}
		processes = append(processes, process)
	}
	return processes
}

// leader returns the node whose bridge leads.
func (p *programs) leader(c *kubetest.Cluster) string {
	var leader string
	c.Eventually("one leads", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		for node, address := range p.addresses {
			if kubetest.Leads(address) {
				leader = node
			}
		}
		return leader != ""
	})
	return leader
}

func running(c *kubetest.Cluster) []corev1.Pod {
	c.T.Helper()
	list, err := c.Client.CoreV1().Pods(c.Namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		c.T.Fatal(err)
	}
	nodes, err := c.Client.CoreV1().Nodes().List(context.Background(), metav1.ListOptions{})
	if err != nil {
		c.T.Fatal(err)
	}
	return slices.DeleteFunc(list.Items, func(pod corev1.Pod) bool {
		return pod.Status.Phase != corev1.PodRunning || pod.DeletionTimestamp != nil ||
			!slices.ContainsFunc(nodes.Items, func(node corev1.Node) bool { return node.Name == pod.Spec.NodeName })
	})
}

// deletePods deletes pods, and waits until they are gone.
func deletePods(c *kubetest.Cluster, which func(*corev1.Pod) bool) {
	c.T.Helper()
	pods := c.Client.CoreV1().Pods(c.Namespace)
	for _, pod := range running(c) {
		if !which(&pod) {
			continue
		}
		if err := pods.Delete(context.Background(), pod.Name, metav1.DeleteOptions{}); err != nil {
			c.T.Fatal(err)
		}
		defer c.Eventually("pod "+pod.Name+" is gone", func() bool { return c.GetPod(pod.Name) == nil })
	}
}

func apply(t *testing.T, client dynamic.Interface, mapper meta.RESTMapper, object *unstructured.Unstructured) {
	t.Helper()
	kind := object.GroupVersionKind()
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		t.Fatal(err)
	}
	var resource dynamic.ResourceInterface = client.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		resource = client.Resource(mapping.Resource).Namespace(namespace)
	}
	options := metav1.ApplyOptions{FieldManager: "helm", Force: true}
	if _, err := resource.Apply(context.Background(), object.GetName(), object, options); err != nil {
		t.Fatalf("%s %s: %v", kind.Kind, object.GetName(), err)
	}
}
