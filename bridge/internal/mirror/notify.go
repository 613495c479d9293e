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

// All pods that wait for a volume of a class are told of each that comes or goes,
// so those that change within so long are told of together.
const choicesPause = 200 * time.Millisecond

// Listener is told which objects may mean something else than before. Its
// methods must not block, and are called from several goroutines.
type Listener interface {
	NodeChanged(name string)
	PodChanged(key string)
	// PodSettled is told of pods that are bound or gone, also of those whose
	// successor of the same name is there already.
	PodSettled(uid string)
	// BudgetChanged is told of a PodDisruptionBudget by its namespace and name.
	BudgetChanged(id string)
}

// Follower is a Listener that is also told how far it was told.
type Follower interface {
	// PodSeen is called in the order of the changes, after a pod's change was told
	// of, with the resource version of the pod.
	PodSeen(key, resourceVersion string)
}

// Tell tells listener of every pod and node there is, for one that was not there
// when Notify did.
func (m *Mirror) Tell(listener Listener) {
	for _, name := range m.MachineNames() {
		listener.NodeChanged(name)
	}
	for _, key := range m.TaskKeys() {
		listener.PodChanged(key)
	}
}

// Notify tells listener of every object there is and of every change, until the
// function that it returns is called.
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
		// Before the pods', which are told of what is there already.
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
			// It fails only where the informer has stopped, and then nothing is left
			// to be removed.
			_ = h.informer.RemoveEventHandler(registration)
		})
	}
	return stop, nil
}

// handlerOf calls changed with the object before and after, of which one is nil
// where it came or went.
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

// handlerOfNew is handlerOf for objects of several types, of which those that are
// there at the beginning are not told.
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

// as is what an informer tells of, which may be a tombstone: the last that was
// known of an object whose end was missed. What is no T is logged.
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
	// Drivers with attach limits; csiNodeChanged, which is called by one
	// goroutine, owns it.
	limited sets.Set[string]
	// Classes of which a volume has become free, or is free no more.
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
		// Its claims may be another's now.
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
	// A volume that is free, or was, is one that any claim of its class may have.
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
	// Whether a driver is limited anywhere concerns every node, and every pod
	// with volumes.
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

// selectionChanged tells the pods that wait among which others they are to be
// spread. Those that run are not moved for that; what is said of them changes
// with their next change.
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
