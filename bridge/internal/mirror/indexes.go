package mirror

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-helpers/storage/volume"

	"github.com/sluice-scheduler/sluice/bridge/internal/convert"
)

const (
	byNode   = "node"
	byClaim  = "claim"
	byGroup  = "group"
	byDriver = "driver"
	byClass  = "class"
	byLabel  = "label"
)

func podIndexers() cache.Indexers {
	index := func(keys func(*corev1.Pod) []string) cache.IndexFunc {
		return func(object any) ([]string, error) {
			pod, ok := object.(*corev1.Pod)
			if !ok {
				return nil, nil
			}
			return keys(pod), nil
		}
	}
	return cache.Indexers{
		byNode: index(func(pod *corev1.Pod) []string {
			if pod.Spec.NodeName == "" {
				return nil
			}
			return []string{pod.Spec.NodeName}
		}),
		byClaim: index(claimsOf),
		byGroup: index(func(pod *corev1.Pod) []string {
			if name := convert.PodGroupName(pod); name != "" {
				return []string{pod.Namespace + "/" + name}
			}
			return nil
		}),
	}
}

func claimsOf(pod *corev1.Pod) []string {
	var claims []string
	for i := range pod.Spec.Volumes {
		if name := convert.ClaimName(pod, &pod.Spec.Volumes[i]); name != "" {
			claims = append(claims, pod.Namespace+"/"+name)
		}
	}
	return claims
}

// claimIndexers has the unbound claims of a class.
func claimIndexers() cache.Indexers {
	return cache.Indexers{byClass: func(object any) ([]string, error) {
		claim, ok := object.(*corev1.PersistentVolumeClaim)
		if !ok || claim.Spec.VolumeName != "" {
			return nil, nil
		}
		return []string{volume.GetPersistentVolumeClaimClass(claim)}, nil
	}}
}

func volumeIndexers() cache.Indexers {
	return cache.Indexers{byClass: func(object any) ([]string, error) {
		persistent, ok := object.(*corev1.PersistentVolume)
		if !ok || persistent.Spec.ClaimRef != nil {
			return nil, nil
		}
		return []string{volume.GetPersistentVolumeClass(persistent)}, nil
	}, byClaim: func(object any) ([]string, error) {
		persistent, ok := object.(*corev1.PersistentVolume)
		if !ok || persistent.Spec.ClaimRef == nil {
			return nil, nil
		}
		return []string{persistent.Spec.ClaimRef.Namespace + "/" + persistent.Spec.ClaimRef.Name}, nil
	}}
}

// serviceIndexers index each service by one label of its selector. A lookup for
// a pod then skips most services of the namespace.
func serviceIndexers() cache.Indexers {
	return cache.Indexers{byLabel: func(object any) ([]string, error) {
		service, ok := object.(*corev1.Service)
		if !ok || len(service.Spec.Selector) == 0 {
			return nil, nil
		}
		key := slices.Min(slices.Collect(maps.Keys(service.Spec.Selector)))
		return []string{labelIn(service.Namespace, key, service.Spec.Selector[key])}, nil
	}}
}

func labelIn(namespace, key, value string) string { return namespace + "/" + key + "=" + value }

func csiNodeIndexers() cache.Indexers {
	return cache.Indexers{byDriver: func(object any) ([]string, error) {
		node, ok := object.(*storagev1.CSINode)
		if !ok {
			return nil, nil
		}
		return limitedDrivers(node), nil
	}}
}

func limitedDrivers(node *storagev1.CSINode) []string {
	var drivers []string
	for i := range node.Spec.Drivers {
		driver := &node.Spec.Drivers[i]
		if driver.Allocatable != nil && driver.Allocatable.Count != nil {
			drivers = append(drivers, driver.Name)
		}
	}
	return drivers
}
