package adk_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/adk"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// edited writes what an edit makes of the only session of a database.
func edited(t *testing.T, path string, edit func(s *session.Session)) error {
	t.Helper()
	ctx := context.Background()
	ed, err := adk.Kind.Edit(ctx, storetest.Source(path))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ed.Close() }()
	if err := ed.Begin(ctx); err != nil {
		t.Fatal(err)
	}
	trees := [2]*session.Tree{}
	for i := range trees {
		st, err := ed.Read(ctx, []string{"s"})
		if err != nil {
			t.Fatal(err)
		}
		for tree, err := range st.Trees(ctx) {
			if err == nil {
				err = st.Fill(ctx, tree)
			}
			if err != nil {
				t.Fatal(err)
			}
			trees[i] = tree
		}
	}
	edit(trees[1].Root())
	if err := ed.Write(ctx, &store.Change{Before: trees[0], After: trees[1]}); err != nil {
		return err
	}
	if err := ed.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	return nil
}

// odd is a content whose white space, numbers, escapes and unknown members stay.
const odd = `{ "parts" : [ {"text":" \t"},{"functionCall":{"id":"a","args":{"n":1.50e+0,"u":"\u00e9"},"name":"f"},"new":1 }, {"functionCall":{"id":"b","name":"g"}} ] ,"role":"model","x":[ ]}`

const answers = `{"parts":[{"functionResponse":{"id":"a","name":"f","response":{ "n":1.0 }}}, {"functionResponse":{"id":"b","name":"g"},"new":1}],"role":"user"}`

func calling(s *session.Session) *session.Item {
	i := slices.IndexFunc(s.Items, func(it session.Item) bool { return len(it.Calls) == 2 })
	return &s.Items[i]
}

func answering(s *session.Session) (int, *session.Item) {
	i := slices.IndexFunc(s.Items, func(it session.Item) bool { return len(it.Results) == 2 })
	return i, &s.Items[i]
}

// What an edit changes of a row, and nothing else of it.
func TestUpdatesOfARow(t *testing.T) {
	tests := []struct {
		name string
		edit func(s *session.Session)
		want []string // "column: old → new", of all rows
	}{
		{"the id of a call, and where it is said to wait", func(s *session.Session) { calling(s).Calls[0].ID = "c" }, []string{
			"content: " + strings.Replace(odd, `"id":"a"`, `"id":"c"`, 1), `long_running_tool_ids_json: ["z", "c"]`,
		}},
		{"ids that change places", func(s *session.Session) { c := calling(s).Calls; c[0].ID, c[1].ID = c[1].ID, c[0].ID }, []string{
			"content: " + strings.NewReplacer(`"id":"a"`, `"id":"b"`, `"id":"b"`, `"id":"a"`).Replace(odd), `long_running_tool_ids_json: ["z", "b"]`,
		}},
		{"arguments", func(s *session.Session) { calling(s).Calls[0].Args = `{"INVALID_JSON":"["}` }, []string{
			"content: " + strings.Replace(odd, `{"n":1.50e+0,"u":"\u00e9"}`, `{"INVALID_JSON":"["}`, 1),
		}},
		{"arguments where there are none", func(s *session.Session) { calling(s).Calls[1].Args = `{}` }, []string{
			"content: " + strings.Replace(odd, `"name":"g"`, `"name":"g","args":{}`, 1),
		}},
		{"a blank text beside calls", func(s *session.Session) { calling(s).Body.Text = "" }, []string{
			"content: " + strings.Replace(odd, `{"text":" \t"},`, ``, 1),
		}},
		{"the id of a result", func(s *session.Session) { _, it := answering(s); it.Results[1].CallID = `"q"` }, []string{
			"content: " + strings.Replace(answers, `"id":"b"`, `"id":"\"q\""`, 1),
		}},
		{"a result that leaves for the receipt", func(s *session.Session) { _, it := answering(s); it.Results = it.Results[1:] }, []string{
			"content: " + strings.Replace(answers, `{"functionResponse":{"id":"a","name":"f","response":{ "n":1.0 }}}, `, ``, 1),
		}},
		{"a branch", func(s *session.Session) { calling(s).Own().Branch = "p.x" }, []string{"branch: p.x"}},
		{"a place", func(s *session.Session) { calling(s).Position += 7 }, []string{"timestamp: 2026-11-20 22:40:00.000007+01:00"}},
		{"a place at full seconds", func(s *session.Session) { calling(s).Position += 1e6 }, []string{"timestamp: 2026-11-20 22:40:01+01:00"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := oddDatabase(t)
			before := query(t, path, cells)
			if err := edited(t, path, tt.edit); err != nil {
				t.Fatal(err)
			}
			var got []string
			for i, row := range query(t, path, cells) {
				for n, column := range strings.Split(cellNames, ", ") {
					if row[n] != before[i][n] {
						got = append(got, column+": "+row[n])
					}
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A blank text leaves with a result behind it: which part is which result is known before
// any leaves.
func TestABlankTextLeavesWithAResult(t *testing.T) {
	path := oddDatabase(t)
	query(t, path, `update events set content = '`+strings.Replace(answers, `[`, `[{"text":" "}, `, 1)+`' where rowid = 3`)
	err := edited(t, path, func(s *session.Session) {
		_, it := answering(s)
		it.Body.Text, it.Results = "", it.Results[1:]
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"parts":[{"functionResponse":{"id":"b","name":"g"},"new":1}],"role":"user"}`
	if got := column(t, path, "select content from events order by rowid")[2]; got != want {
		t.Errorf("the content is %s", got)
	}
}

const (
	cellNames = "id, author, invocation_id, branch, content, actions, long_running_tool_ids_json, timestamp"
	cells     = "select id, author, invocation_id, branch, content, cast(actions as text), long_running_tool_ids_json, cast(timestamp as text) from events order by rowid"
)

// oddDatabase is a database of adk-go with odd and answers in it.
func oddDatabase(t *testing.T) string {
	t.Helper()
	script := adktest.Script("mixed-offsets")
	script.ID = "s"
	script.Events = script.Events[:3]
	path := created(t, adktest.G2, script)
	for _, statement := range []string{
		`update events set content = '` + odd + `', author = 'root', long_running_tool_ids_json = '["z", "a"]', timestamp = '2026-11-20 22:40:00+01:00' where rowid = 2`,
		`update events set content = '` + answers + `', author = 'root', timestamp = '2026-11-20 22:40:02.5+01:00' where rowid = 3`,
		`update events set timestamp = '2026-11-20 22:39:00+01:00' where rowid = 1`,
	} {
		query(t, path, statement)
	}
	return path
}

// Two calls of one event that share an id wait both when one of them gets another.
func TestCallsThatShareAnIDWaitBoth(t *testing.T) {
	script := adktest.Script("pending")
	script.ID, script.Events = "s", script.Events[:2]
	script.Events[1].Parts = append(script.Events[1].Parts, script.Events[1].Parts[0])
	path := created(t, adktest.P1, script)
	if err := edited(t, path, func(s *session.Session) { calling(s).Calls[1].ID = "adk-2" }); err != nil {
		t.Fatal(err)
	}
	got := column(t, path, "select event_data from events order by rowid")[1]
	if !strings.Contains(got, `"long_running_tool_ids":["adk-wait","adk-2"],`) {
		t.Errorf("the document is %s", got)
	}
}

// A result that gets an event of its own takes its part along as it was stored.
func TestAResultGetsAnEventOfItsOwn(t *testing.T) {
	path := oddDatabase(t)
	err := edited(t, path, func(s *session.Session) {
		i, it := answering(s)
		part := *it
		part.Key += "#results/1"
		part.Results = slices.Clone(it.Results[1:])
		part.Results[0].CallID = "c"
		part.Position++
		it.Results = slices.Clone(it.Results[:1])
		s.Items = slices.Insert(s.Items, i+1, part)
	})
	if err != nil {
		t.Fatal(err)
	}
	got := column(t, path, "select content from events order by rowid")[2:]
	want := []string{
		strings.Replace(answers, `, {"functionResponse":{"id":"b","name":"g"},"new":1}`, ``, 1),
		`{"parts":[{"functionResponse":{"id":"c","name":"g"},"new":1}],"role":"user"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	last := query(t, path, "select author, cast(timestamp as text), cast(actions as text) from events order by rowid")[3]
	if diff := cmp.Diff([]string{"root", "2026-11-20 22:40:02.500001+01:00", `{"stateDelta":{},"artifactDelta":{}}`}, last); diff != "" {
		t.Error(diff)
	}
}

// In a document the copies of the branch and of the time change with them.
func TestUpdatesOfADocument(t *testing.T) {
	tests := []struct {
		name, stored, branch, want string
	}{
		{"a path", "a.b", "a.c", `"branch":"a.c",`},
		{"tokens", "a.b", `{"tokens":[1,2]}`, `"branch":{"tokens":[1,2]},`},
		{"a path instead of tokens", `{"tokens":[1]}`, "a", `"branch":"a",`},
		{"none", "a.b", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			script := adktest.Script("interrupted")
			script.ID, script.Events = "s", script.Events[:2]
			script.Events[1].Branch = tt.stored
			path := created(t, adktest.PS, script)
			if err := edited(t, path, func(s *session.Session) {
				s.Items[1].Own().Branch = tt.branch
				s.Items[1].Position += 1_000_001
			}); err != nil {
				t.Fatal(err)
			}
			row := query(t, path, "select event_data, timestamp = 1795210801.059339 from events order by rowid")[1]
			if !strings.Contains(row[0], `"requested_tool_confirmations":{}},`+tt.want+`"id":`) {
				t.Errorf("the document is %s", row[0])
			}
			if !strings.HasSuffix(row[0], `"timestamp":1795210801.059339}`) || row[1] != "1" {
				t.Errorf("the times are %s and that of the column: %s", row[0], row[1])
			}
		})
	}
}

// Nothing is changed of a row that is not what was read of it.
func TestARowThatIsNotWhatItWas(t *testing.T) {
	for name, edit := range map[string]func(s *session.Session){
		"a call more": func(s *session.Session) { it := calling(s); it.Calls = append(it.Calls, session.Call{ID: "x"}) },
		"a message of a repair": func(s *session.Session) {
			s.Items = append(s.Items, session.Item{Key: "new-0", Position: 1 << 60, Role: session.User})
		},
		"a session that was named": func(s *session.Session) { s.ID = "other" },
	} {
		t.Run(name, func(t *testing.T) {
			path := oddDatabase(t)
			before := dump(t, path)
			if err := edited(t, path, edit); err == nil {
				t.Error("it was written")
			}
			if diff := cmp.Diff(before, dump(t, path)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
