package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	modernc "modernc.org/sqlite"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/table"
)

// beside is what this process knows of the -wal and the -shm of a database that it
// writes to. SQLite opens and deletes both by their names, whatever stands there. So they
// are made here where they are missing, which nobody else can have done then, and what is
// deleted at the end is what was made here and is still there.
type beside struct {
	folder *os.Root // where the database was opened, wherever that goes
	name   string
	known  look // as they were when SQLite had opened them
	made   look // those that this process made
}

// openFolder opens the folder of the database.
func (b *beside) openFolder(f File) (err error) {
	b.name = filepath.Base(f.real)
	b.folder, err = os.OpenRoot(filepath.Dir(f.real))
	return err
}

func (b *beside) closeFolder() error {
	if b.folder == nil {
		return nil
	}
	err := b.folder.Close()
	b.folder, b.known = nil, look{}
	return err
}

// logs are the numbers of the -wal and the -shm among the suffixes.
var logs = [...]int{1, 2}

// createLogs makes the files that a database in WAL mode is going to need, empty and with its
// mode and owner, as SQLite does.
func (b *beside) createLogs(f File) error {
	if !f.Header.WAL {
		return nil
	}
	for _, i := range logs {
		file, err := b.folder.OpenFile(b.name+suffixes[i], os.O_RDWR|os.O_CREATE|os.O_EXCL, f.opened.Mode().Perm())
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return notWritable(f.Path, "the folder "+filepath.Dir(f.real), err)
		}
		err = errors.Join(atomicfile.GiveTo(file, f.opened), file.Chmod(f.opened.Mode().Perm()))
		info, statErr := file.Stat()
		b.made[i] = info
		if err = errors.Join(err, statErr, file.Close()); err != nil {
			return notWritable(f.Path, "the folder "+filepath.Dir(f.real), err)
		}
	}
	return nil
}

// noteOpened notes what SQLite has opened.
func (b *beside) noteOpened() error {
	for _, i := range logs {
		info, err := b.statFile(i)
		if err != nil {
			return err
		}
		b.known[i] = info
	}
	return nil
}

// statFile is the file that stands there now, nil for none.
func (b *beside) statFile(i int) (fs.FileInfo, error) {
	if b.folder == nil {
		return nil, nil
	}
	info, err := b.folder.Lstat(b.name + suffixes[i])
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		os.SameFile(info, info) // Windows asks for the id only now
	}
	return info, err
}

// replacedFile says which file is another one than SQLite has open, "" if none is.
func (b *beside) replacedFile() string {
	for _, i := range logs {
		now, err := b.statFile(i)
		was := b.known[i]
		switch {
		case err != nil || was == nil && now == nil:
		case was == nil:
			return b.name + suffixes[i] + " was added"
		case now == nil:
			return b.name + suffixes[i] + " was moved or deleted"
		case !os.SameFile(was, now):
			return b.name + suffixes[i] + " was replaced by another file"
		}
	}
	return ""
}

// isOurs reports whether the i-th file is still the one that this process made.
func (b *beside) isOurs(i int) bool {
	now, err := b.statFile(i)
	return err == nil && now != nil && b.made[i] != nil && os.SameFile(now, b.made[i])
}

// hasForeignLog reports whether another -wal than SQLite has open stands beside the database,
// which the next program that opens it would take for its log.
func (b *beside) hasForeignLog() bool {
	now, err := b.statFile(1)
	return err == nil && now != nil && (b.known[1] == nil || !os.SameFile(now, b.known[1]))
}

// setClosePolicy tells SQLite what to do with both files when it closes the database, which it
// does under its lock: to delete them where both were made here. Else they stay, and the
// log is emptied when all of it is in the database.
func (b *beside) setClosePolicy(db *DB) error {
	if b.known[1] == nil {
		return nil
	}
	stay := 0
	if !b.isOurs(1) || !b.isOurs(2) {
		stay = 1
		if _, err := db.conn.ExecContext(context.Background(), "pragma journal_size_limit=0"); err != nil {
			return err
		}
	}
	return db.conn.Raw(func(conn any) error {
		_, err := conn.(modernc.FileControl).FileControlPersistWAL("main", stay)
		return err
	})
}

// removeCreated deletes what this process made and SQLite did not delete, because a file is
// another one by now. Another process could have taken a log for its own: it stays where
// somebody has either database open, or nobody can tell. Beside the database that it was
// made for, a log that is not empty may hold what never reached the file, as on a full disk.
func (b *beside) removeCreated(handle *os.File, real string, standing bool) {
	if !b.isOurs(1) && !b.isOurs(2) {
		return
	}
	if log, err := b.statFile(1); standing && (err != nil || log != nil && log.Size() > 0) {
		return
	}
	release, alone := aloneWith(handle, real)
	if !alone {
		return
	}
	defer release()
	for _, i := range logs {
		if b.isOurs(i) {
			_ = b.folder.Remove(b.name + suffixes[i])
		}
	}
}

// leftoverNotice is a sentence about the files that stay, "" when none does. standing says that
// the database is still the one that they were opened for.
func (b *beside) leftoverNotice(standing bool) string {
	var names []string
	for _, i := range logs {
		if now, err := b.statFile(i); err == nil && now != nil {
			names = append(names, b.name+suffixes[i])
		}
	}
	if len(names) == 0 {
		return ""
	}
	them, stays := "it", " stays"
	if len(names) > 1 {
		them, stays = "them", " stay"
	}
	text := strings.Join(names, " and ") + stays + " beside the store, because another process created " + them + " or uses " + them
	if now, err := b.statFile(1); err == nil && now != nil && now.Size() > 0 && !standing {
		text += "; the log belongs to the file that was there before: do not use it with another one"
	}
	return text
}

// pathChange says what became of the file since it was opened, "" while its path leads to
// it. A file is the same if its device and inode are, on Windows the volume and the file
// id; the handle that is still open keeps them from being given to another one.
func (f *File) pathChange() string {
	if what := changeAtPath(f.opened, os.Lstat, f.real); what != "" {
		return what
	}
	if changeAtPath(f.opened, os.Stat, f.Path) != "" { // a symbolic link on the way there
		return "now leads to another file"
	}
	return ""
}

// changeAtPath says what became of a file at a path, "" if it is there.
func changeAtPath(was fs.FileInfo, look func(string) (fs.FileInfo, error), path string) string {
	is, err := look(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "was moved or deleted"
	case err != nil:
		return "can no longer be read (" + problem.Reason(err) + ")"
	case !os.SameFile(was, is):
		return wasReplaced
	}
	return ""
}

// replacedError is the problem with a database that is not at its path any more, nil while it
// is. What that means for the work, who did it adds.
func (f *File) replacedError() error {
	what := f.pathChange()
	if what == "" {
		return nil
	}
	return goneError(f.Path, what)
}

func goneError(path, what string) error {
	return &problem.Error{
		Class: problem.Busy, Err: table.ErrReplaced,
		What: path + " " + what,
		Next: afterReplacement,
	}
}

const (
	wasReplaced      = "was replaced by another file"
	afterReplacement = "nothing was changed; find out which program moves this file, and try again"
)

// suffixes are the files that make up a database: itself, the write-ahead log,
// its index in shared memory, and the rollback journal.
var suffixes = [...]string{"", "-wal", "-shm", "-journal"}

// look is what stat says of each of them, nil where there is none.
type look [len(suffixes)]fs.FileInfo

func lookAt(real string) (look, error) {
	var l look
	for i, suffix := range suffixes {
		info, err := os.Lstat(real + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return l, err
		}
		l[i] = info
	}
	return l, nil
}

// fileSize is the length of the i-th file, -1 when there is none.
func (l look) fileSize(i int) int64 {
	if l[i] == nil {
		return -1
	}
	return l[i].Size()
}

// sameFiles reports whether none of the files appeared or vanished since.
func (l look) sameFiles(now look) bool {
	for i := range l {
		if (l[i] == nil) != (now[i] == nil) {
			return false
		}
	}
	return true
}

// describeChange says how the folder changed since the look, "" when it did not.
func (l look) describeChange(now look) string {
	for i, suffix := range suffixes {
		name := "the database"
		if suffix != "" {
			name = "its " + suffix + " file"
		}
		was, is := l[i], now[i]
		switch {
		case was == nil && is == nil:
		case was == nil:
			return name + " appeared"
		case is == nil:
			return name + " vanished"
		case !os.SameFile(was, is):
			return name + " was replaced"
		case was.Size() != is.Size():
			return fmt.Sprintf("%s went from %s to %s", name, bytesText(was.Size()), bytesText(is.Size()))
		case !was.ModTime().Equal(is.ModTime()):
			return name + " was written to"
		}
	}
	return ""
}

// meetNeighbours fills in what stands beside the file.
func (f *File) meetNeighbours() error {
	var err error
	if f.seen, err = lookAt(f.real); err != nil {
		return cannotRead(f.Path, err)
	}
	for i, suffix := range suffixes {
		if info := f.seen[i]; info != nil && !info.Mode().IsRegular() {
			return problem.New(problem.Unreadable, "find out who put it there, and move it away",
				"%s cannot be read: %s%s beside it is %s, which SQLite does not follow", f.Path, filepath.Base(f.real), suffix, kindOf(info.Mode()))
		}
	}
	f.WAL, f.SHM, f.Journal = f.seen.fileSize(1), f.seen.fileSize(2), f.seen.fileSize(3)
	if f.WAL > 0 {
		head, err := headOf(f.real+"-wal", walHeaderSize)
		if err != nil {
			return cannotRead(f.Path+"-wal", err)
		}
		_, f.walUsable = parseWALHeader(head)
	}
	if f.Journal > 0 {
		// A journal that was kept after its transaction begins with zeros.
		head, err := headOf(f.real+"-journal", 1)
		if err != nil {
			return cannotRead(f.Path+"-journal", err)
		}
		f.journalHot = len(head) > 0 && head[0] != 0
	}
	return nil
}

// headOf reads up to n bytes from the start of a file. A file that has
// vanished meanwhile has none.
func headOf(path string, n int) ([]byte, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	head := make([]byte, n)
	n, err = io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	return head[:n], nil
}
