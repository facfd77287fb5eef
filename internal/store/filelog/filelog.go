// Package filelog reads files of JSON lines that runtimes append to: where each line lies,
// so that it can be read again by its place, and whether the last one was cut off.
package filelog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/sessctl/sessctl/internal/lines"
)

// Log is an opened file.
type Log struct {
	file io.ReadSeeker
	seen fs.FileInfo // nil where it is no file of a folder
}

// Line is a line that is not blank.
type Line struct {
	Span
	Number int64  // from 1, as editors count
	Text   []byte // valid until the next line is read
	Open   bool   // no line end follows: the file ends here
	Err    error  // lines.ErrTooLong: the text was passed over
}

// Span is where the text of a line lies, in bytes.
type Span struct {
	Offset int64
	Length int
}

// Open opens a file of a folder. Links are followed within the folder only; what is no
// regular file is an error, so that nobody waits for a pipe.
func Open(root *os.Root, name string) (*Log, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("it is not a regular file")}
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Log{file: f, seen: info}, nil
}

// Over reads lines from a stream that the caller closes.
func Over(r io.ReadSeeker) *Log { return &Log{file: r} }

// Close closes a file that Open opened.
func (l *Log) Close() error {
	if f, ok := l.file.(io.Closer); ok && l.seen != nil {
		return f.Close()
	}
	return nil
}

// Lines calls each with every line that is not blank, in order. What is appended meanwhile
// is left for the next reading.
func (l *Log) Lines(ctx context.Context, each func(Line) error) error {
	return l.lines(ctx, 0, each)
}

// Last calls each with the lines that begin within the last bytes of a file of a folder. Their
// numbers are not those of the file.
func (l *Log) Last(ctx context.Context, bytes int64, each func(Line) error) error {
	from := max(0, l.seen.Size()-bytes)
	return l.lines(ctx, from, func(at Line) error {
		if at.Number == 1 && from > 0 { // which began before
			return nil
		}
		return each(at)
	})
}

func (l *Log) lines(ctx context.Context, from int64, each func(Line) error) error {
	if _, err := l.file.Seek(from, io.SeekStart); err != nil {
		return err
	}
	var r io.Reader = l.file
	if l.seen != nil {
		r = io.LimitReader(r, l.seen.Size()-from)
	}
	reader := lines.NewReader(r)
	for n := 0; ; n++ {
		if n%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, err := reader.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil && !errors.Is(err, lines.ErrTooLong):
			return err
		case err == nil && len(line.Text) == 0:
			continue
		}
		found := Line{Span: Span{from + line.Offset, len(line.Text)}, Number: line.Number, Text: line.Text, Err: err}
		found.Open = line.Offset+int64(len(line.Text)) == reader.Offset()
		if err := each(found); err != nil {
			return err
		}
	}
}

// Read reads the text of a line again, into the room of to where that is enough.
func (l *Log) Read(at Span, to []byte) ([]byte, error) {
	text := slices.Grow(to[:0], at.Length)[:at.Length]
	if _, err := l.file.Seek(at.Offset, io.SeekStart); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(l.file, text); err != nil {
		return nil, fmt.Errorf("it was shortened while sessctl read it: %w", err)
	}
	return text, nil
}
