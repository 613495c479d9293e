package convert_test

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/sluice-scheduler/sluice/bridge/internal/api/firmament"
	"github.com/sluice-scheduler/sluice/bridge/internal/convert"
)

func podOf(change func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-1", UID: "uid-1"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}},
	}
	change(pod)
	return pod
}

func requests(pairs ...string) corev1.ResourceRequirements {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return corev1.ResourceRequirements{Requests: list}
}

func task(t *testing.T, pod *corev1.Pod, around convert.Surroundings) *firmament.TaskDescriptor {
	t.Helper()
	description, problems := convert.Pod(pod, around)
	if len(problems) > 0 {
		t.Fatalf("Pod: %v", problems)
	}
	return description.TaskDescriptor
}

// expect compares message with what want, in prototext, means.
func expect[M proto.Message](t *testing.T, message M, want string) {
	t.Helper()
	wanted := message.ProtoReflect().New().Interface()
	if err := prototext.Unmarshal([]byte(want), wanted); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(message, wanted) {
		t.Errorf("got  %v\nwant %v", prototext.Format(message), prototext.Format(wanted))
	}
}

func TestRequests(t *testing.T) {
	always := ptr.To(corev1.ContainerRestartPolicyAlways)
	for _, test := range []struct {
		name   string
		change func(*corev1.Pod)
		want   string
	}{
		{"nothing", func(*corev1.Pod) {}, ``},
		{"rule 37: containers add up", func(p *corev1.Pod) {
			p.Spec.Containers = []corev1.Container{
				{Resources: requests("cpu", "250m", "memory", "64Mi")},
				{Resources: requests("cpu", "0.5", "ephemeral-storage", "1")},
			}
		}, `cpu_cores: 750 ram_cap: 67108864000 ephemeral_cap: 1000`},
		{"rule 37: the largest init container", func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{Resources: requests("cpu", "3")}, {Resources: requests("cpu", "1")}}
			p.Spec.Containers[0].Resources = requests("cpu", "2")
		}, `cpu_cores: 3000`},
		{"rule 37: sidecars add to those after them", func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{
				{Resources: requests("cpu", "1"), RestartPolicy: always},
				{Resources: requests("cpu", "3")},
			}
			p.Spec.Containers[0].Resources = requests("cpu", "2")
		}, `cpu_cores: 4000`},
		{"rule 37: overhead", func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources = requests("cpu", "1")
			p.Spec.Overhead = requests("cpu", "100m").Requests
		}, `cpu_cores: 1100`},
		{"rule 37: the pod's own amounts replace the sum", func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources = requests("cpu", "1")
			p.Spec.Resources = ptr.To(requests("cpu", "2"))
		}, `cpu_cores: 2000`},
		{"rule 38: a resize that is under way needs the larger", func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources = requests("cpu", "1")
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{
				Name: "main", AllocatedResources: requests("cpu", "2").Requests,
				Resources: ptr.To(requests("cpu", "2")),
			}}
		}, `cpu_cores: 2000`},
		{"rule 40: extended resources", func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources = requests("nvidia.com/gpu", "2", "hugepages-2Mi", "4Mi")
		}, `extended_resources {key: "nvidia.com/gpu" value: 2} extended_resources {key: "hugepages-2Mi" value: 4194304}`},
		{"rule 39: what is not requested is not looked at", func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources = requests("nvidia.com/gpu", "0", "cpu", "0")
		}, ``},
		{"fractions round up", func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources = requests("cpu", "16777217m", "memory", "1500m")
		}, `cpu_cores: 16777218 ram_cap: 2000`},
	} {
		t.Run(test.name, func(t *testing.T) {
			expect(t, task(t, podOf(test.change), convert.Surroundings{}).ResourceRequest, test.want)
		})
	}
}

func TestPodFields(t *testing.T) {
	always := ptr.To(corev1.ContainerRestartPolicyAlways)
	for _, test := range []struct {
		name   string
		change func(*corev1.Pod)
		want   string
	}{
		{"rule 45: no priority is 0", func(*corev1.Pod) {}, `priority: 2147483648`},
		{"a negative priority is lower", func(p *corev1.Pod) { p.Spec.Priority = ptr.To[int32](-10) }, `priority: 2147483638`},
		{"the highest priority", func(p *corev1.Pod) { p.Spec.Priority = ptr.To[int32](2000001000) }, `priority: 4147484648`},
		{"labels by key", func(p *corev1.Pod) { p.Labels = map[string]string{"b": "2", "a": ""} },
			`priority: 2147483648 labels {key: "a"} labels {key: "b" value: "2"}`},
		{"rule 3: the node selector stands beside affinity", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} },
			`priority: 2147483648 label_selectors {type: IN_SET key: "disk" values: "ssd"}`},
		{"rules 12, 13 and 16: tolerations as they are", func(p *corev1.Pod) {
			p.Spec.Tolerations = []corev1.Toleration{
				{Operator: corev1.TolerationOpExists},
				{Key: "a", Value: "1", Effect: corev1.TaintEffectNoSchedule},
				{Key: "a", Value: "2", Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](0)},
			}
		}, `priority: 2147483648 toleration {operator: "Exists"}
			toleration {key: "a" value: "1" effect: "NoSchedule"}
			toleration {key: "a" value: "2" effect: "NoExecute" tolerationSeconds: 0}`},
		{"rule 42: host ports of what keeps running", func(p *corev1.Pod) {
			port := func(number int32) []corev1.ContainerPort {
				return []corev1.ContainerPort{{HostPort: number, Protocol: corev1.ProtocolUDP, HostIP: "127.0.0.1"}, {ContainerPort: 1}}
			}
			p.Spec.InitContainers = []corev1.Container{{Ports: port(1)}, {Ports: port(2), RestartPolicy: always}}
			p.Spec.Containers[0].Ports = port(3)
		}, `priority: 2147483648 host_ports {protocol: "UDP" address: "127.0.0.1" port: 2}
			host_ports {protocol: "UDP" address: "127.0.0.1" port: 3}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := task(t, podOf(test.change), convert.Surroundings{})
			if got.Name != "shop/web-1" || got.Namespace != "shop" || got.JobId != "uid-1" {
				t.Errorf("is %q of %q in job %q", got.Name, got.Namespace, got.JobId)
			}
			got.Name, got.Namespace, got.JobId, got.ResourceRequest = "", "", "", nil
			expect(t, got, test.want)
		})
	}
}

func TestJobs(t *testing.T) {
	controlled := podOf(func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{
			{Kind: "Other", Name: "no", UID: "no"},
			{Kind: "ReplicaSet", Name: "web", UID: "rs-1", Controller: ptr.To(true)},
		}
	})
	description, problems := convert.Pod(controlled, convert.Surroundings{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	expect(t, description.JobDescriptor, `uuid: "rs-1" name: "shop/web"`)
	if got := description.TaskDescriptor; got.OwnerRefKind != "ReplicaSet" || got.OwnerRefUid != "rs-1" || got.JobId != "rs-1" {
		t.Errorf("owned by %s %s in job %s", got.OwnerRefKind, got.OwnerRefUid, got.JobId)
	}
	gang := &convert.Gang{ID: "pg-1/3", Name: "shop/train", MinMember: 3}
	description, problems = convert.Pod(controlled, convert.Surroundings{Gang: gang})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	expect(t, description.JobDescriptor,
		`uuid: "pg-1/3" name: "shop/train" is_gang_scheduling_job: true min_number_of_tasks: 3`)
}

func TestWhatIsNotUnderstood(t *testing.T) {
	tolerated := []corev1.Toleration{{Key: "a", Operator: "Gt"}, {Key: "b", Operator: corev1.TolerationOpExists}, {Key: "c", Operator: "Lt"}}
	for _, test := range []struct {
		name   string
		change func(*corev1.Pod)
		want   []string
		// Of the task, without what all of them say.
		understood string
	}{
		{name: "dynamic resources", change: func(p *corev1.Pod) { p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}} },
			want: []string{"spec.resourceClaims: Forbidden: dynamic resource allocation is not supported"}},
		{name: "another kind of groups", change: func(p *corev1.Pod) { p.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{} },
			want: []string{"spec.schedulingGroup: Forbidden: pod groups of scheduling.k8s.io are not supported; " +
				"the label scheduling.x-k8s.io/pod-group joins one of scheduling.x-k8s.io"}},
		{name: "one constraint of three", change: func(p *corev1.Pod) {
			p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{
				{TopologyKey: "a", WhenUnsatisfiable: corev1.DoNotSchedule}, {TopologyKey: "b", WhenUnsatisfiable: "Later"},
				{TopologyKey: "c", WhenUnsatisfiable: corev1.ScheduleAnyway}}
		}, want: []string{`spec.topologySpreadConstraints[1].whenUnsatisfiable: Unsupported value: "Later": supported values: "DoNotSchedule", "ScheduleAnyway"`},
			understood: `topology_spread_constraints {topologyKey: "a" whenUnsatisfiable: "DoNotSchedule"}
				topology_spread_constraints {topologyKey: "c" whenUnsatisfiable: "ScheduleAnyway"}`},
		{name: "two tolerations of three", change: func(p *corev1.Pod) { p.Spec.Tolerations = tolerated }, want: []string{
			`spec.tolerations[0].operator: Unsupported value: "Gt": supported values: "Equal", "Exists"`,
			`spec.tolerations[2].operator: Unsupported value: "Lt": supported values: "Equal", "Exists"`},
			understood: `toleration {key: "b" operator: "Exists"}`},
		{name: "amounts", change: func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources = requests("cpu", "1", "ephemeral-storage", "2Ei", "memory", "4Ei", "x.io/y", "9E", "x.io/z", "1")
		}, want: []string{
			`spec.containers.resources[ephemeral-storage]: Invalid value: "2Ei": is more than the scheduler can count`,
			`spec.containers.resources[memory]: Invalid value: "4Ei": is more than the scheduler can count`,
			`spec.containers.resources[x.io/y]: Invalid value: "9E": is more than the scheduler can count`},
			understood: `resource_request {cpu_cores: 1000 extended_resources {key: "x.io/z" value: 1}}`},
		{name: "several things", change: func(p *corev1.Pod) {
			p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}}
			p.Spec.Tolerations = tolerated[:1]
			p.Spec.NodeSelector = map[string]string{"disk": "ssd"}
		}, want: []string{
			`spec.tolerations[0].operator: Unsupported value: "Gt": supported values: "Equal", "Exists"`,
			"spec.resourceClaims: Forbidden: dynamic resource allocation is not supported"},
			understood: `label_selectors {type: IN_SET key: "disk" values: "ssd"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			description, problems := convert.Pod(podOf(test.change), convert.Surroundings{})
			var got []string
			for _, problem := range problems {
				got = append(got, problem.Error())
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("problems %q\nwant     %q", got, test.want)
			}
			task := description.GetTaskDescriptor()
			if task.GetName() != "shop/web-1" {
				t.Fatalf("a pod that runs has no description: %v", description)
			}
			task.Name, task.Namespace, task.JobId, task.Priority = "", "", "", 0
			if proto.Size(task.ResourceRequest) == 0 {
				task.ResourceRequest = nil
			}
			expect(t, task, test.understood)
		})
	}
}
