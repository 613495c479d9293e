package feed

import (
	"context"
	"errors"
	"hash/maphash"
	"sort"
	"time"

	"google.golang.org/protobuf/proto"
	"k8s.io/klog/v2"

	sluicev1 "github.com/sluice-scheduler/sluice/bridge/internal/api/sluice/v1"
)

// The daemon is fastest with batches of some hundreds, and refuses more than
// 4096 events.
const batchSize = 512

// Events that the daemon does not need at once wait so long for others to join
// them. At low rates most of the feed's cost is the number of messages.
const lazyDelay = 50 * time.Millisecond

// The code of problems that the bridge itself finds.
const unsendable = "UNSENDABLE"

type phase int

const (
	stating phase = iota // the snapshot
	live
)

// session is one call. The goroutine of run owns it.
type session struct {
	client *Client
	stream sluicev1.Feed_ConnectClient
	term   *sluicev1.FeedTerm
	// Another replica leads, so the daemon takes everything in and decides
	// nothing.
	isStandby bool
	seed      maphash.Seed

	requests  chan *sluicev1.FeedRequest
	sent      chan struct{}
	responses chan *sluicev1.FeedResponse

	phase     phase
	startedAt time.Time
	// The objects that the snapshot has yet to state.
	budgetsLeft, machinesLeft, tasksLeft []string

	// The request that is being filled, whether it is urgent for the daemon, and
	// whether the one before is still being sent.
	batch     *sluicev1.FeedRequest
	isUrgent  bool
	isSending bool
	// The timer runs while lazy events wait.
	lazy     *time.Timer
	sequence uint64
	// Samples that are yet to be sent.
	usage Usage
	// The last delta that was taken over, and the last of which the daemon knows
	// that.
	taken, confirmed uint64

	machines map[string]uint64 // fingerprints, by name
	budgets  map[string]uint64 // fingerprints, by id
	tasks    map[string]stated // by key
	keys     map[string]string // by id
	// The subjects of events that are not durable yet, by ascending sequence.
	subjects []subject
}

type subject struct {
	sequence uint64
	about    about
}

// about is a task by its key, or a machine, or a budget.
type about struct {
	key, machine, budget string
}

// stated is what the daemon was told of a key.
type stated struct {
	id          string
	fingerprint uint64
	isEnded     bool
	placedOn    string // by the daemon, since this was stated
}

func newSession(client *Client, stream sluicev1.Feed_ConnectClient, term *sluicev1.FeedTerm) *session {
	return &session{
		client:    client,
		stream:    stream,
		term:      term,
		seed:      maphash.MakeSeed(),
		requests:  make(chan *sluicev1.FeedRequest, 1),
		sent:      make(chan struct{}),
		responses: make(chan *sluicev1.FeedResponse),
		startedAt: time.Now(),
		batch:     &sluicev1.FeedRequest{Feed: client.name},
		machines:  make(map[string]uint64),
		budgets:   make(map[string]uint64),
		tasks:     make(map[string]stated),
		keys:      make(map[string]string),
	}
}

// run owns the session until the call ends.
func (s *session) run(ctx context.Context, changes <-chan change, receiveErr <-chan error) error {
	defer s.stopLazy()
	s.begin()
	for {
		s.fill(ctx, changes)
		s.flush()
		var lazy <-chan time.Time
		if s.lazy != nil {
			lazy = s.lazy.C
		}
		var incoming <-chan change
		var samples <-chan Usage
		if s.phase == live && !s.isSending {
			incoming = changes
			samples = s.client.usage
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-receiveErr:
			return err
		case <-s.sent:
			s.isSending = false
		case response, ok := <-s.responses:
			if !ok {
				// Recv has the reason, which follows.
				s.responses = nil
				continue
			}
			s.take(ctx, response)
		case item := <-incoming:
			s.apply(item)
		case s.usage = <-samples:
		case <-lazy:
			s.isUrgent = true
		}
	}
}

// drain waits for receive to end, once the call was canceled.
func (s *session) drain() {
	if s.responses == nil {
		return
	}
	for range s.responses {
	}
}

func (s *session) begin() {
	s.add(about{}, &sluicev1.FeedEvent{Event: &sluicev1.FeedEvent_BeginSnapshot{BeginSnapshot: &sluicev1.BeginSnapshot{
		Term: s.term, PriorityZero: s.client.source.PriorityZero(), IsStandby: s.isStandby}}})
	// Machines come before the tasks that run on them. Whatever comes later is a
	// change.
	s.budgetsLeft = s.client.source.BudgetIDs()
	s.machinesLeft = s.client.source.MachineNames()
	s.tasksLeft = s.client.source.TaskKeys()
}

// fill adds what is at hand to the batch, as long as there is room.
func (s *session) fill(ctx context.Context, changes <-chan change) {
	if s.isSending {
		return
	}
	if s.phase == stating {
		s.fillSnapshot(ctx)
		return
	}
	for len(s.batch.Events) < batchSize {
		select {
		case item := <-changes:
			s.apply(item)
		default:
			return
		}
	}
}

func (s *session) fillSnapshot(ctx context.Context) {
	for ; len(s.budgetsLeft) > 0 && len(s.batch.Events) < batchSize; s.budgetsLeft = s.budgetsLeft[1:] {
		s.stateBudget(s.budgetsLeft[0])
	}
	for ; len(s.machinesLeft) > 0 && len(s.batch.Events) < batchSize; s.machinesLeft = s.machinesLeft[1:] {
		s.stateMachine(s.machinesLeft[0])
	}
	for ; len(s.tasksLeft) > 0 && len(s.batch.Events) < batchSize; s.tasksLeft = s.tasksLeft[1:] {
		s.stateTask(s.tasksLeft[0])
	}
	if len(s.budgetsLeft)+len(s.machinesLeft)+len(s.tasksLeft) > 0 || len(s.batch.Events) >= batchSize {
		return
	}
	s.add(about{}, &sluicev1.FeedEvent{Event: &sluicev1.FeedEvent_EndSnapshot{EndSnapshot: &sluicev1.EndSnapshot{}}})
	s.phase = live
	s.client.live.Store(true)
	s.client.handler.Restated()
	s.client.metrics.snapshots.Observe(time.Since(s.startedAt).Seconds())
	klog.FromContext(ctx).Info("Stated everything to the daemon", "standby", s.isStandby, "machines", len(s.machines), "tasks", len(s.tasks), "budgets", len(s.budgets))
}

func (s *session) apply(item change) {
	switch item.kind {
	case machineChanged:
		s.stateMachine(item.name)
	case taskChanged:
		s.stateTask(item.name)
	case budgetChanged:
		s.stateBudget(item.name)
	case bindFailed:
		if key, ok := s.keys[item.name]; ok {
			s.setPlaced(key, "")
			s.add(about{key: key}, &sluicev1.FeedEvent{Event: &sluicev1.FeedEvent_BindFailed{BindFailed: &sluicev1.BindFailed{
				Id: item.name, Machine: item.machine, Reason: item.reason}}})
		}
	case leads:
		s.lead(item.term)
	}
}

// lead comes after earlier changes in the queue, so that the daemon knows them
// before it places anything.
func (s *session) lead(term *sluicev1.FeedTerm) {
	if !s.isStandby {
		return
	}
	s.isStandby = false
	s.add(about{}, &sluicev1.FeedEvent{Event: &sluicev1.FeedEvent_Leads{Leads: &sluicev1.Leads{Term: term}}})
	s.client.handler.Restated()
}

func (s *session) stateMachine(name string) {
	before, wasThere := s.machines[name]
	machine := s.client.source.Machine(name)
	var fingerprint uint64
	if machine != nil {
		var err error
		if fingerprint, err = s.fingerprint(machine); err != nil {
			s.client.metrics.problems.WithLabelValues(unsendable).Inc()
			s.client.handler.MachineProblem(name, Problem{Code: sluicev1.FeedProblem_INVALID, Message: err.Error()})
			machine = nil
		}
	}
	if machine == nil {
		if wasThere {
			delete(s.machines, name)
			s.add(about{machine: name}, &sluicev1.FeedEvent{Event: &sluicev1.FeedEvent_MachineGone{MachineGone: &sluicev1.MachineGone{Machine: name}}})
		}
		return
	}
	if wasThere && before == fingerprint {
		return
	}
	s.machines[name] = fingerprint
	s.add(about{machine: name}, &sluicev1.FeedEvent{Event: &sluicev1.FeedEvent_Machine{Machine: machine}})
	if wasThere || s.phase == stating {
		return
	}
	// The daemon did not understand tasks that ran there while it did not know
	// the machine.
	for _, key := range s.client.source.TaskKeysOn(name) {
		if task, ok := s.tasks[key]; ok {
			task.fingerprint = 0
			s.tasks[key] = task
		}
		s.stateTask(key)
	}
}

func (s *session) stateBudget(id string) {
	before, wasThere := s.budgets[id]
	budget := s.client.source.Budget(id)
	var fingerprint uint64
	if budget != nil {
		var err error
		if fingerprint, err = s.fingerprint(budget); err != nil {
			// The eviction API keeps the budget all the same.
			s.client.metrics.problems.WithLabelValues(unsendable).Inc()
			budget = nil
		}
	}
	switch {
	case budget == nil && wasThere:
		delete(s.budgets, id)
		s.add(about{budget: id}, &sluicev1.FeedEvent{Event: &sluicev1.FeedEvent_BudgetGone{BudgetGone: &sluicev1.BudgetGone{Id: id}}})
	case budget != nil && before != fingerprint:
		s.budgets[id] = fingerprint
		s.add(about{budget: id}, &sluicev1.FeedEvent{Event: &sluicev1.FeedEvent_Budget{Budget: &sluicev1.BudgetStated{Id: id, Budget: budget}}})
	}
}

func (s *session) stateTask(key string) {
	before, wasThere := s.tasks[key]
	task := s.client.source.Task(key)
	var fingerprint uint64
	if task.Stated != nil {
		var err error
		if fingerprint, err = s.fingerprint(task.Stated); err != nil {
			s.client.metrics.problems.WithLabelValues(unsendable).Inc()
			s.client.handler.TaskProblem(key, Problem{Code: sluicev1.FeedProblem_INVALID, Message: err.Error()})
			task.Stated = nil
		}
	}
	if wasThere && (task.Stated == nil || task.Stated.Id != before.id) {
		delete(s.tasks, key)
		delete(s.keys, before.id)
		s.add(about{key: key}, &sluicev1.FeedEvent{Event: &sluicev1.FeedEvent_TaskGone{TaskGone: &sluicev1.TaskGone{Id: before.id}}})
		before, wasThere = stated{}, false
	}
	if task.Stated == nil {
		return
	}
	if wasThere && before.isEnded {
		return
	}
	id := task.Stated.Id
	now := stated{id: id, isEnded: task.Ended, fingerprint: fingerprint}
	if now.fingerprint == before.fingerprint {
		now.placedOn = before.placedOn
	}
	s.tasks[key] = now
	s.keys[id] = key
	event := &sluicev1.FeedEvent{Event: &sluicev1.FeedEvent_Task{Task: task.Stated}}
	switch {
	case wasThere && (task.Ended || before.fingerprint == now.fingerprint):
	case wasThere && before.placedOn != "" && before.placedOn == task.Stated.RunsOn:
		// The daemon knows this already.
		s.addLazily(about{key: key}, event)
	default:
		s.add(about{key: key}, event)
	}
	if task.Ended {
		s.add(about{key: key}, &sluicev1.FeedEvent{Event: &sluicev1.FeedEvent_TaskEnded{TaskEnded: &sluicev1.TaskEnded{Id: id, Failed: task.Failed}}})
	}
}

func (s *session) add(whom about, event *sluicev1.FeedEvent) {
	s.isUrgent = true
	s.addLazily(whom, event)
}

// addLazily adds an event that is not urgent for the daemon.
func (s *session) addLazily(whom about, event *sluicev1.FeedEvent) {
	s.sequence++
	event.Sequence = s.sequence
	s.batch.Events = append(s.batch.Events, event)
	if whom != (about{}) {
		s.subjects = append(s.subjects, subject{sequence: s.sequence, about: whom})
	}
}

// flush sends the batch if there is anything to say and no other is being sent.
// The tasks of a machine that came back may make it longer than batchSize, so
// flush cuts it.
func (s *session) flush() {
	if s.isSending || (len(s.batch.Events) == 0 && s.taken == s.confirmed && s.usage.isEmpty()) {
		return
	}
	isFull := len(s.batch.Events) >= batchSize || s.taken-s.confirmed >= batchSize
	if !s.isUrgent && !isFull && s.usage.isEmpty() {
		if s.lazy == nil {
			s.lazy = time.NewTimer(lazyDelay)
		}
		return
	}
	s.stopLazy()
	request := s.batch
	s.batch = &sluicev1.FeedRequest{}
	if len(request.Events) > batchSize {
		s.batch.Events = request.Events[batchSize:]
		request.Events = request.Events[:batchSize:batchSize]
	}
	s.isUrgent = len(s.batch.Events) > 0
	request.MachineUsage = cut(&s.usage.Machines)
	request.TaskUsage = cut(&s.usage.Tasks)
	request.DeltasReceived = s.taken
	s.confirmed = s.taken
	s.isSending = true
	s.client.metrics.events.Add(float64(len(request.Events)))
	s.requests <- request
}

func (s *session) stopLazy() {
	if s.lazy != nil {
		s.lazy.Stop()
		s.lazy = nil
	}
}

// cut takes at most batchSize items off the beginning.
func cut[T any](items *[]T) []T {
	n := min(len(*items), batchSize)
	head := (*items)[:n:n]
	*items = (*items)[n:]
	return head
}

func (s *session) take(ctx context.Context, response *sluicev1.FeedResponse) {
	logger := klog.FromContext(ctx)
	for _, problem := range response.Problems {
		whom := s.subjectOf(problem.Sequence)
		s.client.metrics.problems.WithLabelValues(problem.Code.String()).Inc()
		logger.V(2).Info("The daemon reported a problem", "code", problem.Code, "key", whom.key, "machine", whom.machine, "budget", whom.budget, "problem", problem.Message)
		told := Problem{Code: problem.Code, Message: problem.Message}
		switch {
		case whom.machine != "":
			s.client.handler.MachineProblem(whom.machine, told)
		case whom.key != "" && problem.Code == sluicev1.FeedProblem_MALFORMED:
			s.client.handler.TaskProblem(whom.key, told)
		}
	}
	s.subjects = s.subjects[s.firstSubjectFrom(response.EventsDurable+1):]
	for _, nomination := range response.Nominations {
		if key, ok := s.keys[nomination.Task]; ok {
			s.client.handler.Nominate(Delta{Key: key, ID: nomination.Task, Machine: nomination.Machine})
		}
	}
	for _, delta := range response.Deltas {
		s.taken = delta.Sequence
		key, ok := s.keys[delta.Task]
		if !ok {
			// The task was taken back meanwhile. The daemon will hear of that.
			continue
		}
		decided := Delta{Key: key, ID: delta.Task, Machine: delta.Machine}
		s.client.metrics.deltas.WithLabelValues(delta.Type.String()).Inc()
		switch delta.Type {
		case sluicev1.FeedDelta_PLACE:
			s.setPlaced(key, delta.Machine)
			s.client.handler.Place(decided)
		case sluicev1.FeedDelta_PREEMPT, sluicev1.FeedDelta_MIGRATE:
			s.setPlaced(key, "")
			decided.Moves = delta.Type == sluicev1.FeedDelta_MIGRATE
			s.client.handler.Evict(decided)
		default:
			logger.Error(errors.New("unknown type of delta"), "Skipped a delta of the daemon", "delta", delta)
		}
	}
}

// setPlaced notes on which machine the daemon has placed a task; empty: on
// none.
func (s *session) setPlaced(key, machine string) {
	task := s.tasks[key]
	task.placedOn = machine
	s.tasks[key] = task
}

func (s *session) firstSubjectFrom(sequence uint64) int {
	return sort.Search(len(s.subjects), func(i int) bool { return s.subjects[i].sequence >= sequence })
}

func (s *session) subjectOf(sequence uint64) about {
	i := s.firstSubjectFrom(sequence)
	if i < len(s.subjects) && s.subjects[i].sequence == sequence {
		return s.subjects[i].about
	}
	return about{}
}

// fingerprint is equal for equal messages, and never 0. It fails for a message
// that cannot be sent, for instance because a text is not UTF-8.
func (s *session) fingerprint(message proto.Message) (uint64, error) {
	bytes, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	if err != nil {
		return 0, err
	}
	return max(1, maphash.Bytes(s.seed, bytes)), nil
}
