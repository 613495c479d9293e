package e2e

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/sluice-scheduler/sluice/bridge/internal/kubetest"
)

func gpu(value string) func(*corev1.Node) { return kubetest.Labels(map[string]string{"gpu": value}) }
func ssd() func(*corev1.Node)             { return kubetest.Labels(map[string]string{"drive": "ssd"}) }

func requirement(key string, operator corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: operator, Values: values}
}

func nodeAffinity(pod *corev1.Pod) *corev1.NodeAffinity {
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{}
	}
	if pod.Spec.Affinity.NodeAffinity == nil {
		pod.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	return pod.Spec.Affinity.NodeAffinity
}

func requires(requirements ...corev1.NodeSelectorRequirement) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		nodeAffinity(pod).RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: requirements}}}
	}
}

func prefers(requirements ...corev1.NodeSelectorRequirement) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		nodeAffinity(pod).PreferredDuringSchedulingIgnoredDuringExecution = []corev1.PreferredSchedulingTerm{{
			Weight: 10, Preference: corev1.NodeSelectorTerm{MatchExpressions: requirements}}}
	}
}

func tolerates(key, value string, effect corev1.TaintEffect) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{Key: key, Value: value, Effect: effect})
	}
}

var anyGPU = requirement("gpu", corev1.NodeSelectorOpIn, "nvidia", "zotac-nvidia")
var onSSD = requirement("drive", corev1.NodeSelectorOpIn, "ssd")

var nodeRules = []testCase{
	{"resource limits", func(c *kubetest.Cluster) {
		for i := range 3 {
			c.Node(fmt.Sprint("n", i))
		}
		taken := map[string]bool{}
		for i := range 3 {
			name := fmt.Sprint("filler-", i)
			c.Pod(name, kubetest.Requests("cpu", "2800m"))
			taken[c.NodeOf(name)] = true
		}
		if len(taken) != 3 {
			c.T.Errorf("fillers are on %v", taken)
		}
		for i := range 3 {
			name := fmt.Sprint("memory-", i)
			c.Pod(name, kubetest.Requests("memory", "5700Mi"))
			c.NodeOf(name)
		}
		c.Pod("half-cpu", kubetest.Requests("cpu", "2"))
		c.Waits("half-cpu", "3 insufficient cpu")
		c.Pod("half-memory", kubetest.Requests("memory", "4Gi"))
		c.Waits("half-memory", "3 insufficient memory")
	}},
	{"a node selector that no node has", func(c *kubetest.Cluster) {
		c.Node("n1")
		c.Pod("web", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"label": "nonempty"} })
		c.Waits("web", "selector label=nonempty")
		c.ChangeNode("n1", kubetest.Labels(map[string]string{"label": "nonempty"}))
		c.IsOn("web", "n1")
	}},
	{"required affinity", func(c *kubetest.Cluster) {
		c.Node("n1")
		c.Pod("early", requires(anyGPU))
		c.Waits("early", "node affinity")
		c.Node("n2", gpu("zotac-nvidia"))
		c.Pod("web", requires(anyGPU))
		c.IsOn("web", "n2")
		c.IsOn("early", "n2")
	}},
	{"preferred affinity", func(c *kubetest.Cluster) {
		c.Node("n1")
		c.Pod("early", prefers(onSSD))
		c.IsOn("early", "n1")
		c.Node("n2", ssd())
		c.Pod("web", prefers(onSSD))
		c.IsOn("web", "n2")
	}},
	{"required and preferred affinity", func(c *kubetest.Cluster) {
		c.Node("n1", gpu("zotac-nvidia"))
		c.Node("n2", gpu("nvidia"), ssd())
		c.Node("n3", ssd())
		c.Pod("web", requires(anyGPU), prefers(onSSD))
		c.IsOn("web", "n2")
		c.ChangeNode("n2", func(n *corev1.Node) { delete(n.Labels, "drive") })
		c.Pod("later", requires(anyGPU), prefers(onSSD))
		c.IsOn("later", "n1", "n2")
		c.Pod("other", requires(requirement("gpu", corev1.NodeSelectorOpNotIn, "nvidia", "zotac-nvidia")), prefers(onSSD))
		c.IsOn("other", "n3")
	}},
	{"selector and affinity must hold", func(c *kubetest.Cluster) {
		c.Node("n1", gpu("nvidia"), kubetest.Labels(map[string]string{"disktype": "ssd"}))
		c.Node("n2", gpu("amd"), kubetest.Labels(map[string]string{"disktype": "ssd"}))
		c.Pod("web", requires(requirement("gpu", corev1.NodeSelectorOpNotIn, "nvidia")),
			func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disktype": "ssd"} })
		c.IsOn("web", "n2")
	}},
	{"taints and tolerations", func(c *kubetest.Cluster) {
		c.Node("n1", kubetest.Taint("dedicated", "user1", corev1.TaintEffectNoSchedule))
		c.Pod("plain")
		c.Waits("plain", "taint")
		c.Pod("mismatched", tolerates("dedicated", "user1", corev1.TaintEffectPreferNoSchedule))
		c.Waits("mismatched", "taint")
		c.Pod("tolerant", tolerates("dedicated", "user1", corev1.TaintEffectNoSchedule))
		c.IsOn("tolerant", "n1")
		c.ChangeNode("n1", func(n *corev1.Node) { n.Spec.Taints = nil })
		c.IsOn("plain", "n1")
	}},
	{"taints that only deter", func(c *kubetest.Cluster) {
		c.Node("n1", kubetest.Taint("foo", "bar", corev1.TaintEffectPreferNoSchedule))
		c.Node("n2", kubetest.Taint("foo", "blah", corev1.TaintEffectPreferNoSchedule))
		c.Pod("bar", tolerates("foo", "bar", corev1.TaintEffectPreferNoSchedule))
		c.IsOn("bar", "n1")
		c.DeleteNode("n1")
		c.Pod("blah")
		c.IsOn("blah", "n2")
	}},
	{"as many pods as a node takes", func(c *kubetest.Cluster) {
		c.Node("n1", kubetest.Offers("pods", "3"))
		for i := range 3 {
			name := fmt.Sprint("web-", i)
			c.Pod(name)
			c.IsOn(name, "n1")
		}
		c.Pod("late")
		c.Waits("late", "pods")
		c.HasEvent("late", "FailedScheduling", "pods")
		c.DeletePod("web-1")
		c.IsOn("late", "n1")
	}},
	{"a cordoned node, and one that is not ready", func(c *kubetest.Cluster) {
		c.Node("n1", func(n *corev1.Node) { n.Spec.Unschedulable = true })
		c.Node("n2", func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse })
		c.Pod("web")
		c.Waits("web", "unschedulable")
		c.Pod("tolerant", func(p *corev1.Pod) {
			p.Spec.Tolerations = []corev1.Toleration{{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists}}
		})
		c.IsOn("tolerant", "n1")
		c.ChangeNode("n1", func(n *corev1.Node) { n.Spec.Unschedulable = false })
		c.IsOn("web", "n1")
	}},
	{"a node that goes with its pods, and returns", func(c *kubetest.Cluster) {
		c.Node("n1")
		c.Pod("web", kubetest.Requests("cpu", "3"))
		c.IsOn("web", "n1")
		c.DeleteNode("n1")
		c.Pod("late", kubetest.Requests("cpu", "2"))
		c.Waits("late", "0/0")
		c.Node("n1")
		c.Waits("late", "insufficient cpu")
		c.DeletePod("web")
		c.IsOn("late", "n1")
	}},
	{"a node without allocatable", func(c *kubetest.Cluster) {
		c.Node("n1", func(n *corev1.Node) { n.Status.Allocatable = nil })
		c.Pod("web")
		c.Waits("web", "0/0")
		c.HasEvent("n1", "NotSchedulable", "no pods")
	}},
	{"extended resources", func(c *kubetest.Cluster) {
		c.Node("n1")
		c.Node("n2", kubetest.Offers("nvidia.com/gpu", "2"))
		c.Pod("one", kubetest.Requests("nvidia.com/gpu", "2"))
		c.IsOn("one", "n2")
		c.Pod("two", kubetest.Requests("nvidia.com/gpu", "1"))
		c.Waits("two", "insufficient nvidia.com/gpu")
	}},
	{"host ports", func(c *kubetest.Cluster) {
		port := func(number int32) func(*corev1.Pod) {
			return func(p *corev1.Pod) {
				p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: number, HostPort: number}}
			}
		}
		c.Node("n1")
		c.Pod("one", port(8080))
		c.IsOn("one", "n1")
		c.Pod("two", port(8080))
		c.Waits("two", "port")
		c.Pod("three", port(8081))
		c.IsOn("three", "n1")
	}},
}
