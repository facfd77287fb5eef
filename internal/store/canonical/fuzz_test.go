package canonical_test

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sessctl/sessctl/internal/session"
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
	f.Add(header + sessionP + "\n" + `{"type":"item","session":"P","kind":"message","role":"assistant","text":null,"signature":"","blocks":[{"type":"call"},{"type":"x"},{"type":"reasoning","signature":"s"}],"calls":[{"id":"A","name":"a","args":7,"item_id":"fc_1"}]}`)
	f.Add(header + sessionP + "\n{\"type\":\"item\",\"session\":\"P\",\"text\":\"\xff\",\"kind\":\"message\"")
	f.Add(header + `{"type":"session","id":"A","parent":"B"}` + "\n" + `{"type":"session","id":"B","parent":"A"}`)
	f.Fuzz(func(t *testing.T, text string) {
		st, err := canonical.Kind.Open(context.Background(), source(text), store.Options{})
		if err != nil {
			return
		}
		trees := filled(t, st)
		once := export(t, st, canonical.WriteOptions{})
		again := openStream(t, once)
		if diff := cmp.Diff(trees, filled(t, again), sameStream); diff != "" {
			t.Fatalf("(-stream +written):\n%s", diff)
		}
		if twice := export(t, again, canonical.WriteOptions{}); twice != once {
			t.Fatalf("written again:\n%s\nbefore:\n%s", twice, once)
		}
		checkRedacted(t, st)
	})
}

// A stream without the faults of bad Unicode is written as Unicode, and says what
// it said.
func FuzzScrub(f *testing.F) {
	const item = `{"type":"item","session":"P","kind":"message","role":"user","text":"`
	f.Add("\xff")
	f.Add(`\ud83d\u0041\ude00`)
	f.Add("\",\"raw\":{\"\\udc00\":\"\xed\xa0\x80\"},\"reasoning\":\"\\")
	f.Fuzz(func(t *testing.T, said string) {
		text := header + sessionP + "\n" + item + said + "\"}\n"
		var want *session.Session
		damaged := false
		got := rewrite(t, text, func(tree *session.Tree) {
			want = tree.Session("P")
			before := len(want.Faults)
			want.Faults = slices.DeleteFunc(want.Faults, func(f session.Fault) bool { return f.Kind == session.BadUnicode })
			damaged = damaged || len(want.Faults) != before
		})
		if !damaged {
			if got != text {
				t.Fatalf("%q became %q", text, got)
			}
			return
		}
		again := filled(t, openStream(t, got))[0].Root()
		opts := cmp.Options{sameStream, cmpopts.IgnoreFields(session.Body{}, "Raw")}
		if diff := cmp.Diff(want.Items, again.Items, opts); diff != "" || !utf8.ValidString(got) {
			t.Fatalf("%q became %q:\n%s", text, got, diff)
		}
		for _, f := range again.Faults {
			if f.Kind == session.BadUnicode {
				t.Fatalf("%q: %s", got, f.Detail)
			}
		}
	})
}

// checkRedacted wants a redacted stream without undecodable lines.
func checkRedacted(t *testing.T, st store.Store) {
	t.Helper()
	text := export(t, st, canonical.WriteOptions{Redact: true})
	hidden := openStream(t, text)
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
