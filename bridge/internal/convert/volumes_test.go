package convert_test

import (
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/volume"
	"k8s.io/utils/ptr"

	"github.com/sluice-scheduler/sluice/bridge/internal/convert"
)

type storage struct {
	claims  map[string]*corev1.PersistentVolumeClaim
	volumes map[string]*corev1.PersistentVolume
	classes map[string]*storagev1.StorageClass
}

func find[T any](objects map[string]*T, kind, name string) (*T, error) {
	if object, ok := objects[name]; ok {
		return object, nil
	}
	return nil, apierrors.NewNotFound(corev1.Resource(kind), name)
}

func (s storage) Claim(_, name string) (*corev1.PersistentVolumeClaim, error) {
	return find(s.claims, "persistentvolumeclaim", name)
}
func (s storage) Volume(name string) (*corev1.PersistentVolume, error) {
	return find(s.volumes, "persistentvolume", name)
}
func (s storage) VolumesFor(claim *corev1.PersistentVolumeClaim) []*corev1.PersistentVolume {
	class := volume.GetPersistentVolumeClaimClass(claim)
	var result []*corev1.PersistentVolume
	for _, persistent := range s.volumes {
		if persistent.Spec.StorageClassName == class {
			result = append(result, persistent)
		}
	}
	return result
}
func (s storage) Class(name string) (*storagev1.StorageClass, error) {
	return find(s.classes, "storageclass", name)
}
func (s storage) HasAttachLimit(driver string) bool { return driver == "limited" }

func boundClaim(volumeName string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data", Annotations: map[string]string{volume.AnnBindCompleted: "yes"}},
		Spec:       corev1.PersistentVolumeClaimSpec{VolumeName: volumeName},
	}
}

func waitingClaim(class string, annotations map[string]string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data", Annotations: annotations},
		Spec:       corev1.PersistentVolumeClaimSpec{StorageClassName: &class},
	}
}

func classOf(mode storagev1.VolumeBindingMode, provisioner string) *storagev1.StorageClass {
	return &storagev1.StorageClass{VolumeBindingMode: &mode, Provisioner: provisioner}
}

func podWithClaim() *corev1.Pod {
	return podOf(func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	})
}

func TestVolumes(t *testing.T) {
	onNode := func(name string) []corev1.NodeSelectorTerm {
		return []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{in("metadata.name", name)}}}
	}
	zone := []corev1.NodeSelectorTerm{term(in("zone", "a"))}
	late := classOf(storagev1.VolumeBindingWaitForFirstConsumer, "limited")
	late.AllowedTopologies = []corev1.TopologySelectorTerm{{
		MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: "zone", Values: []string{"a"}}}}}
	store := storage{
		volumes: map[string]*corev1.PersistentVolume{
			"local": {Spec: corev1.PersistentVolumeSpec{
				NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: zone}},
				PersistentVolumeSource: corev1.PersistentVolumeSource{
					CSI: &corev1.CSIPersistentVolumeSource{Driver: "limited"}}}},
			"zonal": {ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{corev1.LabelTopologyZone: "b__a"}}},
		},
		classes: map[string]*storagev1.StorageClass{
			"late":      late,
			"immediate": classOf(storagev1.VolumeBindingImmediate, "any"),
			"static":    classOf(storagev1.VolumeBindingWaitForFirstConsumer, "kubernetes.io/no-provisioner"),
		},
	}
	limited := map[string]int64{convert.AttachPrefix + "limited": 1}
	for _, test := range []struct {
		name  string
		claim *corev1.PersistentVolumeClaim
		want  convert.VolumeDemand
		err   string
	}{
		{name: "affinity and attach limit of a volume", claim: boundClaim("local"),
			want: convert.VolumeDemand{NodeTerms: [][]corev1.NodeSelectorTerm{zone}, Attachments: limited}},
		{name: "zones by label", claim: boundClaim("zonal"),
			want: convert.VolumeDemand{NodeTerms: [][]corev1.NodeSelectorTerm{{
				term(in(corev1.LabelTopologyZone, "a", "b")),
				term(lacks(corev1.LabelTopologyZone), lacks(corev1.LabelTopologyRegion),
					lacks(corev1.LabelFailureDomainBetaZone), lacks(corev1.LabelFailureDomainBetaRegion)),
			}}}},
		{name: "made for its first consumer", claim: waitingClaim("late", nil),
			want: convert.VolumeDemand{NodeTerms: [][]corev1.NodeSelectorTerm{zone}, Attachments: limited, Unbound: []string{"data"}}},
		{name: "being made on a node", claim: waitingClaim("late", map[string]string{volume.AnnSelectedNode: "n7"}),
			want: convert.VolumeDemand{NodeTerms: [][]corev1.NodeSelectorTerm{onNode("n7"), zone}, Attachments: limited, Unbound: []string{"data"}}},
		{name: "unbound immediate", claim: waitingClaim("immediate", nil), err: "unbound immediate"},
		{name: "no class", claim: waitingClaim("", nil), err: "unbound immediate"},
		{name: "unknown class", claim: waitingClaim("other", nil), err: `"other" not found`},
		{name: "no provisioner", claim: waitingClaim("static", nil), err: `"data" didn't find available persistent volumes`},
		{name: "lost", claim: &corev1.PersistentVolumeClaim{Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimLost}}, err: "non-existent"},
		{name: "volume not known yet", claim: boundClaim("other"), err: `"other" not found`},
		{name: "being bound", claim: &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "local"}}, err: "is being bound"},
		{name: "being deleted", claim: &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{}}}, err: "being deleted"},
		{name: "no claim", err: `"data" not found`},
	} {
		t.Run(test.name, func(t *testing.T) {
			store := store
			if test.claim != nil {
				store.claims = map[string]*corev1.PersistentVolumeClaim{"data": test.claim}
			}
			got, err := convert.Volumes(podWithClaim(), store)
			switch {
			case test.err == "" && err != nil:
				t.Fatal(err)
			case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
				t.Errorf("Volumes: %v, want %q", err, test.err)
			case test.err == "" && !reflect.DeepEqual(got, test.want):
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

func lacks(key string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpDoesNotExist}
}

func TestEphemeralClaimsMustBeThePodsOwn(t *testing.T) {
	pod := podOf(func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}}
	})
	claim := boundClaim("local")
	store := storage{
		claims:  map[string]*corev1.PersistentVolumeClaim{"web-1-data": claim},
		volumes: map[string]*corev1.PersistentVolume{"local": {}},
	}
	if _, err := convert.Volumes(pod, store); err == nil {
		t.Error("took the claim of somebody else")
	}
	claim.OwnerReferences = []metav1.OwnerReference{{UID: pod.UID, Controller: ptr.To(true)}}
	if _, err := convert.Volumes(pod, store); err != nil {
		t.Error(err)
	}
}

func TestDisksNamedByPodsAreRefused(t *testing.T) {
	pod := podOf(func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "disk", VolumeSource: corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{}}}}
	})
	if _, err := convert.Volumes(pod, storage{}); err == nil {
		t.Error("a disk that only one pod of a node can use was taken")
	}
}
