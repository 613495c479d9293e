package feed

import (
	"testing"
	"time"

	"github.com/sluice-scheduler/sluice/bridge/internal/api/firmament"
	"github.com/sluice-scheduler/sluice/bridge/internal/daemontest"
)

func TestAnUrgentTaskDisplacesWhatItsBudgetAllows(t *testing.T) {
	daemon := daemontest.Start(t, "--preemption=priority")
	c := newCluster()
	c.machines["n1"] = 1000
	for key, on := range map[string]string{"low": "n1", "high": ""} {
		task := statedTask("shop/"+key, "uid-"+key, on, 1000)
		task.Description.TaskDescriptor.Namespace = "shop"
		task.Description.TaskDescriptor.JobId = key
		c.tasks["shop/"+key] = task
	}
	c.tasks["shop/high"].Description.TaskDescriptor.Priority = 7
	c.budgets["shop/all"] = &firmament.DisruptionBudget{
		Namespace: "shop", LabelSelector: &firmament.PodLabelSelector{}, MinAvailable: "1"}
	disconnect := c.connect(t, daemon.Address)
	eventually(t, "connected", func() bool { return c.client.IsLive() })
	is := func(what func() bool) func() bool {
		return func() bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			return what()
		}
	}
	isEvicted := is(func() bool { return c.evicted["uid-low"] > 0 })
	isNominated := is(func() bool { return c.nominated["uid-high"] == "n1" })
	time.Sleep(500 * time.Millisecond)
	if isEvicted() {
		t.Fatal("displaced in spite of its budget")
	}
	c.setBudget("shop/all", nil)
	eventually(t, "the less urgent one is to stop", isEvicted)
	eventually(t, "room is kept for the urgent one", isNominated)

	disconnect()
	c.mu.Lock()
	clear(c.nominated)
	c.mu.Unlock()
	c.connect(t, daemon.Address)
	eventually(t, "that is said to whoever connects next", isNominated)
	c.removeTask("shop/low")
	eventually(t, "the urgent one runs", func() bool { return c.runsOn("shop/high") == "n1" })
}
