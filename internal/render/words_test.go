package render_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/session"
)

// A full read is told where somebody had to wait for it, with the reason where one is known.
func TestReading(t *testing.T) {
	for _, tt := range []struct {
		bytes int64
		read  string
		want  string
	}{
		{1_000, session.ByIndex, "read by index"},
		{1_000, "a page is damaged", ""},
		{2_000_000_000, session.ByIndex, "read by index"},
		{2_000_000_000, "a page is damaged", "read in full: 2.0 GB (a page is damaged)"},
		{2_000_000_000, "", "read in full: 2.0 GB"},
	} {
		if got := render.ReadingNote(&session.Store{Bytes: tt.bytes, Read: tt.read}); got != tt.want {
			t.Errorf("%d bytes, %q: %q, want %q", tt.bytes, tt.read, got, tt.want)
		}
	}
}
