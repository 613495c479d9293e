package kubetest

import (
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/sluice-scheduler/sluice/bridge/internal/daemontest"
)

// Bridge is a process of sluice-bridge.
type Bridge struct {
	*Process
	// HTTP is where it serves /metrics.
	HTTP string
}

// BuildBridge returns the program: $SLUICE_BRIDGE, or one that it builds.
func BuildBridge(t testing.TB) string {
	t.Helper()
	if path := os.Getenv("SLUICE_BRIDGE"); path != "" {
		return path
	}
	// The test may belong to another module, which lacks what the program needs.
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/sluice-scheduler/sluice/bridge").Output()
	if err != nil {
		t.Fatalf("find the bridge: %v", err)
	}
	path := filepath.Join(t.TempDir(), "sluice-bridge")
	command := exec.Command("go", "build", "-o", path, "./cmd/sluice-bridge")
	command.Dir = strings.TrimSpace(string(module))
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("build the bridge: %v\n%s", err, output)
	}
	return path
}

// StartBridge starts one between a control plane and a daemon, and waits until
// it has stated everything.
func StartBridge(t testing.TB, binary, kubeconfig string, daemon *daemontest.Daemon, flags ...string) *Bridge {
	t.Helper()
	b := &Bridge{HTTP: daemontest.FreeAddress(t)}
	b.Process = newProcess(t, t.TempDir(), binary, append([]string{
		"--kubeconfig=" + kubeconfig, "--daemon-address=" + daemon.Address,
		"--http-address=" + b.HTTP, "--leader-elect=false",
		"--bind-qps=5000", "--bind-burst=5000", "--kube-api-qps=5000", "--kube-api-burst=5000"}, flags...)...)
	if err := b.Start(); err != nil {
		t.Fatal(err)
	}
	b.WaitReady(t)
	return b
}

// WaitReady waits until /readyz says so.
func (b *Bridge) WaitReady(t testing.TB) {
	t.Helper()
	err := wait.PollUntilContextTimeout(context.Background(), 50*time.Millisecond, startLimit, true,
		func(context.Context) (bool, error) {
			response, err := http.Get("http://" + b.HTTP + "/readyz")
			if err != nil {
				return false, nil
			}
			defer response.Body.Close()
			return response.StatusCode == http.StatusOK, nil
		})
	if err != nil {
		t.Fatalf("the bridge is not ready: %v\n%s", err, b.logTail(4000))
	}
}

// Leads tells whether the bridge that serves HTTP at address believes that it
// leads.
func Leads(address string) bool {
	response, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		return false
	}
	defer response.Body.Close()
	metrics, err := io.ReadAll(response.Body)
	return err == nil && strings.Contains(string(metrics), `leader_election_master_status{name="sluice-bridge"} 1`)
}
