package mirror

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	policylisters "k8s.io/client-go/listers/policy/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
)

// Mirror is the cluster as the API server told it last.
type Mirror struct {
	schedulers sets.Set[string]

	factory informers.SharedInformerFactory
	groups  *podGroups
	spread  *defaultSpread

	pods       cache.SharedIndexInformer
	nodes      cache.SharedIndexInformer
	namespaces cache.SharedIndexInformer
	claims     cache.SharedIndexInformer
	volumes    cache.SharedIndexInformer
	classes    cache.SharedIndexInformer
	csiNodes   cache.SharedIndexInformer
	budgets    cache.SharedIndexInformer

	podLister       corelisters.PodLister
	nodeLister      corelisters.NodeLister
	namespaceLister corelisters.NamespaceLister
	claimLister     corelisters.PersistentVolumeClaimLister
	volumeLister    corelisters.PersistentVolumeLister
	classLister     storagelisters.StorageClassLister
	csiNodeLister   storagelisters.CSINodeLister
	budgetLister    policylisters.PodDisruptionBudgetLister
}

// New makes a mirror in which the pods of the named schedulers are ours. Pods
// of ours without topology spread constraints get those of spread.
func New(client kubernetes.Interface, dynamicClient dynamic.Interface, discoverer discovery.DiscoveryInterface,
	schedulers []string, spread []corev1.TopologySpreadConstraint) (*Mirror, error) {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(slim))
	core, storage, policy := factory.Core().V1(), factory.Storage().V1(), factory.Policy().V1()
	m := &Mirror{
		schedulers: sets.New(schedulers...),
		factory:    factory,
		groups:     newPodGroups(dynamicClient, discoverer),

		pods:       core.Pods().Informer(),
		nodes:      core.Nodes().Informer(),
		namespaces: core.Namespaces().Informer(),
		claims:     core.PersistentVolumeClaims().Informer(),
		volumes:    core.PersistentVolumes().Informer(),
		classes:    storage.StorageClasses().Informer(),
		csiNodes:   storage.CSINodes().Informer(),
		budgets:    policy.PodDisruptionBudgets().Informer(),

		podLister:       core.Pods().Lister(),
		nodeLister:      core.Nodes().Lister(),
		namespaceLister: core.Namespaces().Lister(),
		claimLister:     core.PersistentVolumeClaims().Lister(),
		volumeLister:    core.PersistentVolumes().Lister(),
		classLister:     storage.StorageClasses().Lister(),
		csiNodeLister:   storage.CSINodes().Lister(),
		budgetLister:    policy.PodDisruptionBudgets().Lister(),
	}
	if err := m.pods.AddIndexers(podIndexers()); err != nil {
		return nil, fmt.Errorf("index pods: %w", err)
	}
	if err := m.claims.AddIndexers(claimIndexers()); err != nil {
		return nil, fmt.Errorf("index claims: %w", err)
	}
	if err := m.volumes.AddIndexers(volumeIndexers()); err != nil {
		return nil, fmt.Errorf("index volumes: %w", err)
	}
	if err := m.csiNodes.AddIndexers(csiNodeIndexers()); err != nil {
		return nil, fmt.Errorf("index CSINodes: %w", err)
	}
	var err error
	if m.spread, err = newDefaultSpread(factory, spread); err != nil {
		return nil, err
	}
	return m, nil
}

// Start lists and watches until ctx ends. It returns at once.
func (m *Mirror) Start(ctx context.Context) {
	m.factory.Start(ctx.Done())
	m.groups.start(ctx)
}

// Stop waits for what Start began, once its context has ended.
func (m *Mirror) Stop() {
	m.factory.Shutdown()
	m.groups.stop()
}

// HasSynced tells whether all informers have listed their objects once.
func (m *Mirror) HasSynced() bool {
	for _, informer := range m.informers() {
		if !informer.HasSynced() {
			return false
		}
	}
	return m.groups.hasSynced()
}

// WaitForSync waits until HasSynced is true, and returns false if ctx ends
// before.
func (m *Mirror) WaitForSync(ctx context.Context) bool {
	return cache.WaitForCacheSync(ctx.Done(), m.HasSynced)
}

func (m *Mirror) informers() []cache.SharedIndexInformer {
	return append([]cache.SharedIndexInformer{
		m.pods, m.nodes, m.namespaces, m.claims, m.volumes, m.classes, m.csiNodes, m.budgets,
	}, m.spread.informers...)
}
