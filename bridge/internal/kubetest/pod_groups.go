package kubetest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

// The part of the definition by scheduler-plugins that a bridge reads.
const podGroupDefinition = `{
  "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
  "metadata": {"name": "podgroups.scheduling.x-k8s.io",
    "annotations": {"api-approved.kubernetes.io": "https://github.com/kubernetes-sigs/scheduler-plugins/pull/50"}},
  "spec": {
    "group": "scheduling.x-k8s.io", "scope": "Namespaced",
    "names": {"kind": "PodGroup", "listKind": "PodGroupList", "plural": "podgroups", "singular": "podgroup"},
    "versions": [{"name": "v1alpha1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
      "type": "object", "properties": {"spec": {"type": "object", "properties": {
        "minMember": {"type": "integer", "format": "int32"},
        "scheduleTimeoutSeconds": {"type": "integer", "format": "int32"}}}}}}}]}}`

const podGroups = "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/%s/podgroups"

// InstallPodGroups defines PodGroups, and waits until they are served.
func InstallPodGroups(t testing.TB, plane *ControlPlane) {
	t.Helper()
	ctx := context.Background()
	rest := plane.Client.Discovery().RESTClient()
	if err := rest.Post().AbsPath("/apis/apiextensions.k8s.io/v1/customresourcedefinitions").
		SetHeader("Content-Type", "application/json").Body([]byte(podGroupDefinition)).Do(ctx).Error(); err != nil {
		t.Fatalf("define PodGroups: %v", err)
	}
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, startLimit, true, func(ctx context.Context) (bool, error) {
		return rest.Get().AbsPath(fmt.Sprintf(podGroups, "default")).Do(ctx).Error() == nil, nil
	})
	if err != nil {
		t.Fatalf("PodGroups are not served: %v", err)
	}
}

// PodGroup makes one, or changes its minimum.
func (c *Cluster) PodGroup(name string, minimum int) {
	c.T.Helper()
	group := unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup",
		"metadata": map[string]any{"name": name},
		"spec":     map[string]any{"minMember": minimum},
	}}
	body, err := json.Marshal(group.Object)
	c.must(err)
	path := fmt.Sprintf(podGroups, c.Namespace) + "/" + name + "?fieldManager=test"
	c.must(apply(c.ctx(), c.Client, path, body))
}

func apply(ctx context.Context, client kubernetes.Interface, path string, body []byte) error {
	return client.Discovery().RESTClient().Patch("application/apply-patch+yaml").RequestURI(path).Body(body).Do(ctx).Error()
}
