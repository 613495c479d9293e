package bind

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestAPodKeepsAwayFromANodeForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRejections()
		r.add("a", "n2")
		time.Sleep(rejectionTime / 2)
		r.add("a", "n1")
		r.add("b", "n3")
		if got := r.nodes("a"); !slices.Equal(got, []string{"n1", "n2"}) {
			t.Errorf("both: %v", got)
		}
		time.Sleep(rejectionTime / 2)
		if got := r.nodes("a"); !slices.Equal(got, []string{"n1"}) {
			t.Errorf("one is over: %v", got)
		}
		r.forget("a")
		if got := r.nodes("a"); len(got) > 0 {
			t.Errorf("forgotten: %v", got)
		}
		if got := r.nodes("b"); !slices.Equal(got, []string{"n3"}) {
			t.Errorf("another pod's: %v", got)
		}
	})
}
