package bind

import (
	"sync"
	"time"
)

// assumptions are placements that were taken over and have not ended: as long
// as a bind is under way its pod counts as running there, whatever the daemon
// has forgotten meanwhile.
type assumptions struct {
	mu  sync.Mutex
	all map[string]*assumption // by uid
}

type assumption struct {
	node  string
	since time.Time
	// Of claims that were told the node, the version before.
	told map[string]string
}

func newAssumptions() *assumptions {
	return &assumptions{all: make(map[string]*assumption)}
}

// set replaces what was assumed before of another node.
func (a *assumptions) set(uid, node string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if known := a.all[uid]; known == nil || known.node != node {
		a.all[uid] = &assumption{node: node, since: time.Now(), told: make(map[string]string)}
	}
}

func (a *assumptions) node(uid string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if known := a.all[uid]; known != nil {
		return known.node
	}
	return ""
}

// get is for the one worker that has the placement.
func (a *assumptions) get(uid, node string) *assumption {
	a.mu.Lock()
	defer a.mu.Unlock()
	if known := a.all[uid]; known != nil && known.node == node {
		return known
	}
	return nil
}

func (a *assumptions) drop(uid string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.all, uid)
}

// dropAt tells whether the pod was assumed to be on node.
func (a *assumptions) dropAt(uid, node string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	known := a.all[uid]
	if known == nil || known.node != node {
		return false
	}
	delete(a.all, uid)
	return true
}

func (a *assumptions) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.all)
}
