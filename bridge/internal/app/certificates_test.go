package app

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func runCertificates(t *testing.T, arguments ...string) error {
	t.Helper()
	command := NewCommand()
	command.SetArgs(append([]string{"certificates"}, arguments...))
	command.SetOut(io.Discard)
	command.SetErr(io.Discard)
	return command.ExecuteContext(t.Context())
}

var goodCertificates = []string{"--namespace=sluice", "--authority-secret=ca", "--server-secret=server",
	"--client-secret=client", "--server-name=sluice-daemon", "--server-name=127.0.0.1", "--label=team=ops"}

func TestFlagsOfCertificatesThatMakeNoSenseAreNamed(t *testing.T) {
	for _, flag := range []string{"--authority-secret=", "--server-secret=A b", "--client-secret=", "--namespace=",
		"--server-name=a,,b", "--client-name=", "--validity=1h", "--unknown=1"} {
		err := runCertificates(t, append(slices.Clone(goodCertificates), flag)...)
		if name, _, _ := strings.Cut(flag, "="); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

// secretServer is as much of an API server as secrets need.
type secretServer struct {
	mu      sync.Mutex
	secrets map[string]*corev1.Secret
	writes  int
}

func (s *secretServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	const path = "/api/v1/namespaces/sluice/secrets"
	name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, path), "/")
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodGet {
		secret, ok := s.secrets[name]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}`)
			return
		}
		_ = json.NewEncoder(w).Encode(secret)
		return
	}
	secret := &corev1.Secret{}
	if err := json.NewDecoder(r.Body).Decode(secret); err != nil || !strings.HasPrefix(r.URL.Path, path) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.secrets[secret.Name] = secret
	s.writes++
	_ = json.NewEncoder(w).Encode(secret)
}

func TestCertificatesAreMadeOnce(t *testing.T) {
	server := &secretServer{secrets: map[string]*corev1.Secret{}}
	api := httptest.NewServer(server)
	t.Cleanup(api.Close)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	content := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a}}],
  clusters: [{name: a, cluster: {server: %q}}]}`, api.URL)
	if err := os.WriteFile(kubeconfig, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := runCertificates(t, append(slices.Clone(goodCertificates), "--kubeconfig="+kubeconfig)...); err != nil {
			t.Fatal(err)
		}
	}
	if server.writes != 3 {
		t.Errorf("%d writes", server.writes)
	}
	for _, name := range []string{"ca", "server", "client"} {
		if secret := server.secrets[name]; secret == nil || secret.Labels["team"] != "ops" || len(secret.Data["tls.key"]) == 0 {
			t.Errorf("%s: %v", name, secret)
		}
	}
	// What the bridge reads.
	directory := t.TempDir()
	writeFiles(t, directory, server.secrets["client"].Data)
	if _, err := daemonCredentials(directory, ""); err != nil {
		t.Error(err)
	}
}
