package events

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/recording"
)

// Skipped is a line that is no event, or an event without what it should hold.
// Logs stand between events in many recordings: this is no error.
type Skipped = recording.Skipped

// most is how many skipped lines are told one by one.
const most = 100

const (
	endsInTheMiddle = "the line ends in the middle"
	cutOff          = endsInTheMiddle + ": the recording was cut off"
)

// Skipped are the first lines that were skipped so far.
func (r *Reader) Skipped() []Skipped { return r.skipped }

// SkippedCount is how many lines were skipped so far.
func (r *Reader) SkippedCount() int { return r.count }

func (r *Reader) skip(line int64, why string) {
	if r.count++; r.count <= most {
		r.skipped = append(r.skipped, Skipped{Line: line, Why: why})
	}
}

// tellCut says at the end of the stream what its last line is when it is no
// whole one.
func (r *Reader) tellCut() {
	if n := len(r.skipped); n > 0 && r.skipped[n-1] == (Skipped{Line: r.last, Why: endsInTheMiddle}) {
		r.skipped[n-1].Why = cutOff
	}
}

// explain says why what should be an event is none.
func explain(err error) string {
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return endsInTheMiddle
	case errors.As(err, &syntax):
		return fmt.Sprintf("it is no valid JSON from byte %d on", syntax.ByteOffset+1)
	}
	return err.Error()
}
