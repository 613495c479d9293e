package app

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

func TestDefaultSpread(t *testing.T) {
	softly := func(key string, skew int32) corev1.TopologySpreadConstraint {
		return corev1.TopologySpreadConstraint{TopologyKey: key, MaxSkew: skew, WhenUnsatisfiable: corev1.ScheduleAnyway}
	}
	for _, test := range []struct {
		text, err string
		want      []corev1.TopologySpreadConstraint
	}{
		{text: "none"},
		{text: "system", want: []corev1.TopologySpreadConstraint{
			softly("kubernetes.io/hostname", 3), softly("topology.kubernetes.io/zone", 5)}},
		{text: "rack=1", want: []corev1.TopologySpreadConstraint{softly("rack", 1)}},
		{text: "rack=1,example.com/row=2147483647", want: []corev1.TopologySpreadConstraint{
			softly("rack", 1), softly("example.com/row", 2147483647)}},
		{text: "", err: `"" is no KEY=SKEW`},
		{text: "all", err: `"all" is no KEY=SKEW`},
		{text: "system,rack=1", err: `"system" is no KEY=SKEW`},
		{text: "rack=1,", err: `"" is no KEY=SKEW`},
		{text: "=1", err: `"" is no key of a label`},
		{text: "a/b/c=1", err: `"a/b/c" is no key of a label`},
		{text: " rack=1", err: `" rack" is no key of a label`},
		{text: "rack=0", err: `"rack=0": "0" is no skew`},
		{text: "rack=-1", err: `"rack=-1": "-1" is no skew`},
		{text: "rack=many", err: `"rack=many": "many" is no skew`},
		{text: "rack=2147483648", err: `"2147483648" is no skew`},
		{text: "rack=1,rack=2", err: `"rack" is there twice`},
	} {
		t.Run(test.text, func(t *testing.T) {
			got, err := parseSpread(test.text)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("%v, want: %s", err, test.err)
				}
				return
			}
			if err != nil || !slices.EqualFunc(got, test.want, func(a, b corev1.TopologySpreadConstraint) bool {
				return equality.Semantic.DeepEqual(a, b)
			}) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

func TestABadDefaultSpreadIsNamed(t *testing.T) {
	options := NewOptions()
	options.DefaultSpread = "zone=few"
	if err := options.Validate(); err == nil || !strings.Contains(err.Error(), `--default-spread: "zone=few"`) {
		t.Errorf("%v", err)
	}
}
