package verdict

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// The filters that do not need volumes or claims.
var filters = []string{
	names.NodeUnschedulable, names.NodeName, names.TaintToleration, names.NodeAffinity,
	names.NodePorts, names.NodeResourcesFit, names.PodTopologySpread, names.InterPodAffinity,
	names.NodeDeclaredFeatures,
}

// scheduler is kube-scheduler's framework over a cluster that the test keeps.
type scheduler struct {
	framework framework.Framework
	nodes     []*corev1.Node
	pods      []*corev1.Pod
	snapshot  *cache.Snapshot
}

func newScheduler(t *testing.T, w *world) *scheduler {
	t.Helper()
	metrics.Register()
	ctx := t.Context()
	client := fake.NewClientset(w.objects()...)
	factory := informers.NewSharedInformerFactory(client, 0)
	defaults, err := latest.Default()
	if err != nil {
		t.Fatal(err)
	}
	var enabled []config.Plugin
	for _, name := range filters {
		enabled = append(enabled, config.Plugin{Name: name, Weight: 1})
	}
	s := &scheduler{nodes: w.nodes, snapshot: cache.NewSnapshot(nil, w.nodes)}
	s.framework, err = frameworkruntime.NewFramework(ctx, plugins.NewInTreeRegistry(), &config.KubeSchedulerProfile{
		SchedulerName: corev1.DefaultSchedulerName,
		Plugins: &config.Plugins{
			// Each where it has something to say; a profile needs the other two.
			MultiPoint: config.PluginSet{Enabled: append(enabled,
				config.Plugin{Name: names.PrioritySort, Weight: 1}, config.Plugin{Name: names.DefaultBinder, Weight: 1})},
		},
		PluginConfig: configOf(defaults.Profiles[0].PluginConfig, enabled),
	}, frameworkruntime.WithClientSet(client), frameworkruntime.WithInformerFactory(factory),
		frameworkruntime.WithSnapshotSharedLister(s))
	if err != nil {
		t.Fatal(err)
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	t.Cleanup(factory.Shutdown)
	return s
}

func configOf(all []config.PluginConfig, enabled []config.Plugin) []config.PluginConfig {
	var result []config.PluginConfig
	for _, plugin := range enabled {
		for _, entry := range all {
			if entry.Name == plugin.Name {
				result = append(result, entry)
			}
		}
	}
	return result
}

// These implement fwk.SharedLister.

func (s *scheduler) NodeInfos() fwk.NodeInfoLister           { return s.snapshot.NodeInfos() }
func (s *scheduler) StorageInfos() fwk.StorageInfoLister     { return s.snapshot.StorageInfos() }
func (s *scheduler) PodGroups() fwk.PodGroupLister           { return s.snapshot.PodGroups() }
func (s *scheduler) PodGroupStates() fwk.PodGroupStateLister { return s.snapshot.PodGroupStates() }
func (s *scheduler) CompositePodGroups() fwk.CompositePodGroupLister {
	return s.snapshot.CompositePodGroups()
}
func (s *scheduler) CompositePodGroupStates() fwk.CompositePodGroupStateLister {
	return s.snapshot.CompositePodGroupStates()
}

// refuses says why the filters do not let pod onto one of the nodes, by node.
func (s *scheduler) refuses(ctx context.Context, pod *corev1.Pod, nodes ...string) map[string]string {
	refused := map[string]string{}
	state := framework.NewCycleState()
	result, status, _ := s.framework.RunPreFilterPlugins(ctx, state, pod)
	for _, name := range nodes {
		switch {
		case !status.IsSuccess():
			refused[name] = status.Message()
			continue
		case result != nil && result.NodeNames != nil && !result.NodeNames.Has(name):
			refused[name] = "not one of the nodes that PreFilter leaves"
			continue
		}
		info, err := s.snapshot.NodeInfos().Get(name)
		if err != nil {
			refused[name] = err.Error()
			continue
		}
		if verdict := s.framework.RunFilterPlugins(ctx, state, pod, info); verdict.Code() != fwk.Success {
			refused[name] = fmt.Sprint(verdict.Plugin(), ": ", verdict.Message())
		}
	}
	return refused
}

// place counts pod on a node from here on.
func (s *scheduler) place(pod *corev1.Pod, node string) {
	placed := pod.DeepCopy()
	placed.Spec.NodeName = node
	s.pods = append(s.pods, placed)
	s.snapshot = cache.NewSnapshot(s.pods, s.nodes)
}
