package mirror

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/sluice-scheduler/sluice/bridge/internal/convert"
)

var podGroupResource = schema.GroupVersionResource{
	Group: "scheduling.x-k8s.io", Version: "v1alpha1", Resource: "podgroups"}

// How often the mirror looks for the definition of PodGroups.
const definitionPoll = 10 * time.Second

// podGroups watches the PodGroups of scheduler-plugins, once the cluster
// defines them.
type podGroups struct {
	discoverer discovery.DiscoveryInterface
	factory    dynamicinformer.DynamicSharedInformerFactory
	informer   cache.SharedIndexInformer

	// wasAsked: the API server has said whether PodGroups are defined. isDefined:
	// they are.
	wasAsked, isDefined atomic.Bool
	running             sync.WaitGroup
}

func newPodGroups(client dynamic.Interface, discoverer discovery.DiscoveryInterface) *podGroups {
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	return &podGroups{
		discoverer: discoverer,
		factory:    factory,
		informer:   factory.ForResource(podGroupResource).Informer(),
	}
}

func (g *podGroups) start(ctx context.Context) {
	g.running.Go(func() {
		for {
			defined, err := g.ask()
			if err != nil {
				klog.FromContext(ctx).V(2).Info("Cannot discover PodGroups; trying again", "err", err)
			} else {
				g.isDefined.Store(defined)
				g.wasAsked.Store(true)
			}
			if defined {
				g.factory.Start(ctx.Done())
				return
			}
			pause := definitionPoll
			if !g.wasAsked.Load() {
				pause = time.Second
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(pause):
			}
		}
	})
}

func (g *podGroups) stop() {
	g.running.Wait()
	g.factory.Shutdown()
}

func (g *podGroups) ask() (bool, error) {
	resources, err := g.discoverer.ServerResourcesForGroupVersion(podGroupResource.GroupVersion().String())
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("discover %s: %w", podGroupResource.GroupVersion(), err)
	}
	for _, resource := range resources.APIResources {
		if resource.Name == podGroupResource.Resource {
			return true, nil
		}
	}
	return false, nil
}

func (g *podGroups) hasSynced() bool {
	return g.wasAsked.Load() && (!g.isDefined.Load() || g.informer.HasSynced())
}

// gang returns nil for a pod that names no group.
func (g *podGroups) gang(namespace, name string) (*convert.Gang, error) {
	if name == "" {
		return nil, nil
	}
	if !g.isDefined.Load() {
		return nil, fmt.Errorf("PodGroup %q: the cluster has no PodGroups (%s)", name, podGroupResource.GroupVersion())
	}
	object, exists, err := g.informer.GetStore().GetByKey(namespace + "/" + name)
	if err != nil {
		return nil, fmt.Errorf("look up PodGroup %q: %w", name, err)
	}
	if !exists {
		return nil, fmt.Errorf("PodGroup %q not found", name)
	}
	group, ok := object.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("PodGroup %q is a %T", name, object)
	}
	return convert.PodGroup(group)
}
