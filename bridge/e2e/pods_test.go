package e2e

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-scheduler/sluice/bridge/internal/kubetest"
)

func meaning(value string, topology string) corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"security": value}},
		TopologyKey:   topology,
	}
}

func near(value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		podAffinity(p).RequiredDuringSchedulingIgnoredDuringExecution = []corev1.PodAffinityTerm{meaning(value, corev1.LabelHostname)}
	}
}

func ratherNear(value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		podAffinity(p).PreferredDuringSchedulingIgnoredDuringExecution = []corev1.WeightedPodAffinityTerm{
			{Weight: 100, PodAffinityTerm: meaning(value, corev1.LabelHostname)}}
	}
}

func away(value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		podAntiAffinity(p).RequiredDuringSchedulingIgnoredDuringExecution = []corev1.PodAffinityTerm{meaning(value, corev1.LabelHostname)}
	}
}

func ratherAway(value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		podAntiAffinity(p).PreferredDuringSchedulingIgnoredDuringExecution = []corev1.WeightedPodAffinityTerm{
			{Weight: 100, PodAffinityTerm: meaning(value, corev1.LabelHostname)}}
	}
}

func spreadOverZones(p *corev1.Pod) {
	p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"security": "S1"}}}}
}

func podAffinity(p *corev1.Pod) *corev1.PodAffinity {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &corev1.Affinity{}
	}
	if p.Spec.Affinity.PodAffinity == nil {
		p.Spec.Affinity.PodAffinity = &corev1.PodAffinity{}
	}
	return p.Spec.Affinity.PodAffinity
}

func podAntiAffinity(p *corev1.Pod) *corev1.PodAntiAffinity {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &corev1.Affinity{}
	}
	if p.Spec.Affinity.PodAntiAffinity == nil {
		p.Spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{}
	}
	return p.Spec.Affinity.PodAntiAffinity
}

func secure(value string) func(*corev1.Pod) { return kubetest.Labeled("security", value) }

// twoOfThree has pods of S1 and S2 on two of three nodes, and returns which.
func twoOfThree(c *kubetest.Cluster) (one, two string) {
	for i := range 3 {
		c.Node(fmt.Sprint("n", i))
	}
	c.Pod("setup-one", secure("S1"))
	one = c.NodeOf("setup-one")
	c.Pod("setup-two", secure("S2"), away("S1"))
	return one, c.NodeOf("setup-two")
}

// apart fails the test unless a pod is on another node than those named.
func apart(c *kubetest.Cluster, name string, nodes ...string) {
	c.T.Helper()
	got := c.NodeOf(name)
	for _, node := range nodes {
		if got == node {
			c.T.Errorf("pod %s is on %s", name, got)
		}
	}
}

var podRules = []testCase{
	{"affinity and anti-affinity", func(c *kubetest.Cluster) {
		one, two := twoOfThree(c)
		c.Pod("near", near("S1"))
		c.IsOn("near", one)
		c.Pod("away", away("S1"))
		apart(c, "away", one)
		c.Pod("rather-near", ratherNear("S1"))
		c.IsOn("rather-near", one)
		c.Pod("rather-away", ratherAway("S1"))
		apart(c, "rather-away", one)
		c.Pod("near-one-rather-two", near("S1"), ratherNear("S2"))
		c.IsOn("near-one-rather-two", one)
		c.Pod("away-from-both", away("S1"), ratherAway("S2"))
		apart(c, "away-from-both", one, two)
		c.Pod("near-one-rather-away-from-two", near("S1"), ratherAway("S2"))
		c.IsOn("near-one-rather-away-from-two", one)
		c.Pod("away-from-one-rather-two", away("S1"), ratherNear("S2"))
		c.IsOn("away-from-one-rather-two", two)
	}},
	{"what running pods say holds both ways", func(c *kubetest.Cluster) {
		c.Node("n1")
		c.Node("n2")
		c.Pod("lonely", away("S1"))
		lonely := c.NodeOf("lonely")
		c.Pod("web", secure("S1"))
		apart(c, "web", lonely)
		c.Pod("more", secure("S1"))
		apart(c, "more", lonely)
	}},
	{"preferences of running pods count", func(c *kubetest.Cluster) {
		c.Node("n1")
		c.Node("n2")
		c.Pod("fond", ratherNear("S1"))
		fond := c.NodeOf("fond")
		c.Pod("web", secure("S1"))
		c.IsOn("web", fond)
		c.Pod("shy", ratherAway("S3"))
		shy := c.NodeOf("shy")
		c.Pod("other", secure("S3"))
		apart(c, "other", shy)
	}},
	{"a required term of a running pod counts a little", func(c *kubetest.Cluster) {
		for i := range 3 {
			c.Node(fmt.Sprint("n", i))
		}
		c.Pod("first", secure("S1"))
		c.Pod("fond", near("S1"))
		fond := c.NodeOf("fond")
		c.Pod("web", secure("S1"))
		c.IsOn("web", fond)
	}},
	{"foreign pods have labels and terms, too", func(c *kubetest.Cluster) {
		c.Node("n1")
		c.Node("n2")
		c.Pod("theirs", secure("S1"), away("S2"), func(p *corev1.Pod) {
			p.Spec.SchedulerName, p.Spec.NodeName = "default-scheduler", "n2"
		})
		c.Pod("near", near("S1"))
		c.IsOn("near", "n2")
		c.Pod("kept-off", secure("S2"))
		c.IsOn("kept-off", "n1")
	}},
	{"namespaces by their labels", func(c *kubetest.Cluster) {
		c.Node("n1")
		c.Node("n2")
		patch := []byte(`{"metadata":{"labels":{"team":"x"}}}`)
		_, err := c.Client.CoreV1().Namespaces().Patch(context.Background(), c.Namespace, types.MergePatchType, patch, metav1.PatchOptions{})
		must(c, err)
		c.Pod("web", secure("S1"))
		node := c.NodeOf("web")
		c.Pod("near", func(p *corev1.Pod) {
			term := meaning("S1", corev1.LabelHostname)
			term.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "x"}}
			podAffinity(p).RequiredDuringSchedulingIgnoredDuringExecution = []corev1.PodAffinityTerm{term}
		})
		c.IsOn("near", node)
	}},
	{"what is being stopped does not count in a spread", func(c *kubetest.Cluster) {
		// With room for one, so that the others have to go to the other zone.
		c.Node("n1", kubetest.Labels(map[string]string{corev1.LabelTopologyZone: "a"}), kubetest.Offers("pods", "1"))
		c.Pod("in-a", secure("S1"), spreadOverZones)
		c.IsOn("in-a", "n1")
		c.Node("n2", kubetest.Labels(map[string]string{corev1.LabelTopologyZone: "b"}))
		c.Pod("stopped", secure("S1"), spreadOverZones, func(p *corev1.Pod) { p.Finalizers = []string{"sluice.test/hold"} })
		c.IsOn("stopped", "n2")
		c.DeletePod("stopped")
		// If it counted, the second would be one too many.
		for _, name := range []string{"in-b", "in-b-too"} {
			c.Pod(name, secure("S1"), spreadOverZones)
			c.IsOn(name, "n2")
		}
		c.Pod("too-many", secure("S1"), spreadOverZones)
		c.Waits("too-many", "topology spread")
		_, err := c.Client.CoreV1().Pods(c.Namespace).Patch(context.Background(), "stopped", types.MergePatchType,
			[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		must(c, err)
	}},
	{"spread over zones", func(c *kubetest.Cluster) {
		for i, zone := range []string{"a", "a", "b", "c"} {
			c.Node(fmt.Sprint("n", i), kubetest.Labels(map[string]string{corev1.LabelTopologyZone: zone}))
		}
		count := map[string]int{}
		for i := range 6 {
			name := fmt.Sprint("web-", i)
			c.Pod(name, secure("S1"), spreadOverZones)
			count[map[string]string{"n0": "a", "n1": "a", "n2": "b", "n3": "c"}[c.NodeOf(name)]]++
		}
		if count["a"] != 2 || count["b"] != 2 || count["c"] != 2 {
			c.T.Errorf("pods by zone: %v", count)
		}
	}},
	{"a higher priority goes first", func(c *kubetest.Cluster) {
		for name, value := range map[string]int32{"low": -10, "high": 1000} {
			c.PriorityClass(c.Namespace+"-"+name, value)
		}
		c.Pod("low", kubetest.Requests("cpu", "3"), func(p *corev1.Pod) { p.Spec.PriorityClassName = c.Namespace + "-low" })
		c.Pod("high", kubetest.Requests("cpu", "3"), func(p *corev1.Pod) { p.Spec.PriorityClassName = c.Namespace + "-high" })
		c.Waits("high", "0/0")
		c.Node("n1")
		c.IsOn("high", "n1")
		c.Waits("low", "insufficient cpu")
	}},
	{"scheduling gates", func(c *kubetest.Cluster) {
		c.Node("n1")
		c.Pod("gated", func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "x.io/wait"}} })
		c.Pod("after")
		c.NodeOf("after")
		if node := c.GetPod("gated").Spec.NodeName; node != "" {
			c.T.Fatalf("bound to %s in spite of its gate", node)
		}
		_, err := c.Client.CoreV1().Pods(c.Namespace).Patch(context.Background(), "gated", types.JSONPatchType,
			[]byte(`[{"op":"remove","path":"/spec/schedulingGates"}]`), metav1.PatchOptions{})
		must(c, err)
		c.IsOn("gated", "n1")
	}},
}
