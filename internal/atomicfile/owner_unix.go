//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
)

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
