package atomicfile

import (
	"context"
	"os"
)

// OpenStream opens a file for reading that may be a named pipe: one opens when somebody
// writes into it, or the context ends.
func OpenStream(ctx context.Context, path string) (*os.File, error) {
	return openStream(ctx, path, os.O_RDONLY)
}

// openStream opens what may wait for the other end. An open that still waits when the
// context ends is left to the end of the process: nothing else ends it.
func openStream(ctx context.Context, path string, flag int) (*os.File, error) {
	type result struct {
		file *os.File
		err  error
	}
	opened := make(chan result, 1)
	go func() {
		file, err := os.OpenFile(path, flag, 0)
		opened <- result{file, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-opened:
		return r.file, r.err
	}
}
