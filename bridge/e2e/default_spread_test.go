package e2e

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/sluice-scheduler/sluice/bridge/internal/daemontest"
	"github.com/sluice-scheduler/sluice/bridge/internal/kubetest"
)

const replicas = 6

// unequalNodes makes nodes that are alike, of which others have half filled all
// but n1. By load alone small pods go there.
func unequalNodes(c *kubetest.Cluster, zones ...string) {
	for i, zone := range zones {
		name := fmt.Sprint("n", i+1)
		labels := map[string]string{"room": "one"}
		if zone != "" {
			labels[corev1.LabelTopologyZone] = zone
		}
		c.Node(name, kubetest.Labels(labels))
		if i > 0 {
			c.Pod("load-"+name, kubetest.Requests("cpu", "2", "memory", "4Gi"), func(p *corev1.Pod) {
				p.Spec.SchedulerName, p.Spec.NodeName = "default-scheduler", name
			})
		}
	}
}

func makeService(c *kubetest.Cluster, app string) {
	c.T.Helper()
	_, err := c.Client.CoreV1().Services(c.Namespace).Create(context.Background(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: app},
		Spec: corev1.ServiceSpec{Selector: map[string]string{"app": app}, ClusterIP: corev1.ClusterIPNone,
			Ports: []corev1.ServicePort{{Port: 80}}},
	}, metav1.CreateOptions{})
	must(c, err)
}

func small(p *corev1.Pod) {
	p.Spec.Containers[0].Resources.Requests = kubetest.Amounts("cpu", "100m", "memory", "200Mi")
}

// podsOfService makes pods that no controller has.
func podsOfService(c *kubetest.Cluster) {
	makeService(c, "web")
	for i := range replicas {
		c.Pod(fmt.Sprint("web-", i), kubetest.Labeled("app", "web"), small)
	}
}

func podsOfReplicaSet(c *kubetest.Cluster) {
	pod := template(c, "web", "100m")
	pod.Spec.Containers[0].Resources.Requests = kubetest.Amounts("cpu", "100m", "memory", "200Mi")
	_, err := c.Client.AppsV1().ReplicaSets(c.Namespace).Create(context.Background(), &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       appsv1.ReplicaSetSpec{Replicas: ptr.To[int32](replicas), Selector: selector("web"), Template: pod},
	}, metav1.CreateOptions{})
	must(c, err)
}

// replicasOn waits until all replicas are bound, and returns how many each node
// has.
func replicasOn(c *kubetest.Cluster) map[string]int {
	c.T.Helper()
	c.Eventually("all replicas are bound", func() bool { return len(boundPods(c, "app=web")) == replicas })
	result := map[string]int{}
	for _, pod := range boundPods(c, "app=web") {
		result[pod.Spec.NodeName]++
	}
	return result
}

func areOn(c *kubetest.Cluster, want map[string]int) {
	c.T.Helper()
	if got := replicasOn(c); !maps.Equal(got, want) {
		c.T.Errorf("replicas by node: %v, want %v", got, want)
	}
}

var eventsStated = regexp.MustCompile(`sluice_bridge_feed_events_total \d+`)

// A service that appears while a pod waits counts once the pod can be placed.
// What it waits for becomes true of all nodes at once.
func serviceComesLater(c *kubetest.Cluster, bridge *kubetest.Bridge) {
	unequalNodes(c, "", "")
	c.Node("n3", kubetest.Labels(map[string]string{"room": "one"}), kubetest.Offers("cpu", "10m"))
	c.Pod("web-first", kubetest.Labeled("app", "web"), small)
	c.IsOn("web-first", "n1")
	c.Pod("web-second", kubetest.Labeled("app", "web"), small, func(p *corev1.Pod) {
		podAffinity(p).RequiredDuringSchedulingIgnoredDuringExecution = []corev1.PodAffinityTerm{meaning("S1", "room")}
	})
	c.Waits("web-second", "pod affinity")
	stated := func() string { return eventsStated.FindString(get(c.T, bridge, "/metrics")) }
	before := stated()
	makeService(c, "web")
	c.Eventually("the daemon is told", func() bool { return stated() != before })
	c.Pod("awaited", secure("S1"), func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{corev1.LabelHostname: "n3"} })
	c.IsOn("web-second", "n2")
}

// Pods of a service that no controller has are nothing to each other but by the
// default constraints: without them all go where the load is lowest. Those of a
// controller are a job, whose tasks the daemon sends to different machines; what
// the constraints add are zones.
func TestDefaultSpread(t *testing.T) {
	plane := kubetest.StartControlPlane(t, kubetest.RBAC)
	kubetest.GrantBridge(t, plane)
	binary := kubetest.BuildBridge(t)
	for _, setting := range []struct {
		name  string
		flags []string
		cases map[string]func(*kubetest.Cluster, *kubetest.Bridge)
	}{
		{"by default", nil, map[string]func(*kubetest.Cluster, *kubetest.Bridge){
			"a service": func(c *kubetest.Cluster, _ *kubetest.Bridge) {
				unequalNodes(c, "a", "b", "c")
				podsOfService(c)
				areOn(c, map[string]int{"n1": 2, "n2": 2, "n3": 2})
			},
			"a service, no zones": func(c *kubetest.Cluster, _ *kubetest.Bridge) {
				unequalNodes(c, "", "", "")
				podsOfService(c)
				areOn(c, map[string]int{"n1": 2, "n2": 2, "n3": 2})
			},
			"a service that comes later": serviceComesLater,
		}},
		{"none", []string{"--default-spread=none"}, map[string]func(*kubetest.Cluster, *kubetest.Bridge){
			"a service": func(c *kubetest.Cluster, _ *kubetest.Bridge) {
				unequalNodes(c, "a", "b", "c")
				podsOfService(c)
				areOn(c, map[string]int{"n1": replicas})
			},
			"a replica set": func(c *kubetest.Cluster, _ *kubetest.Bridge) {
				unequalNodes(c, "a", "a", "b")
				podsOfReplicaSet(c)
				areOn(c, map[string]int{"n1": 2, "n2": 2, "n3": 2})
			},
		}},
		{"zones", []string{"--default-spread=" + corev1.LabelTopologyZone + "=1"}, map[string]func(*kubetest.Cluster, *kubetest.Bridge){
			"a service": func(c *kubetest.Cluster, _ *kubetest.Bridge) {
				unequalNodes(c, "a", "a", "b")
				podsOfService(c)
				areOn(c, map[string]int{"n1": replicas / 2, "n3": replicas / 2})
			},
			"a replica set": func(c *kubetest.Cluster, _ *kubetest.Bridge) {
				unequalNodes(c, "a", "a", "b")
				podsOfReplicaSet(c)
				if got := replicasOn(c); got["n3"] != replicas/2 || got["n1"] == 0 || got["n2"] == 0 {
					c.T.Errorf("replicas by node: %v, want half of them on n3, which is a zone of its own", got)
				}
			},
		}},
	} {
		t.Run(setting.name, func(t *testing.T) {
			bridge := kubetest.StartBridge(t, binary, plane.BridgeKubeconfig(t), daemontest.Start(t), setting.flags...)
			for name, run := range setting.cases {
				t.Run(name, func(t *testing.T) {
					namespace := strings.NewReplacer(" ", "-", ",", "").Replace(setting.name + " " + name)
					run(kubetest.NewCluster(t, plane, namespace), bridge)
				})
			}
		})
	}
}

// A bridge whose role is of before there was a default spread does not get ready,
// and its log says what it may not list; without default spread it needs no more
// than that role.
func TestDefaultSpreadNeedsARole(t *testing.T) {
	plane := kubetest.StartControlPlane(t, kubetest.RBAC)
	kubetest.GrantBridge(t, plane)
	selecting := []string{"services", "replicationcontrollers", "replicasets", "statefulsets"}
	roles := plane.Client.RbacV1().ClusterRoles()
	role, err := roles.Get(t.Context(), "sluice-bridge", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	role.Rules = slices.DeleteFunc(role.Rules, func(rule rbacv1.PolicyRule) bool {
		return slices.Contains(selecting, rule.Resources[0])
	})
	if _, err := roles.Update(t.Context(), role, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	binary, daemon := kubetest.BuildBridge(t), daemontest.Start(t)
	c := kubetest.NewCluster(t, plane, "old-role")
	c.Node("n1")
	kubetest.StartBridge(t, binary, plane.BridgeKubeconfig(t), daemon, "--default-spread=none").Kill()

	refused := &kubetest.Bridge{HTTP: daemontest.FreeAddress(t)}
	refused.Process, err = kubetest.StartProcess(t, binary, "--kubeconfig="+plane.BridgeKubeconfig(t),
		"--daemon-address="+daemon.Address, "--http-address="+refused.HTTP, "--leader-elect=false")
	if err != nil {
		t.Fatal(err)
	}
	for _, resource := range selecting {
		c.Eventually("the log says that "+resource+" may not be listed", func() bool {
			return strings.Contains(refused.Log(), `resource \"`+resource+`\" in API group`)
		})
	}
	if got := get(t, refused, "/readyz"); !strings.Contains(got, "has not listed everything") {
		t.Errorf("readyz: %s", got)
	}
}
