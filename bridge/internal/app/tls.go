package app

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// daemonCredentials reads a directory as a Kubernetes secret of the kind
// kubernetes.io/tls fills it: ca.crt, and tls.crt and tls.key where the other
// side asks who we are. These two are read anew for each connection, since
// secrets are renewed.
func daemonCredentials(directory, serverName string) (credentials.TransportCredentials, error) {
	if directory == "" {
		return insecure.NewCredentials(), nil
	}
	authority, err := os.ReadFile(filepath.Join(directory, "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("TLS of the daemon: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		return nil, fmt.Errorf("TLS of the daemon: no certificate in %s", filepath.Join(directory, "ca.crt"))
	}
	return credentials.NewTLS(&tls.Config{
		MinVersion: tls.VersionTLS12,
		RootCAs:    pool,
		ServerName: serverName,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(filepath.Join(directory, "tls.crt"), filepath.Join(directory, "tls.key"))
			if errors.Is(err, fs.ErrNotExist) {
				return &tls.Certificate{}, nil
			}
			return &pair, err
		},
	}), nil
}
