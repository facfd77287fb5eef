package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/sessctl/sessctl/internal/problem"
)

// ErrReplaced is the cause of errors about a database whose path no longer leads to the
// file that was opened: what was read or written is not what the next program finds.
var ErrReplaced = errors.New("the path leads to another file")

// ErrBeside is the ErrReplaced of a database that is where it was, but not its -wal or
// its -shm, and ErrForeignLog that of one with another -wal than its own.
var (
	ErrBeside     = fmt.Errorf("a file beside it is another one: %w", ErrReplaced)
	ErrForeignLog = fmt.Errorf("it is the log: %w", ErrBeside)
)

// standing says what became of the file since it was opened, "" while its path leads to
// it. A file is the same if its device and inode are, on Windows the volume and the file
// id; the handle that is still open keeps them from being given to another one.
func (f *File) standing() string {
	if what := became(f.opened, os.Lstat, f.real); what != "" {
		return what
	}
	if became(f.opened, os.Stat, f.Path) != "" { // a symbolic link on the way there
		return "leads to another file now"
	}
	return ""
}

// became says what became of a file at a path, "" if it is there.
func became(was fs.FileInfo, look func(string) (fs.FileInfo, error), path string) string {
	is, err := look(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "was moved away or deleted"
	case err != nil:
		return "cannot be looked at any more (" + problem.Reason(err) + ")"
	case !os.SameFile(was, is):
		return wasReplaced
	}
	return ""
}

// replaced is the problem with a database that is not at its path any more, nil while it
// is. What that means for the work, who did it adds.
func (f *File) replaced() error {
	what := f.standing()
	if what == "" {
		return nil
	}
	return gone(f.Path, what)
}

func gone(path, what string) error {
	return &problem.Error{
		Class: problem.Busy, Err: ErrReplaced,
		What: path + " " + what,
		Next: afterReplacement,
	}
}

const (
	wasReplaced      = "was replaced by another file"
	afterReplacement = "nothing was changed; find out which program does that, and try again"
)
