package report

import (
	"maps"
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
	key      string
	since    time.Time
	attempts int
	// overdue has returned it.
	isOverdue bool
	// The reason that was told last; empty: none was.
	told string
	// What the daemon did not understand of the pod.
	problem string
}

func newWaiting() *waiting { return &waiting{all: make(map[string]*wait)} }

// begin returns since when the pod waits.
func (w *waiting) begin(key, uid string) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := w.all[uid]
	if known == nil {
		known = &wait{key: key, since: time.Now()}
		w.all[uid] = known
	}
	return known.since
}

// change applies change to the pod's wait, if the pod still waits.
func (w *waiting) change(uid string, change func(*wait)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if known := w.all[uid]; known != nil {
		change(known)
	}
}

// attempted counts an attempt that failed.
func (w *waiting) attempted(uid string) { w.change(uid, func(known *wait) { known.attempts++ }) }

func (w *waiting) setProblem(uid, problem string) {
	w.change(uid, func(known *wait) { known.problem = problem })
}

// tell returns whether message is news.
func (w *waiting) tell(uid, message string) (isNews bool) {
	w.change(uid, func(known *wait) {
		isNews = known.told != message
		known.told = message
	})
	return isNews
}

func (w *waiting) problem(uid string) (problem string) {
	w.change(uid, func(known *wait) { problem = known.problem })
	return problem
}

// attempt returns since when the pod waits, and the ordinal of this attempt as
// the metric spells it.
func (w *waiting) attempt(uid string) (since time.Time, ordinal string) {
	since, ordinal = time.Now(), "1"
	w.change(uid, func(known *wait) {
		since, ordinal = known.since, strconv.Itoa(known.attempts+1)
		if known.attempts >= 15 {
			ordinal = "16+"
		}
	})
	return since, ordinal
}

func (w *waiting) end(uid string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.all, uid)
}

// retain ends the waits of pods that do not wait. It catches those that ended
// at the moment when their wait began.
func (w *waiting) retain(waits func(key, uid string) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.DeleteFunc(w.all, func(uid string, known *wait) bool { return !waits(known.key, uid) })
}

// overdue returns the keys of those that have waited for so long, each once.
func (w *waiting) overdue(after time.Duration) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var keys []string
	for _, known := range w.all {
		if !known.isOverdue && time.Since(known.since) >= after {
			known.isOverdue = true
			keys = append(keys, known.key)
		}
	}
	return keys
}

// counts returns how many wait without and with a reason that was told.
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
