package report

import (
	"strconv"
	"sync"
	"time"
)

// waiting knows since when pods wait, and what was told of it.
type waiting struct {
	mu  sync.Mutex
	all map[string]*wait // by uid
}

type wait struct {
	since    time.Time
	attempts int
	// Why, as it was told last; empty: nothing was.
	told string
	// What the daemon did not understand of it.
	problem string
}

func newWaiting() *waiting { return &waiting{all: make(map[string]*wait)} }

// begin returns since when the pod waits.
func (w *waiting) begin(uid string) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.of(uid).since
}

func (w *waiting) of(uid string) *wait {
	known := w.all[uid]
	if known == nil {
		known = &wait{since: time.Now()}
		w.all[uid] = known
	}
	return known
}

// attempted counts one that came to nothing.
func (w *waiting) attempted(uid string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.of(uid).attempts++
}

// tell returns whether message is news.
func (w *waiting) tell(uid, message string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := w.of(uid)
	if known.told == message {
		return false
	}
	known.told = message
	return true
}

func (w *waiting) setProblem(uid, problem string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.of(uid).problem = problem
}

func (w *waiting) problem(uid string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if known := w.all[uid]; known != nil {
		return known.problem
	}
	return ""
}

// attempt returns since when the pod waits, and which attempt at it this is, in
// the words of the metric.
func (w *waiting) attempt(uid string) (since time.Time, ordinal string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := w.of(uid)
	if known.attempts >= 15 {
		return known.since, "16+"
	}
	return known.since, strconv.Itoa(known.attempts + 1)
}

func (w *waiting) end(uid string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.all, uid)
}

// counts returns how many wait, and of how many it was told why.
func (w *waiting) counts() (active, unschedulable int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, known := range w.all {
		if known.told == "" {
			active++
		} else {
			unschedulable++
		}
	}
	return active, unschedulable
}
