package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// daemonCredentials reads a directory with a mounted secret of the kind
// kubernetes.io/tls: ca.crt, and for mutual TLS tls.crt and tls.key. Each
// connection reads the files anew, because secrets are renewed. An empty server
// name means that of the address.
func daemonCredentials(directory, serverName string) (credentials.TransportCredentials, error) {
	if directory == "" {
		return insecure.NewCredentials(), nil
	}
	current, err := readCredentials(directory, serverName)
	if err != nil {
		return nil, err
	}
	return &rereadCredentials{TransportCredentials: current, directory: directory, serverName: serverName}, nil
}

// rereadCredentials read the files at the beginning of each connection. gRPC
// takes their description from the first reading.
type rereadCredentials struct {
	credentials.TransportCredentials
	directory, serverName string
}

// ClientHandshake implements credentials.TransportCredentials. Broken files,
// half written ones for instance, fail this connection and not the next.
func (r *rereadCredentials) ClientHandshake(ctx context.Context, authority string, connection net.Conn) (net.Conn, credentials.AuthInfo, error) {
	current, err := readCredentials(r.directory, r.serverName)
	if err != nil {
		return nil, nil, err
	}
	return current.ClientHandshake(ctx, authority, connection)
}

// Clone implements credentials.TransportCredentials.
func (r *rereadCredentials) Clone() credentials.TransportCredentials {
	return &rereadCredentials{TransportCredentials: r.TransportCredentials.Clone(), directory: r.directory, serverName: r.serverName}
}

func readCredentials(directory, serverName string) (credentials.TransportCredentials, error) {
	authority, err := os.ReadFile(filepath.Join(directory, "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("TLS of the daemon: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		return nil, fmt.Errorf("TLS of the daemon: no certificate in %s", filepath.Join(directory, "ca.crt"))
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool, ServerName: serverName}
	pair, err := tls.LoadX509KeyPair(filepath.Join(directory, "tls.crt"), filepath.Join(directory, "tls.key"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("TLS of the daemon: %s: %w", directory, err)
	default:
		config.Certificates = []tls.Certificate{pair}
	}
	return credentials.NewTLS(config), nil
}
