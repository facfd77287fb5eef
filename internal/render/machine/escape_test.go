package machine

import (
	"bytes"
	"testing"
)

func TestEscapeJSONKeepsTheMeaning(t *testing.T) {
	const in = "{\"a\":\"\u009b\u202e\x7f é 漢 \U0001f642\"}\n"
	const want = "{\"a\":\"\\u009b\\u202e\\u007f é 漢 \U0001f642\"}\n"
	for size := 1; size <= len(in); size++ {
		var out bytes.Buffer
		w := EscapeJSON(&out)
		for rest := []byte(in); len(rest) > 0; rest = rest[min(size, len(rest)):] {
			if _, err := w.Write(rest[:min(size, len(rest))]); err != nil {
				t.Fatal(err)
			}
		}
		if out.String() != want {
			t.Errorf("in parts of %d: got %q, want %q", size, out.String(), want)
		}
	}
}
