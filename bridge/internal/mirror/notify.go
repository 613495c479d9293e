package mirror

import (
	"fmt"
	"maps"
	"reflect"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/component-helpers/storage/volume"
	"k8s.io/klog/v2"

	"github.com/sluice-scheduler/sluice/bridge/internal/work"
)

// A volume that comes or goes concerns all pods that wait for one of its class.
// The notifier tells them once of all changes within so long.
const choicesPause = 200 * time.Millisecond

// Listener is told which objects may have changed in meaning. Its methods must
// not block. Several goroutines call them.
type Listener interface {
	NodeChanged(name string)
	PodChanged(key string)
	// PodSettled is told of pods that are bound or gone, even if a successor of
	// the same name exists already.
	PodSettled(uid string)
	// BudgetChanged is told of a PodDisruptionBudget by its namespace and name.
	BudgetChanged(id string)
}

// Follower is a Listener that also learns how far the mirror has told it.
type Follower interface {
	// PodSeen is called after each change of a pod, in the order of the changes,
	// with the pod's resource version.
	PodSeen(key, resourceVersion string)
}

// Tell tells listener of every pod and node. It serves a listener that came
// after Notify had told of them.
func (m *Mirror) Tell(listener Listener) {
	for _, name := range m.MachineNames() {
		listener.NodeChanged(name)
	}
	for _, key := range m.TaskKeys() {
		listener.PodChanged(key)
	}
}

// Notify tells listener of every object and of every change, until stop is
// called.
func (m *Mirror) Notify(logger klog.Logger, listener Listener) (stop func(), err error) {
	n := &notifier{Mirror: m, listener: listener,
		choices: workqueue.NewTypedDelayingQueueWithConfig(
			workqueue.TypedDelayingQueueConfig[string]{Name: "volume_classes"})}
	var running sync.WaitGroup
	running.Go(func() { work.Drain(n.choices, n.volumesChanged) })
	type watched struct {
		informer cache.SharedIndexInformer
		handler  cache.ResourceEventHandler
	}
	var handlers []watched
	for _, informer := range m.spread.informers {
		// These come before the handler of pods, which is told of all existing
		// pods.
		handlers = append(handlers, watched{informer, handlerOfNew(logger, n.selectionChanged)})
	}
	handlers = append(handlers, []watched{
		{m.pods, handlerOf(logger, n.podChanged)},
		{m.nodes, handlerOf(logger, n.nodeChanged)},
		{m.namespaces, handlerOf(logger, n.namespaceChanged)},
		{m.claims, handlerOf(logger, n.claimChanged)},
		{m.volumes, handlerOf(logger, n.volumeChanged)},
		{m.classes, handlerOf(logger, n.classChanged)},
		{m.csiNodes, handlerOf(logger, n.csiNodeChanged)},
		{m.budgets, handlerOf(logger, n.budgetChanged)},
		{m.groups.informer, handlerOf(logger, n.groupChanged)},
	}...)
	var undo []func()
	stop = func() {
		for _, remove := range undo {
			remove()
		}
		n.choices.ShutDown()
		running.Wait()
	}
	for _, h := range handlers {
		registration, err := h.informer.AddEventHandler(h.handler)
		if err != nil {
			stop()
			return nil, fmt.Errorf("watch for changes: %w", err)
		}
		undo = append(undo, func() {
			// This fails only for an informer that has stopped, which has no handlers
			// to remove.
			_ = h.informer.RemoveEventHandler(registration)
		})
	}
	return stop, nil
}

// handlerOf calls changed with the object before and after a change. Before is
// nil for an object that came, and after for one that went.
func handlerOf[T any](logger klog.Logger, changed func(before, after *T)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(after any) {
			if after, ok := as[*T](logger, after); ok {
				changed(nil, after)
			}
		},
		UpdateFunc: func(before, after any) {
			from, isOne := as[*T](logger, before)
			to, isOther := as[*T](logger, after)
			if isOne && isOther {
				changed(from, to)
			}
		},
		DeleteFunc: func(before any) {
			if before, ok := as[*T](logger, before); ok {
				changed(before, nil)
			}
		},
	}
}

// handlerOfNew is handlerOf for objects of several types. It leaves out those
// that exist at the beginning.
func handlerOfNew(logger klog.Logger, changed func(before, after metav1.Object)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(after any, isThereAlready bool) {
			if isThereAlready {
				return
			}
			if after, ok := as[metav1.Object](logger, after); ok {
				changed(nil, after)
			}
		},
		UpdateFunc: func(before, after any) {
			from, isOne := as[metav1.Object](logger, before)
			to, isOther := as[metav1.Object](logger, after)
			if isOne && isOther {
				changed(from, to)
			}
		},
		DeleteFunc: func(before any) {
			if before, ok := as[metav1.Object](logger, before); ok {
				changed(before, nil)
			}
		},
	}
}

// as returns an object of an informer as a T. A tombstone has the last known
// state of an object whose end the informer missed. An object of another type
// is logged, and ok is false.
func as[T any](logger klog.Logger, object any) (typed T, ok bool) {
	if tombstone, isTombstone := object.(cache.DeletedFinalStateUnknown); isTombstone {
		object = tombstone.Obj
		logger = klog.LoggerWithValues(logger, "key", tombstone.Key)
	}
	if typed, ok = object.(T); !ok {
		utilruntime.HandleErrorWithLogger(logger, nil, "Skipped an object of another type",
			"want", reflect.TypeFor[T]().String(), "got", fmt.Sprintf("%T", object))
	}
	return typed, ok
}

type notifier struct {
	*Mirror
	listener Listener
	// Drivers with attach limits. Only csiNodeChanged uses it, in one goroutine.
	limited sets.Set[string]
	// Classes with a volume that has become free, or is free no more.
	choices workqueue.TypedDelayingInterface[string]
}

func (n *notifier) podChanged(before, after *corev1.Pod) {
	if before != nil && (after == nil || after.UID != before.UID) {
		n.listener.PodSettled(string(before.UID))
	}
	if after != nil && (after.Spec.NodeName != "" || isTerminal(after)) {
		n.listener.PodSettled(string(after.UID))
	}
	pod := after
	if pod == nil {
		pod = before
	}
	key := pod.Namespace + "/" + pod.Name
	n.listener.PodChanged(key)
	if follower, ok := n.listener.(Follower); ok && after != nil {
		follower.PodSeen(key, after.ResourceVersion)
	}
	if before != nil && (after == nil || isTerminal(after)) {
		// Another pod may have its claims now.
		for _, claim := range claimsOf(before) {
			n.podsBy(byClaim, claim)
		}
	}
}

func (n *notifier) nodeChanged(before, after *corev1.Node) {
	if after == nil {
		after = before
	}
	n.listener.NodeChanged(after.Name)
}

func (n *notifier) namespaceChanged(before, after *corev1.Namespace) {
	if after == nil || (before != nil && maps.Equal(before.Labels, after.Labels)) {
		return
	}
	n.podsBy(cache.NamespaceIndex, after.Name)
}

func (n *notifier) claimChanged(before, after *corev1.PersistentVolumeClaim) {
	if after == nil {
		after = before
	}
	n.podsBy(byClaim, after.Namespace+"/"+after.Name)
}

func (n *notifier) volumeChanged(before, after *corev1.PersistentVolume) {
	classes := sets.New[string]()
	for _, persistent := range []*corev1.PersistentVolume{before, after} {
		if persistent == nil {
			continue
		}
		if claim := persistent.Spec.ClaimRef; claim != nil {
			n.podsBy(byClaim, claim.Namespace+"/"+claim.Name)
		}
		if persistent.Spec.ClaimRef == nil && persistent.Status.Phase == corev1.VolumeAvailable {
			classes.Insert(volume.GetPersistentVolumeClass(persistent))
		}
	}
	// Any claim of its class may take a volume that is free, or lose one that
	// was.
	for class := range classes {
		n.choices.AddAfter(class, choicesPause)
	}
}

// volumesChanged tells of the pods whose claims may have a volume of a class.
func (n *notifier) volumesChanged(class string) {
	claims, err := n.claims.GetIndexer().IndexKeys(byClass, class)
	if err != nil {
		return
	}
	for _, claim := range claims {
		n.podsBy(byClaim, claim)
	}
}

func (n *notifier) classChanged(*storagev1.StorageClass, *storagev1.StorageClass) {
	n.podsWithClaims()
}

func (n *notifier) csiNodeChanged(before, after *storagev1.CSINode) {
	if after == nil {
		after = before
	}
	n.listener.NodeChanged(after.Name)
	limited := sets.New(n.csiNodes.GetIndexer().ListIndexFuncValues(byDriver)...)
	if limited.Equal(n.limited) {
		return
	}
	n.limited = limited
	// A driver that has become limited somewhere, or nowhere, concerns every node
	// and every pod with volumes.
	for _, name := range n.MachineNames() {
		n.listener.NodeChanged(name)
	}
	n.podsWithClaims()
}

func (n *notifier) budgetChanged(before, after *policyv1.PodDisruptionBudget) {
	if after == nil {
		after = before
	}
	n.listener.BudgetChanged(after.Namespace + "/" + after.Name)
}

func (n *notifier) groupChanged(before, after *unstructured.Unstructured) {
	if after == nil {
		after = before
	}
	n.podsBy(byGroup, after.GetNamespace()+"/"+after.GetName())
}

// selectionChanged tells the listener of waiting pods that spread among other
// pods now. Running pods are not moved for that, and are stated anew with their
// next change.
func (n *notifier) selectionChanged(before, after metav1.Object) {
	was, is := selectorOf(before), selectorOf(after)
	if equality.Semantic.DeepEqual(was, is) {
		return
	}
	object := after
	if object == nil {
		object = before
	}
	for _, each := range []*metav1.LabelSelector{was, is} {
		if each == nil {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(each)
		if err != nil || selector.Empty() {
			continue
		}
		pods, err := n.podLister.Pods(object.GetNamespace()).List(selector)
		if err != nil {
			continue
		}
		for _, pod := range pods {
			if n.Waits(pod) {
				n.listener.PodChanged(pod.Namespace + "/" + pod.Name)
			}
		}
	}
}

func (n *notifier) podsWithClaims() {
	for _, claim := range n.pods.GetIndexer().ListIndexFuncValues(byClaim) {
		n.podsBy(byClaim, claim)
	}
}

func (n *notifier) podsBy(index, value string) {
	keys, err := n.pods.GetIndexer().IndexKeys(index, value)
	if err != nil {
		return
	}
	for _, key := range keys {
		n.listener.PodChanged(key)
	}
}
