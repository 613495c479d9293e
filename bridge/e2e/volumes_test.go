package e2e

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/volume"
	"k8s.io/utils/ptr"

	"github.com/sluice-scheduler/sluice/bridge/internal/kubetest"
)

func claiming(name string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}}}
	}
}

func claim(c *kubetest.Cluster, name, class string, mode corev1.PersistentVolumeAccessMode) {
	c.T.Helper()
	_, err := c.Client.CoreV1().PersistentVolumeClaims(c.Namespace).Create(context.Background(), &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{mode}, StorageClassName: &class,
			Resources: corev1.VolumeResourceRequirements{Requests: kubetest.Amounts("storage", "1Gi")},
		},
	}, metav1.CreateOptions{})
	must(c, err)
}

// bindClaim does what a provisioner and the volume controller do.
func bindClaim(c *kubetest.Cluster, name, node, driver string) {
	c.T.Helper()
	ctx := context.Background()
	claims := c.Client.CoreV1().PersistentVolumeClaims(c.Namespace)
	made, err := claims.Get(ctx, name, metav1.GetOptions{})
	must(c, err)
	volumeName := c.Namespace + "-" + name
	_, err = c.Client.CoreV1().PersistentVolumes().Create(ctx, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: volumeName},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: kubetest.Amounts("storage", "1Gi"), AccessModes: made.Spec.AccessModes,
			StorageClassName: *made.Spec.StorageClassName,
			ClaimRef:         &corev1.ObjectReference{Namespace: c.Namespace, Name: name, UID: made.UID},
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: volumeName}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{requirement(corev1.LabelHostname, corev1.NodeSelectorOpIn, node)}}}}},
		},
	}, metav1.CreateOptions{})
	must(c, err)
	made.Spec.VolumeName = volumeName
	metav1.SetMetaDataAnnotation(&made.ObjectMeta, volume.AnnBindCompleted, "yes")
	_, err = claims.Update(ctx, made, metav1.UpdateOptions{})
	must(c, err)
}

func storageClass(c *kubetest.Cluster, provisioner string) string {
	c.T.Helper()
	_, err := c.Client.StorageV1().StorageClasses().Create(context.Background(), &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: c.Namespace}, Provisioner: provisioner,
		VolumeBindingMode: ptr.To(storagev1.VolumeBindingWaitForFirstConsumer),
	}, metav1.CreateOptions{})
	must(c, err)
	return c.Namespace
}

var volumes = []testCase{
	{"a volume that is on a node", func(c *kubetest.Cluster) {
		c.Node("n1")
		c.Node("n2")
		c.Pod("web", claiming("data"))
		c.Waits("web", `"data" not found`)
		claim(c, "data", "immediate", corev1.ReadWriteOnce)
		c.Waits("web", `"data"`)
		bindClaim(c, "data", "n2", "driver.io")
		c.IsOn("web", "n2")
	}},
	{"a volume made where its pod goes", func(c *kubetest.Cluster) {
		c.Node("n1")
		claim(c, "data", storageClass(c, "driver.io"), corev1.ReadWriteOnce)
		c.Pod("web", claiming("data"))
		var node string
		c.Eventually("the claim is told a node", func() bool {
			made, err := c.Client.CoreV1().PersistentVolumeClaims(c.Namespace).Get(context.Background(), "data", metav1.GetOptions{})
			must(c, err)
			node = made.Annotations[volume.AnnSelectedNode]
			return node != ""
		})
		if c.GetPod("web").Spec.NodeName != "" {
			c.T.Error("bound before its volume")
		}
		bindClaim(c, "data", node, "driver.io")
		c.IsOn("web", node)
	}},
	{"a class without provisioner", func(c *kubetest.Cluster) {
		c.Node("n1")
		claim(c, "data", storageClass(c, "kubernetes.io/no-provisioner"), corev1.ReadWriteOnce)
		c.Pod("web", claiming("data"))
		c.Waits("web", "has no provisioner")
	}},
	{"a claim for one pod at a time", func(c *kubetest.Cluster) {
		c.Node("n1")
		claim(c, "data", "immediate", corev1.ReadWriteOncePod)
		bindClaim(c, "data", "n1", "driver.io")
		c.Pod("first", claiming("data"))
		c.IsOn("first", "n1")
		c.Pod("second", claiming("data"))
		c.Waits("second", "ReadWriteOncePod")
		c.DeletePod("first")
		c.IsOn("second", "n1")
	}},
	{"attach limits", func(c *kubetest.Cluster) {
		c.Node("n1")
		_, err := c.Client.StorageV1().CSINodes().Create(context.Background(), &storagev1.CSINode{
			ObjectMeta: metav1.ObjectMeta{Name: "n1"},
			Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{
				Name: "limited.io", NodeID: "n1", Allocatable: &storagev1.VolumeNodeResources{Count: ptr.To[int32](1)}}}},
		}, metav1.CreateOptions{})
		must(c, err)
		for _, name := range []string{"a", "b"} {
			claim(c, name, "immediate", corev1.ReadWriteOnce)
			bindClaim(c, name, "n1", "limited.io")
		}
		c.Pod("first", claiming("a"))
		c.IsOn("first", "n1")
		c.Pod("second", claiming("b"))
		c.Waits("second", "attachable-volumes-csi-limited.io")
		c.DeletePod("first")
		c.IsOn("second", "n1")
	}},
}
