package e2e

import (
	"strings"
	"testing"

	"github.com/sluice-scheduler/sluice/bridge/internal/daemontest"
	"github.com/sluice-scheduler/sluice/bridge/internal/kubetest"
)

// A case runs in a namespace of its own, on nodes of its own.
type testCase struct {
	name string
	run  func(*kubetest.Cluster)
}

func TestEndToEnd(t *testing.T) {
	plane := kubetest.StartControlPlane(t, kubetest.RBAC)
	daemon := daemontest.Start(t)
	kubetest.InstallPodGroups(t, plane)
	kubetest.GrantBridge(t, plane)
	// As the chart has it: with its roles, and with a lease.
	kubetest.StartBridge(t, kubetest.BuildBridge(t), plane.BridgeKubeconfig(t), daemon,
		"--leader-elect", "--leader-elect-resource-namespace="+kubetest.BridgeNamespace, "-v=3")
	for _, group := range []struct {
		name  string
		cases []testCase
	}{
		{"workloads", workloads},
		{"nodes", nodeRules},
		{"pods", podRules},
		{"gangs", gangs},
		{"volumes", volumes},
		{"trouble", trouble},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, test := range group.cases {
				t.Run(test.name, func(t *testing.T) {
					namespace := strings.ToLower(strings.NewReplacer(" ", "-", ",", "", "'", "").Replace(test.name))
					test.run(kubetest.NewCluster(t, plane, namespace[:min(len(namespace), 60)]+"-e2e"))
				})
			}
		})
	}
}
