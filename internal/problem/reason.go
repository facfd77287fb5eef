package problem

import (
	"errors"
	"io/fs"
	"os"
)

// Reason is why an operation on a file failed, in the system's words and without the
// path, which the sentence around it names as the user gave it.
func Reason(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err.Error()
	}
	return err.Error()
}
