package sqlite

import (
	"errors"
	"io/fs"
	"os"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/table"
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
		Class: problem.Busy, Err: table.ErrReplaced,
		What: path + " " + what,
		Next: afterReplacement,
	}
}

const (
	wasReplaced      = "was replaced by another file"
	afterReplacement = "nothing was changed; find out which program does that, and try again"
)
