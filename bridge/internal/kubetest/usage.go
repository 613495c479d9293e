package kubetest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// The kernel's unit of processor time, which has been 1/100 s for as long as
// Linux tells it.
const clockTick = 10 * time.Millisecond

// Usage is what a process has used since it began.
type Usage struct {
	CPU time.Duration
	// The most memory it had at a time, in bytes.
	PeakMemory int64
}

// UsageOf reads /proc.
func UsageOf(pid int) (Usage, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Usage{}, err
	}
	// The name, in parentheses, may contain anything.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var ticks int64
	for _, field := range fields[11:13] {
		value, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return Usage{}, fmt.Errorf("processor time of %d: %w", pid, err)
		}
		ticks += value
	}
	usage := Usage{CPU: time.Duration(ticks) * clockTick}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Usage{}, err
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			if err != nil {
				return Usage{}, fmt.Errorf("memory of %d: %w", pid, err)
			}
			usage.PeakMemory = kilobytes << 10
		}
	}
	return usage, nil
}

// PID is that of a process that runs.
func (p *Process) PID() int { return p.command.Process.Pid }
