package feed

import (
	"context"
	"errors"

	"github.com/sluice-scheduler/sluice/bridge/internal/api/firmament"
	sluicev1 "github.com/sluice-scheduler/sluice/bridge/internal/api/sluice/v1"
)

// Source is what there is to state. It is read by one goroutine at a time, and
// what it returns is not changed afterwards.
//
// Tasks go by keys, of which each has one task at a time; the task's id tells it
// from the ones before and after it.
type Source interface {
	MachineNames() []string
	TaskKeys() []string
	// Machine returns nil if the machine is gone.
	Machine(name string) *firmament.ResourceTopologyNodeDescriptor
	Task(key string) Task
	// TaskKeysOn are those that run on a machine.
	TaskKeysOn(machine string) []string
	// BudgetIDs are the ids of all disruption budgets.
	BudgetIDs() []string
	// Budget returns nil if the budget is gone.
	Budget(id string) *firmament.DisruptionBudget
	// PriorityZero is the priority that people know as 0.
	PriorityZero() uint32
}

// Task is what there is to say about a key.
type Task struct {
	// Nil if there is nothing to say: it is gone, or waits for something that is
	// no affair of the daemon's.
	Stated *sluicev1.TaskStated
	Ended  bool
	Failed bool
}

// Delta is a decision about a task.
type Delta struct {
	Key     string
	ID      string
	Machine string
	// Moves says that the task is stopped to run elsewhere: Machine is where
	// room is kept for its successor.
	Moves bool
}

// Problem is what the daemon did not understand of what was stated.
type Problem struct {
	Code    sluicev1.FeedProblem_Code
	Message string
}

// Handler is told what the daemon says. Its methods must not block: nothing is
// read from the daemon meanwhile.
type Handler interface {
	// Place asks to bind a task. It may come again while that is under way.
	Place(Delta)
	// Evict asks to stop a task.
	Evict(Delta)
	// Nominate tells on which machine room is kept for a task while others leave;
	// with an empty machine: on none any more.
	Nominate(Delta)
	// Restated tells that the daemon was told everything. Tasks that it does not
	// nominate from here on are nominated no longer.
	Restated()
	// TaskProblem tells of a task that the daemon will not place.
	TaskProblem(key string, problem Problem)
	// MachineProblem tells of a machine that the daemon takes in part, or
	// not at all.
	MachineProblem(name string, problem Problem)
}

// ErrStandby is what a Term returns where another leads, and its daemon decides.
// The client then states everything all the same, to a daemon of its own, which
// decides nothing until Client.Lead is called.
var ErrStandby = errors.New("another leads")

// NoTerm is the term of a client that is alone.
func NoTerm(context.Context) (*sluicev1.FeedTerm, error) { return nil, nil }

// Term returns under which term a client leads those that share its feed; nil
// if there are no others. An error other than ErrStandby means that it does not
// lead, or cannot know: then nothing is stated. It is asked before each
// connection.
type Term func(context.Context) (*sluicev1.FeedTerm, error)
