//go:build !linux

package bench

import "os"

// peakMemory is not known: other systems count in other units.
func peakMemory(*os.ProcessState) int64 { return 0 }
