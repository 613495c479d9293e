package convert_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-scheduler/sluice/bridge/internal/convert"
)

func TestWhatSelectsAPodIsJoined(t *testing.T) {
	labels := func(pairs ...string) map[string]string {
		result := map[string]string{}
		for i := 0; i+1 < len(pairs); i += 2 {
			result[pairs[i]] = pairs[i+1]
		}
		return result
	}
	in := func(key string, values ...string) metav1.LabelSelectorRequirement {
		return metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpIn, Values: values}
	}
	for _, test := range []struct {
		name  string
		sets  []map[string]string
		owner *metav1.LabelSelector
		want  *metav1.LabelSelector
	}{
		{"nothing selects it", nil, nil, nil},
		{"selectors without conditions", []map[string]string{{}}, &metav1.LabelSelector{}, nil},
		{"a service", []map[string]string{labels("app", "web")}, nil,
			&metav1.LabelSelector{MatchLabels: labels("app", "web")}},
		{"services", []map[string]string{labels("app", "web"), labels("tier", "front", "app", "web")}, nil,
			&metav1.LabelSelector{MatchLabels: labels("app", "web", "tier", "front")}},
		{"the later set wins", []map[string]string{labels("app", "web"), labels("app", "other")}, nil,
			&metav1.LabelSelector{MatchLabels: labels("app", "other")}},
		{"an owner", nil, &metav1.LabelSelector{MatchLabels: labels("app", "web", "hash", "1")},
			&metav1.LabelSelector{MatchLabels: labels("app", "web", "hash", "1")}},
		{"a service and an owner", []map[string]string{labels("app", "web")},
			&metav1.LabelSelector{MatchLabels: labels("app", "web", "hash", "1"),
				MatchExpressions: []metav1.LabelSelectorRequirement{in("tier", "a", "b")}},
			&metav1.LabelSelector{MatchLabels: labels("app", "web", "hash", "1"),
				MatchExpressions: []metav1.LabelSelectorRequirement{in("tier", "a", "b")}}},
		{"an owner that disagrees with a service", []map[string]string{labels("app", "web")},
			&metav1.LabelSelector{MatchLabels: labels("app", "other")},
			&metav1.LabelSelector{MatchLabels: labels("app", "web"),
				MatchExpressions: []metav1.LabelSelectorRequirement{in("app", "other")}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := convert.DefaultSelector(test.sets, test.owner); !equality.Semantic.DeepEqual(got, test.want) {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}

func TestDefaultConstraintsAreForPodsWithoutAny(t *testing.T) {
	around := convert.Surroundings{DefaultSpread: []corev1.TopologySpreadConstraint{{
		MaxSkew: 3, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}}
	got := task(t, podOf(func(*corev1.Pod) {}), around).TopologySpreadConstraints
	if len(got) != 1 {
		t.Fatalf("%v", got)
	}
	expect(t, got[0], `topologyKey: "kubernetes.io/hostname" maxSkew: 3 whenUnsatisfiable: "ScheduleAnyway"
		labelSelector {match_labels_map {key: "app" value: "web"}}`)

	got = task(t, podOf(func(p *corev1.Pod) {
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{
			{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule}}
	}), around).TopologySpreadConstraints
	if len(got) != 1 {
		t.Fatalf("%v", got)
	}
	expect(t, got[0], `topologyKey: "zone" maxSkew: 1 whenUnsatisfiable: "DoNotSchedule"`)
}
