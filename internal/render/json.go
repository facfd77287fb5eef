package render

import (
	"fmt"
	"io"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// invalid bytes of a store become U+FFFD.
var tolerant = jsontext.AllowInvalidUTF8(true)

// JSON prints a document, indented.
func JSON(w io.Writer, document any) error {
	return writeJSON(w, document, jsontext.WithIndent("  "))
}

// jsonLine prints an object on one line.
func jsonLine(w io.Writer, object any) error { return writeJSON(w, object) }

func writeJSON(w io.Writer, value any, opts ...json.Options) error {
	out := EscapeJSON(w)
	if err := json.MarshalWrite(out, value, append(opts, tolerant)...); err != nil {
		return err
	}
	_, err := out.Write([]byte{'\n'})
	return err
}

// EscapeJSON returns a writer for JSON that a terminal can show: control
// characters that JSON allows in strings (DEL and C1) and those that change the
// direction of text are written as escapes, which mean the same.
func EscapeJSON(w io.Writer) io.Writer { return &escaper{w: w} }

type escaper struct {
	w    io.Writer
	part []byte // an unfinished character at the end of the last write
}

func (e *escaper) Write(p []byte) (int, error) {
	if len(e.part) == 0 && !slices.ContainsFunc(p, func(b byte) bool { return b >= 0x7f }) {
		return e.w.Write(p)
	}
	in := append(e.part, p...)
	out := make([]byte, 0, len(in))
	for len(in) > 0 && (utf8.FullRune(in) || len(in) >= utf8.UTFMax) {
		r, size := utf8.DecodeRune(in)
		if r == 0x7f || 0x80 <= r && r < 0xa0 || unicode.Is(unicode.Bidi_Control, r) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = append(out, in[:size]...)
		}
		in = in[size:]
	}
	e.part = append([]byte(nil), in...)
	if _, err := e.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}
