package feed

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"k8s.io/component-base/metrics"
	"k8s.io/klog/v2"

	"github.com/sluice-scheduler/sluice/bridge/internal/api/firmament"
	sluicev1 "github.com/sluice-scheduler/sluice/bridge/internal/api/sluice/v1"
	"github.com/sluice-scheduler/sluice/bridge/internal/daemontest"
)

// cluster is a Source that binds what it is told to place.
type cluster struct {
	mu       sync.Mutex
	client   *Client
	machines map[string]float32 // cores in thousandths
	tasks    map[string]*sluicev1.TaskStated
	ended    map[string]bool
	refuses  map[string]bool // machines on which binds fail
	places   map[string]int  // how often each id was told its place
	problems []string
	budgets  map[string]*firmament.DisruptionBudget
	evicted  map[string]int // how often each id was told to stop
	// Where room is kept, by id.
	nominated map[string]string
	leads     *sluicev1.FeedTerm
	termErr   error
}

func newCluster() *cluster {
	return &cluster{
		machines: map[string]float32{}, tasks: map[string]*sluicev1.TaskStated{},
		ended: map[string]bool{}, refuses: map[string]bool{}, places: map[string]int{},
		budgets: map[string]*firmament.DisruptionBudget{}, nominated: map[string]string{}, evicted: map[string]int{},
	}
}

func (c *cluster) MachineNames() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.machines))
}

func (c *cluster) PriorityZero() uint32 { return 1000 }

func (c *cluster) TaskKeys() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.tasks))
}

func (c *cluster) Machine(name string) *firmament.ResourceTopologyNodeDescriptor {
	c.mu.Lock()
	defer c.mu.Unlock()
	cores, ok := c.machines[name]
	if !ok {
		return nil
	}
	return &firmament.ResourceTopologyNodeDescriptor{ResourceDesc: &firmament.ResourceDescriptor{
		Uuid: name, FriendlyName: name, Type: firmament.ResourceDescriptor_RESOURCE_MACHINE,
		AvailableResources: &firmament.ResourceVector{CpuCores: cores}, MaxPods: 100}}
}

func (c *cluster) Task(key string) Task {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Task{Stated: c.tasks[key], Ended: c.ended[key]}
}

func (c *cluster) TaskKeysOn(machine string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var keys []string
	for key, task := range c.tasks {
		if task.RunsOn == machine {
			keys = append(keys, key)
		}
	}
	return keys
}

func (c *cluster) Place(delta Delta) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.places[delta.ID]++
	task := c.tasks[delta.Key]
	if task == nil || task.Id != delta.ID {
		return
	}
	if c.refuses[delta.Machine] {
		c.client.BindFailed(delta.ID, delta.Machine, "refused")
		return
	}
	if task.RunsOn == "" {
		c.tasks[delta.Key] = statedTask(delta.Key, delta.ID, delta.Machine, task.Description.TaskDescriptor.ResourceRequest.CpuCores)
	}
	c.client.TaskChanged(delta.Key)
}

func (c *cluster) Evict(delta Delta) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.evicted[delta.ID]++
}

func (c *cluster) Nominate(delta Delta) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nominated[delta.ID] = delta.Machine
}

func (c *cluster) Restated() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.nominated)
}

func (c *cluster) BudgetIDs() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.budgets))
}

func (c *cluster) Budget(id string) *firmament.DisruptionBudget {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.budgets[id]
}

func (c *cluster) term(context.Context) (*sluicev1.FeedTerm, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leads, c.termErr
}

func (c *cluster) MachineProblem(name string, problem Problem) { c.TaskProblem(name, problem) }

func (c *cluster) TaskProblem(key string, problem Problem) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problems = append(c.problems, key+": "+problem.Message)
}

func statedTask(key, id, runsOn string, cores float32) *sluicev1.TaskStated {
	return &sluicev1.TaskStated{Id: id, RunsOn: runsOn, Description: &firmament.TaskDescription{
		TaskDescriptor: &firmament.TaskDescriptor{Name: key, JobId: "job",
			ResourceRequest: &firmament.ResourceVector{CpuCores: cores}}}}
}

func (c *cluster) setMachine(name string, cores float32) {
	c.mu.Lock()
	c.machines[name] = cores
	c.mu.Unlock()
	c.client.MachineChanged(name)
}

func (c *cluster) removeMachine(name string) {
	c.mu.Lock()
	delete(c.machines, name)
	c.mu.Unlock()
	c.client.MachineChanged(name)
}

func (c *cluster) setTask(key, id, runsOn string, cores float32) {
	c.mu.Lock()
	c.tasks[key] = statedTask(key, id, runsOn, cores)
	c.mu.Unlock()
	c.client.TaskChanged(key)
}

func (c *cluster) removeTask(key string) {
	c.mu.Lock()
	delete(c.tasks, key)
	c.mu.Unlock()
	c.client.TaskChanged(key)
}

func (c *cluster) runsOn(key string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tasks[key].GetRunsOn()
}

// connect returns what ends the connection, as the end of the test does.
func (c *cluster) connect(t *testing.T, address string) (disconnect func()) {
	t.Helper()
	// As for the bridge: a daemon that is back is found at once.
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.Config{
			BaseDelay: 20 * time.Millisecond, Multiplier: 1.5, MaxDelay: 200 * time.Millisecond}}))
	if err != nil {
		t.Fatal(err)
	}
	c.client = NewClient("test", connection, c, c, c.term, NewMetrics(metrics.NewKubeRegistry()))
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), klog.Background()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.client.Run(ctx)
	}()
	disconnect = sync.OnceFunc(func() {
		cancel()
		<-done
		connection.Close()
	})
	t.Cleanup(disconnect)
	return disconnect
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		if is() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("not so within 20 s: %s", what)
}

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("k8s.io/klog/v2.(*flushDaemon).run.func1"))
}

func TestWhatWaitsIsPlaced(t *testing.T) {
	daemon := daemontest.Start(t)
	c := newCluster()
	c.machines["n1"] = 1000
	c.tasks["shop/a"] = statedTask("shop/a", "uid-a", "", 600)
	c.connect(t, daemon.Address)
	eventually(t, "a runs", func() bool { return c.runsOn("shop/a") == "n1" })

	c.setTask("shop/b", "uid-b", "", 600)
	time.Sleep(200 * time.Millisecond)
	if on := c.runsOn("shop/b"); on != "" {
		t.Fatalf("b runs on %s, which is full", on)
	}
	c.setMachine("n2", 1000)
	eventually(t, "b runs on the new machine", func() bool { return c.runsOn("shop/b") == "n2" })
}

func TestPrioritiesAreShownAsTheClientCountsThem(t *testing.T) {
	daemon := daemontest.Start(t)
	c := newCluster()
	task := statedTask("shop/a", "uid-a", "", 600)
	task.Description.TaskDescriptor.Priority = 993
	c.tasks["shop/a"] = task
	c.connect(t, daemon.Address)
	inspector := sluicev1.NewInspectorClient(daemon.Dial(t))
	eventually(t, "the priority is -7", func() bool {
		explanation, err := inspector.ExplainTask(t.Context(), &sluicev1.ExplainTaskRequest{Task: "uid-a"})
		return err == nil && explanation.GetTask().GetStatedPriority() == -7
	})
}

func TestRoomIsFreeWhenATaskEndsOrGoes(t *testing.T) {
	daemon := daemontest.Start(t)
	c := newCluster()
	c.machines["n1"] = 1000
	c.tasks["shop/a"] = statedTask("shop/a", "uid-a", "", 1000)
	c.connect(t, daemon.Address)
	eventually(t, "a runs", func() bool { return c.runsOn("shop/a") == "n1" })
	c.setTask("shop/b", "uid-b", "", 1000)

	c.mu.Lock()
	c.ended["shop/a"] = true
	c.mu.Unlock()
	c.client.TaskChanged("shop/a")
	eventually(t, "b runs after a ended", func() bool { return c.runsOn("shop/b") == "n1" })

	c.setTask("shop/c", "uid-c", "", 1000)
	c.removeTask("shop/b")
	eventually(t, "c runs after b is gone", func() bool { return c.runsOn("shop/c") == "n1" })
}

func TestANewTaskUnderAnOldKey(t *testing.T) {
	daemon := daemontest.Start(t)
	c := newCluster()
	c.machines["n1"] = 1000
	c.tasks["shop/web-0"] = statedTask("shop/web-0", "uid-1", "", 1000)
	c.connect(t, daemon.Address)
	eventually(t, "the first runs", func() bool { return c.runsOn("shop/web-0") == "n1" })
	c.setTask("shop/web-0", "uid-2", "", 1000)
	eventually(t, "the second runs in its place", func() bool { return c.runsOn("shop/web-0") == "n1" })
}

func TestABindThatFailedIsPlacedAgain(t *testing.T) {
	daemon := daemontest.Start(t)
	c := newCluster()
	c.machines["n1"] = 1000
	c.refuses["n1"] = true
	c.tasks["shop/a"] = statedTask("shop/a", "uid-a", "", 600)
	c.connect(t, daemon.Address)
	eventually(t, "it was tried again", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.places["uid-a"] >= 3
	})
	c.setMachine("n2", 1000)
	c.removeMachine("n1")
	eventually(t, "a runs elsewhere", func() bool { return c.runsOn("shop/a") == "n2" })
}

func TestATaskThatRunsBeforeItsMachineIsKnown(t *testing.T) {
	daemon := daemontest.Start(t)
	c := newCluster()
	c.tasks["shop/a"] = statedTask("shop/a", "uid-a", "n1", 1000)
	c.connect(t, daemon.Address)
	eventually(t, "connected", func() bool { return c.client.IsLive() })
	c.setMachine("n1", 1000)
	c.setTask("shop/b", "uid-b", "", 500)
	inspector := sluicev1.NewInspectorClient(daemon.Dial(t))
	eventually(t, "a is counted on n1", func() bool {
		status, err := inspector.GetStatus(t.Context(), &sluicev1.GetStatusRequest{})
		return err == nil && status.RunningTasks == 1 && status.QuarantinedTasks == 0
	})
	if on := c.runsOn("shop/b"); on != "" {
		t.Errorf("b runs on %s, which is full", on)
	}
}

func TestTheDaemonDiesAndStartsEmpty(t *testing.T) {
	daemon := daemontest.Start(t)
	c := newCluster()
	for i := range 20 {
		c.machines[fmt.Sprint("n", i)] = 1000
	}
	c.connect(t, daemon.Address)
	for life := range 5 {
		for i := range 30 {
			c.setTask(fmt.Sprintf("shop/%d-%d", life, i), fmt.Sprintf("uid-%d-%d", life, i), "", 100)
		}
		daemon.Kill()
		if life > 0 {
			for i := range 15 {
				c.removeTask(fmt.Sprintf("shop/%d-%d", life-1, i))
			}
		}
		daemon.Restart(t)
	}
	eventually(t, "everything runs", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, task := range c.tasks {
			if task.RunsOn == "" {
				return false
			}
		}
		return true
	})
	used := map[string]float32{}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, task := range c.tasks {
		used[task.RunsOn] += task.Description.TaskDescriptor.ResourceRequest.CpuCores
	}
	for machine, cores := range used {
		if cores > 1000 {
			t.Errorf("%s is overcommitted: %v", machine, cores)
		}
	}
}

func TestAnotherClientTakesTheFeed(t *testing.T) {
	daemon := daemontest.Start(t)
	first, second := newCluster(), newCluster()
	first.machines["n1"], second.machines["n1"] = 1000, 1000
	first.connect(t, daemon.Address)
	eventually(t, "the first is live", first.client.IsLive)
	// Both fight for the name from here on, and both survive.
	second.connect(t, daemon.Address)
	second.setTask("shop/a", "uid-a", "", 100)
	eventually(t, "the second's task runs", func() bool { return second.runsOn("shop/a") == "n1" })
}

func TestAFormerLeaderIsRefused(t *testing.T) {
	daemon := daemontest.Start(t)
	first, second := newCluster(), newCluster()
	first.machines["n1"], second.machines["n1"] = 1000, 1000
	first.leads = &sluicev1.FeedTerm{Lease: "lease", Number: 1, Holder: "first"}
	second.leads = &sluicev1.FeedTerm{Lease: "lease", Number: 2, Holder: "second"}
	first.connect(t, daemon.Address)
	eventually(t, "the first is live", first.client.IsLive)
	second.connect(t, daemon.Address)
	eventually(t, "the first has lost the feed", func() bool { return !first.client.IsLive() })
	// It does not know that it leads no more, and keeps trying.
	for i := range 20 {
		id := fmt.Sprint(i)
		second.setTask("shop/"+id, "uid-"+id, "", 10)
		eventually(t, "the second's task runs", func() bool { return second.runsOn("shop/"+id) == "n1" })
	}
	inspector := sluicev1.NewInspectorClient(daemon.Dial(t))
	status, err := inspector.GetStatus(t.Context(), &sluicev1.GetStatusRequest{})
	if err != nil || len(status.Feeds) != 1 || status.Feeds[0].Holder != "second" || status.Feeds[0].Term != 2 {
		t.Errorf("the daemon shows %v (%v)", status.GetFeeds(), err)
	}
	if first.client.IsLive() {
		t.Error("the first is live again")
	}
}

// A leader that cannot tell whether it leads states nothing.
func TestNothingIsStatedWithoutATerm(t *testing.T) {
	daemon := daemontest.Start(t)
	c := newCluster()
	c.machines["n1"] = 1000
	c.termErr = errors.New("another holds the lease")
	c.connect(t, daemon.Address)
	time.Sleep(300 * time.Millisecond)
	if c.client.IsLive() {
		t.Error("it is live")
	}
	c.mu.Lock()
	c.termErr = nil
	c.mu.Unlock()
	eventually(t, "it is live", c.client.IsLive)
}

func TestWhatIsNotUnderstoodIsToldOfItsTask(t *testing.T) {
	daemon := daemontest.Start(t)
	c := newCluster()
	c.machines["n1"] = 1000
	odd := statedTask("shop/odd", "uid-odd", "", 100)
	odd.Description.TaskDescriptor.HostPorts = []*firmament.HostPort{{Port: 70000}}
	c.tasks["shop/odd"] = odd
	c.machines["dup\xff"] = 1000
	c.tasks["shop/worse"] = statedTask("shop/worse\xff", "uid-worse", "", 100)
	c.tasks["shop/good"] = statedTask("shop/good", "uid-good", "", 100)
	c.connect(t, daemon.Address)
	eventually(t, "the good one runs", func() bool { return c.runsOn("shop/good") == "n1" })
	eventually(t, "the others are told of", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		all := strings.Join(c.problems, "\n")
		return strings.Contains(all, "shop/odd: ") && strings.Contains(all, "port 70000") && strings.Contains(all, "shop/worse: ") && strings.Contains(all, "dup\xff: ")
	})
}

func TestSamplesReachTheDaemon(t *testing.T) {
	daemon := daemontest.Start(t)
	c := newCluster()
	for i := range 1000 {
		c.machines[fmt.Sprint("n", i)] = 1000
	}
	c.tasks["shop/a"] = statedTask("shop/a", "uid-a", "n1", 100)
	c.connect(t, daemon.Address)
	eventually(t, "it is live", c.client.IsLive)
	usage := Usage{Tasks: []*sluicev1.TaskUsage{{Id: "uid-a", Stats: &firmament.TaskStats{CpuUsage: 70}}}}
	for i := range 1000 {
		usage.Machines = append(usage.Machines, &firmament.ResourceStats{
			ResourceId: fmt.Sprint("n", i), MemUtilization: 0.5})
	}
	c.client.Measured(usage)
	inspector := sluicev1.NewInspectorClient(daemon.Dial(t))
	eventually(t, "all samples are there", func() bool {
		machines, err := inspector.ListMachines(t.Context(), &sluicev1.ListMachinesRequest{WithUsage: true})
		if err != nil {
			return false
		}
		for _, machine := range machines.Machines {
			if len(machine.Usage) != 1 || machine.Usage[0].MemoryRatio != 0.5 {
				return false
			}
		}
		tasks, err := inspector.ListTasks(t.Context(), &sluicev1.ListTasksRequest{})
		return err == nil && len(machines.Machines) == 1000 && tasks.Tasks[0].Usage.GetCpuMillicores() == 70
	})
}

func TestThousandsAtOnce(t *testing.T) {
	daemon := daemontest.Start(t)
	c := newCluster()
	for i := range 100 {
		c.machines[fmt.Sprint("n", i)] = 100_000
	}
	for i := range 5000 {
		key := fmt.Sprint("shop/", i)
		c.tasks[key] = statedTask(key, fmt.Sprint("uid-", i), "", 100)
	}
	c.connect(t, daemon.Address)
	for i := range 5000 {
		c.setTask(fmt.Sprint("shop/late-", i), fmt.Sprint("uid-late-", i), "", 100)
	}
	eventually(t, "all run", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, task := range c.tasks {
			if task.RunsOn == "" {
				return false
			}
		}
		return true
	})
	for id, count := range c.places {
		if count != 1 {
			t.Errorf("%s was placed %d times", id, count)
		}
	}
}
