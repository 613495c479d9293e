package bind

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
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
	// Of volumes that were given to claims, the version before.
	given map[string]string

	// The volume that each claim gets. The others read it, so the mutex guards it.
	volumes map[types.UID]string
}

func newAssumptions() *assumptions {
	return &assumptions{all: make(map[string]*assumption)}
}

// set replaces what was assumed before of another node.
func (a *assumptions) set(uid, node string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if known := a.all[uid]; known == nil || known.node != node {
		a.all[uid] = &assumption{node: node, since: time.Now(),
			told: make(map[string]string), given: make(map[string]string)}
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

// reserve has choose decide which volumes the claims of a pod get, knowing what
// the claims of other pods get. On an error the pod gets none.
func (a *assumptions) reserve(mine *assumption, choose func(mine, others map[types.UID]string) (map[types.UID]string, error)) (map[types.UID]string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	others := make(map[types.UID]string)
	for _, assumed := range a.all {
		if assumed != mine {
			maps.Copy(others, assumed.volumes)
		}
	}
	chosen, err := choose(mine.volumes, others)
	mine.volumes = chosen
	return chosen, err
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
