package filelog

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/sessctl/sessctl/internal/jsonscan"
)

// Run is a stretch of a file whose lines cannot be read as they are, although whole records
// are in it: several on a line, one behind what was cut off, NUL bytes between them, or a
// line end within a text.
type Run struct {
	Span
	Number  int64 // of the first line
	Last    int64 // the number of the last one
	Records int
	Joined  bool   // one of the records reaches over a line end
	Pieces  []Span // the records and what is left over, in their order
}

// mostJoined bounds what is read at once of lines that may be one record. A longer line is
// looked at by itself.
const mostJoined = 16 << 20

// Records are the lines of a file, as Lines gives them. In place of lines that is says no to
// come the records that are within them and what is left over, each as a line of its own with
// its run. is is asked about each text right before it is given.
func (l *Log) Records(ctx context.Context, is func(text []byte) bool) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		var broken []Line // their texts are read again
		first := int64(-1)
		tell := func(text []byte) bool {
			list, err := l.salvageLines(broken, text, first, is)
			broken = nil
			for _, at := range list {
				if is(at.Text); !yield(at, nil) {
					return false
				}
			}
			return err == nil || yield(Line{}, err)
		}
		for at, err := range l.Lines(ctx) {
			end := at.Offset + int64(at.Length)
			if first < 0 {
				first = end
			}
			whole := err != nil || at.Err != nil || is(at.Text)
			if len(broken) > 0 && (whole || end-broken[0].Offset > mostJoined) {
				if !tell(nil) {
					return
				}
				is(at.Text)
			}
			if whole && !yield(at, err) {
				return
			}
			if whole {
				continue
			}
			broken = append(broken, at)
			if at.Length > mostJoined && !tell(at.Text) {
				return
			}
		}
		if len(broken) > 0 {
			tell(nil)
		}
	}
}

// salvageLines takes lines apart. first is where the first line of the file ends, and how.
func (l *Log) salvageLines(broken []Line, text []byte, first int64, is func([]byte) bool) (list []Line, err error) {
	last, from := broken[len(broken)-1], broken[0].Offset
	if text == nil {
		text = make([]byte, last.Offset+int64(last.Length)-from)
		if _, err := At(l.file).ReadAt(text, from); err != nil && err != io.EOF {
			return nil, fmt.Errorf("reading line %d again: %w", broken[0].Number, err)
		}
	}
	var ends [2]byte
	_, _ = At(l.file).ReadAt(ends[:], first)
	found := findRecords(text, ends == [2]byte{'\r', '\n'}, is)
	if len(found) == 0 {
		for _, at := range broken {
			at.Text = text[at.Offset-from:][:at.Length]
			list = append(list, at)
		}
		return list, nil
	}
	run := &Run{Span: Span{Offset: from, Length: len(text)}, Number: broken[0].Number, Last: last.Number, Records: len(found)}
	piece := func(at Span) {
		number := run.Number + int64(bytes.Count(text[:at.Offset], []byte("\n")))
		open := last.Open && int(at.Offset)+at.Length == len(text)
		said := at.In(text)
		run.Joined = run.Joined || bytes.IndexByte(text[at.Offset:][:at.Length], '\n') >= 0
		at.Offset += from
		run.Pieces = append(run.Pieces, at)
		list = append(list, Line{Span: at, Number: number, Text: said, Open: open, Run: run})
	}
	done := 0
	for _, r := range append(found, Span{Offset: int64(len(text))}) {
		for left := range bytes.Lines(text[done:r.Offset]) {
			said := bytes.Trim(left, "\x00 \t\r\n")
			if len(said) > 0 {
				piece(Span{Offset: int64(done + bytes.Index(left, said)), Length: len(said)})
			}
			done += len(left)
		}
		if r.Length > 0 {
			piece(r)
		}
		done += r.Length
	}
	return list, nil
}

// findRecords finds where the records of a text are that is no record itself. Of what was cut off,
// an object that is part of it is none. What is looked at is bounded: where it is cut off in
// many objects within each other, each of them reaches to the end.
func findRecords(text []byte, crlf bool, is func([]byte) bool) (found []Span) {
	budget, top := 16*len(text)+1<<20, 0 // where the last record ended
	for at := 0; budget > 0; {
		next := bytes.IndexByte(text[at:], '{')
		if next < 0 {
			break
		}
		at += next
		if name := bytes.TrimLeft(text[at+1:], "\x00 \t\r\n"); len(name) == 0 || name[0] != '"' {
			at++
			continue
		}
		r := objectExtent(text[at:])
		r.Offset = int64(at)
		end := at + r.Length
		if r.Length == 0 {
			budget -= len(text) - at
			at++
			continue
		}
		if budget -= r.Length; r.Mend && crlf {
			r.CRLF = true
		}
		said := text[at:end]
		if r.Mend && r.Length <= mostJoined {
			said = r.mendedText(said)
		}
		begins := len(bytes.Trim(text[top:at], "\x00 \t\r\n")) == 0 || at > 0 && text[at-1] == '\n'
		switch ends := bytes.TrimLeft(text[end:], "\x00 \t\r"); {
		case !jsonscan.IsUsualJSON(said):
			at++
		case (begins || len(ends) == 0 || ends[0] == '\n' || ends[0] == '{') && is(said):
			found, at, top = append(found, r), end, end
		default:
			at = end
		}
	}
	return found
}

// objectExtent is how long the object at the start of a text is, 0 where it does not end, and
// whether there are bytes in it that a line or JSON cannot have.
func objectExtent(text []byte) (s Span) {
	depth, quoted, escaped := 0, false, false
	for i, c := range text {
		switch {
		case c < ' ':
			s.Mend = true
			escaped = escaped && c == 0
		case escaped:
			escaped = false
		case c == '"':
			quoted = !quoted
		case quoted:
			escaped = c == '\\'
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				s.Length = i + 1
				return s
			}
		}
	}
	return Span{}
}

// mendedText is the text of a span as it would stand on a line: without NUL bytes, and with
// escapes in the place of other bytes below U+0020 that are in a text.
func (s Span) mendedText(text []byte) []byte {
	if !s.Mend {
		return text
	}
	out, quoted, escaped := make([]byte, 0, len(text)+16), false, false
	for i, c := range text {
		switch {
		case c == 0, c < ' ' && !quoted, c == '\r' && s.CRLF && i+1 < len(text) && text[i+1] == '\n':
			continue
		case c == '\n':
			out = append(out, `\n`...)
		case c < ' ':
			out = fmt.Appendf(out, `\u%04x`, c)
		default:
			out = append(out, c)
		}
		if c == '"' && !escaped {
			quoted = !quoted
		}
		escaped = c == '\\' && quoted && !escaped
	}
	return out
}
