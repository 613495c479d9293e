package convert_test

import (
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/storage/volume"
	"k8s.io/utils/ptr"

	"github.com/sluice-scheduler/sluice/bridge/internal/convert"
)

func TestVolumesThatExist(t *testing.T) {
	existing := func(name string, terms []corev1.NodeSelectorTerm, changes ...func(*corev1.PersistentVolume)) *corev1.PersistentVolume {
		v := &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"tier": "fast"}},
			Spec: corev1.PersistentVolumeSpec{
				StorageClassName: "late", AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Gi")}},
			Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeAvailable},
		}
		if terms != nil {
			v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: terms}}
		}
		for _, change := range changes {
			change(v)
		}
		return v
	}
	on := func(nodes ...string) []corev1.NodeSelectorTerm {
		return []corev1.NodeSelectorTerm{term(in("host", nodes...))}
	}
	two := []corev1.NodeSelectorTerm{term(in("zone", "a"), in("rack", "1"))}
	lacking := map[string]func(*corev1.PersistentVolume){
		"too small":     func(v *corev1.PersistentVolume) { v.Spec.Capacity[corev1.ResourceStorage] = resource.MustParse("1Gi") },
		"another class": func(v *corev1.PersistentVolume) { v.Spec.StorageClassName = "other" },
		"another mode":  func(v *corev1.PersistentVolume) { v.Spec.VolumeMode = ptr.To(corev1.PersistentVolumeBlock) },
		"other access modes": func(v *corev1.PersistentVolume) {
			v.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany}
		},
		"not selected":     func(v *corev1.PersistentVolume) { v.Labels = nil },
		"being deleted":    func(v *corev1.PersistentVolume) { v.DeletionTimestamp = &metav1.Time{} },
		"released":         func(v *corev1.PersistentVolume) { v.Status.Phase = corev1.VolumeReleased },
		"other attributes": func(v *corev1.PersistentVolume) { v.Spec.VolumeAttributesClassName = ptr.To("gold") },
		"somebody else's": func(v *corev1.PersistentVolume) {
			v.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "shop", Name: "data", UID: "former"}
		},
	}
	mine := func(v *corev1.PersistentVolume) {
		v.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "shop", Name: "data", UID: "claim"}
	}
	csi := func(driver string) func(*corev1.PersistentVolume) {
		return func(v *corev1.PersistentVolume) { v.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driver} }
	}
	type test struct {
		name        string
		provisioner string
		selected    string
		volumes     []*corev1.PersistentVolume
		want        [][]corev1.NodeSelectorTerm
		attached    int64
		waits       bool
	}
	tests := []test{
		{name: "one for each node", volumes: []*corev1.PersistentVolume{existing("b", on("n2")), existing("a", on("n1")), existing("c", on("n1"))},
			want: [][]corev1.NodeSelectorTerm{on("n1", "n2")}},
		{name: "terms of several labels", volumes: []*corev1.PersistentVolume{existing("a", two), existing("b", two), existing("c", on("n1"))},
			want: [][]corev1.NodeSelectorTerm{append(two[:1:1], on("n1")...)}},
		{name: "one that every node reaches", volumes: []*corev1.PersistentVolume{existing("a", on("n1")), existing("b", nil)}},
		{name: "reserved for this claim", volumes: []*corev1.PersistentVolume{existing("a", on("n1")), existing("b", on("n2"), mine)},
			want: [][]corev1.NodeSelectorTerm{on("n2")}},
		{name: "reserved, and nothing is provisioned", provisioner: "limited", volumes: []*corev1.PersistentVolume{existing("b", on("n2"), mine)},
			want: [][]corev1.NodeSelectorTerm{on("n2")}},
		{name: "or provisioned", provisioner: "limited", volumes: []*corev1.PersistentVolume{existing("a", on("n1"))},
			want: [][]corev1.NodeSelectorTerm{{term(in("host", "n1")), term(in("zone", "z"))}}, attached: 1},
		{name: "being provisioned", provisioner: "limited", selected: "n9", volumes: []*corev1.PersistentVolume{existing("a", on("n1"))},
			want: [][]corev1.NodeSelectorTerm{
				{{MatchFields: []corev1.NodeSelectorRequirement{in("metadata.name", "n9")}}}, {term(in("zone", "z"))}}, attached: 1},
		{name: "of a driver with a limit", volumes: []*corev1.PersistentVolume{existing("a", on("n1"), csi("limited")), existing("b", on("n1"), csi("limited"))},
			want: [][]corev1.NodeSelectorTerm{on("n1")}, attached: 1},
		{name: "none", waits: true},
	}
	for name, change := range lacking {
		tests = append(tests, test{name: name, volumes: []*corev1.PersistentVolume{existing("a", on("n1"), change)}, waits: true})
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			provisioner := test.provisioner
			if provisioner == "" {
				provisioner = volume.NotSupportedProvisioner
			}
			class := classOf(storagev1.VolumeBindingWaitForFirstConsumer, provisioner)
			class.AllowedTopologies = []corev1.TopologySelectorTerm{{
				MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: "zone", Values: []string{"z"}}}}}
			claim := waitingClaim("late", nil)
			if test.selected != "" {
				metav1.SetMetaDataAnnotation(&claim.ObjectMeta, volume.AnnSelectedNode, test.selected)
			}
			claim.Namespace, claim.UID = "shop", "claim"
			claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
			claim.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "fast"}}
			claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1500Mi")}
			store := storage{
				claims:  map[string]*corev1.PersistentVolumeClaim{"data": claim},
				classes: map[string]*storagev1.StorageClass{"late": class},
				volumes: make(map[string]*corev1.PersistentVolume),
			}
			for _, v := range test.volumes {
				store.volumes[v.Name] = v
			}
			got, err := convert.Volumes(podWithClaim(), store)
			if test.waits {
				if err == nil || !strings.Contains(err.Error(), `"data" didn't find available persistent volumes to bind`) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got.NodeTerms, test.want) {
				t.Errorf("got  %v\nwant %v", got.NodeTerms, test.want)
			}
			if attached := got.Attachments[convert.AttachPrefix+"limited"]; attached != test.attached {
				t.Errorf("attached: %d", attached)
			}
		})
	}
}

// Of the places only those are left where each claim gets a volume of its own.
func TestClaimsOfOnePodNeedVolumesInOnePlace(t *testing.T) {
	local := func(name, host, size string) *corev1.PersistentVolume {
		v := &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: corev1.PersistentVolumeSpec{
				StorageClassName: "late", AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}},
			Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeAvailable},
		}
		if host != "" {
			v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{term(in("host", host))}}}
		}
		return v
	}
	unbound := func(name, size string) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)},
			Spec: corev1.PersistentVolumeClaimSpec{
				StorageClassName: ptr.To("late"), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}}}}
	}
	for name, test := range map[string]struct {
		volumes []*corev1.PersistentVolume
		want    []string // hosts; nil: not restricted beyond each claim's own
		err     bool
	}{
		"one on each, two on one": {
			volumes: []*corev1.PersistentVolume{local("a", "1", "2Gi"), local("b", "2", "2Gi"), local("c", "2", "1Gi"), local("d", "3", "9Gi")},
			want:    []string{"2"}},
		"both too small for one": {
			volumes: []*corev1.PersistentVolume{local("a", "1", "1Gi"), local("b", "1", "1Gi"), local("c", "2", "2Gi"), local("d", "2", "2Gi")},
			want:    []string{"2"}},
		"nowhere two": {volumes: []*corev1.PersistentVolume{local("a", "1", "2Gi"), local("b", "2", "2Gi")}, err: true},
		"one that every node reaches": {
			volumes: []*corev1.PersistentVolume{local("a", "1", "2Gi"), local("b", "2", "2Gi"), local("c", "", "2Gi")},
			want:    []string{"1", "2"}},
		"two that every node reaches": {volumes: []*corev1.PersistentVolume{local("a", "", "2Gi"), local("b", "", "2Gi"), local("c", "1", "2Gi")}},
	} {
		t.Run(name, func(t *testing.T) {
			s := storage{
				claims:  map[string]*corev1.PersistentVolumeClaim{"data": unbound("data", "2Gi"), "log": unbound("log", "1Gi")},
				volumes: map[string]*corev1.PersistentVolume{},
				classes: map[string]*storagev1.StorageClass{"late": {
					Provisioner: volume.NotSupportedProvisioner, VolumeBindingMode: ptr.To(storagev1.VolumeBindingWaitForFirstConsumer)}},
			}
			for _, v := range test.volumes {
				s.volumes[v.Name] = v
			}
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
			for _, name := range []string{"data", "log"} {
				pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
					PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}})
			}
			demand, err := convert.Volumes(pod, s)
			if (err != nil) != test.err {
				t.Fatalf("error %v", err)
			}
			if test.want == nil {
				return
			}
			last := demand.NodeTerms[len(demand.NodeTerms)-1]
			if want := []corev1.NodeSelectorTerm{term(in("host", test.want...))}; !reflect.DeepEqual(last, want) {
				t.Errorf("got %v, want %v", last, want)
			}
		})
	}
}
