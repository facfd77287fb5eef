package canonical

import (
	"io"
	"sync"
)

// positional makes reads at an offset of a stream that can only seek. Files can
// do so themselves.
func positional(r io.ReadSeeker) io.ReaderAt {
	if at, ok := r.(io.ReaderAt); ok {
		return at
	}
	return &seekingReaderAt{r: r}
}

type seekingReaderAt struct {
	mu sync.Mutex
	r  io.ReadSeeker
}

func (s *seekingReaderAt) ReadAt(p []byte, off int64) (int, error) {
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

// window reads lines again, by their spans. Lines that follow each other, as
// the items of a tree do, come from one large read.
type window struct {
	r      io.ReaderAt
	buf    []byte
	offset int64 // of buf in the stream
}

const readAhead = 1 << 16

// line returns the bytes of a line; they stay valid until the next call.
func (w *window) line(at span) ([]byte, error) {
	end := w.offset + int64(len(w.buf))
	if at.offset < w.offset || at.offset+at.length > end {
		size := at.length
		if at.offset >= w.offset && at.offset-end < readAhead {
			size = max(size, readAhead)
		}
		if err := w.read(at.offset, size, at.length); err != nil {
			return nil, err
		}
	}
	from := at.offset - w.offset
	return w.buf[from : from+at.length : from+at.length], nil
}

// read fills the window with size bytes, or fewer at the end of the stream but
// not fewer than least.
func (w *window) read(offset, size, least int64) error {
	if int64(cap(w.buf)) < size || cap(w.buf) > 8*readAhead {
		w.buf = make([]byte, size)
	}
	n, err := w.r.ReadAt(w.buf[:size], offset)
	w.buf, w.offset = w.buf[:n], offset
	if int64(n) >= least {
		return nil
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}
