package canonical

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxLine is the longest line that is read, in bytes. It bounds the memory that
// a file without line ends can ask for.
const maxLine = 1 << 28

// span is where a line is, without the white space around it.
type span struct {
	offset, length int64
	number         int64 // from 1, as editors count
}

// lineScanner reads the lines of a stream in order.
type lineScanner struct {
	r      *bufio.Reader
	offset int64 // of the next line
	number int64 // of the line read last
	long   []byte
}

func newLineScanner(r io.Reader) *lineScanner {
	return &lineScanner{r: bufio.NewReaderSize(r, 1<<16)}
}

var errLineTooLong = fmt.Errorf("the line is longer than %d MiB", maxLine>>20)

// next returns the next line that is not blank; it stays valid until the next
// call. The error is io.EOF behind the last line, and errLineTooLong for a line
// that was passed over.
func (s *lineScanner) next() ([]byte, span, error) {
	for {
		start := s.offset
		line, err := s.readLine()
		if err != nil && err != io.EOF && err != errLineTooLong {
			return nil, span{}, err
		}
		if len(line) > 0 || err == nil || err == errLineTooLong {
			s.number++
		}
		if s.number == 1 {
			line, start = trimMark(line, start)
		}
		text := bytes.TrimLeft(line, " \t\r\n")
		start += int64(len(line) - len(text))
		text = bytes.TrimRight(text, " \t\r\n")
		at := span{offset: start, length: int64(len(text)), number: s.number}
		switch {
		case err == errLineTooLong:
			return nil, at, err
		case len(text) > 0:
			return text, at, nil
		case err == io.EOF:
			return nil, at, io.EOF
		}
	}
}

// readLine reads up to and including a line end, or to the end of the stream.
func (s *lineScanner) readLine() ([]byte, error) {
	const worthKeeping = 1 << 20
	if s.long = s.long[:0]; cap(s.long) > worthKeeping {
		s.long = nil
	}
	tooLong := false
	for {
		part, err := s.r.ReadSlice('\n')
		s.offset += int64(len(part))
		full := errors.Is(err, bufio.ErrBufferFull)
		if !full && len(s.long) == 0 && !tooLong {
			return part, err
		}
		if tooLong = tooLong || len(s.long)+len(part) > maxLine; !tooLong {
			s.long = append(s.long, part...)
		}
		switch {
		case full:
		case tooLong && (err == nil || err == io.EOF):
			return nil, errLineTooLong
		default:
			return s.long, err
		}
	}
}

// trimMark removes the byte order mark that some editors put before UTF-8.
func trimMark(line []byte, offset int64) ([]byte, int64) {
	rest := bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	return rest, offset + int64(len(line)-len(rest))
}
