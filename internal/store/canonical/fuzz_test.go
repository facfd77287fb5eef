package canonical_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/canonical"
)

// Nothing that a stream holds makes the reader panic, and what Write wrote of
// it reads the same and is written the same.
func FuzzRead(f *testing.F) {
	f.Add(header)
	f.Add(odd)
	f.Add(private)
	f.Add(redacted)
	f.Add(header + sessionP + "\n{\"type\":\"item\",\"session\":\"P\",\"text\":\"\xff\",\"kind\":\"message\"")
	f.Add(header + `{"type":"session","id":"A","parent":"B"}` + "\n" + `{"type":"session","id":"B","parent":"A"}`)
	f.Fuzz(func(t *testing.T, text string) {
		st, err := canonical.Kind.Open(context.Background(), source(text), store.Options{})
		if err != nil {
			return
		}
		trees := filled(t, st)
		once := export(t, st, canonical.WriteOptions{})
		again := open(t, once)
		if diff := cmp.Diff(trees, filled(t, again), sameStream); diff != "" {
			t.Fatalf("(-stream +written):\n%s", diff)
		}
		if twice := export(t, again, canonical.WriteOptions{}); twice != once {
			t.Fatalf("written again:\n%s\nbefore:\n%s", twice, once)
		}
		checkRedacted(t, st)
	})
}

// checkRedacted wants a redacted stream without undecodable lines.
func checkRedacted(t *testing.T, st store.Store) {
	t.Helper()
	text := export(t, st, canonical.WriteOptions{Redact: true})
	hidden := open(t, text)
	if f := showFaults(hidden.Facts().Faults); f != "" && !bytes.Contains([]byte(f), []byte("SchemaUnknown")) {
		t.Fatalf("faults %s of\n%s", f, text)
	}
	want, got := outlines(t, st), outlines(t, hidden)
	if len(want) != len(got) {
		t.Fatalf("%d trees, redacted %d", len(want), len(got))
	}
	for i := range want {
		if want[i].Items() != got[i].Items() || want[i].Root().ID != got[i].Root().ID {
			t.Fatalf("tree %d is not the same", i)
		}
	}
}
