// Package kubetest runs a real control plane, the daemon and the bridge in
// tests, each a process that can be killed and started again.
package kubetest

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Process is a program that the end of the test kills.
type Process struct {
	name      string
	binary    string
	arguments []string
	logPath   string
	command   *exec.Cmd
}

// StartProcess starts a program, whose log is told where the test fails.
func StartProcess(t testing.TB, binary string, arguments ...string) (*Process, error) {
	p := newProcess(t, t.TempDir(), binary, arguments...)
	return p, p.Start()
}

func newProcess(t testing.TB, directory, binary string, arguments ...string) *Process {
	t.Helper()
	name := filepath.Base(binary)
	p := &Process{
		name: name, binary: binary, arguments: arguments,
		logPath: filepath.Join(directory, name+".log"),
	}
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("end of the log of %s:\n%s", name, p.logTail(4000))
		}
	})
	return p
}

// Start starts a process that does not run.
func (p *Process) Start() error {
	log, err := os.OpenFile(p.logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("log of %s: %w", p.name, err)
	}
	defer log.Close()
	p.command = exec.Command(p.binary, p.arguments...)
	p.command.Stdout, p.command.Stderr = log, log
	// It is to die with the test, however that ends.
	p.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.command.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	return nil
}

// Kill ends the process as a crash does, if it runs.
func (p *Process) Kill() {
	if p.command == nil {
		return
	}
	_ = p.command.Process.Kill()
	_ = p.command.Wait()
	p.command = nil
}

// Terminate ends the process as Kubernetes does, and waits until it has ended.
func (p *Process) Terminate() {
	_ = p.command.Process.Signal(syscall.SIGTERM)
	_ = p.command.Wait()
	p.command = nil
}

// Pause freezes the process until Resume.
func (p *Process) Pause() { _ = p.command.Process.Signal(syscall.SIGSTOP) }

// Resume lets a paused process go on.
func (p *Process) Resume() { _ = p.command.Process.Signal(syscall.SIGCONT) }

// Log is what the process has written, also before it was killed and started
// again.
func (p *Process) Log() string { return string(p.logTail(math.MaxInt)) }

func (p *Process) logTail(size int) []byte {
	log, err := os.ReadFile(p.logPath)
	if err != nil {
		return []byte(err.Error())
	}
	return log[max(0, len(log)-size):]
}
