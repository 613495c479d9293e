package e2e

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/volume"
	"k8s.io/utils/ptr"

	"github.com/sluice-scheduler/sluice/bridge/internal/kubetest"
)

func claiming(names ...string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		for _, name := range names {
			p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}})
		}
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

// localVolume is one that exists, and that only one node reaches.
func localVolume(c *kubetest.Cluster, name, class, node string) {
	c.T.Helper()
	_, err := c.Client.CoreV1().PersistentVolumes().Create(context.Background(), &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: c.Namespace + "-" + name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: kubetest.Amounts("storage", "2Gi"), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName: class,
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				Local: &corev1.LocalVolumeSource{Path: "/mnt/" + name}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{requirement(corev1.LabelHostname, corev1.NodeSelectorOpIn, node)}}}}},
		},
	}, metav1.CreateOptions{})
	must(c, err)
}

func volumeOf(c *kubetest.Cluster, claim string) string {
	c.T.Helper()
	made, err := c.Client.CoreV1().PersistentVolumeClaims(c.Namespace).Get(context.Background(), claim, metav1.GetOptions{})
	must(c, err)
	return strings.TrimPrefix(made.Spec.VolumeName, c.Namespace+"-")
}

// bindClaim does what a provisioner does; the controller of volumes binds.
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
	{"a volume on each node, and a pod for each volume", func(c *kubetest.Cluster) {
		class := storageClass(c, "kubernetes.io/no-provisioner")
		var nodes []string
		for _, number := range []string{"1", "2", "3"} {
			c.Node("n" + number)
			localVolume(c, "disk-"+number, class, "n"+number)
			nodes = append(nodes, "n"+number)
		}
		for _, number := range []string{"1", "2", "3"} {
			claim(c, "data-"+number, class, corev1.ReadWriteOnce)
			c.Pod("web-"+number, claiming("data-"+number))
		}
		used := make(map[string]bool)
		for _, number := range []string{"1", "2", "3"} {
			c.IsOn("web-"+number, nodes...)
			node := c.NodeOf("web-" + number)
			used[node] = true
			if got, want := volumeOf(c, "data-"+number), "disk-"+strings.TrimPrefix(node, "n"); got != want {
				c.T.Errorf("web-%s is on %s with %s", number, node, got)
			}
		}
		if len(used) != 3 {
			c.T.Errorf("nodes in use: %v", used)
		}
	}},
	{"a volume that exists, of a class with a provisioner", func(c *kubetest.Cluster) {
		c.Node("n1")
		class := storageClass(c, "driver.io")
		localVolume(c, "disk", class, "n1")
		claim(c, "data", class, corev1.ReadWriteOnce)
		c.Pod("web", claiming("data"))
		c.IsOn("web", "n1")
		if got := volumeOf(c, "data"); got != "disk" {
			c.T.Errorf("the claim has %q", got)
		}
	}},
	{"a claim that nothing matches", func(c *kubetest.Cluster) {
		c.Node("n1")
		c.Node("n2")
		class := storageClass(c, "kubernetes.io/no-provisioner")
		claim(c, "data", class, corev1.ReadWriteOnce)
		c.Pod("web", claiming("data"))
		c.Waits("web", `persistentvolumeclaim "data" didn't find available persistent volumes to bind`)
		localVolume(c, "disk", class, "n2")
		c.IsOn("web", "n2")
	}},
	{"two pods and one volume", func(c *kubetest.Cluster) {
		c.Node("n1")
		c.Node("n2")
		class := storageClass(c, "kubernetes.io/no-provisioner")
		localVolume(c, "disk-1", class, "n1")
		names := []string{"a", "b"}
		for _, name := range names {
			claim(c, name, class, corev1.ReadWriteOnce)
			c.Pod(name, claiming(name))
		}
		boundTo := func(name string) string { return c.GetPod(name).Spec.NodeName }
		c.Eventually("one of them is bound", func() bool { return boundTo("a")+boundTo("b") == "n1" })
		loser := names[0]
		if boundTo(loser) != "" {
			loser = names[1]
		}
		c.Waits(loser, "didn't find available persistent volumes to bind")
		localVolume(c, "disk-2", class, "n2")
		c.IsOn(loser, "n2")
	}},
	{"two claims of one pod, and a node with one volume", func(c *kubetest.Cluster) {
		class := storageClass(c, "kubernetes.io/no-provisioner")
		c.Node("n1")
		c.Node("n2")
		localVolume(c, "disk-1", class, "n1")
		localVolume(c, "disk-2", class, "n2")
		localVolume(c, "disk-3", class, "n2")
		claim(c, "data", class, corev1.ReadWriteOnce)
		claim(c, "log", class, corev1.ReadWriteOnce)
		c.Pod("web", claiming("data", "log"))
		c.IsOn("web", "n2")
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
