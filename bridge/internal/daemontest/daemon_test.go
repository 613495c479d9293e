package daemontest

import (
	"net"
	"strconv"
	"testing"
)

// Two that ask one after the other may both listen only later.
func TestNoAddressIsGivenOutTwice(t *testing.T) {
	given := map[string]bool{}
	for range 100 {
		address := FreeAddress(t)
		if given[address] {
			t.Fatalf("%s for the second time", address)
		}
		given[address] = true
	}
}

// By another process either, and those of free_port.cc.
func TestAnAddressIsClaimedFromOtherProcesses(t *testing.T) {
	_, port, err := net.SplitHostPort(FreeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	if claim(t, number) {
		t.Errorf("port %d can be claimed again", number)
	}
}
