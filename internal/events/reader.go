// Package events reads the event stream that docker agent emits, as a recording
// of JSON lines (`run --exec --json`) or of server-sent events (its API).
package events

import (
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
	// Shallow reads of a completed sub-session nothing but its id, for whom does not
	// put sessions together.
	Shallow bool

	lines   *lines.Reader
	last    int64 // the line at which the last event, or what should be one, begins
	begun   begun
	parse   parser
	event   object
	names   map[string]string // of agents, tools and types, and ids: what repeats
	skipped []Skipped
	count   int // of all that were skipped
}

// NewReader reads the events of r.
func NewReader(r io.Reader) *Reader {
	return &Reader{lines: lines.NewReader(r), names: map[string]string{}}
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
			if r.line(line, e) {
				return nil
			}
		case lines.ErrTooLong:
			r.giveUp()
			r.skip(line.Number, err.Error())
		case io.EOF:
			if r.complete(e) {
				return nil
			}
			r.tellCut()
			return io.EOF
		default:
			return fmt.Errorf("reading behind line %d: %w", r.lines.Number(), err)
		}
	}
}

// take makes an event of what should be one JSON object.
func (r *Reader) take(data []byte, line int64, e *recording.Event) bool {
	return r.accept(r.parse.object(data, &r.event), line, e)
}

// accept makes an event of the object that was read last.
func (r *Reader) accept(err error, line int64, e *recording.Event) bool {
	r.last = line
	switch {
	case err != nil:
		r.skip(line, explain(err))
		return false
	case r.event[keyType].Kind() != '"':
		r.skip(line, "the object has no type, as events have")
		return false
	}
	r.fill(&r.event, line, e)
	return true
}

// name is the text of a string that repeats: it is copied once.
func (r *Reader) name(v jsontext.Value) string {
	const enough = 4096
	if v.Kind() != '"' {
		return ""
	}
	plain := unquoted(v)
	if known, ok := r.names[string(plain)]; ok {
		return known
	}
	if len(r.names) == enough {
		clear(r.names)
	}
	name := string(plain)
	r.names[name] = name
	return name
}
