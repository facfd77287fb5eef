package springai_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/springai/springtest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// TestCopied repairs a copy by way of CSV: what is written is a text like all that
// is there, and event_version counts on.
func TestCopied(t *testing.T) {
	path := built(t, t.TempDir(), "G6", springtest.Forms["copied"])
	before := storetest.Dump(t, path)
	_, receipt, err := repairtest.Repair(path)
	if err != nil {
		t.Fatal(err)
	}
	const events = `select seq, message_type, quote(synthetic), quote(archived), typeof(seq), typeof("timestamp") from ai_session_event order by seq + 0`
	want := []string{
		"1 | USER | 'f' | 'f' | text | text", "2 | ASSISTANT | 'f' | 'f' | text | text", "3 | TOOL | 'f' | 'f' | text | text",
		"4 | USER | 'f' | 'f' | text | text", "5 | ASSISTANT | 'f' | 'f' | text | text", "'5'",
	}
	got := append(lines(t, path, events), lines(t, path, "select quote(event_version) from ai_session")...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, storetest.Dump(t, path)); diff != "" {
		t.Errorf("undo gives something else: %s", diff)
	}
}
