package report

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWaiting(t *testing.T) {
	w := newWaiting()
	since := w.begin("shop/web", "uid-1")
	if again := w.begin("shop/web", "uid-1"); again != since {
		t.Error("waits since another time")
	}
	if !w.tell("uid-1", "full") || w.tell("uid-1", "full") || !w.tell("uid-1", "taints") {
		t.Error("news are what differs from what was told last")
	}
	if w.tell("uid-2", "full") {
		t.Error("told of a pod that does not wait")
	}
	w.attempted("uid-1")
	if _, ordinal := w.attempt("uid-1"); ordinal != "2" {
		t.Errorf("attempt %s", ordinal)
	}
	for range 20 {
		w.attempted("uid-1")
	}
	if _, ordinal := w.attempt("uid-1"); ordinal != "16+" {
		t.Errorf("attempt %s", ordinal)
	}
	w.begin("shop/other", "uid-3")
	if active, unschedulable := w.counts(); active != 1 || unschedulable != 1 {
		t.Errorf("%d active, %d unschedulable", active, unschedulable)
	}
	w.retain(func(key, _ string) bool { return key == "shop/other" })
	if active, unschedulable := w.counts(); active != 1 || unschedulable != 0 {
		t.Errorf("%d active, %d unschedulable", active, unschedulable)
	}
}

func TestNotesAreCutBetweenCharacters(t *testing.T) {
	for _, length := range []int{10, noteBytes, noteBytes + 1, 3 * noteBytes} {
		text := strings.Repeat("ä", length/2) + strings.Repeat("x", length%2)
		got := cut(text)
		if len(got) > noteBytes || !utf8.ValidString(got) {
			t.Errorf("%d bytes became %d", len(text), len(got))
		}
		if len(text) <= noteBytes && got != text {
			t.Errorf("%d bytes were cut", len(text))
		}
	}
}

func TestSummariesCountNodes(t *testing.T) {
	for summary, want := range map[string]string{
		"0/3 machines: 3 insufficient cpu": "0/3 nodes are available: 3 insufficient cpu",
		"it fits: 2/3 machines: that do":   "it fits: 2/3 machines: that do",
		"":                                 "",
	} {
		if got := inNodes(summary); got != want {
			t.Errorf("%q becomes %q, want %q", summary, got, want)
		}
	}
}
