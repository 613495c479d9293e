package mirror

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/sluice-scheduler/sluice/bridge/internal/api/firmament"
	sluicev1 "github.com/sluice-scheduler/sluice/bridge/internal/api/sluice/v1"
	"github.com/sluice-scheduler/sluice/bridge/internal/convert"
	"github.com/sluice-scheduler/sluice/bridge/internal/feed"
)

// Assumptions are binds under way. Their pods count as running.
type Assumptions interface {
	// Assumed returns the node to which the pod of that uid is being bound, or
	// an empty string.
	Assumed(uid string) string
	// Rejected returns the nodes from which the pod of that uid keeps away.
	Rejected(uid string) []string
}

// Source answers the feed from a mirror and from binds that the API server does
// not show yet.
type Source struct {
	*Mirror
	Assumptions Assumptions
}

var _ feed.Source = Source{}

// MachineNames implements feed.Source.
func (m *Mirror) MachineNames() []string { return m.nodes.GetStore().ListKeys() }

// TaskKeys implements feed.Source.
func (m *Mirror) TaskKeys() []string { return m.pods.GetStore().ListKeys() }

// Machine implements feed.Source.
func (m *Mirror) Machine(name string) *firmament.ResourceTopologyNodeDescriptor {
	node := m.Node(name)
	if node == nil {
		return nil
	}
	machine, err := convert.Node(node, m.attachLimits(name))
	if err != nil {
		return nil
	}
	return machine
}

// BudgetIDs implements feed.Source.
func (m *Mirror) BudgetIDs() []string { return m.budgets.GetStore().ListKeys() }

// Budget implements feed.Source. Budgets go by namespace and name.
func (m *Mirror) Budget(id string) *firmament.DisruptionBudget {
	namespace, name, err := cache.SplitMetaNamespaceKey(id)
	if err != nil {
		return nil
	}
	budget, err := m.budgetLister.PodDisruptionBudgets(namespace).Get(name)
	if err != nil {
		return nil
	}
	return convert.Budget(budget)
}

// PriorityZero implements feed.Source.
func (m *Mirror) PriorityZero() uint32 { return convert.PriorityZero }

// NodeProblem says why a node that is there takes no pods.
func (m *Mirror) NodeProblem(node *corev1.Node) error {
	_, err := convert.Node(node, nil)
	return err
}

// TaskKeysOn implements feed.Source.
func (m *Mirror) TaskKeysOn(machine string) []string {
	keys, err := m.pods.GetIndexer().IndexKeys(byNode, machine)
	if err != nil {
		return nil
	}
	return keys
}

// Task implements feed.Source. It does not state pods that ended unbound, nor
// unbound pods of other schedulers. It states a pod that has ended if the pod
// counts towards a gang's minimum.
func (s Source) Task(key string) feed.Task {
	pod := s.Pod(key)
	if pod == nil {
		return feed.Task{}
	}
	if isTerminal(pod) {
		return s.endedTask(pod)
	}
	if pod.Spec.NodeName != "" {
		description, _ := s.describe(pod)
		return feed.Task{Stated: &sluicev1.TaskStated{
			Id: string(pod.UID), Description: description,
			RunsOn: pod.Spec.NodeName, IsForeign: !s.IsOurs(pod),
			IsTerminating: pod.DeletionTimestamp != nil}}
	}
	if !s.Waits(pod) {
		return feed.Task{}
	}
	description, err := s.describe(pod, s.Assumptions.Rejected(string(pod.UID))...)
	assumed := s.Assumptions.Assumed(string(pod.UID))
	if err != nil && assumed == "" {
		return feed.Task{}
	}
	return feed.Task{Stated: &sluicev1.TaskStated{
		Id: string(pod.UID), Description: description, RunsOn: assumed}}
}

func (s Source) endedTask(pod *corev1.Pod) feed.Task {
	if !s.IsOurs(pod) || convert.PodGroupName(pod) == "" || pod.Spec.NodeName == "" {
		return feed.Task{}
	}
	description, err := s.describe(pod)
	if err != nil {
		return feed.Task{}
	}
	return feed.Task{
		Stated: &sluicev1.TaskStated{Id: string(pod.UID), Description: description},
		Ended:  true,
		Failed: pod.Status.Phase == corev1.PodFailed,
	}
}

// Pod returns nil if the pod is gone.
func (m *Mirror) Pod(key string) *corev1.Pod {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return nil
	}
	pod, err := m.podLister.Pods(namespace).Get(name)
	if err != nil {
		return nil
	}
	return pod
}

// Node returns nil if there is no node of that name.
func (m *Mirror) Node(name string) *corev1.Node {
	node, err := m.nodeLister.Get(name)
	if err != nil {
		return nil
	}
	return node
}

// IsOurs tells whether a pod names one of our schedulers.
func (m *Mirror) IsOurs(pod *corev1.Pod) bool { return m.schedulers.Has(pod.Spec.SchedulerName) }

// HasBound reports whether any pod of ours is bound.
func (m *Mirror) HasBound() bool {
	for _, object := range m.pods.GetStore().List() {
		if pod, ok := object.(*corev1.Pod); ok && m.IsOurs(pod) && pod.Spec.NodeName != "" {
			return true
		}
	}
	return false
}

// Waits tells whether a pod is ours to place now.
func (m *Mirror) Waits(pod *corev1.Pod) bool {
	return m.IsOurs(pod) && pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil &&
		!isTerminal(pod) && len(pod.Spec.SchedulingGates) == 0
}

// Obstacle says why a pod that waits cannot even be stated to the daemon.
func (m *Mirror) Obstacle(pod *corev1.Pod) error {
	_, err := m.describe(pod)
	return err
}
