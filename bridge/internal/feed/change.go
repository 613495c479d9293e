package feed

import (
	sluicev1 "github.com/sluice-scheduler/sluice/bridge/internal/api/sluice/v1"
)

// A change is an item of the client's queue, which drops those that wait in it
// already.
type change struct {
	kind changeKind
	// The name of a machine, the key of a task, or the id of a task or a budget.
	name string
	// Of a bind that failed.
	machine, reason string
	// Of a standby that leads.
	term *sluicev1.FeedTerm
}

type changeKind int

const (
	machineChanged changeKind = iota
	taskChanged
	budgetChanged
	bindFailed
	leads
)
