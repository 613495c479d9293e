package convert_test

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-scheduler/sluice/bridge/internal/convert"
)

func nodeOf(change func(*corev1.Node)) *corev1.Node {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n1", UID: "uid-n1"},
		Status:     corev1.NodeStatus{Allocatable: requests("cpu", "4", "memory", "1Gi", "pods", "10").Requests},
	}
	change(node)
	return node
}

func TestNode(t *testing.T) {
	const plain = `uuid: "n1" friendly_name: "n1" type: RESOURCE_MACHINE max_pods: 10 resource_capacity {}
		available_resources {cpu_cores: 4000 ram_cap: 1073741824000} `
	for _, test := range []struct {
		name   string
		change func(*corev1.Node)
		want   string
	}{
		{"rule 39: allocatable counts", func(n *corev1.Node) {
			n.Status.Capacity = requests("cpu", "5").Requests
		}, `uuid: "n1" friendly_name: "n1" type: RESOURCE_MACHINE max_pods: 10 resource_capacity {cpu_cores: 5000}
			available_resources {cpu_cores: 4000 ram_cap: 1073741824000}`},
		{"offers round down", func(n *corev1.Node) {
			n.Status.Allocatable["cpu"] = requests("cpu", "16777219m").Requests["cpu"]
		}, `uuid: "n1" friendly_name: "n1" type: RESOURCE_MACHINE max_pods: 10 resource_capacity {}
			available_resources {cpu_cores: 16777218 ram_cap: 1073741824000}`},
		{"labels and taints", func(n *corev1.Node) {
			n.Labels = map[string]string{"b": "1", "a": "2"}
			n.Spec.Taints = []corev1.Taint{{Key: "k", Value: "v", Effect: corev1.TaintEffectNoExecute}}
		}, plain + `labels {key: "a" value: "2"} labels {key: "b" value: "1"} taints {key: "k" value: "v" effect: "NoExecute"}`},
		{"rule 18: unschedulable", func(n *corev1.Node) { n.Spec.Unschedulable = true }, plain + `unschedulable: true`},
		{"good conditions are left out", func(n *corev1.Node) {
			n.Status.Conditions = []corev1.NodeCondition{
				{Type: corev1.NodeReady, Status: corev1.ConditionTrue},
				{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse},
				{Type: corev1.NodePIDPressure, Status: corev1.ConditionUnknown},
				{Type: "Custom", Status: corev1.ConditionTrue},
			}
		}, plain},
		{"bad conditions", func(n *corev1.Node) {
			n.Status.Conditions = []corev1.NodeCondition{
				{Type: corev1.NodeReady, Status: corev1.ConditionUnknown},
				{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionTrue},
			}
		}, plain + `conditions {type: "Ready" status: "Unknown"} conditions {type: "MemoryPressure" status: "True"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := convert.Node(nodeOf(test.change), nil)
			if err != nil {
				t.Fatal(err)
			}
			expect(t, got.ResourceDesc, test.want)
		})
	}
}

func TestANodeThatTakesNoPodsIsNotStated(t *testing.T) {
	_, err := convert.Node(nodeOf(func(n *corev1.Node) { n.Status.Allocatable = nil }), nil)
	if !errors.Is(err, convert.ErrNoPods) {
		t.Errorf("Node: %v", err)
	}
}

func TestAttachLimitsAreResources(t *testing.T) {
	got, err := convert.Node(nodeOf(func(*corev1.Node) {}), map[string]int64{convert.AttachPrefix + "ebs": 25})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, got.ResourceDesc.AvailableResources, `cpu_cores: 4000 ram_cap: 1073741824000
		extended_resources {key: "attachable-volumes-csi-ebs" value: 25}`)
}
