package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// OpenRegular opens a regular file for reading, and never waits: a named pipe, a
// device, a socket or a folder is an error that says so. It follows symbolic links.
func OpenRegular(path string) (*os.File, error) {
	return openRegular(path, os.O_RDONLY, os.Stat)
}

// OpenOwn is OpenRegular for a file that this program writes: a symbolic link is
// refused. flag is how to open it, as os.OpenFile takes it.
func OpenOwn(path string, flag int) (*os.File, error) {
	return openRegular(path, flag|noFollow, os.Lstat)
}

func openRegular(path string, flag int, stat func(string) (fs.FileInfo, error)) (*os.File, error) {
	// Even to open a device can do something, so what it is comes first.
	info, err := stat(path)
	if err == nil {
		err = isRegular(path, info)
	}
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, flag|noWait, 0) // it may be another file by now
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = isRegular(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// ReadRegular reads a regular file as a whole. One of more than most bytes is an
// error, also if it only grows to that while it is read.
func ReadRegular(path string, most int64) ([]byte, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	data, err := ReadAll(f, most)
	return data, errors.Join(err, f.Close())
}

// ReadAll reads the rest of a file that has at most most bytes.
func ReadAll(f *os.File, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, refused(f.Name(), fmt.Sprintf("it has more than %d MiB", most>>20))
	}
	return data, err
}

// isRegular says what a file is that is none.
func isRegular(path string, info fs.FileInfo) error {
	mode := info.Mode()
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return refused(path, "it is a folder")
	case mode&fs.ModeSymlink != 0:
		return refused(path, "it is a symbolic link")
	case mode&fs.ModeNamedPipe != 0:
		return refused(path, "it is a named pipe")
	case mode&fs.ModeSocket != 0:
		return refused(path, "it is a socket")
	case mode&fs.ModeDevice != 0:
		return refused(path, "it is a device")
	}
	return refused(path, "it is not a regular file")
}

// refused is an error whose reason stands behind "cannot be read:".
func refused(path, why string) error {
	return &fs.PathError{Op: "open", Path: path, Err: errors.New(why)}
}

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
