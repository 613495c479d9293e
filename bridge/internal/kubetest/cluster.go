package kubetest

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

const (
	bindLimit   = 30 * time.Second
	SettledTime = 3 * time.Second
)

// Cluster makes and looks at objects of one namespace, and at nodes.
type Cluster struct {
	T         testing.TB
	Client    kubernetes.Interface
	Namespace string
	Scheduler string
}

// NewCluster makes a namespace, and deletes it, its pods and all nodes at the
// end of the test.
func NewCluster(t testing.TB, plane *ControlPlane, namespace string) *Cluster {
	t.Helper()
	c := &Cluster{T: t, Client: plane.Client, Namespace: namespace, Scheduler: "sluice"}
	_, err := c.Client.CoreV1().Namespaces().Create(c.ctx(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	c.must(err)
	// Pods are made with it.
	_, err = c.Client.CoreV1().ServiceAccounts(namespace).Create(c.ctx(), &corev1.ServiceAccount{
		ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{})
	c.must(err)
	t.Cleanup(c.clear)
	return c
}

func (c *Cluster) ctx() context.Context { return context.Background() }

func (c *Cluster) must(err error) {
	c.T.Helper()
	if err != nil {
		c.T.Fatal(err)
	}
}

func (c *Cluster) clear() {
	now := metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}
	background := metav1.DeletePropagationBackground
	_ = c.Client.CoreV1().Namespaces().Delete(c.ctx(), c.Namespace, metav1.DeleteOptions{PropagationPolicy: &background})
	_ = c.Client.CoreV1().Nodes().DeleteCollection(c.ctx(), now, metav1.ListOptions{})
	_ = wait.PollUntilContextTimeout(c.ctx(), 200*time.Millisecond, bindLimit, true, func(ctx context.Context) (bool, error) {
		_ = c.Client.CoreV1().Pods(c.Namespace).DeleteCollection(ctx, now, metav1.ListOptions{})
		pods, err := c.Client.CoreV1().Pods(c.Namespace).List(ctx, metav1.ListOptions{})
		return err == nil && len(pods.Items) == 0, nil
	})
}

// Amounts makes a list of pairs of a resource and an amount.
func Amounts(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i+1 < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

// Node makes one that is ready, with four cores and room for 110 pods.
func (c *Cluster) Node(name string, changes ...func(*corev1.Node)) {
	c.T.Helper()
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
		Status: corev1.NodeStatus{
			Allocatable: Amounts("cpu", "4", "memory", "8Gi", "pods", "110"),
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
	for _, change := range changes {
		change(node)
	}
	node.Status.Capacity = node.Status.Allocatable
	status := node.Status
	created, err := c.Client.CoreV1().Nodes().Create(c.ctx(), node, metav1.CreateOptions{})
	c.must(err)
	created.Status = status
	_, err = c.Client.CoreV1().Nodes().UpdateStatus(c.ctx(), created, metav1.UpdateOptions{})
	c.must(err)
}

// Labels adds to those of a node.
func Labels(labels map[string]string) func(*corev1.Node) {
	return func(node *corev1.Node) { maps.Copy(node.Labels, labels) }
}

// Offers replaces what a node has to give.
func Offers(pairs ...string) func(*corev1.Node) {
	return func(node *corev1.Node) { maps.Copy(node.Status.Allocatable, Amounts(pairs...)) }
}

// Taint adds a taint to a node.
func Taint(key, value string, effect corev1.TaintEffect) func(*corev1.Node) {
	return func(node *corev1.Node) {
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: key, Value: value, Effect: effect})
	}
}

// ChangeNode changes a node that is there.
func (c *Cluster) ChangeNode(name string, change func(*corev1.Node)) {
	c.T.Helper()
	node, err := c.Client.CoreV1().Nodes().Get(c.ctx(), name, metav1.GetOptions{})
	c.must(err)
	change(node)
	_, err = c.Client.CoreV1().Nodes().Update(c.ctx(), node, metav1.UpdateOptions{})
	c.must(err)
}

// DeleteNode deletes a node.
func (c *Cluster) DeleteNode(name string) {
	c.T.Helper()
	c.must(c.Client.CoreV1().Nodes().Delete(c.ctx(), name, metav1.DeleteOptions{}))
}

// Spec is that of a pod of ours which asks for cpu, if for anything.
func (c *Cluster) Spec(cpu string) corev1.PodSpec {
	container := corev1.Container{Name: "main", Image: "none"}
	if cpu != "" {
		container.Resources.Requests = Amounts("cpu", cpu)
	}
	return corev1.PodSpec{
		SchedulerName:                 c.Scheduler,
		TerminationGracePeriodSeconds: ptr.To[int64](0),
		Containers:                    []corev1.Container{container},
	}
}

// Pod makes one that asks for nothing, but for what the changes say.
func (c *Cluster) Pod(name string, changes ...func(*corev1.Pod)) *corev1.Pod {
	c.T.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"name": name}},
		Spec:       c.Spec(""),
	}
	for _, change := range changes {
		change(pod)
	}
	made, err := c.Client.CoreV1().Pods(c.Namespace).Create(c.ctx(), pod, metav1.CreateOptions{})
	c.must(err)
	return made
}

// Requests makes a pod ask for pairs of a resource and an amount.
func Requests(pairs ...string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: Amounts(pairs...), Limits: Amounts(pairs...)}
	}
}

// Labeled gives a pod a label.
func Labeled(key, value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Labels[key] = value }
}

// GetPod returns nil if it is gone.
func (c *Cluster) GetPod(name string) *corev1.Pod {
	c.T.Helper()
	pod, err := c.Client.CoreV1().Pods(c.Namespace).Get(c.ctx(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	c.must(err)
	return pod
}

// DeletePod deletes a pod at once.
func (c *Cluster) DeletePod(name string) {
	c.T.Helper()
	c.must(c.Client.CoreV1().Pods(c.Namespace).Delete(c.ctx(), name,
		metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}))
}

// Finish lets a pod end.
func (c *Cluster) Finish(name string, phase corev1.PodPhase) {
	c.T.Helper()
	pod := c.GetPod(name)
	pod.Status.Phase = phase
	_, err := c.Client.CoreV1().Pods(c.Namespace).UpdateStatus(c.ctx(), pod, metav1.UpdateOptions{})
	c.must(err)
}

// Eventually waits for something.
func (c *Cluster) Eventually(what string, is func() bool) {
	c.T.Helper()
	for deadline := time.Now().Add(bindLimit); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if is() {
			return
		}
	}
	c.T.Fatalf("not so within %v: %s", bindLimit, what)
}

// NodeOf waits until a pod is bound, and returns where.
func (c *Cluster) NodeOf(name string) string {
	c.T.Helper()
	var node string
	c.Eventually("pod "+name+" is bound", func() bool {
		if pod := c.GetPod(name); pod != nil {
			node = pod.Spec.NodeName
		}
		return node != ""
	})
	return node
}

// IsOn fails the test unless a pod is bound to one of the nodes.
func (c *Cluster) IsOn(name string, nodes ...string) {
	c.T.Helper()
	got := c.NodeOf(name)
	for _, node := range nodes {
		if got == node {
			return
		}
	}
	c.T.Errorf("pod %s is on %s, not on %s", name, got, strings.Join(nodes, " or "))
}

// Waits fails the test unless a pod is said to be unschedulable for the reason.
func (c *Cluster) Waits(name, reason string) {
	c.T.Helper()
	var last string
	for deadline := time.Now().Add(bindLimit); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		pod := c.GetPod(name)
		if pod.Spec.NodeName != "" {
			c.T.Fatalf("pod %s is bound to %s", name, pod.Spec.NodeName)
		}
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
				last = fmt.Sprint(condition.Reason, ": ", condition.Message)
			}
		}
		if strings.HasPrefix(last, "Unschedulable: ") && strings.Contains(last, reason) {
			return
		}
	}
	c.T.Fatalf("pod %s waits, but says %q and not %q", name, last, reason)
}

// HasEvent waits for an event about an object.
func (c *Cluster) HasEvent(name, reason, note string) {
	c.T.Helper()
	c.Eventually(fmt.Sprintf("%s has an event %s: %s", name, reason, note), func() bool {
		list, err := c.Client.EventsV1().Events("").List(c.ctx(), metav1.ListOptions{})
		c.must(err)
		for i := range list.Items {
			event := &list.Items[i]
			if event.Regarding.Name == name && event.Reason == reason && strings.Contains(event.Note, note) {
				return true
			}
		}
		return false
	})
}

// PriorityClass makes one that the end of the test deletes.
func (c *Cluster) PriorityClass(name string, value int32, changes ...func(*schedulingv1.PriorityClass)) {
	c.T.Helper()
	classes := c.Client.SchedulingV1().PriorityClasses()
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}
	for _, change := range changes {
		change(class)
	}
	_, err := classes.Create(c.ctx(), class, metav1.CreateOptions{})
	c.must(err)
	c.T.Cleanup(func() { _ = classes.Delete(c.ctx(), name, metav1.DeleteOptions{}) })
	// The API server itself learns of it by a watch.
	probe := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "probe"}, Spec: c.Spec("")}
	probe.Spec.PriorityClassName = name
	c.Eventually("pods may have the priority class", func() bool {
		_, err := c.Client.CoreV1().Pods(c.Namespace).Create(c.ctx(), probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err == nil
	})
}
