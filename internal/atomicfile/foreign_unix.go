//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
)

// Foreign reports whether a file belongs to another user than this process, root or
// the owner of another file, which may be nil; and to whom.
func Foreign(file, other fs.FileInfo) (user int, foreign bool) {
	owner := func(info fs.FileInfo) int {
		if info == nil {
			return os.Geteuid()
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			return int(stat.Uid)
		}
		return os.Geteuid()
	}
	user = owner(file)
	return user, user != os.Geteuid() && user != 0 && user != owner(other)
}
