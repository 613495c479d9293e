package bind

import (
	"context"
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/component-base/metrics"
	"k8s.io/component-helpers/storage/volume"
	"k8s.io/utils/ptr"
)

func volumeOn(name, node, size string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "1"},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName: "local", Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{
					Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}}}}}},
		},
		Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeAvailable},
	}
}

func givenTo(claim string, v *corev1.PersistentVolume) *corev1.PersistentVolume {
	v.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "shop", Name: claim, UID: types.UID(claim)}
	return v
}

func claimOf(name, class, size string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name), ResourceVersion: "1"},
		Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &class, Resources: corev1.VolumeResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}}},
	}
}

func boundTo(name string, claim *corev1.PersistentVolumeClaim) *corev1.PersistentVolumeClaim {
	claim.Spec.VolumeName = name
	metav1.SetMetaDataAnnotation(&claim.ObjectMeta, volume.AnnBindCompleted, "yes")
	return claim
}

func podOf(uid string, claims ...string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: uid, UID: types.UID(uid)}}
	for _, name := range claims {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}})
	}
	return pod
}

func classOf(name, provisioner string, allowed ...string) *storagev1.StorageClass {
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner,
		VolumeBindingMode: ptr.To(storagev1.VolumeBindingWaitForFirstConsumer)}
	if len(allowed) > 0 {
		class.AllowedTopologies = []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{
			{Key: corev1.LabelHostname, Values: allowed}}}}
	}
	return class
}

// volumesBinder is a binder that does not run, beside a mirror and an API server
// that have the same objects.
func volumesBinder(t *testing.T, class *storagev1.StorageClass, objects ...runtime.Object) (*Binder, *cluster, *fake.Clientset) {
	c := &cluster{
		claims:  make(map[string]*corev1.PersistentVolumeClaim),
		volumes: make(map[string]*corev1.PersistentVolume),
		classes: map[string]*storagev1.StorageClass{class.Name: class},
	}
	for _, object := range objects {
		switch object := object.(type) {
		case *corev1.PersistentVolumeClaim:
			c.claims[object.Name] = object
		case *corev1.PersistentVolume:
			c.volumes[object.Name] = object
		}
	}
	client := fake.NewClientset(objects...)
	b := NewBinder(client, c, newOutcomes(), soon, NewMetrics(metrics.NewKubeRegistry()))
	t.Cleanup(func() {
		b.queue.ShutDown()
		b.failures.ShutDown()
		b.reconsidered.ShutDown()
	})
	return b, c, client
}

func prepare(b *Binder, pod *corev1.Pod, node string) (bool, error) {
	b.assumed.set(string(pod.UID), node)
	return b.prepareVolumes(context.Background(), b.cluster.Node(node), pod, b.assumed.get(string(pod.UID), node))
}

// owners are the claims of the volumes that have one, as the API server has it.
func owners(t *testing.T, client *fake.Clientset) map[string]string {
	t.Helper()
	list, err := client.CoreV1().PersistentVolumes().List(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	result := make(map[string]string)
	for i := range list.Items {
		if claim := list.Items[i].Spec.ClaimRef; claim != nil {
			result[list.Items[i].Name] = claim.Name
		}
	}
	return result
}

func TestVolumesThatClaimsAreGiven(t *testing.T) {
	local := classOf("local", volume.NotSupportedProvisioner)
	deleted := volumeOn("deleted", "n1", "1Gi")
	deleted.DeletionTimestamp, deleted.Finalizers = &metav1.Time{}, []string{"kubernetes.io/pv-protection"}
	for _, test := range []struct {
		name    string
		class   *storagev1.StorageClass
		objects []runtime.Object
		claims  []string
		want    map[string]string
		told    bool
		ready   bool
		err     string
	}{
		{name: "the smallest that the node reaches", class: local, claims: []string{"a"},
			objects: []runtime.Object{claimOf("a", "local", "1Gi"), volumeOn("large", "n1", "3Gi"), volumeOn("fits", "n1", "2Gi"),
				volumeOn("small", "n1", "500Mi"), volumeOn("far", "n2", "1Gi"), deleted},
			want: map[string]string{"fits": "a"}},
		{name: "one for each claim", class: local, claims: []string{"big", "a"},
			objects: []runtime.Object{claimOf("big", "local", "2Gi"), claimOf("a", "local", "1Gi"), volumeOn("v1", "n1", "2Gi"), volumeOn("v2", "n1", "3Gi")},
			want:    map[string]string{"v1": "a", "v2": "big"}},
		{name: "too few for the claims, and none is written", class: local, claims: []string{"a", "b"},
			objects: []runtime.Object{claimOf("a", "local", "1Gi"), claimOf("b", "local", "1Gi"), volumeOn("v1", "n1", "2Gi")},
			want:    map[string]string{}, err: "find available persistent volumes"},
		{name: "taken by another", class: local, claims: []string{"a"},
			objects: []runtime.Object{claimOf("a", "local", "1Gi"), givenTo("b", volumeOn("v1", "n1", "1Gi"))},
			want:    map[string]string{"v1": "b"}, err: "find available persistent volumes"},
		{name: "given by a former life of the bridge", class: local, claims: []string{"a"},
			objects: []runtime.Object{claimOf("a", "local", "1Gi"), givenTo("a", volumeOn("v1", "n1", "3Gi")), volumeOn("v2", "n1", "1Gi")},
			want:    map[string]string{"v1": "a"}},
		{name: "given by a former life for another node", class: classOf("local", "driver.io"), claims: []string{"a"},
			objects: []runtime.Object{claimOf("a", "local", "1Gi"), givenTo("a", volumeOn("v1", "n2", "3Gi")), volumeOn("v2", "n1", "1Gi")},
			want:    map[string]string{"v1": "a"}, err: "find available persistent volumes"},
		{name: "one that exists rather than a new one", class: classOf("local", "driver.io"), claims: []string{"a"},
			objects: []runtime.Object{claimOf("a", "local", "1Gi"), volumeOn("v1", "n1", "1Gi")},
			want:    map[string]string{"v1": "a"}},
		{name: "a new one where none exists", class: classOf("local", "driver.io"), claims: []string{"a"},
			objects: []runtime.Object{claimOf("a", "local", "1Gi"), volumeOn("v1", "n2", "1Gi")},
			want:    map[string]string{}, told: true},
		{name: "no new one where the class does not allow it", class: classOf("local", "driver.io", "n2"), claims: []string{"a"},
			objects: []runtime.Object{claimOf("a", "local", "1Gi")},
			want:    map[string]string{}, err: "does not allow it"},
		{name: "bound meanwhile", class: local, claims: []string{"a"},
			objects: []runtime.Object{boundTo("v1", claimOf("a", "local", "1Gi")), givenTo("a", volumeOn("v1", "n1", "1Gi"))},
			want:    map[string]string{"v1": "a"}, ready: true},
		{name: "bound meanwhile on another node", class: local, claims: []string{"a"},
			objects: []runtime.Object{boundTo("v1", claimOf("a", "local", "1Gi")), givenTo("a", volumeOn("v1", "n2", "1Gi"))},
			want:    map[string]string{"v1": "a"}, err: "does not reach"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b, _, client := volumesBinder(t, test.class, test.objects...)
			ready, err := prepare(b, podOf("web", test.claims...), "n1")
			if (err == nil) != (test.err == "") || (err != nil && !strings.Contains(err.Error(), test.err)) {
				t.Errorf("got %v, want %q", err, test.err)
			}
			if err == nil && ready != test.ready {
				t.Errorf("ready: %v", ready)
			}
			if got := owners(t, client); !maps.Equal(got, test.want) {
				t.Errorf("given: %v, want %v", got, test.want)
			}
			made, err := client.CoreV1().PersistentVolumeClaims("shop").Get(context.Background(), test.claims[0], metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if told := made.Annotations[volume.AnnSelectedNode] == "n1"; told != test.told {
				t.Errorf("told the node: %v", told)
			}
		})
	}
}

func TestAVolumeIsWrittenAsTheControllerExpects(t *testing.T) {
	b, _, client := volumesBinder(t, classOf("local", ""), claimOf("a", "local", "1Gi"), volumeOn("v1", "n1", "1Gi"))
	if _, err := prepare(b, podOf("web", "a"), "n1"); err != nil {
		t.Fatal(err)
	}
	given, err := client.CoreV1().PersistentVolumes().Get(context.Background(), "v1", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !metav1.HasAnnotation(given.ObjectMeta, volume.AnnBoundByController) || given.Spec.ClaimRef.UID != "a" {
		t.Errorf("written: %v, %v", given.Annotations, given.Spec.ClaimRef)
	}
	// The mirror is late: nothing is written again.
	before := len(client.Actions())
	if _, err := prepare(b, podOf("web", "a"), "n1"); err != nil || len(client.Actions()) != before {
		t.Errorf("%v, %v", err, client.Actions()[before:])
	}
}

func TestAVolumeThatAnotherPodGetsIsReserved(t *testing.T) {
	// The mirror does not show what is written.
	b, _, client := volumesBinder(t, classOf("local", ""), claimOf("a", "local", "1Gi"), claimOf("b", "local", "1Gi"),
		volumeOn("v1", "n1", "1Gi"), volumeOn("v2", "n2", "1Gi"))
	if _, err := prepare(b, podOf("first", "a"), "n1"); err != nil {
		t.Fatal(err)
	}
	if _, err := prepare(b, podOf("second", "b"), "n1"); err == nil {
		t.Error("one volume was given to two claims")
	}
	if _, err := prepare(b, podOf("also first", "a"), "n2"); err == nil {
		t.Error("two volumes were given to one claim")
	}
	if _, err := prepare(b, podOf("also first", "a"), "n1"); err != nil {
		t.Errorf("two pods of one claim: %v", err)
	}
	if got := owners(t, client); !maps.Equal(got, map[string]string{"v1": "a"}) {
		t.Errorf("given: %v", got)
	}
}

func TestAVolumeThatIsGoneIsReplaced(t *testing.T) {
	b, c, client := volumesBinder(t, classOf("local", ""), claimOf("a", "local", "1Gi"), volumeOn("v1", "n1", "1Gi"), volumeOn("v2", "n1", "2Gi"))
	if _, err := prepare(b, podOf("web", "a"), "n1"); err != nil {
		t.Fatal(err)
	}
	c.volumes["v1"] = givenTo("b", volumeOn("v1", "n1", "1Gi"))
	if _, err := prepare(b, podOf("web", "a"), "n1"); err != nil {
		t.Fatal(err)
	}
	if got := owners(t, client); got["v2"] != "a" {
		t.Errorf("given: %v", got)
	}
}
