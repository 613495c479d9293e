package helmtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestEachOfSeveralDaemonsHasABridge(t *testing.T) {
	objects := render1(t, matrix["standby"])
	spec := find(t, objects, "Deployment sluice-standby")["spec"]
	expect(t, spec, "replicas:2", "maxSurge:1 maxUnavailable:0", "podAntiAffinity", "serviceAccountName:sluice-bridge",
		"--listen_address=127.0.0.1:9090", "--daemon-address=127.0.0.1:9090", "--standby --leader-elect-retry-period=750ms",
		"fieldPath:metadata.name")
	selector := "app.kubernetes.io/component:standby"
	for _, of := range []string{"Service sluice-bridge", "PodDisruptionBudget sluice-bridge", "NetworkPolicy sluice-bridge"} {
		expect(t, find(t, objects, of)["spec"], selector)
	}
	// Nothing of the other topology is there.
	var names []string
	for _, object := range objects {
		names = append(names, object.GetKind()+" "+object.GetName())
	}
	slices.Sort(names)
	want := []string{"ClusterRole sluice-bridge", "ClusterRoleBinding sluice-bridge", "Deployment sluice-standby", "NetworkPolicy sluice-bridge",
		"PodDisruptionBudget sluice-bridge", "Role sluice-bridge", "RoleBinding sluice-bridge", "Service sluice-bridge", "ServiceAccount sluice-bridge"}
	if !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
}

func TestOnlyStandbysStandBy(t *testing.T) {
	for name, text := range matrix {
		containers := fmt.Sprint(fields(render1(t, text), "spec", "template", "spec", "containers"))
		if strings.Contains(containers, "--standby") != strings.HasPrefix(name, "standby") {
			t.Errorf("%s: %s", name, containers)
		}
	}
}
