package bench

import (
	"os"
	"syscall"
)

// peakMemory is the most memory in bytes that a finished process had resident.
func peakMemory(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Maxrss * 1024
}
