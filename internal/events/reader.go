// Package events reads the event stream that docker agent emits, as a recording
// of JSON lines (`run --exec --json`) or of server-sent events (its API).
package events

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/lines"
	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/store/dockeragent"
)

// Kind is the kind of store that the runtime of these events writes, and Runtime what it
// does.
var (
	Kind    = dockeragent.Kind.Name
	Runtime = &dockeragent.Runtime
)

// Reader reads events in order, in memory that does not grow with their number.
type Reader struct {
	// Shallow reads no texts, and of a completed sub-session nothing but its id, for whom
	// does not put sessions together.
	Shallow bool

	lines   *lines.Reader
	last    int64 // the line at which the last event, or what should be one, begins
	begun   begun
	parse   parser
	event   object
	names   map[string]spelled // of agents, tools and types, and ids: what repeats
	latest  [keyCount]spelled  // of each member: most repeat at once
	skipped []Skipped
	count   int // of all that were skipped
}

// NewReader reads the events of r.
func NewReader(r io.Reader) *Reader {
	return &Reader{lines: lines.NewReader(r), names: map[string]spelled{}}
}

// All are the events in order; each is good until the next one is asked for. An
// error ends them.
func (r *Reader) All() iter.Seq2[*recording.Event, error] {
	return func(yield func(*recording.Event, error) bool) {
		var e recording.Event
		for {
			err := r.Next(&e)
			if err == io.EOF || !yield(&e, err) || err != nil {
				return
			}
		}
	}
}

// Next reads the next event. The error is io.EOF behind the last one.
func (r *Reader) Next(e *recording.Event) error {
	for {
		line, err := r.lines.Next()
		switch err {
		case nil:
			if r.takeLine(line, e) {
				return nil
			}
		case lines.ErrTooLong:
			r.dropBegun()
			r.skipLine(line.Number, err.Error())
		case io.EOF:
			if r.completeEvent(e) {
				return nil
			}
			r.tellCut()
			return io.EOF
		default:
			return fmt.Errorf("reading after line %d: %w", r.lines.Number(), err)
		}
	}
}

// takeObject makes an event of what should be one JSON object.
func (r *Reader) takeObject(data []byte, line int64, e *recording.Event) bool {
	return r.acceptEvent(r.parse.readObject(data, &r.event), line, e)
}

// acceptEvent makes an event of the object that was read last.
func (r *Reader) acceptEvent(err error, line int64, e *recording.Event) bool {
	r.last = line
	switch {
	case err != nil:
		r.skipLine(line, explainError(err))
		return false
	case r.event[keyType].Kind() != '"':
		r.skipLine(line, "the object has no type, so it is not an event")
		return false
	}
	r.fillEvent(&r.event, line, e)
	return true
}

// internName is the text of a string that repeats: it is copied once.
func (r *Reader) internName(o *object, k key) string {
	const enough = 4096
	v, latest := o[k], &r.latest[k]
	switch {
	case v.Kind() != '"':
		return ""
	case string(v) == latest.raw:
		return latest.name
	}
	known, ok := r.names[string(v)]
	if !ok {
		if len(r.names) == enough {
			clear(r.names)
		}
		known = spelled{string(v), string(unquotedText(v))}
		r.names[known.raw] = known
	}
	*latest = known
	return known.name
}

// spelled is a string as it stands in a line, and what it says.
type spelled struct{ raw, name string }

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

func (r *Reader) skipLine(line int64, why string) {
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

// explainError says why what should be an event is none.
func explainError(err error) string {
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return endsInTheMiddle
	case errors.As(err, &syntax):
		return fmt.Sprintf("it is not valid JSON from byte %d on", syntax.ByteOffset+1)
	}
	return err.Error()
}

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

// takeLine takes a line and reports whether it makes an event complete. An event of
// one line of data is complete without the blank line that should follow.
func (r *Reader) takeLine(line lines.Line, e *recording.Event) bool {
	data, isData := bytes.CutPrefix(line.Text, dataField)
	if isData {
		data = bytes.TrimLeft(data, " \t")
	}
	switch {
	case isData && r.begun.data != nil:
		r.continueEvent(data)
		return false
	case isData:
		return r.beginEvent(data, line.Number, e)
	case len(line.Text) == 0:
		return r.completeEvent(e)
	case isField(line.Text):
		return false
	}
	r.dropBegun()
	return r.takeObject(line.Text, line.Number, e)
}

func isField(text []byte) bool {
	for _, name := range otherFields {
		if bytes.HasPrefix(text, name) {
			return true
		}
	}
	return false
}

func (r *Reader) beginEvent(data []byte, line int64, e *recording.Event) bool {
	if len(data) == 0 || bytes.Equal(data, done) {
		return false
	}
	err := r.parse.readObject(data, &r.event)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		r.begun = begun{bytes.Clone(data), line}
		return false
	}
	return r.acceptEvent(err, line, e)
}

func (r *Reader) continueEvent(data []byte) {
	if len(r.begun.data)+len(data) >= lines.MaxLength {
		r.skipLine(r.begun.line, lines.ErrTooLong.Error())
		r.begun = begun{}
		return
	}
	r.begun.data = append(append(r.begun.data, '\n'), data...)
}

// completeEvent takes the event that was begun, if one was.
func (r *Reader) completeEvent(e *recording.Event) bool {
	b := r.begun
	r.begun = begun{}
	return b.data != nil && r.takeObject(b.data, b.line, e)
}

// dropBegun skips the event that was begun, if one was: something else follows.
func (r *Reader) dropBegun() {
	if r.begun.data != nil {
		r.skipLine(r.begun.line, endsInTheMiddle)
		r.begun = begun{}
	}
}
