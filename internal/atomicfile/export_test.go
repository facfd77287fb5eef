package atomicfile

import (
	"context"
	"io/fs"
)

// Replace writes a file as a whole.
func Replace(path string, data []byte, mode fs.FileMode) error {
	f, err := Create(context.Background(), path, mode)
	if err != nil {
		return err
	}
	_, _ = f.Write(data) // what fails, Commit says
	return f.Commit()
}
