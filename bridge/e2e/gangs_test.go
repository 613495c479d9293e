package e2e

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/sluice-scheduler/sluice/bridge/internal/kubetest"
)

func memberOf(group string) func(*corev1.Pod) {
	return kubetest.Labeled("pod-group.scheduling.x-k8s.io", group)
}

var gangs = []testCase{
	{"a gang starts as a whole", func(c *kubetest.Cluster) {
		c.Node("n1", kubetest.Offers("cpu", "3"))
		c.PodGroup("train", 4)
		for i := range 4 {
			c.Pod(fmt.Sprint("train-", i), memberOf("train"), kubetest.Requests("cpu", "1"))
		}
		c.Waits("train-0", "gang")
		c.Node("n2", kubetest.Offers("cpu", "1"))
		for i := range 4 {
			c.NodeOf(fmt.Sprint("train-", i))
		}
	}},
	{"those that ended count", func(c *kubetest.Cluster) {
		c.Node("n1", kubetest.Offers("cpu", "3"))
		c.PodGroup("train", 3)
		for i := range 3 {
			c.Pod(fmt.Sprint("train-", i), memberOf("train"), kubetest.Requests("cpu", "1"))
		}
		for i := range 3 {
			c.NodeOf(fmt.Sprint("train-", i))
		}
		c.Finish("train-0", corev1.PodSucceeded)
		c.Finish("train-1", corev1.PodFailed)
		c.Pod("again", memberOf("train"), kubetest.Requests("cpu", "1"))
		c.IsOn("again", "n1")
	}},
	{"a group that comes after its pods", func(c *kubetest.Cluster) {
		c.Node("n1")
		c.Pod("train-0", memberOf("train"))
		c.Waits("train-0", `PodGroup "train" not found`)
		c.PodGroup("train", 2)
		c.Waits("train-0", "gang")
		c.Pod("train-1", memberOf("train"))
		c.NodeOf("train-0")
		c.NodeOf("train-1")
	}},
	{"a minimum that changes", func(c *kubetest.Cluster) {
		c.Node("n1")
		c.PodGroup("train", 3)
		c.Pod("train-0", memberOf("train"))
		c.Pod("train-1", memberOf("train"))
		c.Waits("train-0", "gang")
		c.PodGroup("train", 2)
		c.NodeOf("train-0")
		c.NodeOf("train-1")
	}},
}
