package repair_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// damaged builds a database with one random session tree, as a runtime that
// leaks stores it, and damages it further.
func damaged(t *rapid.T, path string) {
	generation := rapid.IntRange(14, 29).Draw(t, "generation")
	db, err := agenttest.Create(path, generation)
	if err != nil {
		t.Fatal(err)
	}
	write := agenttest.WriteLeaky
	if rapid.Bool().Draw(t, "healthy runtime") {
		write = agenttest.WriteFixed
	}
	program := agenttest.Random(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(3, 30).Draw(t, "size"))
	program.Models = map[string]string{} // a team of several providers: each session has its own judge
	for _, agent := range agenttest.Team() {
		program.Models[agent] = rapid.SampledFrom([]string{
			"test/mock", "anthropic/claude-sonnet-4-5", "openai/gpt-5", "mistral/mistral-large", "dmr/ai/qwen3",
		}).Draw(t, "model")
	}
	if _, err := write(db, program); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	plain := openPlain(t, path)
	defer func() { _ = plain.Close() }()
	names := slices.Sorted(maps.Keys(damages))
	for range rapid.IntRange(0, 4).Draw(t, "damages") {
		list, err := storedRows(plain)
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range damages[rapid.SampledFrom(names).Draw(t, "damage")](t, list) {
			if _, err := plain.Exec(statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
	}
}

func openPlain(t tester, path string) *sql.DB {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=foreign_keys(0)&_pragma=synchronous(off)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	return db
}

// TestNothingIsLost repairs random damaged trees and holds the result against
// what was stored before, with plain SQL and without the adapter.
func TestNothingIsLost(t *testing.T) {
	campaign.Checks(t, 200, 10_000)
	folder := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		path := filepath.Join(folder, fmt.Sprintf("%d.db", n))
		defer removeAll(path)
		damaged(t, path)
		before, dump := readRows(t, path), agentDump(t, path)

		plan, receipt, err := repairtest.Repair(path)
		if err != nil {
			t.Logf("stored before:\n%s", describeRows(before))
			for _, tree := range plan.Trees {
				for _, f := range tree.Fixes {
					t.Logf("round %d %s %s:%d %s %+v", f.Round, f.Rule, f.Session, f.Item, f.Title, f.Steps)
				}
			}
			t.Fatalf("%v", err)
		}
		after := readRows(t, path)
		if receipt == nil {
			if d := cmp.Diff(dump, agentDump(t, path)); d != "" {
				t.Fatalf("an empty plan changed something:\n%s", d)
			}
			return
		}
		everythingIsThere(t, before, after, receipt)
		orderIsKept(t, before, after)
		defer func() {
			if t.Failed() {
				t.Logf("stored before:\n%safter:\n%s", describeRows(before), describeRows(after))
				for _, tree := range plan.Trees {
					for _, f := range tree.Fixes {
						t.Logf("round %d %s %s:%d %s", f.Round, f.Rule, f.Session, f.Item, f.Title)
					}
				}
				for _, f := range plan.Findings {
					t.Logf("left: %s %s %s:%d %s", f.Rule.ID, f.Severity, f.Session, f.Item, f.Message)
				}
			}
		}()
		if !slices.ContainsFunc(plan.Findings, func(f *check.Finding) bool { return f.Severity == rules.Error && f.Rule.ID != "SC005" }) {
			upstreamAgrees(t, path) // else a person has to decide first
		}
		for _, f := range plan.Findings {
			if f.Severity > rules.Info && slices.ContainsFunc(f.Fixes, func(x rules.Fix) bool {
				return len(x.Allow) == 0 && (x.Safety == rules.Lossless || x.Safety == rules.Kept)
			}) {
				t.Errorf("%s is left although it has a repair: %s", f.Rule.ID, f.Message)
			}
		}
		again, second, err := repairtest.Repair(path)
		if err != nil || second != nil || !again.IsEmpty() {
			t.Fatalf("a second repair has something to do: %v", err)
		}
		if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
			t.Fatalf("undo: %v", err)
		}
		if d := cmp.Diff(dump, agentDump(t, path)); d != "" {
			t.Fatalf("after the undo, before (-), now (+):\n%s", d)
		}
	})
}

func removeAll(path string) {
	for _, suffix := range []string{"", "-wal", "-shm", ".backup", ".receipt.json"} {
		_ = os.Remove(path + suffix)
	}
}

func readRows(t *rapid.T, path string) []storedRow {
	db := openPlain(t, path)
	defer func() { _ = db.Close() }()
	list, err := storedRows(db)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// everythingIsThere: every row of before is stored with the same bytes, or in
// the receipt, with its bytes or with the row that holds the same ones. What an
// edit changed is in the receipt, too. What is new says that it is.
func everythingIsThere(t *rapid.T, before, after []storedRow, receipt *repair.Receipt) {
	is := map[int64]storedRow{}
	for _, r := range after {
		is[r.id] = r
	}
	kept, changed := map[string]repair.Kept{}, map[string]repair.Kept{}
	for _, b := range receipt.Batches {
		for _, k := range b.Kept {
			if k.Edited {
				changed[k.Row] = k
			} else {
				kept[k.Row] = k
			}
		}
	}
	was := map[int64]storedRow{}
	for _, r := range before {
		was[r.id] = r
		if now, there := is[r.id]; there {
			k, edited := changed[fmt.Sprintf("session_items/%d", r.id)]
			switch {
			case now.kind != r.kind || now.child != r.child || edited != (now.message != r.message):
				t.Fatalf("row %d holds something else", r.id)
			case edited && k.Text != r.message:
				t.Fatalf("row %d was edited, and the receipt keeps %q of %q", r.id, k.Text, r.message)
			case edited:
				saysTheRest(t, r.message, now.message)
			}
			continue
		}
		k, there := kept[fmt.Sprintf("session_items/%d", r.id)]
		switch {
		case !there:
			t.Fatalf("row %d is gone: %s", r.id, r.message)
		case k.Twin != "":
			var twin int64
			_, _ = fmt.Sscanf(k.Twin, "session_items/%d", &twin)
			if said := changed[k.Twin].Text; is[twin].message != r.message && said != r.message {
				t.Fatalf("row %d left, and its twin %s says something else", r.id, k.Twin)
			}
		case k.Text != r.message:
			t.Fatalf("row %d left, and the receipt keeps %q of %q", r.id, k.Text, r.message)
		}
	}
	added := 0
	for _, r := range after {
		if _, there := was[r.id]; there {
			continue
		}
		added++
		if r.kind == "message" && !strings.Contains(r.message, `"sessctl"`) {
			t.Fatalf("the new row %d is not marked: %s", r.id, r.message)
		}
	}
	l := receipt.Ledger
	if l.Edited != len(changed) || l.Synthetic != added || l.Before != l.After-l.Synthetic+l.Quarantined+l.Removed || len(after) != len(before)+added-l.Quarantined-l.Removed {
		t.Fatalf("%d rows before, %d after, %d added: the ledger says %+v", len(before), len(after), added, l)
	}
}

// orderIsKept: the rows that stayed in a session are in the same order but for
// results, and rows that moved from one session to another are in theirs.
func orderIsKept(t *rapid.T, before, after []storedRow) {
	place := map[int64]int{}
	for i, r := range before {
		place[r.id] = i
	}
	last := map[string]int{}
	home := map[int64]string{}
	for _, r := range before {
		home[r.id] = r.session
	}
	for _, r := range after {
		at, there := place[r.id]
		if !there || r.role != "user" && r.role != "assistant" {
			continue
		}
		from := home[r.id] + " to " + r.session
		if previous, some := last[from]; some && previous > at {
			t.Fatalf("row %d comes too late in session %s", r.id, r.session)
		}
		last[from] = at
	}
}

// upstreamAgrees assembles the next request of every session that is no child as
// upstream does, and finds that its sanitiser has nothing to do.
func upstreamAgrees(t tester, path string) {
	db := openPlain(t, path)
	defer func() { _ = db.Close() }()
	for _, r := range rowsOf(t, db, "select id from sessions where parent_id is null") {
		added, dropped := sanitised(t, db, r[0].(string))
		if added+dropped > 0 {
			t.Errorf("upstream would add %d results and drop %d of session %s", added, dropped, r[0])
		}
	}
}

type upstreamMessage struct {
	Role         string            `json:"role"`
	Content      string            `json:"content"`
	MultiContent []json.RawMessage `json:"multi_content"`
	ToolCalls    []struct {
		ID string `json:"id"`
	} `json:"tool_calls"`
	ToolCallID string `json:"tool_call_id"`
}

// sanitised counts what the runtime would add to and drop from a request: it
// starts behind the last summary, leaves blank messages out, answers calls that
// have no result before the next turn, and drops results that answer none
// (docker agent #2377, #2516, #3001, #3162).
func sanitised(t tester, db *sql.DB, id string) (added, dropped int) {
	kept := "0"
	if strings.Contains(fmt.Sprint(rowsOf(t, db, "select sql from sqlite_schema where name = 'session_items'")), "first_kept_entry") {
		kept = "first_kept_entry"
	}
	type loaded struct {
		kind    string
		message upstreamMessage
	}
	var list []loaded
	start := 0
	for _, r := range rowsOf(t, db, "select item_type, coalesce(message_json, ''), coalesce(summary_text, ''), "+kept+
		" from session_items where session_id = '"+id+"' and (item_type <> 'subsession' or subsession_id in (select id from sessions))"+
		" order by position, id") {
		it := loaded{kind: r[0].(string)}
		if it.kind == "message" {
			if err := json.Unmarshal([]byte(r[1].(string)), &it.message); err != nil {
				t.Fatal(err)
			}
		}
		if it.kind == "summary" && r[2] != "" {
			start = len(list) + 1
			if k, ok := r[3].(int64); ok && k > 0 && int(k) < len(list) {
				start = int(k)
			}
		}
		list = append(list, it)
	}
	pending := map[string]bool{}
	for _, it := range list[min(start, len(list)):] {
		m := it.message
		switch {
		case it.kind != "message":
		case m.Role == "tool" && pending[m.ToolCallID]:
			delete(pending, m.ToolCallID)
		case m.Role == "tool":
			dropped++
		case strings.TrimSpace(m.Content) == "" && len(m.ToolCalls) == 0 && len(m.MultiContent) == 0:
		default:
			added += len(pending)
			clear(pending)
			for _, c := range m.ToolCalls {
				pending[c.ID] = true
			}
		}
	}
	return added + len(pending), dropped
}
