package springai_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/springai"
	"github.com/sessctl/sessctl/internal/store/springai/springtest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// written makes a change of the session of a file, and gives back the journal.
func written(t *testing.T, path string, change func(s *session.Session)) ([]byte, error) {
	t.Helper()
	before, after := trees(t, path)[0], trees(t, path)[0]
	change(after.Root())
	editor, err := springai.Kind.Edit(context.Background(), storetest.Source(path))
	if err != nil {
		t.Fatal(err)
	}
	if err := editor.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := editor.Write(t.Context(), &store.Change{Before: before, After: after}); err != nil {
		return nil, errors.Join(err, editor.Close())
	}
	journal, err := editor.Journal()
	if err := errors.Join(err, editor.Commit(t.Context()), editor.Close()); err != nil {
		t.Fatal(err)
	}
	return journal, nil
}

// reverted takes a change back.
func reverted(t *testing.T, path string, journal []byte) {
	t.Helper()
	editor, err := springai.Kind.Edit(context.Background(), storetest.Source(path))
	if err == nil {
		err = errors.Join(editor.Begin(t.Context()), editor.Revert(t.Context(), journal), editor.Commit(t.Context()), editor.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestChanges(t *testing.T) {
	const (
		one = `{"id":"c1","name":"get_weather","responseData":"{\"temp\":\"22C\",\"call\":\"c1\"}"}`
		two = `{"id":"c2","name":"get_weather","responseData":"{\"temp\":\"22C\",\"call\":\"c2\"}"}`
	)
	for _, tt := range []struct {
		name   string
		change func(s *session.Session)
		query  string
		want   []string
	}{
		{"a response leaves", func(s *session.Session) { s.Items[2].Results = s.Items[2].Results[1:] },
			"select message_data from ai_session_event where message_type = 'TOOL'", []string{"[" + two + "]"}},
		{"the other response leaves", func(s *session.Session) { s.Items[2].Results = s.Items[2].Results[:1] },
			"select message_data from ai_session_event where message_type = 'TOOL'", []string{"[" + one + "]"}},
		{"a response becomes a row", func(s *session.Session) {
			part := s.Items[2]
			part.Key += "#results/1"
			part.Results = part.Results[1:]
			s.Items[2].Results = s.Items[2].Results[:1]
			s.Items = slices.Insert(s.Items, 3, part)
			for i := range s.Items {
				s.Items[i].Position = int64(i + 1)
			}
		}, "select message_type, message_content, message_data, branch, metadata, synthetic, archived from ai_session_event order by seq limit 2 offset 2",
			[]string{"TOOL |  | [" + one + "] |  | {} | 0 | 0", "TOOL |  | [" + two + "] |  | {} | 0 | 0"}},
		{"ids", func(s *session.Session) { s.Items[1].Calls[1].ID, s.Items[2].Results[1].CallID = "c3", "c3" },
			"select instr(message_data, '\"c2\"'), instr(message_data, '\"c3\"') > 0 from ai_session_event where message_data is not null",
			[]string{"0 | 1", "0 | 1"}},
		{"arguments", func(s *session.Session) { s.Items[1].Calls[0].Args = `{"a":"é"}` },
			"select message_data from ai_session_event where message_type = 'ASSISTANT' and message_data is not null",
			[]string{`[{"id":"c1","type":"function","name":"get_weather","arguments":"{\"a\":\"é\"}"},` +
				`{"id":"c2","type":"function","name":"get_weather","arguments":"{\"location\":\"Paris\"}"}]`}},
		{"branch", func(s *session.Session) { s.Items[0].Own().Branch, s.Items[3].Own().Branch = "orch", "orch.x" },
			"select branch from ai_session_event order by seq", []string{"orch", "", "", "orch.x", "", ""}},
		{"archived", func(s *session.Session) { s.Items[0].Flags |= session.Archived },
			"select archived from ai_session_event order by seq", []string{"1", "0", "0", "0", "0", "0"}},
		{"text", func(s *session.Session) { body := *s.Items[3].Body; body.Text = ""; s.Items[3].Body = &body },
			"select quote(message_content) from ai_session_event order by seq",
			[]string{"'weather?'", "NULL", "''", "''", "'thanks'", "'you are welcome'"}},
		{"a row leaves", func(s *session.Session) { s.Items = append(s.Items[:3:3], s.Items[4:]...) },
			"select seq from ai_session_event order by seq", []string{"1", "2", "3", "5", "6"}},
		{"event_version", func(s *session.Session) { s.Items[0].Own().Branch = "orch" }, "select event_version from ai_session", []string{"7"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := built(t, t.TempDir(), "healthy", springtest.Form{})
			before := storetest.Dump(t, path)
			journal, err := written(t, path, tt.change)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, lines(t, path, tt.query)); diff != "" {
				t.Error(diff)
			}
			reverted(t, path, journal)
			if diff := cmp.Diff(before, storetest.Dump(t, path)); diff != "" {
				t.Errorf("not as before: %s", diff)
			}
		})
	}
}

// TestRefusals are changes that the store has no place for.
func TestRefusals(t *testing.T) {
	for name, change := range map[string]func(s *session.Session){
		"another agent": func(s *session.Session) { s.Items[1].Own().Agent = "researcher" },
		"a new answer": func(s *session.Session) {
			s.Items = append(s.Items, session.Item{Role: session.Assistant, Key: "new-0", Position: 99, Body: &session.Body{Text: "hi"}})
		},
		"a response of another row": func(s *session.Session) {
			s.Items[2].Results = append(s.Items[2].Results, session.Result{CallID: "c9"})
		},
		"fewer calls": func(s *session.Session) { s.Items[1].Calls = s.Items[1].Calls[:1] },
	} {
		t.Run(name, func(t *testing.T) {
			path := built(t, t.TempDir(), "healthy", springtest.Form{})
			before := storetest.Dump(t, path)
			if _, err := written(t, path, change); err == nil {
				t.Error("it was written")
			}
			if diff := cmp.Diff(before, storetest.Dump(t, path)); diff != "" {
				t.Errorf("something changed: %s", diff)
			}
		})
	}
}

// TestInterruptedCall repairs a session whose process died between a call and its
// response, in both ways of giving out seq.
func TestInterruptedCall(t *testing.T) {
	for _, tt := range []struct {
		name string
		form springtest.Form
		want []string
	}{
		{"seq given out", springtest.Form{}, []string{"1 | USER | weather? | ", "2 | ASSISTANT |  | c1", "5 | TOOL |  | c1", "6 | USER | are you there? | ", "7 | ASSISTANT | yes | "}},
		{"plain seq", springtest.Form{Plain: true}, []string{"1 | USER | weather? | ", "2 | ASSISTANT |  | c1", "3 | TOOL |  | c1", "4 | USER | are you there? | ", "5 | ASSISTANT | yes | "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := built(t, t.TempDir(), "G6", tt.form)
			change(t, path, `update ai_session_event set branch = 'orch.researcher', metadata = '{"agent_name":"researcher","n":1}' where message_data is not null`)
			before := storetest.Dump(t, path)
			_, receipt, err := repairtest.Repair(path)
			if err != nil {
				t.Fatal(err)
			}
			const query = "select seq, message_type, message_content, message_data ->> '$[0].id' from ai_session_event order by seq"
			if diff := cmp.Diff(tt.want, lines(t, path, query)); diff != "" {
				t.Error(diff)
			}
			const made = `select message_data ->> '$[0].name', substr(message_data ->> '$[0].responseData', 1, 9), branch, metadata, synthetic, archived,
				quote(timestamp), (select quote(timestamp) from ai_session_event where message_type = 'ASSISTANT' limit 1) from ai_session_event where message_type = 'TOOL'`
			want := []string{`get_weather | [sessctl] | orch.researcher | {"agent_name":"researcher"} | 0 | 0 | '2026-05-04 09:00:02.256000' | '2026-05-04 09:00:02.256000'`}
			if diff := cmp.Diff(want, lines(t, path, made)); diff != "" {
				t.Error(diff)
			}
			if got := lines(t, path, "select event_version from ai_session"); got[0] != "5" {
				t.Errorf("event_version is %s after four messages and a repair", got[0])
			}
			if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, storetest.Dump(t, path)); diff != "" {
				t.Errorf("undo gives something else: %s", diff)
			}
		})
	}
}

// TestDefaults repairs values that a column must have and that cannot be read.
func TestDefaults(t *testing.T) {
	path := built(t, t.TempDir(), "healthy", springtest.Form{Loose: true})
	change(t, path, "update ai_session set user_id = null, event_version = null, metadata = '{', created_at = 'x'",
		"update ai_session_event set metadata = '[', timestamp = null, archived = null, synthetic = null where rowid = 4")
	before := storetest.Dump(t, path)
	plan, receipt, err := repairtest.Repair(path)
	if err != nil {
		t.Fatal(err)
	}
	if list := left(plan); len(list) > 0 {
		t.Errorf("left: %v", list)
	}
	got := append(lines(t, path, "select user_id, event_version, metadata, quote(created_at) from ai_session"),
		lines(t, path, "select metadata, quote(timestamp), archived, synthetic from ai_session_event where rowid = 4")...)
	want := []string{"default-user | 1 | {} | '2026-05-04 09:00:01.253000'", "{} | '2026-05-04 09:00:03.259000' | 0 | 0"}
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
