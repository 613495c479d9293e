package e2e

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	"github.com/sluice-scheduler/sluice/bridge/internal/kubetest"
)

var workloads = []testCase{
	{"a bare pod", func(c *kubetest.Cluster) {
		c.Node("n1")
		c.Pod("web")
		c.IsOn("web", "n1")
		c.HasEvent("web", "Scheduled", "Successfully assigned a-bare-pod-e2e/web to n1")
		c.DeletePod("web")
	}},
	{"a deployment, and its rolling update", func(c *kubetest.Cluster) {
		c.Node("n1", kubetest.Offers("cpu", "3"))
		deployment := &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: "web"},
			Spec: appsv1.DeploymentSpec{
				Replicas: ptr.To[int32](2), Selector: selector("web"), Template: template(c, "web", "1"),
			}}
		deployments := c.Client.AppsV1().Deployments(c.Namespace)
		_, err := deployments.Create(context.Background(), deployment, metav1.CreateOptions{})
		must(c, err)
		c.Eventually("two pods are bound", func() bool { return len(boundPods(c, "app=web")) == 2 })
		// Its controller writes the status meanwhile.
		must(c, retry.RetryOnConflict(retry.DefaultRetry, func() error {
			deployment, err := deployments.Get(context.Background(), "web", metav1.GetOptions{})
			if err != nil {
				return err
			}
			deployment.Spec.Template.Labels["version"] = "2"
			_, err = deployments.Update(context.Background(), deployment, metav1.UpdateOptions{})
			return err
		}))
		c.Eventually("the new pod is bound beside the old ones", func() bool { return len(boundPods(c, "version=2")) >= 1 })
	}},
	{"a replica set whose pods are deleted", func(c *kubetest.Cluster) {
		c.Node("n1")
		_, err := c.Client.AppsV1().ReplicaSets(c.Namespace).Create(context.Background(), &appsv1.ReplicaSet{
			ObjectMeta: metav1.ObjectMeta{Name: "web"},
			Spec:       appsv1.ReplicaSetSpec{Replicas: ptr.To[int32](4), Selector: selector("web"), Template: template(c, "web", "1")},
		}, metav1.CreateOptions{})
		must(c, err)
		for range 3 {
			c.Eventually("four pods are bound", func() bool { return len(boundPods(c, "app=web")) == 4 })
			for _, pod := range boundPods(c, "app=web")[:2] {
				c.DeletePod(pod.Name)
			}
		}
		c.Eventually("four pods are bound", func() bool { return len(boundPods(c, "app=web")) == 4 })
	}},
	{"a job", func(c *kubetest.Cluster) {
		c.Node("n1", kubetest.Offers("cpu", "1"))
		pod := template(c, "job", "1")
		pod.Spec.RestartPolicy = corev1.RestartPolicyNever
		_, err := c.Client.BatchV1().Jobs(c.Namespace).Create(context.Background(), &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Name: "job"},
			Spec:       batchv1.JobSpec{Parallelism: ptr.To[int32](2), Completions: ptr.To[int32](3), Template: pod},
		}, metav1.CreateOptions{})
		must(c, err)
		for done := range 3 {
			c.Eventually("one more is bound, as the one before is done", func() bool { return len(boundPods(c, "app=job")) == done+1 })
			for _, pod := range boundPods(c, "app=job") {
				if pod.Status.Phase == corev1.PodPending {
					c.Finish(pod.Name, corev1.PodSucceeded)
				}
			}
		}
	}},
	{"a stateful set uses names again", func(c *kubetest.Cluster) {
		c.Node("n1")
		_, err := c.Client.AppsV1().StatefulSets(c.Namespace).Create(context.Background(), &appsv1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{Name: "db"},
			Spec: appsv1.StatefulSetSpec{Replicas: ptr.To[int32](2), Selector: selector("db"), Template: template(c, "db", "2"),
				PodManagementPolicy: appsv1.ParallelPodManagement},
		}, metav1.CreateOptions{})
		must(c, err)
		for range 3 {
			c.NodeOf("db-0")
			c.NodeOf("db-1")
			uid := c.GetPod("db-0").UID
			c.DeletePod("db-0")
			c.Eventually("another db-0 is bound", func() bool {
				pod := c.GetPod("db-0")
				return pod != nil && pod.UID != uid && pod.Spec.NodeName != ""
			})
		}
	}},
	{"a daemon set goes where the field says", func(c *kubetest.Cluster) {
		for _, name := range []string{"n1", "n2", "n3"} {
			c.Node(name)
		}
		_, err := c.Client.AppsV1().DaemonSets(c.Namespace).Create(context.Background(), &appsv1.DaemonSet{
			ObjectMeta: metav1.ObjectMeta{Name: "agent"},
			Spec:       appsv1.DaemonSetSpec{Selector: selector("agent"), Template: template(c, "agent", "1")},
		}, metav1.CreateOptions{})
		must(c, err)
		c.Eventually("one is bound on each node", func() bool {
			nodes := map[string]bool{}
			for _, pod := range boundPods(c, "app=agent") {
				nodes[pod.Spec.NodeName] = true
			}
			return len(nodes) == 3
		})
	}},
	{"a node is drained", func(c *kubetest.Cluster) {
		ctx := context.Background()
		c.Node("n1")
		_, err := c.Client.AppsV1().ReplicaSets(c.Namespace).Create(ctx, &appsv1.ReplicaSet{
			ObjectMeta: metav1.ObjectMeta{Name: "web"},
			Spec:       appsv1.ReplicaSetSpec{Replicas: ptr.To[int32](3), Selector: selector("web"), Template: template(c, "web", "1")},
		}, metav1.CreateOptions{})
		must(c, err)
		c.Eventually("three pods are bound", func() bool { return len(boundPods(c, "app=web")) == 3 })
		c.Node("n2")
		c.ChangeNode("n1", func(n *corev1.Node) { n.Spec.Unschedulable = true })
		for _, pod := range boundPods(c, "app=web") {
			must(c, c.Client.PolicyV1().Evictions(c.Namespace).Evict(ctx, &policyv1.Eviction{
				ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: pod.Name}}))
		}
		c.Eventually("three pods are bound to the other node", func() bool {
			bound := boundPods(c, "app=web")
			for _, pod := range bound {
				if pod.Spec.NodeName != "n2" {
					return false
				}
			}
			return len(bound) == 3
		})
	}},
	{"pods of others count", func(c *kubetest.Cluster) {
		c.Node("n1")
		c.Pod("theirs", kubetest.Requests("cpu", "3"), func(p *corev1.Pod) {
			p.Spec.SchedulerName, p.Spec.NodeName = "default-scheduler", "n1"
		})
		c.Pod("untouched", func(p *corev1.Pod) { p.Spec.SchedulerName = "default-scheduler" })
		c.Pod("large", kubetest.Requests("cpu", "2"))
		c.Waits("large", "insufficient cpu")
		c.Pod("small", kubetest.Requests("cpu", "1"))
		c.IsOn("small", "n1")
		c.Finish("theirs", corev1.PodSucceeded)
		c.IsOn("large", "n1")
		if node := c.GetPod("untouched").Spec.NodeName; node != "" {
			c.T.Errorf("a pod of another scheduler was bound to %s", node)
		}
	}},
	{"a pod that is full exactly, and one that ends", func(c *kubetest.Cluster) {
		c.Node("n1")
		c.Pod("all", kubetest.Requests("cpu", "4", "memory", "8Gi"))
		c.IsOn("all", "n1")
		c.Pod("next", kubetest.Requests("cpu", "1"))
		c.Waits("next", "insufficient cpu")
		c.HasEvent("next", "FailedScheduling", "insufficient cpu")
		c.Finish("all", corev1.PodFailed)
		c.IsOn("next", "n1")
	}},
}

func selector(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

func template(c *kubetest.Cluster, app, cpu string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app}},
		Spec:       c.Spec(cpu),
	}
}

func must(c *kubetest.Cluster, err error) {
	c.T.Helper()
	if err != nil {
		c.T.Fatal(err)
	}
}

func boundPods(c *kubetest.Cluster, selector string) []corev1.Pod {
	c.T.Helper()
	list, err := c.Client.CoreV1().Pods(c.Namespace).List(context.Background(), metav1.ListOptions{LabelSelector: selector})
	must(c, err)
	var bound []corev1.Pod
	for _, pod := range list.Items {
		if pod.Spec.NodeName != "" {
			bound = append(bound, pod)
		}
	}
	return bound
}
