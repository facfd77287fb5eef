package canonical

import (
	"bufio"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"

	"github.com/sessctl/sessctl/internal/session"
)

// WriteOptions change what a Writer writes.
type WriteOptions struct {
	// Redact replaces everything that people, models and tools said by filler
	// of the same length. See redactor for what stays.
	Redact bool
}

// Writer writes a canonical stream. Sessions that were read from a canonical
// stream are written as the same bytes, line by line; those of other stores are
// encoded, with their stored record in "raw".
type Writer struct {
	w        *bufio.Writer
	stored   bool // bodies are the lines of a stream
	redact   *redactor
	names    signatureNames
	replaced int
}

// NewWriter writes the header.
func NewWriter(w io.Writer, h Header, opts WriteOptions) (*Writer, error) {
	out := &Writer{w: bufio.NewWriterSize(w, 1<<16), stored: h.line != nil, names: signatureNames{}}
	if opts.Redact {
		out.redact = newRedactor()
	}
	if out.stored && out.redact == nil {
		return out, out.writeLine(h.line)
	}
	rec := h.format()
	if out.stored {
		rec, _, _ = decode[headerLine](h.line) // parseHeader has read it
		out.redact.header(&rec)
	}
	return out, out.encode(&rec, nil)
}

// Session writes a session and its items, whose bodies must be loaded.
func (w *Writer) Session(s *session.Session) error {
	if err := w.session(s); err != nil {
		return err
	}
	for i := range s.Items {
		if err := w.item(s, &s.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

// Faults writes a line for each fault of the store that tells of what is stored and was
// not read: a reader of the stream finds damage there.
func (w *Writer) Faults(faults []session.Fault) error { return w.faults(faults, nil) }

// Unread is Faults for those of a session, behind its items. Lines of a stream that are
// written as they were tell it themselves.
func (w *Writer) Unread(s *session.Session) error {
	if w.stored && w.redact == nil {
		return nil
	}
	return w.faults(s.Faults, s.Items)
}

func (w *Writer) faults(faults []session.Fault, items []session.Item) error {
	for i := range faults {
		f := &faults[i]
		if !f.Unread(items) {
			continue
		}
		rec := faultLine{
			Type: typeFault, Session: f.Ref.Session, Table: f.Ref.Table, Key: f.Ref.Key, Count: int64(f.Count), Detail: f.Loss(),
		}
		if w.redact != nil && f.Kind == session.UnknownKind { // the type can be any text
			rec.Detail = "a line is of a type that is not known"
		}
		if w.stored && (f.Ref.Table == session.TableLines || f.Ref.Table == tableItems) { // their numbers are not those of this stream
			rec.Table, rec.Key = tableSource, f.Ref.Row()
		}
		if err := w.encode(&rec, nil); err != nil {
			return err
		}
	}
	return nil
}

// Replaced counts the lines in which bytes that are not UTF-8 had to be written
// as U+FFFD. What was stored is in their "raw_base64".
func (w *Writer) Replaced() int { return w.replaced }

// Flush ends the stream.
func (w *Writer) Flush() error { return w.w.Flush() }

func (w *Writer) session(s *session.Session) error {
	var rec sessionLine
	switch {
	case !w.stored:
		rec = encodeSession(s)
	case s.Raw == nil:
		return fmt.Errorf("session %s cannot be written: its line was not loaded", s.ID)
	case w.redact == nil:
		return w.writeLine(s.Raw)
	default:
		var usable bool
		if rec, usable, _ = decode[sessionLine](s.Raw); !usable {
			rec = sessionLine{Type: typeSession}
		}
		rec.ID = s.ID // a line can name two
	}
	if w.redact != nil {
		w.redact.session(&rec)
	}
	return w.encode(&rec, &rec.Stored)
}

func (w *Writer) item(s *session.Session, it *session.Item) error {
	body := it.Body
	switch {
	case body != nil:
	case !w.stored && (it.Kind == session.SubSession || it.Kind == session.Other):
		body = &session.Body{} // these may say nothing
	default:
		return fmt.Errorf("item %s of session %s cannot be written: its body was not loaded", it.Key, s.ID)
	}
	var rec itemLine
	switch {
	case !w.stored:
		rec = encodeItem(s, it, body, w.names)
	case w.redact == nil:
		return w.writeLine(body.Raw)
	default:
		var usable bool
		if rec, usable, _ = decodeItem(body.Raw); !usable {
			rec = itemLine{Type: typeItem, Kind: session.Other.String()}
			rec.Stored.encode(body.Raw)
		}
		rec.Session = s.ID // a line can name two
	}
	if w.redact != nil {
		w.redact.item(&rec)
	}
	return w.encode(&rec, &rec.Stored)
}

// encode writes a record as a line. Two things can be in the way: a raw value
// nested so deep that it does not fit into a line, and text that is not UTF-8.
func (w *Writer) encode(rec any, stored *storedRecord) error {
	line, err := json.Marshal(rec, exact)
	if err != nil && stored != nil && stored.Raw != nil {
		stored.encode(stored.Raw)
		line, err = json.Marshal(rec, exact)
	}
	if err != nil {
		w.replaced++
		line, err = json.Marshal(rec, exact, tolerant)
	}
	if err != nil {
		return fmt.Errorf("encoding a line: %w", err)
	}
	return w.writeLine(line)
}

func (w *Writer) writeLine(line []byte) error {
	if _, err := w.w.Write(line); err != nil {
		return err
	}
	return w.w.WriteByte('\n')
}
