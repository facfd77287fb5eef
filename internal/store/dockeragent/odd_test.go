package dockeragent_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// oddStores are databases that docker agent never writes, but that SQLite
// accepts: every column can hold any type, and tables can have any form. The
// rest of them has to be read all the same.
var oddStores = []struct {
	name       string
	generation int
	deep       bool
	sql        string
	faults     []string // FIELD or kind of fault, and a part of the detail
	items      int      // of the root session
}{
	{name: "nothing odd", generation: 29, items: 6},
	{name: "nothing odd, deep", generation: 29, deep: true, items: 6},
	{name: "children in the column only, deep", generation: 13, deep: true, items: 6},

	{"messages in the form of before v0.5.0", 13, false, `update sessions set messages = '[{"agentFilename":"agent.yaml","agentName":"","message":{"role":"user","content":"hello"}},
		{"agentFilename":"agent.yaml","agentName":"root","message":{"role":"assistant","content":"hi"}}]' where id = 'P'`,
		[]string{"the messages column: it has the form that docker agent wrote before v0.5.0"}, 2},
	{"messages of that form without their agents", 13, false, `update sessions set messages = '[{"role":"user","content":"hello"}]' where id = 'P'`,
		[]string{"the messages column: it has the form that docker agent wrote before v0.5.0"}, 1},
	{"an entry without a message", 13, false, `update sessions set messages = '[{"message":{"agentName":"root"}}]' where id = 'P'`,
		[]string{"message_json: unexpected end of JSON input"}, 1},

	{"id that is NULL", 18, false, "insert into sessions(id, messages) values (null, '[]')",
		[]string{"id: listed until", "created_at: listed until"}, 6},
	{"id that is a blob", 18, false, "insert into sessions(id, title, messages, created_at) values (x'00ff', 'b', '[]', '2026-02-14T09:00:00Z')", nil, 6},
	{"position that is text", 29, false, "update session_items set position = 'last' where position = 5 and session_id = 'P'",
		[]string{"position: expects a whole number"}, 6},
	{"position that is no whole number", 29, false, "update session_items set position = 1.5 where position = 1 and session_id = 'P'",
		[]string{"position: expects a whole number"}, 6},
	{"implicit that is text", 29, false, "update session_items set implicit = 'perhaps' where position = 1 and session_id = 'P'",
		[]string{"implicit: expects true or false"}, 6},
	{"implicit that is NULL", 29, false, "update session_items set implicit = null where position = 1 and session_id = 'P'",
		[]string{"implicit: loaded until"}, 6},
	{"first_kept_entry that is text", 29, false, "update session_items set first_kept_entry = 'x' where position = 1 and session_id = 'P'",
		[]string{"first_kept_entry: expects a whole number"}, 6},
	{"flag and counter of the other's type", 29, false, "update sessions set starred = 1.5, input_tokens = 'true' where id = 'P'",
		[]string{"input_tokens: expects a whole number", "starred: expects true or false"}, 6},
	{"role that nobody knows", 29, false, "update session_items set message_json = replace(message_json, '\"role\":\"user\"', '\"role\":\"critic\"') where position = 0 and session_id = 'P'",
		[]string{`critic: the role "critic" is not one that docker agent knows`}, 6},
	{"part that nobody knows", 18, false, `update session_items set message_json = json_set(message_json, '$.multi_content', json('[{"type":"hologram"},{"type":"text"}]')) where position = 0 and session_id = 'P'`,
		[]string{`hologram: docker agent does not know parts of type "hologram"`}, 6},
	{"text that is no Unicode", 29, false, "update session_items set message_json = replace(message_json, '\"go\"', '\"\\ud800' || cast(x'ff' as text) || '\"') where position = 0 and session_id = 'P'", nil, 6},
	{"a column called rowid", 29, false, "alter table session_items add column rowid text; alter table sessions add column RowID text", nil, 6},

	{"migrations that are not recorded", 29, false, "delete from migrations where id in (5, 26)",
		[]string{"schema: migrations 005 and 026 are not recorded"}, 6},
	{"no migration is recorded", 29, false, "delete from migrations",
		[]string{"schema: migrations 001 to 029 are not recorded"}, 6},
	{"columns that are newer than the last migration", 29, false, "delete from migrations where id > 20",
		[]string{"schema: migrations 021 to 029 are not recorded"}, 6},
	{"migrations without their columns", 20, false, "insert into migrations values (21, '021_add_first_kept_entry_column', '', ''), (22, '022_add_instruction_context_column', '', '')",
		[]string{"schema: session_items.first_kept_entry and sessions.instruction_context are missing"}, 6},
}

func TestOddStores(t *testing.T) {
	for _, tt := range oddStores {
		t.Run(tt.name, func(t *testing.T) {
			o := openOdd(t, tt.generation, tt.deep, tt.sql)
			faults, root := faultsOf(t, o)
			if len(faults) != len(tt.faults) {
				t.Fatalf("faults\n%s", strings.Join(faults, "\n"))
			}
			for i, want := range tt.faults {
				field, part, _ := strings.Cut(want, ": ")
				if !strings.HasPrefix(faults[i], field+": ") || !strings.Contains(faults[i], part) {
					t.Errorf("fault %q, want %q", faults[i], want)
				}
			}
			if root == nil || len(root.Items) != tt.items {
				t.Fatalf("root session %+v, want it with %d items", root, tt.items)
			}
		})
	}
}

// openOdd makes a database with one delegation, changes it, and opens it.
func openOdd(t *testing.T, generation int, deep bool, sql string) *registry.Opened {
	t.Helper()
	path := filepath.Join(t.TempDir(), "session.db")
	db, err := agenttest.Create(path, generation)
	if err != nil {
		t.Fatal(err)
	}
	writeDelegation(db)
	db.Sync()
	if _, err := db.SQL.Exec(sql); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	o, err := registry.Open(t.Context(), path, "", nil, store.Options{Deep: deep})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.Close() })
	return o
}

// writeDelegation writes session P, whose worker answered in session C.
func writeDelegation(db *agenttest.DB) {
	root := db.Root(agenttest.SessionRow{ID: "P", Title: "count"})
	root.User("go")
	root.Assistant("root", agenttest.Message{ToolCalls: []agenttest.ToolCall{agenttest.Transfer("d1", "worker", "count", "")}})
	child := root.Child(agenttest.SessionRow{ID: "C", Title: "Transferred task"})
	child.Prologue("count", "")
	child.Assistant("worker", agenttest.Message{Content: "two"})
	root.SubSession(child)
	root.Result("root", "d1", "two")
	root.Assistant("root", agenttest.Message{Content: "there are two"})
	root.User("thanks")
}

// faultsOf lists the faults of a store as "FIELD: DETAIL", and its session P
// with all bodies filled.
func faultsOf(t *testing.T, o *registry.Opened) (faults []string, root *session.Session) {
	t.Helper()
	list := slices.Clone(o.Facts().Faults)
	for _, tree := range trees(t, o) {
		for _, s := range tree.Sessions {
			list = append(list, s.Faults...)
			if s.ID == "P" {
				root = s
			}
		}
	}
	names := map[session.FaultKind]string{session.SchemaUnknown: "schema", session.StoreDamaged: "damaged", session.ForeignKey: "key"}
	for _, f := range list {
		field := f.Field
		if field == "" {
			field = names[f.Kind]
		}
		if field == "" {
			field = fmt.Sprint("kind ", f.Kind)
		}
		faults = append(faults, field+": "+f.Detail)
	}
	return faults, root
}

func trees(t *testing.T, o *registry.Opened) []*session.Tree {
	t.Helper()
	var list []*session.Tree
	for tree, err := range o.Trees(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Fill(t.Context(), tree); err != nil {
			t.Fatal(err)
		}
		list = append(list, tree)
	}
	return list
}

// Positions that are no numbers come in SQLite's own order, as the reader
// asks for it.
func TestOddPositionsKeepTheirOrder(t *testing.T) {
	o := openOdd(t, 29, false, `update session_items set position = 'text' where position = 0 and session_id = 'P';
		update session_items set position = 3.5 where position = 1 and session_id = 'P'`)
	_, root := faultsOf(t, o)
	var keys []string
	for i := range root.Items {
		keys = append(keys, root.Items[i].Key)
	}
	if got, want := strings.Join(keys, " "), "6 7 2 8 9 1"; got != want {
		t.Errorf("rows %s, want %s", got, want)
	}
}

// Without rowids there is no order of rows and no key to name one.
func TestTableWithoutRowids(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.db")
	db, err := agenttest.Create(path, 29)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.SQL.Exec(`drop table session_items; create table session_items
		(id integer primary key, session_id, position, item_type, agent_name, message_json, implicit, subsession_id, summary_text) without rowid`)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = registry.Open(t.Context(), path, "", nil, store.Options{})
	if err == nil || !strings.Contains(err.Error(), "table session_items has no rowids") {
		t.Errorf("got %v", err)
	}
}

// What docker agent sees to by itself is said of the generations that only such
// releases write.
func TestAdapts(t *testing.T) {
	for generation := range 30 {
		want := []string{"SC304 anthropic", "SC304 bedrock", "SC304 gemini", "SC502", "SC603 openai-chat"}
		if generation >= 14 {
			want = append([]string{"SC205 anthropic", "SC205 bedrock"}, want...)
		}
		if generation >= 22 {
			want = slices.Insert(want, 5, "SC401")
		}
		facts := openOdd(t, generation, false, "").Facts()
		if got := slices.Sorted(maps.Keys(facts.Adapts)); !slices.Equal(got, want) {
			t.Errorf("generation %d: %q, want %q", generation, got, want)
		}
	}
}

// What is said about the runtime is true for every generation.
func TestRuntimeAndAdvice(t *testing.T) {
	want := map[int]string{
		0:  "written by docker agent v0.5.0 or later, before v1.3.0",
		18: "written by docker agent v1.27.1 or later, before v1.32.4",
		20: "written by docker agent v1.36.0 or later, before v1.41.0",
		21: "written by docker agent v1.41.0 or later, before v1.110.0",
		23: "written by docker agent v1.110.0 or later, before v1.111.0",
		24: "written by docker agent v1.111.0 or later",
		26: "written by docker agent after v1.111.0",
		29: "written by docker agent after v1.115.0",
	}
	for generation := range 30 {
		facts := openOdd(t, generation, false, "").Facts()
		if text, ok := want[generation]; ok && facts.Versions != text {
			t.Errorf("generation %d: %q, want %q", generation, facts.Versions, text)
		}
		if leaks, advice := generation >= 14, len(facts.Advice) > 0; leaks != advice {
			t.Errorf("generation %d: advice %q", generation, facts.Advice)
		}
	}
}
