// Package lines reads the lines of a stream in bounded memory.
package lines

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxLength is the longest line that is read, in bytes. It bounds the memory
// that a file without line ends can ask for.
const MaxLength = 1 << 28

// ErrTooLong is the error for a line that was passed over.
var ErrTooLong = fmt.Errorf("the line is longer than %d MiB", MaxLength>>20)

// Line is one line without the white space around it.
type Line struct {
	Text   []byte // valid until the next line is read
	Offset int64  // of the text in the stream
	Number int64  // from 1, as editors count
}

// Reader reads lines in order.
type Reader struct {
	r      *bufio.Reader
	offset int64
	number int64
	max    int
	long   []byte
}

// NewReader reads the lines of r, up to MaxLength bytes of each.
func NewReader(r io.Reader) *Reader { return NewBounded(r, MaxLength) }

// NewBounded reads the lines of r. One that is longer than longest, in bytes, is passed
// over with ErrTooLong, whose text speaks of MaxLength.
func NewBounded(r io.Reader, longest int) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, 1<<16), max: longest}
}

// Offset is the offset of the next line in the stream.
func (r *Reader) Offset() int64 { return r.offset }

// Number is the number of the line read last, 0 before the first.
func (r *Reader) Number() int64 { return r.number }

// Next reads the next line, which may be blank. The error is io.EOF behind the
// last line; ErrTooLong comes with the number of the line, and the next one can
// be read.
func (r *Reader) Next() (Line, error) {
	start := r.offset
	line, err := r.readLine()
	if err == io.EOF && len(line) > 0 {
		err = nil // the last line has no end
	}
	if err != nil && err != ErrTooLong {
		return Line{}, err
	}
	r.number++
	if r.number == 1 {
		line, start = trimMark(line, start)
	}
	from, to := 0, len(line)
	for from < to && isSpace(line[from]) {
		from++
	}
	for from < to && isSpace(line[to-1]) {
		to--
	}
	return Line{Text: line[from:to], Offset: start + int64(from), Number: r.number}, err
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// readLine reads up to and including a line end, or to the end of the stream.
func (r *Reader) readLine() ([]byte, error) {
	const worthKeeping = 1 << 20
	r.long = r.long[:0]
	var parts [][]byte // of a very long line: a buffer that grows would be in memory three times
	tooLong, size := false, 0
	for {
		part, err := r.r.ReadSlice('\n')
		r.offset += int64(len(part))
		full := errors.Is(err, bufio.ErrBufferFull)
		if !full && size == 0 {
			return part, err
		}
		if size += len(part); tooLong || size > r.max {
			tooLong, parts, r.long = true, nil, nil
		} else if len(r.long)+len(part) > worthKeeping {
			parts, r.long = append(parts, r.long), append(make([]byte, 0, worthKeeping), part...)
		} else {
			r.long = append(r.long, part...)
		}
		switch {
		case full:
		case tooLong && (err == nil || err == io.EOF):
			return nil, ErrTooLong
		case parts != nil:
			return bytes.Join(append(parts, r.long), nil), err
		default:
			return r.long, err
		}
	}
}

// trimMark removes the byte order mark that some editors put before UTF-8.
func trimMark(line []byte, offset int64) ([]byte, int64) {
	rest := bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	return rest, offset + int64(len(line)-len(rest))
}
