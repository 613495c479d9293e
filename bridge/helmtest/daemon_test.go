package helmtest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/fake"

	sluicev1 "github.com/sluice-scheduler/sluice/bridge/internal/api/sluice/v1"
	"github.com/sluice-scheduler/sluice/bridge/internal/certificates"
	"github.com/sluice-scheduler/sluice/bridge/internal/daemontest"
	"github.com/sluice-scheduler/sluice/bridge/internal/kubetest"
)

// mounted are the secrets of a release as files, in a directory each.
type mounted struct{ daemon, bridge, access string }

// mountSecrets makes what the chart's Job makes, and writes it where it is mounted.
func mountSecrets(t *testing.T, objects []*unstructured.Unstructured) mounted {
	t.Helper()
	secrets := fake.NewClientset().CoreV1().Secrets(namespace)
	err := certificates.Keep(t.Context(), secrets, certificates.Wanted{
		AuthoritySecret: "sluice-ca", ServerSecret: "sluice-daemon-tls", ClientSecret: "sluice-bridge-tls",
		ServerNames: append(daemonNames[:len(daemonNames):len(daemonNames)], "127.0.0.1"), ClientName: "sluice-bridge",
		Validity: 30 * 24 * time.Hour}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	write := func(files map[string][]byte) string {
		directory := t.TempDir()
		for name, content := range files {
			if err := os.WriteFile(filepath.Join(directory, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return directory
	}
	read := func(name string) map[string][]byte {
		secret, err := secrets.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return secret.Data
	}
	access, _ := fields(objects, "stringData", "access")["Secret sluice-access"].(string)
	return mounted{daemon: write(read("sluice-daemon-tls")), bridge: write(read("sluice-bridge-tls")),
		access: write(map[string][]byte{"access": []byte(access)})}
}

// startDaemon runs the daemon with the flags that the chart gives it, on loopback.
func startDaemon(t *testing.T, objects []*unstructured.Unstructured, replacements ...string) (grpcAddress, httpAddress string) {
	t.Helper()
	grpcAddress, httpAddress = daemontest.FreeAddress(t), daemontest.FreeAddress(t)
	replacer := strings.NewReplacer(append(replacements, "0.0.0.0:9090", grpcAddress, "0.0.0.0:9091", httpAddress)...)
	containers := fields(objects, "spec", "template", "spec", "containers")["Deployment sluice-daemon"].([]any)
	arguments, _, _ := unstructured.NestedStringSlice(containers[0].(map[string]any), "args")
	for i := range arguments {
		arguments[i] = replacer.Replace(arguments[i])
	}
	if _, err := kubetest.StartProcess(t, daemontest.Binary(t), arguments...); err != nil {
		t.Fatal(err)
	}
	return grpcAddress, httpAddress
}

func tlsConfig(t *testing.T, directory string, hasCertificate bool) *tls.Config {
	t.Helper()
	authority, err := os.ReadFile(filepath.Join(directory, "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: x509.NewCertPool(), ServerName: "sluice-daemon"}
	config.RootCAs.AppendCertsFromPEM(authority)
	if hasCertificate {
		pair, err := tls.LoadX509KeyPair(filepath.Join(directory, "tls.crt"), filepath.Join(directory, "tls.key"))
		if err != nil {
			t.Fatal(err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config
}

// get asks over HTTP, and tries again where nobody listens yet.
func get(t *testing.T, client *http.Client, url, token string) (code int, body string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		response, err := client.Do(request)
		if err != nil {
			if time.Now().After(deadline) {
				t.Fatal(err)
			}
			continue
		}
		content, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(content)
	}
}

// The daemon itself takes the flags, the secrets and the access file of the chart.
// The bridge's certificate may write, the daemon's own may do everything, nobody
// else anything but probe, and the token reads metrics.
func TestTheDaemonTakesWhatTheChartGivesIt(t *testing.T) {
	objects := render1(t, matrix["TLS by a job"])
	files := mountSecrets(t, objects)
	address, httpAddress := startDaemon(t, objects, "/etc/sluice/tls", files.daemon, "/etc/sluice/access", files.access)

	anybody := &http.Client{Transport: &http.Transport{TLSClientConfig: tlsConfig(t, files.bridge, false)}}
	token, _ := fields(objects, "stringData", "token")["Secret sluice-access"].(string)
	for _, path := range []string{"/readyz", "/healthz"} {
		code, body := get(t, anybody, "https://"+httpAddress+path, "")
		for deadline := time.Now().Add(10 * time.Second); code == http.StatusServiceUnavailable && time.Now().Before(deadline); {
			code, body = get(t, anybody, "https://"+httpAddress+path, "")
		}
		if code != http.StatusOK {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	for name, want := range map[string]int{"": http.StatusUnauthorized, "wrong": http.StatusUnauthorized, token: http.StatusOK} {
		if code, body := get(t, anybody, "https://"+httpAddress+"/metrics", name); code != want ||
			(want == http.StatusOK) != strings.Contains(body, "sluice_feed_events_total") {
			t.Errorf("metrics with token %q: %d, want %d", name, code, want)
		}
	}

	call := func(directory string, hasCertificate bool) *grpc.ClientConn {
		connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(credentials.NewTLS(tlsConfig(t, directory, hasCertificate))))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { connection.Close() })
		return connection
	}
	state := func(connection *grpc.ClientConn) error {
		stream, err := sluicev1.NewFeedClient(connection).Connect(t.Context())
		if err != nil {
			return err
		}
		_ = stream.Send(&sluicev1.FeedRequest{Feed: "kubernetes", Events: []*sluicev1.FeedEvent{
			{Sequence: 1, Event: &sluicev1.FeedEvent_BeginSnapshot{BeginSnapshot: &sluicev1.BeginSnapshot{}}},
			{Sequence: 2, Event: &sluicev1.FeedEvent_EndSnapshot{EndSnapshot: &sluicev1.EndSnapshot{}}}}})
		_ = stream.CloseSend()
		_, err = stream.Recv()
		return err
	}
	drain := func(connection *grpc.ClientConn) error {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := sluicev1.NewInspectorClient(connection).DrainMachine(ctx, &sluicev1.DrainMachineRequest{Machine: "none"})
		return err
	}
	bridge, daemon := call(files.bridge, true), call(files.daemon, true)
	if err := state(bridge); err != nil {
		t.Errorf("the bridge may not state: %v", err)
	}
	if err := drain(bridge); status.Code(err) != codes.PermissionDenied {
		t.Errorf("the bridge may drain: %v", err)
	}
	if err := drain(daemon); status.Code(err) != codes.NotFound {
		t.Errorf("the daemon's own certificate may not drain: %v", err)
	}
	if err := state(call(files.bridge, false)); status.Code(err) == codes.OK {
		t.Error("one without a certificate may state")
	}
}

// Without TLS it starts, and serves everybody.
func TestTheDaemonTakesWhatTheChartGivesItWithoutTLS(t *testing.T) {
	_, httpAddress := startDaemon(t, render1(t, matrix["defaults"]))
	if code, body := get(t, http.DefaultClient, "http://"+httpAddress+"/metrics", ""); code != http.StatusOK {
		t.Errorf("%d %s", code, body)
	}
}
