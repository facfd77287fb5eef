package lines_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/sessctl/sessctl/internal/lines"
)

func TestNext(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	veryLong := strings.Repeat("0123456789", 310_000)
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"only a line end", "\n", []string{""}},
		{"blank lines count", "a\n\nb\n", []string{"a", "", "b"}},
		{"no line end at the end", "a\nb", []string{"a", "b"}},
		{"white space and CRLF", " a \r\n\tb\r\n", []string{"a", "b"}},
		{"a byte order mark", "\xef\xbb\xbfa\n\xef\xbb\xbfb\n", []string{"a", "\xef\xbb\xbfb"}},
		{"longer than the buffer", "a\n" + long + "\nb", []string{"a", long, "b"}},
		{"longer than what is kept", "a\n" + veryLong + "\n" + long + "\n" + veryLong, []string{"a", veryLong, long, veryLong}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := lines.NewReader(iotest.OneByteReader(strings.NewReader(tc.text)))
			for i, want := range tc.want {
				line, err := r.Next()
				if err != nil || string(line.Text) != want || line.Number != int64(i+1) || r.Number() != line.Number {
					t.Fatalf("line %d: %.40q, number %d, error %v, want %.40q", i+1, line.Text, line.Number, err, want)
				}
				if at := tc.text[line.Offset:]; !strings.HasPrefix(at, want) {
					t.Errorf("line %d: offset %d leads to %.40q", i+1, line.Offset, at)
				}
			}
			if _, err := r.Next(); err != io.EOF || r.Offset() != int64(len(tc.text)) {
				t.Errorf("error %v at offset %d behind the last line", err, r.Offset())
			}
		})
	}
}

// A line that is too long is passed over, and what is behind it is read.
func TestTooLong(t *testing.T) {
	endless := io.LimitReader(repeat('x'), lines.MaxLength+1)
	r := lines.NewReader(io.MultiReader(endless, strings.NewReader("\nb\n")))
	if line, err := r.Next(); err != lines.ErrTooLong || line.Number != 1 || len(line.Text) > 0 {
		t.Errorf("line %d with %d bytes, error %v", line.Number, len(line.Text), err)
	}
	if line, err := r.Next(); err != nil || string(line.Text) != "b" || line.Number != 2 {
		t.Errorf("line %d: %q, error %v", line.Number, line.Text, err)
	}
}

// A reader may have a bound of its own.
func TestBounded(t *testing.T) {
	const longest = 100_000
	for size, want := range map[int]error{longest: lines.ErrTooLong, longest - 1: nil} {
		r := lines.NewBounded(strings.NewReader(strings.Repeat("x", size)+"\nb"), longest)
		if line, err := r.Next(); err != want || line.Number != 1 {
			t.Errorf("%d bytes: line %d, error %v, want %v", size, line.Number, err, want)
		}
		if line, err := r.Next(); err != nil || string(line.Text) != "b" {
			t.Errorf("%d bytes: then %q, error %v", size, line.Text, err)
		}
	}
}

// What breaks inside a line is no line.
func TestBroken(t *testing.T) {
	broken := errors.New("broken")
	r := lines.NewReader(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)))
	if line, err := r.Next(); err != nil || string(line.Text) != "a" {
		t.Errorf("%q, error %v", line.Text, err)
	}
	if _, err := r.Next(); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

// repeat reads as the same byte for ever.
type repeat byte

func (r repeat) Read(p []byte) (int, error) {
	copy(p, bytes.Repeat([]byte{byte(r)}, len(p)))
	return len(p), nil
}
