package app

import (
	"strings"
	"testing"
)

func TestTheVersionIsTheBridgesOwn(t *testing.T) {
	for linked, want := range map[string]string{"v1.2.3": "v1.2.3", "": buildVersion()} {
		version = linked
		t.Cleanup(func() { version = "" })
		var output strings.Builder
		command := NewCommand()
		command.SetArgs([]string{"--version"})
		command.SetOut(&output)
		if err := command.Execute(); err != nil {
			t.Fatal(err)
		}
		if got := output.String(); want == "" || got != "sluice-bridge version "+want+"\n" {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
