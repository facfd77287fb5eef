//go:build !linux

package sqlite

// availableMemory is not known on this platform, so nothing is read ahead.
func availableMemory() int64 { return 0 }
