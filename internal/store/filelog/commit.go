package filelog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/table"
)

// exchange is a file whose place another one takes. All that takes room is done before the
// first of them, so that a full disk changes nothing.
type exchange struct {
	*staged
	name     string
	full     string
	old      *os.File    // it, open for reading
	info     fs.FileInfo // as it was before
	next     string      // the new file, "" when it has its name
	kept     string      // the old one under a second name, or a copy of it
	copied   bool        // a copy: what was appended since is not in it
	releases []func()
}

// Commit implements table.Transaction. Where that fails, the files that were replaced are
// put back; one that cannot be put back makes the error table.ErrUnknown, and the backup
// stays.
func (e *Editor) Commit(ctx context.Context) error {
	if err := e.Replaced(); err != nil {
		return err
	}
	all, err := e.prepareExchanges(ctx)
	defer func() {
		for _, x := range all {
			x.removeLeftovers()
		}
	}()
	if err == nil {
		e.closeFiles() // else Windows gives no other file their names
		err = e.exchangeAll(all)
	}
	if err != nil {
		if e.backup != "" && !e.changed && !errors.Is(err, table.ErrUnknown) {
			clear(e.backed)
			err = errors.Join(err, os.RemoveAll(e.backup))
		}
		return err
	}
	e.changed = e.changed || len(all) > 0
	return e.Rollback() // nothing of it is left
}

// prepareExchanges writes the backup and the new files, and gives the old ones a second name.
// With an error it returns those that were begun, which have something to remove.
func (e *Editor) prepareExchanges(ctx context.Context) (all []*exchange, err error) {
	for _, name := range slices.Sorted(maps.Keys(e.staged)) {
		s := e.staged[name]
		if s.wasSum == s.isSum {
			continue
		}
		if err := ctx.Err(); err != nil {
			return all, err
		}
		if err := e.backUp(name, s); err != nil {
			return all, err
		}
		x := &exchange{staged: s, name: name, full: filepath.Join(e.path, filepath.FromSlash(name))}
		all = append(all, x)
		if err := e.openFile(x); err != nil {
			return all, err
		}
		if err := x.writeFiles(); err != nil {
			return all, err
		}
	}
	return all, nil
}

// openFile looks at the file, which has to be in the folder that was opened.
func (e *Editor) openFile(x *exchange) error {
	there, err := e.root.Stat(path.Dir(x.name))
	if err != nil {
		return err
	}
	if folder, err := os.Stat(filepath.Dir(x.full)); err != nil || !os.SameFile(folder, there) {
		return e.moved(x.name)
	}
	if x.old, err = atomicfile.OpenOwn(x.full, os.O_RDONLY); err != nil {
		return e.moved(x.name)
	}
	x.info, err = x.old.Stat()
	return err
}

// writeFiles makes the new file, and what puts the old one back.
func (x *exchange) writeFiles() error {
	folder := filepath.Dir(x.full)
	AtStep("commit: write " + x.name)
	next, err := x.copyFile(folder, x.is, x.isSum)
	x.next = next
	if err != nil {
		return err
	}
	kept, release, err := atomicfile.SecondName(x.full, folder)
	if err != nil { // the file system has none
		x.copied = true
		if x.kept, err = x.copyFile(folder, x.was, x.wasSum); err != nil {
			return err
		}
		return atomicfile.SyncFolder(folder)
	}
	x.kept, x.releases = kept, append(x.releases, release)
	return atomicfile.SyncFolder(folder)
}

// copyFile writes a file like the old one under a temporary name.
func (x *exchange) copyFile(folder string, text *Spliced, sum string) (string, error) {
	file, release, err := atomicfile.CreateTemporary(folder, 0o600)
	if err != nil {
		return "", notWritten(x.full, err)
	}
	x.releases = append(x.releases, release)
	if err := finishFile(file, text, sum, x.info); err != nil {
		return file.Name(), notWritten(x.full, err)
	}
	return file.Name(), nil
}

func notWritten(full string, err error) error {
	return problem.New(problem.Unreadable, "Nothing was changed. Free some space there, or make it writable, and try again.", "%s cannot be replaced: %s", full, problem.Reason(err))
}

// exchangeAll gives the new files their names, or puts back those that have theirs.
func (e *Editor) exchangeAll(all []*exchange) error {
	for n, x := range all {
		err := e.exchangeFile(x)
		if err == nil {
			continue
		}
		var stuck []string
		for _, x := range slices.Backward(all[:n+1]) {
			if back := e.putBack(x); back != nil {
				stuck, err = append(stuck, x.full), errors.Join(err, back)
			}
		}
		if len(stuck) > 0 {
			e.changed = true
			return &problem.Error{
				Class: problem.Unreadable, Err: errors.Join(table.ErrUnknown, err),
				What: "the change ended in the middle, and these files could not be put back: " + strings.Join(stuck, ", ") + " (" + problem.Reason(err) + ")",
				Next: "Free some space, or mend the disk. Then undo the repair with its receipt: it brings these files back.",
			}
		}
		return err
	}
	return nil
}

// exchangeFile lets the new file take the name of one that is what it was. A line that another
// program appends between the comparison and the new name is kept: it goes behind the others.
func (e *Editor) exchangeFile(x *exchange) error {
	if sum, err := digestBytes(io.NewSectionReader(x.old, 0, x.was.Size+1)); err != nil || sum != x.wasSum {
		return e.moved(x.name)
	}
	AtStep("commit: replace " + x.name)
	if now, err := os.Lstat(x.full); err != nil || !same(x.info, now) {
		return e.moved(x.name)
	}
	if err := atomicfile.Rename(x.next, x.full); err != nil {
		return notWritten(x.full, err)
	}
	x.next = ""
	AtStep("commit: replaced " + x.name)
	e.read[x.name] = nil
	late := x.was.Size
	for range 2 { // a program that had opened the file before may write to it a little later
		kept, err := keepLate(x.old, late, x.full)
		late += kept
		if err = errors.Join(err, atomicfile.SyncFolder(filepath.Dir(x.full))); err != nil {
			return notWritten(x.full, err)
		}
	}
	return nil
}

// putBack gives the old file its name again, which takes no room. What other programs
// appended to either goes behind its lines.
func (e *Editor) putBack(x *exchange) error {
	if x.next != "" || x.kept == "" {
		return nil
	}
	now, err := atomicfile.OpenOwn(x.full, os.O_RDONLY)
	if err != nil {
		return err
	}
	sum, err := digestBytes(io.NewSectionReader(now, 0, x.is.Size))
	rest, restErr := io.ReadAll(io.NewSectionReader(now, x.is.Size, mostBytes))
	late, lateErr := io.ReadAll(io.NewSectionReader(x.old, x.was.Size, mostBytes))
	if err = errors.Join(err, restErr, now.Close(), lateErr); err != nil {
		return err
	}
	more, behind := bytes.CutPrefix(rest, late)
	if sum != x.isSum || !behind && !bytes.HasPrefix(late, rest) {
		return e.moved(x.name)
	}
	if !behind { // some of what the old file got did not reach the new one
		more = nil
	}
	if x.copied {
		more = append(late, more...)
	}
	if len(more) > 0 {
		if err := appendTo(x.kept, more); err != nil {
			return err
		}
	}
	if err := atomicfile.Rename(x.kept, x.full); err != nil {
		return err
	}
	x.kept = ""
	if len(more) == 0 && !x.copied {
		e.read[x.name] = x.info
	}
	return atomicfile.SyncFolder(filepath.Dir(x.full))
}

// removeLeftovers removes what is left of an exchange.
func (x *exchange) removeLeftovers() {
	for _, name := range []string{x.next, x.kept} {
		if name != "" {
			_ = os.Remove(name) // else the next process that writes here does
		}
	}
	for _, release := range x.releases {
		release()
	}
	if x.old != nil {
		_ = x.old.Close()
	}
}

// backUp puts a copy of a file into the backup, where it lies in the folder.
func (e *Editor) backUp(name string, s *staged) error {
	if e.backup == "" || e.backed[name] { // as it was before the first commit
		return nil
	}
	AtStep("commit: back up " + name)
	to := filepath.Join(e.backup, filepath.FromSlash(name))
	info, err := e.root.Lstat(name)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o700)
	}
	if err == nil {
		err = writeLike(to, s, info)
	}
	if err != nil {
		return problem.New(problem.Unreadable, "Nothing was changed. Free some space there, or make it writable.", "the backup %s cannot be written: %s", to, problem.Reason(err))
	}
	e.backed[name] = true
	return nil
}

// writeLike writes what a file was into a new one with its owner, mode and time.
func writeLike(to string, s *staged, like fs.FileInfo) error {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(finishFile(f, s.was, s.wasSum, like), atomicfile.SyncFolder(filepath.Dir(to)))
}

func finishFile(f *os.File, text *Spliced, sum string, like fs.FileInfo) error {
	err := atomicfile.GiveTo(f, like)
	written := sha256.New()
	if err == nil {
		_, err = atomicfile.Copy(f, io.TeeReader(text.newReader(), written))
	}
	if err == nil && hex.EncodeToString(written.Sum(nil)) != sum {
		err = errors.New("another program changed it meanwhile")
	}
	if err == nil {
		err = f.Chmod(like.Mode().Perm())
	}
	err = errors.Join(err, atomicfile.Sync(f), f.Close())
	return errors.Join(err, os.Chtimes(f.Name(), like.ModTime(), like.ModTime()))
}

// keepLate appends what was written to a file while it lost its name to the one that has it, and
// counts the bytes.
func keepLate(old *os.File, size int64, to string) (int64, error) {
	late, err := io.ReadAll(io.NewSectionReader(old, size, mostBytes))
	if err != nil || len(late) == 0 {
		return 0, err
	}
	return int64(len(late)), appendTo(to, late)
}

// appendTo appends to a file, durably.
func appendTo(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = atomicfile.Write(f, text)
	return errors.Join(err, atomicfile.Sync(f), f.Close())
}
