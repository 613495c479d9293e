package bind

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// assumptions are the binds under way. A pod that is being bound counts as
// running on its node, even if the daemon has forgotten the placement.
type assumptions struct {
	mu  sync.Mutex
	all map[string]*assumption // by uid
}

type assumption struct {
	node  string
	since time.Time
	// The claims that were told the node, each with its resource version before.
	told map[string]string
	// The volumes that were given to claims, each with its resource version
	// before.
	given map[string]string

	// The volume that each claim gets. Other pods' workers read it, so the mutex
	// guards it.
	volumes map[types.UID]string
}

func newAssumptions() *assumptions {
	return &assumptions{all: make(map[string]*assumption)}
}

// set assumes that the pod runs on node, and forgets any other node.
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

// get returns the assumption for the one worker that has the placement.
func (a *assumptions) get(uid, node string) *assumption {
	a.mu.Lock()
	defer a.mu.Unlock()
	if known := a.all[uid]; known != nil && known.node == node {
		return known
	}
	return nil
}

// reserve lets choose decide which volumes the claims of a pod get, and tells
// it which ones other pods' claims get. On an error the pod gets none.
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

// dropAt forgets the pod if it was assumed to be on node, and returns whether
// it was.
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
