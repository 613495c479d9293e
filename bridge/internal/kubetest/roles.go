package kubetest

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// BridgeNamespace is where the bridge would run.
const BridgeNamespace = "sluice"

const bridgeName = "sluice-bridge"

// GrantBridge lets the user of BridgeKubeconfig do what the chart lets the bridge
// do, and nothing else.
func GrantBridge(t testing.TB, plane *ControlPlane) {
	t.Helper()
	ctx, options := context.Background(), metav1.CreateOptions{}
	name := metav1.ObjectMeta{Name: bridgeName}
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind,
		Name: "system:serviceaccount:" + BridgeNamespace + ":" + bridgeName}}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := plane.Client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: BridgeNamespace}}, options)
	must(err)
	rbac := plane.Client.RbacV1()
	_, err = rbac.ClusterRoles().Create(ctx, &rbacv1.ClusterRole{
		ObjectMeta: name, Rules: rulesOf(t, "cluster-role.yaml")}, options)
	must(err)
	_, err = rbac.ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: name, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: bridgeName}}, options)
	must(err)
	_, err = rbac.Roles(BridgeNamespace).Create(ctx, &rbacv1.Role{
		ObjectMeta: name, Rules: rulesOf(t, "role.yaml")}, options)
	must(err)
	_, err = rbac.RoleBindings(BridgeNamespace).Create(ctx, &rbacv1.RoleBinding{ObjectMeta: name, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: bridgeName}}, options)
	must(err)
}

// rulesOf reads the file from which the chart takes them.
func rulesOf(t testing.TB, file string) []rbacv1.PolicyRule {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	content, err := os.ReadFile(filepath.Join(filepath.Dir(here), "../../../deploy/helm/sluice/files", file))
	if err != nil {
		t.Fatal(err)
	}
	var rules []rbacv1.PolicyRule
	if err := yaml.UnmarshalStrict(content, &rules); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return rules
}
