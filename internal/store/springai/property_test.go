package springai_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/springai/springtest"
)

func TestNothingIsLost(t *testing.T) {
	forms := slices.Sorted(maps.Keys(springtest.Forms))
	repairtest.NothingIsLost(t, func(t *rapid.T, path string) func(*repair.Receipt) {
		form := springtest.Forms[rapid.SampledFrom(forms).Draw(t, "form")]
		db, err := springtest.Create(path, form)
		if err != nil {
			t.Fatal(err)
		}
		springtest.Random(db, "other", 1, 2)
		springtest.Random(db, "S", rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 8).Draw(t, "turns"))
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		before := rowsOf(t, path, form)
		return func(receipt *repair.Receipt) { everythingIsThere(t, before, rowsOf(t, path, form), receipt) }
	})
}

// row is what an event says, and where.
type row struct{ id, session, kind, archived, data, said string }

// rowsOf are the rows of a file in the order of the library.
func rowsOf(t tester, path string, form springtest.Form) []row {
	var list []row
	archived, order := "archived", "seq + 0"
	if form.ByTime {
		archived, order = "false", "timestamp"
	}
	for _, line := range lines(t, path, `select id, session_id, message_type, `+archived+`, message_data, quote(message_content) || quote(message_data) || quote(branch) ||
		quote(metadata) || quote(synthetic) || quote(timestamp) from ai_session_event order by session_id, `+order) {
		parts := strings.SplitN(line, " | ", 6)
		list = append(list, row{parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]})
	}
	return list
}

// everythingIsThere: each row of before is stored, and says the same; or the
// receipt has it. What is new is a marked result, or one that moved.
func everythingIsThere(t *rapid.T, before, after []row, receipt *repair.Receipt) {
	is, kept := map[string]row{}, map[string]repair.Kept{}
	for _, r := range after {
		is[r.id] = r
	}
	for _, b := range receipt.Batches {
		for _, k := range b.Kept {
			id, _, part := strings.Cut(k.Row[strings.Index(k.Row, "/")+1:], "#")
			if _, told := kept[id]; !part || !told {
				kept[id] = k
			}
		}
	}
	was := map[string]bool{}
	for _, r := range before {
		was[r.id] = true
		now, there := is[r.id]
		k, told := kept[r.id]
		switch {
		case there && now.said == r.said && now.session == r.session && now.kind == r.kind:
		case !told:
			t.Fatalf("row %s is gone or says something else, and the receipt does not have it", r.id)
		case !strings.Contains(k.Text, r.id) || !strings.Contains(k.Text, r.kind):
			t.Fatalf("the receipt has %q of row %s", k.Text, r.id)
		}
	}
	for _, r := range after {
		_, says, _ := strings.Cut(strings.TrimSuffix(r.data, "]"), `"responseData":`) // its id may be another one now
		moved := slices.ContainsFunc(before, func(b row) bool { return b.kind == "TOOL" && strings.Contains(b.data, says) })
		if !was[r.id] && (r.kind != "TOOL" || !moved && !strings.Contains(r.data, `"[sessctl] `)) {
			t.Fatalf("the new row %s is neither marked nor a response that had a row with others: %s", r.id, r.data)
		}
	}
}
