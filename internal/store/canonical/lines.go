package canonical

import (
	"io"

	"github.com/sessctl/sessctl/internal/lines"
)

// span is where a line is, without the white space around it.
type span struct {
	offset, length int64
	number         int64 // from 1, as editors count
}

// lineScanner reads the lines of a stream in order, blank ones left out.
type lineScanner struct{ *lines.Reader }

func newLineScanner(r io.Reader) lineScanner { return lineScanner{lines.NewReader(r)} }

// next returns the next line that is not blank; it stays valid until the next
// call. Errors are those of lines.Reader.
func (s lineScanner) next() ([]byte, span, error) {
	for {
		line, err := s.Next()
		at := span{offset: line.Offset, length: int64(len(line.Text)), number: line.Number}
		if err != nil || len(line.Text) > 0 {
			return line.Text, at, err
		}
	}
}
