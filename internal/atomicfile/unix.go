//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
)

const (
	noFollow = syscall.O_NOFOLLOW // the last part of the path is no symbolic link
	noWait   = syscall.O_NONBLOCK // a pipe is opened without a writer; files know no such thing
)

// ForeignOwner reports whether a file belongs to another user than this process, root or
// the owner of another file, which may be nil; and to whom.
func ForeignOwner(file, other fs.FileInfo) (user int, foreign bool) {
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

// GiveTo gives a new file to the user and the group that own another one, so that
// what root writes beside a user's file stays that user's. Whoever is not root cannot
// give files away, and then nothing is done. It goes before the first byte: until then
// nobody else can have come to anything.
func GiveTo(file *os.File, owner fs.FileInfo) error {
	stat, ok := owner.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	return file.Chown(int(stat.Uid), int(stat.Gid))
}
