package app

import (
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// documentedDefaults returns the defaults in the tables of docs/kubernetes.md, by
// flag, between the heading and the other one.
func documentedDefaults(t *testing.T, heading, end string) map[string]string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n"+heading+"\n")
	section, _, _ = strings.Cut(section, "\n"+end+"\n")
	defaults := make(map[string]string)
	for _, match := range regexp.MustCompile("(?m)^\\| `--([a-z-]+)` \\| (?:empty|`([^`]+)`) \\| ").FindAllStringSubmatch(section, -1) {
		defaults[match[1]] = match[2]
	}
	return defaults
}

func TestFlagsAreDocumentedWithTheirDefaults(t *testing.T) {
	t.Setenv("POD_NAME", "$POD_NAME")
	t.Setenv("POD_NAMESPACE", "$POD_NAMESPACE")
	bridge := NewCommand()
	certificates, _, err := bridge.Find([]string{"certificates"})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []struct {
		heading, end string
		flags        *pflag.FlagSet
	}{
		{"## Flags of the bridge", "### Making certificates", bridge.Flags()},
		{"### Making certificates", "## Metrics", certificates.Flags()},
	} {
		want := make(map[string]string)
		page.flags.VisitAll(func(flag *pflag.Flag) {
			// These need a feature that is off.
			if !strings.HasPrefix(flag.Name, "log-json-") && !strings.HasPrefix(flag.Name, "log-text-") {
				want[flag.Name] = strings.Trim(flag.DefValue, "[]")
			}
		})
		if got := documentedDefaults(t, page.heading, page.end); !maps.Equal(got, want) {
			t.Errorf("%s: documented %v, want %v", page.heading, got, want)
		}
	}
}
