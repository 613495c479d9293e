package convert_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sluice-scheduler/sluice/bridge/internal/convert"
)

func TestPodGroup(t *testing.T) {
	group := func(spec map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"namespace": "shop", "name": "train", "uid": "pg-1"},
			"spec":     spec,
		}}
	}
	got, err := convert.PodGroup(group(map[string]any{"minMember": int64(3)}))
	if err != nil {
		t.Fatal(err)
	}
	if want := (convert.Gang{ID: "pg-1/3", Name: "shop/train", MinMember: 3}); *got != want {
		t.Errorf("got %+v, want %+v", *got, want)
	}
	for _, spec := range []map[string]any{nil, {"minMember": int64(0)}, {"minMember": int64(1 << 25)}, {"minMember": "3"}} {
		if _, err := convert.PodGroup(group(spec)); err == nil {
			t.Errorf("spec %v was understood", spec)
		}
	}
}

func TestPodGroupName(t *testing.T) {
	for _, label := range []string{convert.PodGroupLabel, convert.LegacyPodGroupLabel} {
		pod := podOf(func(p *corev1.Pod) { p.Labels = map[string]string{label: "train"} })
		if got := convert.PodGroupName(pod); got != "train" {
			t.Errorf("%s: %q", label, got)
		}
	}
}
