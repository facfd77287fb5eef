package filelog

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"sort"
)

// Splice puts other bytes in the place of those of a file, At bytes from its start.
type Splice struct {
	At  int    `json:"at"`
	Was []byte `json:"was,omitempty"`
	Is  []byte `json:"is,omitempty"`
}

// Spliced is a text with splices, which are made where it is read: a file that changes is
// never in memory as a whole.
type Spliced struct {
	from  io.ReaderAt
	edits []Splice
	at    []int64 // where the new bytes of each of them begin
	Size  int64
	Err   error // why Between could not read
}

// Apply makes splices, in the order of their places, in a text of so many bytes.
func Apply(from io.ReaderAt, size int64, edits []Splice) (*Spliced, error) {
	s := &Spliced{from: from, edits: edits, at: make([]int64, len(edits)), Size: size}
	done := 0
	for i, e := range edits {
		was := make([]byte, len(e.Was))
		if n, _ := from.ReadAt(was, int64(e.At)); e.At < done || int64(e.At) > size || n < len(was) || !bytes.Equal(was, e.Was) {
			return nil, errors.New("it does not hold what is to be replaced")
		}
		s.at[i] = int64(e.At) + s.Size - size
		s.Size += int64(len(e.Is) - len(e.Was))
		done = e.At + len(e.Was)
	}
	return s, nil
}

// Log reads the lines of the text.
func (s *Spliced) Log() *Log { return Over(s.newReader()) }

func (s *Spliced) newReader() *io.SectionReader { return io.NewSectionReader(s, 0, s.Size) }

// Between are so many bytes from a place on: a copy, of zeros where they cannot be read.
func (s *Spliced) Between(from, length int) []byte {
	part := make([]byte, length)
	if n, err := s.ReadAt(part, int64(from)); n < length {
		s.Err = cmp.Or(s.Err, err)
	}
	return part
}

// EndOfLine is where the line behind the one at a place begins.
func (s *Spliced) EndOfLine(at int) int {
	rest, _ := bufio.NewReader(io.NewSectionReader(s, int64(at), s.Size)).ReadBytes('\n')
	return at + len(rest)
}

// ReadAt implements io.ReaderAt.
func (s *Spliced) ReadAt(p []byte, off int64) (n int, err error) {
	next := sort.Search(len(s.at), func(i int) bool { return s.at[i] > off })
	for n < len(p) {
		at, end, behind := off+int64(n), s.Size, int64(0) // behind the last splice that begins before
		if next < len(s.at) {
			end = s.at[next]
		}
		if next > 0 {
			e := &s.edits[next-1]
			if behind = at - s.at[next-1] - int64(len(e.Is)); behind < 0 {
				n += copy(p[n:], e.Is[int64(len(e.Is))+behind:])
				continue
			}
			behind += int64(e.At+len(e.Was)) - at
		}
		switch {
		case at < end:
			m, err := s.from.ReadAt(p[n:][:min(int64(len(p)-n), end-at)], at+behind)
			if n += m; m == 0 {
				return n, err
			}
		case next == len(s.at):
			return n, io.EOF
		default:
			next++
		}
	}
	return n, nil
}

// Change is the splice that makes another text of one at a place.
func Change(at int, was, is []byte) Splice {
	head := 0
	for head < len(was) && head < len(is) && was[head] == is[head] {
		head++
	}
	tail := 0
	for tail < len(was)-head && tail < len(is)-head && was[len(was)-1-tail] == is[len(is)-1-tail] {
		tail++
	}
	return Splice{At: at + head, Was: was[head : len(was)-tail], Is: is[head : len(is)-tail]}
}

// invertSplices inverts the splices that take others back.
func invertSplices(edits []Splice) []Splice {
	back, grown := make([]Splice, len(edits)), 0
	for i, s := range edits {
		back[i] = Splice{s.At + grown, s.Is, s.Was}
		grown += len(s.Is) - len(s.Was)
	}
	return back
}

// digestBytes is that of all bytes.
func digestBytes(r io.Reader) (string, error) {
	sum := sha256.New()
	_, err := io.Copy(sum, r)
	return hex.EncodeToString(sum.Sum(nil)), err
}
