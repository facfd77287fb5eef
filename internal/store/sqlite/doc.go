// Package sqlite opens SQLite files in a way that leaves no trace: shared by
// every adapter whose store is a SQLite database.
//
// Opening a database "read-only" can still change its folder. The rules here,
// measured with SQLite 3.53.4 as modernc.org/sqlite v1.60.0 carries it:
//
//   - mode=ro creates a missing -shm and -wal. With readonly_shm=1 it uses an
//     existing -shm without writing to it, and takes shared locks only. That
//     is for a live writer: a -shm that a killed process left behind can
//     belong to an older -wal, and then SQLite waits ten seconds for somebody
//     to mend it and gives up.
//   - Without a -shm, only the VFS without locks in exclusive mode reads a -wal
//     and creates nothing. On closing it deletes a -wal in which it found no
//     commit, so the WAL is always made persistent first.
//   - immutable=1 reads the main file alone: right only when no -wal or hot
//     journal belongs to it.
//   - As root, SQLite gives a -wal and a -shm to the owner of the database. If
//     that would change an owner, a private copy is read; if not, the time of
//     the last status change (ctime) is all that moves.
//   - A hot -journal is rolled back by whoever opens the database, so that
//     happens in a private copy.
//
// POSIX record locks belong to the process: closing any descriptor of a file
// drops all of them. While a DB is open, nothing else in this process may open
// and close the same database file or its -shm; so one DB per file at a time,
// and no Sniff or ProbeWriter on a file that is open. The DB itself opens its
// descriptor before the driver and closes it after the driver.
//
// OpenEdit opens for writing: for a repair in place and for its undo. It
// refuses what a write could make worse, looks for other processes again once
// it holds the lock, and records each row that it changes as it is stored, so
// that Revert can take the changes back exactly. The order of work is OpenEdit,
// Backup, Begin, changes, Changes, Commit, Close.
package sqlite
