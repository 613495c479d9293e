package bind

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// How long a pod keeps away from a node. Its volumes may be free there by then.
const rejectionTime = 2 * time.Minute

// rejections are nodes on which a pod could not have its volumes. The daemon, which
// knows nothing of volumes, might choose such a node again.
type rejections struct {
	mu  sync.Mutex
	all map[string]map[string]time.Time // until when, by uid and node
}

func newRejections() *rejections {
	return &rejections{all: make(map[string]map[string]time.Time)}
}

func (r *rejections) add(uid, node string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all[uid] == nil {
		r.all[uid] = make(map[string]time.Time)
	}
	r.all[uid][node] = time.Now().Add(rejectionTime)
}

// nodes returns those of a pod, sorted.
func (r *rejections) nodes(uid string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(r.all[uid], func(_ string, until time.Time) bool { return !now.Before(until) })
	return slices.Sorted(maps.Keys(r.all[uid]))
}

func (r *rejections) forget(uid string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, uid)
}
