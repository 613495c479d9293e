package app

import (
	"strings"
	"testing"
)

func TestTheDefaultsAreValid(t *testing.T) {
	if err := NewOptions().Validate(); err != nil {
		t.Error(err)
	}
}

func TestFlagsThatMakeNoSenseAreNamed(t *testing.T) {
	for _, flag := range []string{
		"--daemon-address=", "--feed=", "--feed=" + strings.Repeat("x", 254), "--scheduler-name=",
		"--default-spread=", "--default-spread=all", "--default-spread=zone=0", "--default-spread=zone=1,",
		"--bind-qps=0", "--bind-burst=0", "--bind-workers=0", "--kube-api-qps=-1", "--kube-api-burst=0",
		"--leader-elect-resource-lock=endpoints", "--leader-elect-lease-duration=1s",
		"--leader-elect-renew-deadline=1s", "--leader-elect-retry-period=0s",
	} {
		t.Run(flag, func(t *testing.T) {
			options := NewOptions()
			for _, set := range options.Flags().FlagSets {
				name := strings.TrimPrefix(strings.SplitN(flag, "=", 2)[0], "--")
				if set.Lookup(name) == nil {
					continue
				}
				if err := set.Parse([]string{flag}); err != nil {
					t.Fatal(err)
				}
			}
			if err := options.Validate(); err == nil {
				t.Error("was taken")
			}
		})
	}
}

func TestOneThatIsAloneStandsByForNobody(t *testing.T) {
	options := NewOptions()
	options.Standby, options.LeaderElection.LeaderElect = true, false
	if err := options.Validate(); err == nil || !strings.Contains(err.Error(), "--standby needs --leader-elect") {
		t.Error(err)
	}
}
