package e2e

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sluice-scheduler/sluice/bridge/internal/daemontest"
	"github.com/sluice-scheduler/sluice/bridge/internal/kubetest"
)

func TestMetrics(t *testing.T) {
	plane := kubetest.StartControlPlane(t, kubetest.AlwaysAllow)
	daemon := daemontest.Start(t)
	bridge := kubetest.StartBridge(t, kubetest.BuildBridge(t), plane.Kubeconfig, daemon, "--profiling")
	c := kubetest.NewCluster(t, plane, "metrics")
	c.Node("n1")
	c.Pod("web")
	c.IsOn("web", "n1")
	c.Pod("big", kubetest.Requests("cpu", "64"))
	c.Waits("big", "insufficient cpu")
	for _, want := range []string{
		`scheduler_schedule_attempts_total{profile="sluice",result="scheduled"} 1`,
		`scheduler_schedule_attempts_total{profile="sluice",result="unschedulable"} 1`,
		`scheduler_pod_scheduling_sli_duration_seconds_count{attempts="1"} 1`,
		`scheduler_pending_pods{queue="unschedulable"} 1`,
		`scheduler_pending_pods{queue="active"} 0`,
		`sluice_bridge_bind_duration_seconds_count{outcome="bound"} 1`,
		`sluice_bridge_assumed_pods 0`,
		`sluice_bridge_feed_deltas_total{type="PLACE"} 1`,
		`workqueue_adds_total{name="bind"} 1`,
		`rest_client_requests_total{code="201"`,
	} {
		c.Eventually(want, func() bool { return strings.Contains(get(t, bridge, "/metrics"), want) })
	}
	if get(t, bridge, "/debug/pprof/cmdline") == "" {
		t.Error("no profiles")
	}
}

func get(t testing.TB, bridge *kubetest.Bridge, path string) string {
	t.Helper()
	response, err := http.Get("http://" + bridge.HTTP + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
