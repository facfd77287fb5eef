package sqlite

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"pgregory.net/rapid"
)

// broken is a file of which a part cannot be read.
type broken struct {
	*bytes.Reader
	from, to int64
}

func (b broken) ReadAt(p []byte, at int64) (int, error) {
	if at < b.to && at+int64(len(p)) > b.from {
		n, _ := b.Reader.ReadAt(p[:max(0, b.from-at)], at)
		return n, errors.New("damaged")
	}
	return b.Reader.ReadAt(p, at)
}

// Whatever is read in which order: it is what the file holds, and what cannot be read
// takes nothing else with it.
func TestReadingAhead(t *testing.T) {
	content := make([]byte, 5*pieceSize+1000)
	for i := range content {
		content[i] = byte(i>>12 + i)
	}
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.Int64Range(0, int64(len(content))).Draw(t, "from")
		file := broken{bytes.NewReader(content), from, from + rapid.Int64Range(0, 5000).Draw(t, "size")}
		a := &ahead{file: file}
		at := int64(0)
		for range rapid.IntRange(1, 50).Draw(t, "reads") {
			size := rapid.SampledFrom([]int{4, 100, 512, 4096, 65536}).Draw(t, "bytes")
			if rapid.IntRange(0, 3).Draw(t, "far") == 0 {
				at = rapid.Int64Range(0, int64(len(content))+5000).Draw(t, "at")
			}
			got, want := make([]byte, size), make([]byte, size)
			n, err := a.ReadAt(got, at)
			m, wanted := file.ReadAt(want, at)
			if n != m || (err == nil) != (wanted == nil) || errors.Is(err, io.EOF) != errors.Is(wanted, io.EOF) || !bytes.Equal(got, want) {
				t.Fatalf("%d bytes at %d: %d, %v; want %d, %v", size, at, n, err, m, wanted)
			}
			at += int64(size)
		}
	})
}
