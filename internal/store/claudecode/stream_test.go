package claudecode_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/store/canonical"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// TestStream: a stream that is exported, also without its texts, says of each session what its
// folder says, because it carries the version that wrote the newest line.
func TestStream(t *testing.T) {
	for name := range verdicts {
		t.Run(name, func(t *testing.T) {
			home := recorded(t, name, t.TempDir())
			want := storetest.Outlooks(t, home)
			for _, redact := range []bool{false, true} {
				var out bytes.Buffer
				st := openTranscripts(t, home)
				w, err := canonical.NewWriter(&out, canonical.HeaderOf(st), canonical.WriteOptions{Redact: redact})
				if err != nil {
					t.Fatal(err)
				}
				for _, tree := range filled(t, st) {
					for _, s := range tree.Sessions {
						if err := w.WriteSession(s); err != nil {
							t.Fatal(err)
						}
						if err := w.WriteUnread(s); err != nil {
							t.Fatal(err)
						}
					}
				}
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
				stream := filepath.Join(t.TempDir(), "s.jsonl")
				if err := os.WriteFile(stream, out.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, storetest.Outlooks(t, stream)); diff != "" {
					t.Errorf("without texts: %t, -folder +stream:\n%s", redact, diff)
				}
			}
		})
	}
}
