// Package filelog reads files of JSON lines that runtimes append to: where each line lies,
// so that it can be read again by its place, and whether the last one was cut off.
package filelog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"

	"github.com/sessctl/sessctl/internal/atomicfile"
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
	Run    *Run   // which it is a piece of: see Records
}

// Span is where the text of a line lies, in bytes.
type Span struct {
	Offset int64
	Length int
	Rest   int32 // bytes behind it, with its line end
	Mend   bool  // it holds bytes that its text cannot have: see mended
	CRLF   bool  // the lines of the file end in two bytes
}

// In is the text of a span of a file.
func (s Span) In(file []byte) []byte { return s.mendedText(file[s.Offset:][:s.Length]) }

// Of is In of a file that is not read as a whole.
func (s Span) Of(file *Spliced) []byte { return s.mendedText(file.Between(int(s.Offset), s.Length)) }

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

// Read reads a whole file that Open opens. One of more bytes than most is an error.
func Read(root *os.Root, name string, most int64) ([]byte, error) {
	l, err := Open(root, name)
	if err != nil {
		return nil, err
	}
	if l.seen.Size() > most {
		return nil, errors.Join(fmt.Errorf("it has more than %d bytes", most), l.Close())
	}
	text, err := io.ReadAll(io.LimitReader(l.file, l.seen.Size()))
	return text, errors.Join(err, l.Close())
}

// Text is a file of a folder, of which parts are read where they are asked for.
func (l *Log) Text() *Spliced { return &Spliced{from: At(l.file), Size: l.seen.Size()} }

// Over reads lines from a stream that the caller closes.
func Over(r io.ReadSeeker) *Log { return &Log{file: r} }

// Close closes a file that Open opened.
func (l *Log) Close() error {
	if f, ok := l.file.(io.Closer); ok && l.seen != nil {
		return f.Close()
	}
	return nil
}

// Lines are the lines that are not blank, in order; an error is the last. What is appended
// meanwhile is left for the next reading.
func (l *Log) Lines(ctx context.Context) iter.Seq2[Line, error] { return l.lines(ctx, 0) }

// Last are the lines that begin within the last bytes of a file of a folder. Their numbers
// are not those of the file.
func (l *Log) Last(ctx context.Context, bytes int64) iter.Seq2[Line, error] {
	return l.lines(ctx, max(0, l.seen.Size()-bytes))
}

// lines are those that begin at an offset or behind it.
func (l *Log) lines(ctx context.Context, from int64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		length := math.MaxInt64 - from
		if l.seen != nil {
			length = l.seen.Size() - from
		}
		reader := lines.NewReader(io.NewSectionReader(At(l.file), from, length))
		var err error
		for n := 0; err == nil; n++ {
			if n%256 == 0 && ctx.Err() != nil {
				err = ctx.Err()
				break
			}
			var line lines.Line
			if line, err = reader.Next(); err == io.EOF {
				return
			}
			at := Line{Span: Span{Offset: from + line.Offset, Length: len(line.Text)}, Number: line.Number, Text: line.Text}
			at.Rest = int32(reader.Offset() - line.Offset - int64(at.Length))
			switch {
			case errors.Is(err, lines.ErrTooLong):
				at.Err, err = err, nil
			case err != nil:
				err = fmt.Errorf("reading after line %d: %w", reader.Number(), err)
				continue
			case len(line.Text) == 0 || line.Number == 1 && from > 0: // which may have begun before
				continue
			}
			at.Open = line.Offset+int64(len(line.Text)) == reader.Offset()
			if !yield(at, nil) {
				return
			}
		}
		yield(Line{}, err)
	}
}

// Copy writes all of the file into a new one, which belongs to the owner of another one.
func (l *Log) Copy(path, owner string) (int64, error) {
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	if like, none := os.Stat(owner); none == nil {
		err = atomicfile.GiveTo(to, like)
	}
	var size int64
	if err == nil {
		size, err = atomicfile.Copy(to, io.NewSectionReader(l.Bytes(), 0, math.MaxInt64))
	}
	return size, errors.Join(err, to.Close())
}

// File is the opened file, nil where it is none of a folder.
func (l *Log) File() *os.File {
	f, _ := l.file.(*os.File)
	if l.seen == nil {
		return nil
	}
	return f
}

// Bytes are those of the file.
func (l *Log) Bytes() io.ReaderAt { return At(l.file) }

// Window reads the lines again.
func (l *Log) Window() *Window { return &Window{From: At(l.file)} }
