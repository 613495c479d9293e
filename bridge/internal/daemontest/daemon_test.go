package daemontest

import "testing"

// Two that ask one after the other may both listen only later.
func TestNoAddressIsGivenOutTwice(t *testing.T) {
	given := map[string]bool{}
	for range 1000 {
		address := FreeAddress(t)
		if given[address] {
			t.Fatalf("%s for the second time", address)
		}
		given[address] = true
	}
}
