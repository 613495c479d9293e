package kubetest

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	_ "embed"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/sluice-scheduler/sluice/bridge/internal/daemontest"
)

const (
	adminToken = "kubetest-admin"
	startLimit = 90 * time.Second
)

// ControlPlane is etcd, kube-apiserver and kube-controller-manager.
type ControlPlane struct {
	// Kubeconfig is the path of one that may do everything.
	Kubeconfig string
	Config     *rest.Config
	Client     kubernetes.Interface

	Etcd, APIServer, ControllerManager *Process

	directory string
	binaries  string
	address   string
}

// Binaries finds the programs of the control plane: in $KUBERNETES_BINARIES, or
// where scripts/kubernetes-binaries puts them. The test is skipped without them.
func Binaries(t testing.TB) string {
	t.Helper()
	directory := os.Getenv("KUBERNETES_BINARIES")
	if directory == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Skipf("no $KUBERNETES_BINARIES, and no cache: %v", err)
		}
		directory = filepath.Join(cache, "sluice", "kubernetes", Version())
	}
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager"} {
		if _, err := os.Stat(filepath.Join(directory, name)); err != nil {
			t.Skipf("no %s in %s: run scripts/kubernetes-binaries", name, directory)
		}
	}
	return directory
}

//go:embed versions.txt
var versions string

// Version is that of Kubernetes: what $KUBERNETES_VERSION names, or else the
// first of those that scripts/kubernetes-binaries builds.
func Version() string {
	if chosen := os.Getenv("KUBERNETES_VERSION"); chosen != "" {
		return chosen
	}
	newest, _, _ := strings.Cut(versions, "\n")
	return newest
}

// Authorization is how the API server decides who may do what.
type Authorization string

const (
	AlwaysAllow Authorization = "AlwaysAllow"
	RBAC        Authorization = "RBAC"
)

// StartControlPlane starts one that lives as long as the test.
func StartControlPlane(t testing.TB, authorization Authorization) *ControlPlane {
	t.Helper()
	c := &ControlPlane{directory: t.TempDir(), binaries: Binaries(t), address: daemontest.FreeAddress(t)}
	c.writeKeys(t)
	c.writeKubeconfig(t)
	c.prepare(t, authorization)
	for _, process := range []*Process{c.Etcd, c.APIServer} {
		if err := process.Start(); err != nil {
			t.Fatal(err)
		}
	}
	c.WaitReady(t)
	if err := c.ControllerManager.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *ControlPlane) path(name string) string { return filepath.Join(c.directory, name) }

func (c *ControlPlane) prepare(t testing.TB, authorization Authorization) {
	clients, peers := "http://"+daemontest.FreeAddress(t), "http://"+daemontest.FreeAddress(t)
	c.Etcd = newProcess(t, c.directory, filepath.Join(c.binaries, "etcd"),
		"--data-dir="+c.path("etcd"), "--unsafe-no-fsync",
		"--listen-client-urls="+clients, "--advertise-client-urls="+clients,
		"--listen-peer-urls="+peers, "--initial-advertise-peer-urls="+peers,
		"--initial-cluster=default="+peers)
	_, port, err := net.SplitHostPort(c.address)
	if err != nil {
		t.Fatal(err)
	}
	c.APIServer = newProcess(t, c.directory, filepath.Join(c.binaries, "kube-apiserver"),
		"--etcd-servers="+clients, "--bind-address=127.0.0.1", "--secure-port="+port,
		// Loopback cannot be advertised, and nobody looks for the server there.
		"--advertise-address=10.255.255.1", "--endpoint-reconciler-type=none",
		"--cert-dir="+c.path("certificates"), "--service-cluster-ip-range=10.0.0.0/16",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+c.path("sa.pub"), "--service-account-signing-key-file="+c.path("sa.key"),
		"--token-auth-file="+c.path("tokens.csv"), "--authorization-mode="+string(authorization),
		// Without a node lifecycle controller nobody would take the first taint away.
		"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
		"--max-requests-inflight=3000", "--max-mutating-requests-inflight=3000")
	c.ControllerManager = newProcess(t, c.directory, filepath.Join(c.binaries, "kube-controller-manager"),
		"--kubeconfig="+c.Kubeconfig, "--leader-elect=false", "--secure-port=0",
		"--kube-api-qps=1000", "--kube-api-burst=1000",
		"--controllers=job-controller,replicaset-controller,deployment-controller,statefulset-controller,"+
			"daemonset-controller,disruption-controller,namespace-controller,garbage-collector-controller,"+
			"persistentvolume-binder-controller")
}

func (c *ControlPlane) writeKeys(t testing.TB) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	c.write(t, "sa.key", pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	c.write(t, "sa.pub", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}))
	c.write(t, "tokens.csv", []byte(adminToken+`,admin,admin,"system:masters"`+"\n"+
		bridgeToken+",system:serviceaccount:sluice:sluice-bridge,bridge\n"))
}

func (c *ControlPlane) write(t testing.TB, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(c.path(name), content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// The account of the chart's bridge, for tests of its roles.
const bridgeToken = "kubetest-bridge"

func (c *ControlPlane) writeKubeconfig(t testing.TB) {
	t.Helper()
	c.Kubeconfig = c.kubeconfigFor(t, "admin", adminToken)
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS, config.Burst = 5000, 5000
	c.Config = config
	if c.Client, err = kubernetes.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
}

func (c *ControlPlane) kubeconfigFor(t testing.TB, user, token string) string {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["test"] = &clientcmdapi.Cluster{Server: "https://" + c.address, InsecureSkipTLSVerify: true}
	config.AuthInfos[user] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: user}
	config.CurrentContext = "test"
	path := c.path(user + ".kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// BridgeKubeconfig is that of the account system:serviceaccount:sluice:sluice-bridge.
func (c *ControlPlane) BridgeKubeconfig(t testing.TB) string {
	return c.kubeconfigFor(t, "bridge", bridgeToken)
}

// WaitReady waits until the API server serves.
func (c *ControlPlane) WaitReady(t testing.TB) {
	t.Helper()
	err := wait.PollUntilContextTimeout(context.Background(), 100*time.Millisecond, startLimit, true,
		func(ctx context.Context) (bool, error) {
			_, err := c.Client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
			return err == nil, nil
		})
	if err != nil {
		t.Fatalf("the API server is not ready: %v\n%s", err, c.APIServer.logTail(4000))
	}
}
