package app

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	sluicev1 "github.com/sluice-scheduler/sluice/bridge/internal/api/sluice/v1"
)

// identity is a certificate that vouches for itself.
type identity struct {
	pair             tls.Certificate
	certificate, key []byte // PEM
}

func newIdentity(t *testing.T, name string) identity {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return identity{
		pair:        tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		key:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
	}
}

func (i identity) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(i.certificate)
	return pool
}

func writeFiles(t *testing.T, directory string, files map[string][]byte) {
	t.Helper()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(directory, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// serveTLS serves, with a configuration that it asks for with each connection,
// what implements nothing.
func serveTLS(t *testing.T, config func() *tls.Config) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.Creds(credentials.NewTLS(&tls.Config{
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			now := config()
			now.NextProtos = []string{"h2"}
			return now, nil
		}})))
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return listener.Addr().String()
}

func dialTLS(t *testing.T, address, directory, name string) *grpc.ClientConn {
	t.Helper()
	options := NewOptions()
	options.DaemonAddress = address
	options.DaemonTLSDirectory, options.DaemonTLSServerName = directory, name
	connection, err := dialDaemon(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	return connection
}

func ask(t *testing.T, connection *grpc.ClientConn) error {
	t.Helper()
	_, err := sluicev1.NewInspectorClient(connection).GetStatus(t.Context(), &sluicev1.GetStatusRequest{})
	return err
}

func TestTLS(t *testing.T) {
	server := newIdentity(t, "sluice")
	directory := t.TempDir()
	writeFiles(t, directory, map[string][]byte{"ca.crt": server.certificate})
	address := serveTLS(t, func() *tls.Config { return &tls.Config{Certificates: []tls.Certificate{server.pair}} })
	for name, want := range map[string]codes.Code{"sluice": codes.Unimplemented, "other": codes.Unavailable} {
		if err := ask(t, dialTLS(t, address, directory, name)); status.Code(err) != want {
			t.Errorf("server name %s: %v, want %v", name, err, want)
		}
	}
}

// Each connection begins with the files of then: those of both sides are
// renewed, authority and all, while the bridge runs.
func TestTLSFilesAreReadAnew(t *testing.T) {
	type sides struct{ server, client identity }
	var now atomic.Pointer[sides]
	now.Store(&sides{newIdentity(t, "sluice"), newIdentity(t, "bridge")})
	address := serveTLS(t, func() *tls.Config {
		return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{now.Load().server.pair},
			ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: now.Load().client.pool()}
	})
	directory := t.TempDir()
	write := func() {
		writeFiles(t, directory, map[string][]byte{"ca.crt": now.Load().server.certificate,
			"tls.crt": now.Load().client.certificate, "tls.key": now.Load().client.key})
	}
	write()
	// What gRPC does when a connection breaks is to make another one of the same
	// credentials.
	shared, err := daemonCredentials(directory, "sluice")
	if err != nil {
		t.Fatal(err)
	}
	connect := func() error {
		connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(shared))
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		return ask(t, connection)
	}
	if err := connect(); status.Code(err) != codes.Unimplemented {
		t.Fatal(err)
	}
	now.Store(&sides{newIdentity(t, "sluice"), newIdentity(t, "bridge")})
	if err := connect(); status.Code(err) != codes.Unavailable {
		t.Errorf("the files of before were taken: %v", err)
	}
	writeFiles(t, directory, map[string][]byte{"tls.key": []byte("half a k")})
	if err := connect(); status.Code(err) != codes.Unavailable {
		t.Errorf("half a key was taken: %v", err)
	}
	write()
	if err := connect(); status.Code(err) != codes.Unimplemented {
		t.Errorf("the files of now were not taken: %v", err)
	}
}

func TestTLSWithoutAnAuthorityIsRefused(t *testing.T) {
	directory := t.TempDir()
	if _, err := daemonCredentials(directory, ""); err == nil {
		t.Error("a directory without ca.crt was taken")
	}
	writeFiles(t, directory, map[string][]byte{"ca.crt": []byte("nothing")})
	if _, err := daemonCredentials(directory, ""); err == nil {
		t.Error("a ca.crt without certificates was taken")
	}
}
