// Package daemontest runs the real daemon in tests.
package daemontest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"

	sluicev1 "github.com/sluice-scheduler/sluice/bridge/internal/api/sluice/v1"
)

// Daemon is a process that can be killed and started again at one address.
type Daemon struct {
	Address string

	binary  string
	flags   []string
	command *exec.Cmd
	log     bytes.Buffer
}

// Binary finds sluiced: $SLUICED, or the newest of the builds beside the bridge.
// The test is skipped if there is none.
func Binary(t testing.TB) string {
	t.Helper()
	if path := os.Getenv("SLUICED"); path != "" {
		return path
	}
	directory, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; directory != "/"; directory = filepath.Dir(directory) {
		built := filepath.Join(directory, "build", "ci", "bin", "sluiced")
		if _, err := os.Stat(built); err == nil {
			return built
		}
	}
	t.Skip("no sluiced: build it, or name it in $SLUICED")
	return ""
}

// As in tests/util/free_port.cc: below those that connections are dealt.
const (
	firstPort = 12000
	portCount = 20000
)

// Processes that run at once begin at places of their own.
var portsTried atomic.Int64

func init() { portsTried.Store(int64(os.Getpid()) * 1009 % portCount) }

// FreeAddress is one of loopback on which nobody listens, and none that a test
// that runs was given before: whoever asked for that one may not listen yet.
func FreeAddress(t testing.TB) string {
	t.Helper()
	for range portCount {
		port := firstPort + int(portsTried.Add(1)%portCount)
		if address := fmt.Sprintf("127.0.0.1:%d", port); claim(t, port) && isFree(address) {
			return address
		}
	}
	t.Fatal("no port is free")
	return ""
}

// claim makes the port this process's until it ends, by a name that no two
// sockets can have; those of free_port.cc have the same names.
func claim(t testing.TB, port int) bool {
	t.Helper()
	socket, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatalf("claim a port: %v", err)
	}
	// An abstract name, which needs no file, begins with an at sign.
	if syscall.Bind(socket, &syscall.SockaddrUnix{Name: fmt.Sprint("@sluice test port ", port)}) != nil {
		syscall.Close(socket)
		return false
	}
	return true
}

func isFree(address string) bool {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

// Start starts a daemon that the end of the test kills.
func Start(t testing.TB, flags ...string) *Daemon {
	t.Helper()
	d := &Daemon{Address: FreeAddress(t), binary: Binary(t), flags: flags}
	d.Restart(t)
	t.Cleanup(func() {
		d.Kill()
		if t.Failed() {
			t.Logf("log of sluiced:\n%s", tail(d.log.Bytes(), 8000))
		}
	})
	return d
}

func tail(text []byte, size int) []byte {
	return text[max(0, len(text)-size):]
}

// Restart starts the daemon, which must not run, and waits until it serves.
func (d *Daemon) Restart(t testing.TB) {
	t.Helper()
	d.command = exec.Command(d.binary, append([]string{
		"--listen_address=" + d.Address, "--http_address="}, d.flags...)...)
	d.command.Stdout, d.command.Stderr = &d.log, &d.log
	// It is to die with the test.
	d.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := d.command.Start(); err != nil {
		t.Fatalf("start %s: %v", d.binary, err)
	}
	if err := d.waitUntilReady(); err != nil {
		// The log is written to as long as the daemon runs.
		d.Kill()
		t.Fatalf("%v\n%s", err, d.log.Bytes())
	}
}

func (d *Daemon) waitUntilReady() error {
	connection, err := d.dial()
	if err != nil {
		return err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if _, err := sluicev1.NewInspectorClient(connection).GetStatus(
		ctx, &sluicev1.GetStatusRequest{}, grpc.WaitForReady(true)); err != nil {
		return fmt.Errorf("sluiced does not answer at %s: %w", d.Address, err)
	}
	return nil
}

// Kill ends the daemon as a crash does.
func (d *Daemon) Kill() {
	if d.command == nil {
		return
	}
	_ = d.command.Process.Kill()
	_ = d.command.Wait()
	d.command = nil
}

// Dial connects until the test ends.
func (d *Daemon) Dial(t testing.TB) *grpc.ClientConn {
	t.Helper()
	connection, err := d.dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	return connection
}

func (d *Daemon) dial() (*grpc.ClientConn, error) {
	return grpc.NewClient(d.Address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		// A daemon that has just begun is found at once.
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.Config{
			BaseDelay: 20 * time.Millisecond, Multiplier: 1.5, MaxDelay: 200 * time.Millisecond}}))
}

// PID is that of a daemon that runs.
func (d *Daemon) PID() int { return d.command.Process.Pid }
