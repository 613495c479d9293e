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
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	sluicev1 "github.com/sluice-scheduler/sluice/bridge/internal/api/sluice/v1"
)

// certificate makes one for the name, which vouches for itself.
func certificate(t *testing.T, name string) (tls.Certificate, []byte) {
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
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func TestTLS(t *testing.T) {
	pair, authority := certificate(t, "sluice")
	directory := t.TempDir()
	if err := os.WriteFile(filepath.Join(directory, "ca.crt"), authority, 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{pair}})))
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)

	for name, want := range map[string]codes.Code{"sluice": codes.Unimplemented, "other": codes.Unavailable} {
		options := NewOptions()
		options.DaemonAddress = listener.Addr().String()
		options.DaemonTLSDirectory, options.DaemonTLSServerName = directory, name
		connection, err := dialDaemon(options)
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		_, err = sluicev1.NewInspectorClient(connection).GetStatus(t.Context(), &sluicev1.GetStatusRequest{})
		if status.Code(err) != want {
			t.Errorf("server name %s: %v, want %v", name, err, want)
		}
	}
}

func TestTLSWithoutAnAuthorityIsRefused(t *testing.T) {
	directory := t.TempDir()
	if _, err := daemonCredentials(directory, ""); err == nil {
		t.Error("a directory without ca.crt was taken")
	}
	if err := os.WriteFile(filepath.Join(directory, "ca.crt"), []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := daemonCredentials(directory, ""); err == nil {
		t.Error("a ca.crt without certificates was taken")
	}
}
