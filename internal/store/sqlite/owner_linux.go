package sqlite

import (
	"os"
	"syscall"
)

// changesOwners reports whether opening the database would give files to
// another owner: as root, SQLite hands a -wal and a -shm to the owner of the
// database.
func changesOwners(l look) bool {
	if os.Geteuid() != 0 {
		return false
	}
	type owner struct{ user, group uint32 }
	var first *owner
	for _, info := range l {
		if info == nil {
			continue
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			continue
		}
		o := owner{stat.Uid, stat.Gid}
		if first == nil {
			first = &o
		} else if *first != o {
			return true
		}
	}
	return false
}
