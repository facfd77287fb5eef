package events

import (
	"bytes"
	"errors"
	"io"

	"github.com/sessctl/sessctl/internal/lines"
	"github.com/sessctl/sessctl/internal/recording"
)

// The lines of server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html
var (
	dataField   = []byte("data:")
	otherFields = [][]byte{[]byte(":"), []byte("event:"), []byte("id:"), []byte("retry:")} // and comments
	done        = []byte("[DONE]")
)

// begun is a server-sent event with several lines of data, so far.
type begun struct {
	data []byte // nil while there is none
	line int64  // its first one
}

// line takes a line and reports whether it makes an event complete. An event of
// one line of data is complete without the blank line that should follow.
func (r *Reader) line(line lines.Line, e *recording.Event) bool {
	data, isData := bytes.CutPrefix(line.Text, dataField)
	data = bytes.TrimLeft(data, " \t")
	switch {
	case isData && r.begun.data != nil:
		r.goOn(data)
		return false
	case isData:
		return r.begin(data, line.Number, e)
	case len(line.Text) == 0:
		return r.complete(e)
	case isField(line.Text):
		return false
	}
	r.giveUp()
	return r.take(line.Text, line.Number, e)
}

func isField(text []byte) bool {
	for _, name := range otherFields {
		if bytes.HasPrefix(text, name) {
			return true
		}
	}
	return false
}

func (r *Reader) begin(data []byte, line int64, e *recording.Event) bool {
	if len(data) == 0 || bytes.Equal(data, done) {
		return false
	}
	err := r.parse.object(data, &r.event)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		r.begun = begun{bytes.Clone(data), line}
		return false
	}
	return r.accept(err, line, e)
}

func (r *Reader) goOn(data []byte) {
	if len(r.begun.data)+len(data) >= lines.MaxLength {
		r.skip(r.begun.line, lines.ErrTooLong.Error())
		r.begun = begun{}
		return
	}
	r.begun.data = append(append(r.begun.data, '\n'), data...)
}

// complete takes the event that was begun, if one was.
func (r *Reader) complete(e *recording.Event) bool {
	b := r.begun
	r.begun = begun{}
	return b.data != nil && r.take(b.data, b.line, e)
}

// giveUp skips the event that was begun, if one was: something else follows.
func (r *Reader) giveUp() {
	if r.begun.data != nil {
		r.skip(r.begun.line, endsInTheMiddle)
		r.begun = begun{}
	}
}
