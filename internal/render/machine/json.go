// Package machine prints what commands say to programs: JSON, as one document or an object
// a line. Its structs are frozen: docs/schema is made of them and of the comments on their fields.
package machine

import (
	"fmt"
	"io"
	"slices"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/ui"
)

// invalid bytes of a store become U+FFFD.
var tolerant = jsontext.AllowInvalidUTF8(true)

// JSON prints a document, indented.
func JSON(w io.Writer, document any) error {
	return writeJSON(w, document, jsontext.WithIndent("  "))
}

// writeLine prints an object on one line.
func writeLine(w io.Writer, object any) error { return writeJSON(w, object) }

func writeJSON(w io.Writer, value any, opts ...json.Options) error {
	out := EscapeJSON(w)
	if err := json.MarshalWrite(out, value, append(opts, tolerant)...); err != nil {
		return err
	}
	_, err := out.Write([]byte{'\n'})
	return err
}

// EscapeJSON returns a writer for JSON that a terminal can show: control
// characters, those that change the direction of text and those that nobody sees are
// written as escapes, which mean the same.
func EscapeJSON(w io.Writer) io.Writer {
	endsLine := func(r rune) bool { return r == '\u2028' || r == '\u2029' } // for no terminal
	return &escaper{w: w, unsafe: func(r rune) bool { return ui.IsUnsafe(r) && !endsLine(r) }}
}

// EscapeControls is EscapeJSON for the control characters alone, with which a file that
// somebody prints drives a terminal.
func EscapeControls(w io.Writer) io.Writer { return &escaper{w: w, unsafe: unicode.IsControl} }

type escaper struct {
	w      io.Writer
	unsafe func(rune) bool
	part   []byte // an unfinished character at the end of the last write
}

// isSpace reports whether a character is white space between tokens of JSON.
func isSpace(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' }

func (e *escaper) Write(p []byte) (int, error) {
	if len(e.part) == 0 && !slices.ContainsFunc(p, func(b byte) bool { return b >= 0x7f || b < ' ' && !isSpace(rune(b)) }) {
		return e.w.Write(p)
	}
	in := append(e.part, p...)
	out := make([]byte, 0, len(in))
	for len(in) > 0 && (utf8.FullRune(in) || len(in) >= utf8.UTFMax) {
		r, size := utf8.DecodeRune(in)
		switch {
		case !e.unsafe(r) || isSpace(r):
			out = append(out, in[:size]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		in = in[size:]
	}
	e.part = append([]byte(nil), in...)
	if _, err := e.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}
