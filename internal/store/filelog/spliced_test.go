package filelog_test

import (
	"bytes"
	"io"
	"slices"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/store/filelog"
)

// TestSplicesAreMadeWhereTheyAreRead: what is read of a text with splices is what it is when
// they are made at once, from whatever place, and splices can be made in that again.
func TestSplicesAreMadeWhereTheyAreRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.Byte(), 0, 30).Draw(t, "text")
		var from io.ReaderAt = bytes.NewReader(text)
		for range rapid.IntRange(1, 3).Draw(t, "layers") {
			var edits []filelog.Splice
			var is []byte
			at := 0
			for range rapid.IntRange(0, 5).Draw(t, "splices") {
				begin := rapid.IntRange(at, len(text)).Draw(t, "at")
				end := rapid.IntRange(begin, len(text)).Draw(t, "end")
				s := filelog.Splice{At: begin, Was: text[begin:end], Is: rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "is")}
				edits, is, at = append(edits, s), slices.Concat(is, text[at:begin], s.Is), end
			}
			is = append(is, text[at:]...)
			s, err := filelog.Apply(from, int64(len(text)), edits)
			if err != nil {
				t.Fatal(err)
			}
			from, text = s, is
			all, err := io.ReadAll(io.NewSectionReader(s, 0, 1<<20))
			if err != nil || !bytes.Equal(all, text) {
				t.Fatalf("got %q, want %q (%v)", all, text, err)
			}
			if err := iotest.TestReader(io.NewSectionReader(s, 0, int64(len(text))), text); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestSplicesThatDoNotFit(t *testing.T) {
	for _, edits := range [][]filelog.Splice{
		{{At: 1, Was: []byte("a")}}, {{At: 2, Was: []byte("cd")}}, {{At: 4}}, {{At: -1}}, {{At: 1, Was: []byte("b")}, {At: 1, Was: []byte("b")}},
	} {
		if _, err := filelog.Apply(bytes.NewReader([]byte("abc")), 3, edits); err == nil {
			t.Errorf("%v fit", edits)
		}
	}
}
