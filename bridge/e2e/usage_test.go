package e2e

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sluicev1 "github.com/sluice-scheduler/sluice/bridge/internal/api/sluice/v1"
	"github.com/sluice-scheduler/sluice/bridge/internal/daemontest"
	"github.com/sluice-scheduler/sluice/bridge/internal/kubetest"
)

// metricsServer answers as metrics-server does: one node at half of its four
// cores, with one pod.
func metricsServer(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	const group = `"apiVersion":"metrics.k8s.io/v1beta1"`
	switch r.URL.Path {
	case "/apis/metrics.k8s.io/v1beta1/nodes":
		fmt.Fprintf(w, `{"kind":"NodeMetricsList",%s,"items":[
			{"metadata":{"name":"n1"},"usage":{"cpu":"2","memory":"2Gi"}}]}`, group)
	case "/apis/metrics.k8s.io/v1beta1/pods":
		fmt.Fprintf(w, `{"kind":"PodMetricsList",%s,"items":[
			{"metadata":{"name":"web","namespace":"usage"},"containers":[{"name":"c","usage":{"cpu":"700m","memory":"1Gi"}}]}]}`, group)
	case "/apis/metrics.k8s.io/v1beta1":
		fmt.Fprint(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"metrics.k8s.io/v1beta1","resources":[]}`)
	default:
		http.NotFound(w, r)
	}
}

// serveMetrics puts a server behind the API server, where metrics-server would be.
func serveMetrics(t *testing.T, c *kubetest.Cluster) {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(metricsServer))
	t.Cleanup(server.Close)
	port := server.Listener.Addr().(*net.TCPAddr).Port
	ctx := context.Background()
	_, err := c.Client.CoreV1().Services(c.Namespace).Create(ctx, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "metrics-server"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	}, metav1.CreateOptions{})
	must(c, err)
	err = c.Client.CoreV1().RESTClient().Post().
		AbsPath("/apis/apiregistration.k8s.io/v1/apiservices").
		SetHeader("Content-Type", "application/json").
		Body([]byte(fmt.Sprintf(`{"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService",
			"metadata":{"name":"v1beta1.metrics.k8s.io"},
			"spec":{"group":"metrics.k8s.io","version":"v1beta1","insecureSkipTLSVerify":true,
				"groupPriorityMinimum":100,"versionPriority":100,
				"service":{"name":"metrics-server","namespace":%q,"port":%d}}}`, c.Namespace, port))).
		Do(ctx).Error()
	must(c, err)
}

func TestUsage(t *testing.T) {
	plane := kubetest.StartControlPlane(t, kubetest.RBAC)
	daemon := daemontest.Start(t)
	kubetest.GrantBridge(t, plane)
	// Nobody serves metrics when it begins.
	kubetest.StartBridge(t, kubetest.BuildBridge(t), plane.BridgeKubeconfig(t), daemon,
		"--leader-elect", "--leader-elect-resource-namespace="+kubetest.BridgeNamespace, "--usage-interval=1s")
	c := kubetest.NewCluster(t, plane, "usage")
	c.Node("n1")
	c.Pod("web", kubetest.Requests("cpu", "1"))
	c.IsOn("web", "n1")
	serveMetrics(t, c)
	inspector := sluicev1.NewInspectorClient(daemon.Dial(t))
	c.Eventually("the daemon knows what is used", func() bool {
		machines, err := inspector.ListMachines(t.Context(), &sluicev1.ListMachinesRequest{WithUsage: true})
		if err != nil || len(machines.Machines) != 1 || len(machines.Machines[0].Usage) == 0 {
			return false
		}
		tasks, err := inspector.ListTasks(t.Context(), &sluicev1.ListTasksRequest{})
		if err != nil || len(tasks.Tasks) != 1 || tasks.Tasks[0].Usage == nil {
			return false
		}
		if got := machines.Machines[0].Usage[0].CpuRatio; got != 0.5 {
			t.Errorf("n1 uses %v of its cpu", got)
		}
		if got := tasks.Tasks[0].Usage.CpuMillicores; got != 700 {
			t.Errorf("the pod uses %v millicores", got)
		}
		return true
	})
}
