package convert_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/sluice-scheduler/sluice/bridge/internal/convert"
)

func in(key string, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
}

func term(requirements ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchExpressions: requirements}
}

func TestRequiredNodeAffinity(t *testing.T) {
	field := corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{in("metadata.name", "n1")}}
	for _, test := range []struct {
		name    string
		terms   []corev1.NodeSelectorTerm
		volumes [][]corev1.NodeSelectorTerm
		want    string
	}{
		{"rule 1: terms are alternatives", []corev1.NodeSelectorTerm{term(in("a", "1"), in("b", "2")), field}, nil,
			`nodeSelectorTerms {matchExpressions {key: "a" operator: "In" values: "1"} matchExpressions {key: "b" operator: "In" values: "2"}}
			 nodeSelectorTerms {matchFields {key: "metadata.name" operator: "In" values: "n1"}}`},
		{"rule 2: an empty term matches nothing", []corev1.NodeSelectorTerm{{}}, nil, `nodeSelectorTerms {}`},
		{"rule 2: no term matches nothing", []corev1.NodeSelectorTerm{}, nil, `nodeSelectorTerms {}`},
		{"volumes must hold too", []corev1.NodeSelectorTerm{term(in("a", "1")), field},
			[][]corev1.NodeSelectorTerm{{term(in("zone", "x")), term(in("zone", "y"))}},
			`nodeSelectorTerms {matchExpressions {key: "a" operator: "In" values: "1"} matchExpressions {key: "zone" operator: "In" values: "x"}}
			 nodeSelectorTerms {matchExpressions {key: "a" operator: "In" values: "1"} matchExpressions {key: "zone" operator: "In" values: "y"}}
			 nodeSelectorTerms {matchExpressions {key: "zone" operator: "In" values: "x"} matchFields {key: "metadata.name" operator: "In" values: "n1"}}
			 nodeSelectorTerms {matchExpressions {key: "zone" operator: "In" values: "y"} matchFields {key: "metadata.name" operator: "In" values: "n1"}}`},
		{"an empty term beside a volume still matches nothing", []corev1.NodeSelectorTerm{{}},
			[][]corev1.NodeSelectorTerm{{term(in("zone", "x"))}}, `nodeSelectorTerms {}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			pod := podOf(func(p *corev1.Pod) {
				p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
					RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: test.terms}}}
			})
			got := task(t, pod, convert.Surroundings{Volumes: convert.VolumeDemand{NodeTerms: test.volumes}})
			expect(t, got.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution, test.want)
		})
	}
}

func TestTooManyCombinationsAreRefused(t *testing.T) {
	var many []corev1.NodeSelectorTerm
	for range 20 {
		many = append(many, term(in("a", "1")))
	}
	others := append(slices.Clone(many[1:]), term(in("b", "1")))
	refused := func(lists ...[]corev1.NodeSelectorTerm) bool {
		_, problems := convert.Pod(podOf(func(*corev1.Pod) {}), convert.Surroundings{Volumes: convert.VolumeDemand{NodeTerms: lists}})
		return len(problems) == 1 && problems[0].Field == "spec.volumes"
	}
	if !refused(many, others) {
		t.Error("400 combinations were taken")
	}
	if refused(many, many) {
		t.Error("what is said twice was multiplied")
	}
}

func TestPodAffinityTerms(t *testing.T) {
	labels := &metav1.LabelSelector{
		MatchLabels:      map[string]string{"app": "web"},
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpExists}},
	}
	for _, test := range []struct {
		name string
		term corev1.PodAffinityTerm
		want string
	}{
		{"matchLabels and expressions", corev1.PodAffinityTerm{LabelSelector: labels, TopologyKey: "zone"},
			`labelSelector {match_labels_map {key: "app" value: "web"} matchExpressions {key: "tier" operator: "Exists"}} topologyKey: "zone"`},
		{"rule 28: a nil selector means no pod", corev1.PodAffinityTerm{TopologyKey: "zone"}, `topologyKey: "zone"`},
		{"rule 28: an empty one every pod", corev1.PodAffinityTerm{LabelSelector: &metav1.LabelSelector{}, TopologyKey: "zone"},
			`labelSelector {} topologyKey: "zone"`},
		{"rule 27: namespaces and their selector", corev1.PodAffinityTerm{
			LabelSelector: &metav1.LabelSelector{}, Namespaces: []string{"b", "a"},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "x"}}, TopologyKey: "zone"},
			`labelSelector {} namespaces: "b" namespaces: "a" namespaceSelector {match_labels_map {key: "team" value: "x"}} topologyKey: "zone"`},
		{"rule 27: an empty namespace selector means all", corev1.PodAffinityTerm{
			LabelSelector: &metav1.LabelSelector{}, NamespaceSelector: &metav1.LabelSelector{}, TopologyKey: "zone"},
			`labelSelector {} namespaceSelector {} topologyKey: "zone"`},
		{"rule 29: keys are merged by the API server", corev1.PodAffinityTerm{
			LabelSelector: labels, MatchLabelKeys: []string{"hash"}, MismatchLabelKeys: []string{"other"}, TopologyKey: "zone"},
			`labelSelector {match_labels_map {key: "app" value: "web"} matchExpressions {key: "tier" operator: "Exists"}} topologyKey: "zone"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			terms := []corev1.PodAffinityTerm{test.term}
			weighted := []corev1.WeightedPodAffinityTerm{{Weight: 7, PodAffinityTerm: test.term}}
			pod := podOf(func(p *corev1.Pod) {
				p.Spec.Affinity = &corev1.Affinity{
					PodAffinity: &corev1.PodAffinity{
						RequiredDuringSchedulingIgnoredDuringExecution:  terms,
						PreferredDuringSchedulingIgnoredDuringExecution: weighted},
					PodAntiAffinity: &corev1.PodAntiAffinity{
						RequiredDuringSchedulingIgnoredDuringExecution:  terms,
						PreferredDuringSchedulingIgnoredDuringExecution: weighted},
				}
			})
			got := task(t, pod, convert.Surroundings{}).Affinity
			near := got.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
			expect(t, near[0], test.want)
			away := got.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
			expect(t, away[0], test.want)
			expect(t, got.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0],
				`weight: 7 podAffinityTerm {`+test.want+`}`)
			expect(t, got.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0],
				`weight: 7 podAffinityTerm {`+test.want+`}`)
		})
	}
}

func TestTopologySpread(t *testing.T) {
	honor := corev1.NodeInclusionPolicyHonor
	pod := podOf(func(p *corev1.Pod) {
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 2, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: "merged", Operator: metav1.LabelSelectorOpIn, Values: []string{"1"}}}},
			MinDomains: ptr.To[int32](3), NodeTaintsPolicy: &honor,
			MatchLabelKeys: []string{"merged", "hash"},
		}, {
			MaxSkew: 1, TopologyKey: "host", WhenUnsatisfiable: corev1.ScheduleAnyway,
		}, {
			// Rule 35, as kube-scheduler has it: an empty selector counts nothing either.
			MaxSkew: 1, TopologyKey: "host", WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{},
		}}
	})
	got := task(t, pod, convert.Surroundings{}).TopologySpreadConstraints
	expect(t, got[0], `topologyKey: "zone" maxSkew: 2 whenUnsatisfiable: "DoNotSchedule"
		labelSelector {matchExpressions {key: "merged" operator: "In" values: "1"}}
		minDomains: 3 nodeTaintsPolicy: "Honor" matchLabelKeys: "hash"`)
	expect(t, got[1], `topologyKey: "host" maxSkew: 1 whenUnsatisfiable: "ScheduleAnyway"`)
	expect(t, got[2], `topologyKey: "host" maxSkew: 1 whenUnsatisfiable: "DoNotSchedule"`)
}
