package kubetest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// StartKubeScheduler starts one with limits as high as the bridge's are here.
func StartKubeScheduler(t testing.TB, plane *ControlPlane) *Process {
	t.Helper()
	binary := filepath.Join(plane.binaries, "kube-scheduler")
	if _, err := os.Stat(binary); err != nil {
		t.Skipf("no kube-scheduler: %v", err)
	}
	plane.write(t, "scheduler.yaml", fmt.Appendf(nil, `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
clientConnection: {kubeconfig: %s, qps: 5000, burst: 5000}
`, plane.Kubeconfig))
	p := newProcess(t, plane.directory, binary, "--config="+plane.path("scheduler.yaml"), "--secure-port=0")
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}
