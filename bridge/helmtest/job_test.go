package helmtest

import (
	"context"
	"io"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/sluice-scheduler/sluice/bridge/internal/app"
	"github.com/sluice-scheduler/sluice/bridge/internal/kubetest"
)

// The Job's command makes the secrets with just the rights of its account, and
// finds nothing to do the second time.
func TestTheJobMayMakeItsSecretsAndNoOthers(t *testing.T) {
	plane := kubetest.StartControlPlane(t, kubetest.RBAC)
	_, err := plane.Client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(plane.Config)
	if err != nil {
		t.Fatal(err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(plane.Client.Discovery()))
	var arguments []string
	for _, object := range render1(t, matrix["TLS by a job"]) {
		switch object.GetKind() {
		case "ServiceAccount", "Role", "RoleBinding":
			apply(t, client, mapper, object)
		case "Job":
			containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
			arguments, _, _ = unstructured.NestedStringSlice(containers[0].(map[string]any), "args")
		}
	}
	config, err := clientcmd.LoadFromFile(plane.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range config.AuthInfos {
		user.Impersonate = "system:serviceaccount:" + namespace + ":sluice-certificates"
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
		t.Fatal(err)
	}
	run := func(more ...string) error {
		command := app.NewCommand()
		command.SetArgs(append(append(arguments[:len(arguments):len(arguments)], "--kubeconfig="+kubeconfig), more...))
		command.SetOut(io.Discard)
		command.SetErr(io.Discard)
		return command.ExecuteContext(context.Background())
	}
	versions := map[string]string{}
	for range 2 {
		if err := run(); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"sluice-ca", "sluice-daemon-tls", "sluice-bridge-tls"} {
			secret, err := plane.Client.CoreV1().Secrets(namespace).Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if before, ok := versions[name]; ok && before != secret.ResourceVersion {
				t.Errorf("%s was written a second time", name)
			}
			versions[name] = secret.ResourceVersion
		}
	}
	if err := run("--client-secret=another"); err == nil {
		t.Error("it may look at other secrets")
	}
}
