package repair

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sessctl/sessctl/internal/problem"
)

// written is a receipt on the disk, of batches whose items said this.
func written(t *testing.T, texts ...string) *Receipt {
	t.Helper()
	plan := &Plan{Store: Subject{Path: "session.db", Kind: "docker-agent"}, Trees: []*Tree{{Sums: map[string]string{"s": "d"}}}}
	r := newReceipt(plan, Apply{Receipt: filepath.Join(t.TempDir(), "r.receipt.json"), Backup: "copy.db", Tool: "sessctl 1"})
	for _, text := range texts {
		b := &Batch{Kept: []Kept{{Row: "items/1", Text: text}}, Journal: json.RawMessage(`[{"row":1,"after":null}]`)}
		if err := r.appendBatch(b); err != nil {
			t.Fatal(err)
		}
		r.countCommitted(b)
	}
	return r
}

// What an item said can look like anything in a receipt, and the journals still
// come back as they were.
func TestAReceiptIsReadAsItWasWritten(t *testing.T) {
	r := written(t, "-8646911284551352321", `"journal": null`, `]}`, "a\nline", "")
	b := &Batch{Journal: json.RawMessage("null")} // as a stream has it
	if err := r.appendBatch(b); err != nil {
		t.Fatal(err)
	}
	r.countCommitted(b)
	for _, state := range []string{Pending, Done, Undoing, Undone} {
		var err error
		switch state {
		case Done:
			err = r.appendEnd(Done)
		case Undoing:
			err = r.appendNote(recordUndo, 0)
		case Undone:
			err = r.appendNote(recordUndone, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadReceipt(r.path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r.Batches, got.Batches, cmpopts.IgnoreFields(Batch{}, "Record"), cmpopts.IgnoreUnexported(Batch{})); diff != "" {
			t.Errorf("written (-), read (+):\n%s", diff)
		}
		if diff := cmp.Diff(r.header, got.header); diff != "" {
			t.Errorf("written (-), read (+):\n%s", diff)
		}
		for n := range got.Batches {
			want := `[{"row":1,"after":null}]`
			if n == len(got.Batches)-1 {
				want = "null"
			}
			if journal, err := got.readJournal(n); err != nil || string(journal) != want {
				t.Errorf("journal %d is %s (%v)", n, journal, err)
			}
		}
		if got.State != state || got.tail != r.tail {
			t.Errorf("state %s, want %s; %v, want %v", got.State, state, got.tail, r.tail)
		}
		_ = got.Close()
	}
	_ = r.Close()
}

// closed is a receipt with an end, and what is on the disk.
func closed(t *testing.T, sessions ...string) (*Receipt, []byte) {
	t.Helper()
	r := written(t, sessions...)
	if err := r.appendEnd(Done); err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	data, err := os.ReadFile(r.path)
	if err != nil {
		t.Fatal(err)
	}
	return r, data
}

// Whatever happens to a line, it is noticed: only what the end lacks may be
// missing.
func TestWhatIsNotAsItWasWrittenIsRefused(t *testing.T) {
	r, data := closed(t, "one", "two")
	refused := func(t *testing.T, changed string) {
		t.Helper()
		if err := os.WriteFile(r.path, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := ReadReceipt(r.path)
		if problem.ClassOf(err) != problem.Busy {
			t.Errorf("read %+v, %v", got, err)
		}
	}
	whole := string(data)
	for at := range len(data) - 1 { // without the last line break, the end is cut off
		flipped := []byte(whole)
		flipped[at] ^= 1 << (at % 8)
		refused(t, string(flipped))
	}
	lines := strings.SplitAfter(whole, "\n") // header, batch, batch, end, ""
	other := written(t, "one", "three")
	_ = other.Close()
	foreign, err := os.ReadFile(other.path)
	if err != nil {
		t.Fatal(err)
	}
	others := strings.SplitAfter(string(foreign), "\n")
	for name, changed := range map[string]string{
		"empty":                   "",
		"no header":               lines[1] + lines[2] + lines[3],
		"a batch less":            lines[0] + lines[2] + lines[3],
		"the last batch less":     lines[0] + lines[1] + lines[3],
		"batches swapped":         lines[0] + lines[2] + lines[1] + lines[3],
		"a batch twice":           lines[0] + lines[1] + lines[1] + lines[2] + lines[3],
		"a batch of another":      lines[0] + lines[1] + others[2] + lines[3],
		"a header twice":          lines[0] + lines[0] + lines[1] + lines[2] + lines[3],
		"an empty line":           lines[0] + "\n" + lines[1] + lines[2] + lines[3],
		"more behind the end":     whole + lines[3],
		"a line break less":       strings.Replace(whole, "\n", "", 1),
		"the header cut off":      lines[0][:len(lines[0])/2],
		"without checksums":       `{"schema":"sessctl.receipt/1","state":"done","store":{"path":"x","kind":"docker-agent"},"batches":[]}`,
		"an older one, laid out":  "{\n \"schema\": \"sessctl.receipt/1\",\n \"state\": \"done\"\n}\n",
		"a receipt of the future": "{\"record\":\"repair\",\"schema\":\"sessctl.receipt/3\"}\n",
	} {
		t.Run(name, func(t *testing.T) { refused(t, changed) })
	}
}

// What was cut off at the end was never committed, whatever of it is there.
func TestATornTailIsReadable(t *testing.T) {
	r, data := closed(t, "one", "two")
	header := strings.Index(string(data), "\n") + 1
	for size := header; size <= len(data); size++ {
		if err := os.WriteFile(r.path, data[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := ReadReceipt(r.path)
		if err != nil {
			t.Fatalf("%d of %d bytes: %v", size, len(data), err)
		}
		lines := strings.Count(string(data[:size]), "\n")
		if len(got.Batches) != min(lines-1, 2) || got.closed != (size == len(data)) {
			t.Errorf("%d of %d bytes: %d batches of %d lines, closed %t", size, len(data), len(got.Batches), lines, got.closed)
		}
		// What is noted goes behind the last whole record.
		if err := got.appendNote(recordUndo, 0); err != nil {
			t.Fatal(err)
		}
		_ = got.Close()
		if again, err := ReadReceipt(r.path); err != nil || again.State != Undoing || len(again.Batches) != len(got.Batches) {
			t.Fatalf("%d of %d bytes, with a note: %v", size, len(data), err)
		} else {
			_ = again.Close()
		}
	}
}
