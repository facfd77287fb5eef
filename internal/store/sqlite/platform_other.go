//go:build !linux

package sqlite

import (
	"os"
	"runtime"

	"github.com/sessctl/sessctl/internal/session"
)

// probe cannot tell on this platform, so every read works on a private copy.
func probe(*os.File, File) Writer {
	return Writer{
		State: session.WriterUnknown,
		Why:   "sessctl cannot see other processes' file locks on " + runtime.GOOS,
	}
}

// changesOwners: SQLite does so on Unix only, and every read here works on a
// copy.
func changesOwners(look) bool { return false }

// availableMemory is not known on this platform.
func availableMemory() int64 { return 0 }
