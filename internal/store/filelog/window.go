package filelog

import (
	"errors"
	"io"
	"sync"
)

// Window reads lines again, by their places. Lines that follow each other, as the items of a
// session do, come from one large read. Each goroutine needs one of its own.
type Window struct {
	From   io.ReaderAt
	buf    []byte
	offset int64 // of buf
}

const readAhead = 1 << 16

// ErrShortened is of a file that ends before a line that was found in it.
var ErrShortened = errors.New("it was shortened while sessctl read it")

// Line is the text of a line. It stays valid until the next call.
func (w *Window) Line(at Span) ([]byte, error) {
	length := int64(at.Length)
	end := w.offset + int64(len(w.buf))
	if at.Offset < w.offset || at.Offset+length > end {
		size := length
		if at.Offset >= w.offset && at.Offset-end < readAhead {
			size = max(size, readAhead)
		}
		if err := w.read(at.Offset, size, length); err != nil {
			return nil, err
		}
	}
	from := at.Offset - w.offset
	return at.mendedText(w.buf[from : from+length : from+length]), nil
}

// read fills the window with size bytes, or fewer at the end of the file but not fewer than
// least.
func (w *Window) read(offset, size, least int64) error {
	if int64(cap(w.buf)) < size || cap(w.buf) > 8*readAhead {
		w.buf = make([]byte, size)
	}
	n, err := w.From.ReadAt(w.buf[:size], offset)
	w.buf, w.offset = w.buf[:n], offset
	switch {
	case int64(n) >= least:
		return nil
	case err == io.EOF:
		return ErrShortened
	}
	return err
}

// At makes reads at an offset of a stream that can only seek. Files can do so themselves.
func At(r io.ReadSeeker) io.ReaderAt {
	if at, ok := r.(io.ReaderAt); ok {
		return at
	}
	return &seeking{r: r}
}

type seeking struct {
	mu sync.Mutex
	r  io.ReadSeeker
}

func (s *seeking) ReadAt(p []byte, off int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.r.Seek(off, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := io.ReadFull(s.r, p)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF // as io.ReaderAt demands
	}
	return n, err
}
