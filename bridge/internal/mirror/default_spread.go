package mirror

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	appslisters "k8s.io/client-go/listers/apps/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/sluice-scheduler/sluice/bridge/internal/convert"
)

// defaultSpread has the constraints for pods that state none, and the services
// and controllers whose selectors say among which pods such a pod spreads.
// Without constraints it watches nothing.
type defaultSpread struct {
	constraints []corev1.TopologySpreadConstraint
	informers   []cache.SharedIndexInformer

	services          cache.Indexer
	controllerLister  corelisters.ReplicationControllerLister
	replicaSetLister  appslisters.ReplicaSetLister
	statefulSetLister appslisters.StatefulSetLister
}

func newDefaultSpread(factory informers.SharedInformerFactory, constraints []corev1.TopologySpreadConstraint) (*defaultSpread, error) {
	if len(constraints) == 0 {
		return &defaultSpread{}, nil
	}
	core, apps := factory.Core().V1(), factory.Apps().V1()
	services := core.Services().Informer()
	if err := services.AddIndexers(serviceIndexers()); err != nil {
		return nil, fmt.Errorf("index services: %w", err)
	}
	return &defaultSpread{
		constraints: constraints,
		informers: []cache.SharedIndexInformer{services, core.ReplicationControllers().Informer(),
			apps.ReplicaSets().Informer(), apps.StatefulSets().Informer()},

		services:          services.GetIndexer(),
		controllerLister:  core.ReplicationControllers().Lister(),
		replicaSetLister:  apps.ReplicaSets().Lister(),
		statefulSetLister: apps.StatefulSets().Lister(),
	}, nil
}

// defaultSpreadOf returns the constraints for a pod that has none of its own.
// Pods of other schedulers get none.
func (m *Mirror) defaultSpreadOf(pod *corev1.Pod) []corev1.TopologySpreadConstraint {
	if len(m.spread.constraints) == 0 || len(pod.Spec.TopologySpreadConstraints) > 0 || !m.IsOurs(pod) {
		return nil
	}
	selector := m.spread.selectorFor(pod)
	if selector == nil {
		return nil
	}
	result := slices.Clone(m.spread.constraints)
	for i := range result {
		result[i].LabelSelector = selector
	}
	return result
}

// selectorFor selects the pods among which pod spreads, as kube-scheduler does:
// all that its services and its controller select. An owner of another kind,
// such as a Job, selects nothing.
func (d *defaultSpread) selectorFor(pod *corev1.Pod) *metav1.LabelSelector {
	sets := d.serviceSelectors(pod)
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil {
		return convert.DefaultSelector(sets, nil)
	}
	var selector *metav1.LabelSelector
	switch owner.APIVersion + " " + owner.Kind {
	case "v1 ReplicationController":
		if controller, err := d.controllerLister.ReplicationControllers(pod.Namespace).Get(owner.Name); err == nil {
			sets = append(sets, controller.Spec.Selector)
		}
	case "apps/v1 ReplicaSet":
		if set, err := d.replicaSetLister.ReplicaSets(pod.Namespace).Get(owner.Name); err == nil {
			selector = selectorOf(set)
		}
	case "apps/v1 StatefulSet":
		if set, err := d.statefulSetLister.StatefulSets(pod.Namespace).Get(owner.Name); err == nil {
			selector = selectorOf(set)
		}
	}
	return convert.DefaultSelector(sets, selector)
}

// serviceSelectors are those of the services that select pod.
func (d *defaultSpread) serviceSelectors(pod *corev1.Pod) []map[string]string {
	var result []map[string]string
	for key, value := range pod.Labels {
		objects, err := d.services.ByIndex(byLabel, labelIn(pod.Namespace, key, value))
		if err != nil {
			continue
		}
		for _, object := range objects {
			if service, ok := object.(*corev1.Service); ok && holds(pod.Labels, service.Spec.Selector) {
				result = append(result, service.Spec.Selector)
			}
		}
	}
	return result
}

// holds tells whether labels has all of set.
func holds(labels, set map[string]string) bool {
	for key, want := range set {
		if value, ok := labels[key]; !ok || value != want {
			return false
		}
	}
	return true
}

// selectorOf returns the selector of a service or a controller; nil: it selects
// no pods.
func selectorOf(object metav1.Object) *metav1.LabelSelector {
	var labels map[string]string
	switch object := object.(type) {
	case *corev1.Service:
		labels = object.Spec.Selector
	case *corev1.ReplicationController:
		labels = object.Spec.Selector
	case *appsv1.ReplicaSet:
		return object.Spec.Selector
	case *appsv1.StatefulSet:
		return object.Spec.Selector
	}
	if len(labels) == 0 {
		return nil
	}
	return &metav1.LabelSelector{MatchLabels: labels}
}
