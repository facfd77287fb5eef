package adk_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/adk"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
	"github.com/sessctl/sessctl/internal/store/builder"
	"github.com/sessctl/sessctl/internal/store/sqlite"
	"github.com/sessctl/sessctl/internal/view"
)

const jsCorpus = "../../../../shared/corpus/adk-js"

// jsDatabase is a copy of a database that adk-js wrote.
func jsDatabase(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(jsCorpus, name))
	if err != nil {
		t.Skip("the shared corpus is not beside this checkout (../shared/corpus/adk-js)")
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDatabasesOfJavaScript: what is found in them is what is wrong with them.
func TestDatabasesOfJavaScript(t *testing.T) {
	for name, want := range map[string][]string{
		"basic.db":       {"error SC101 boom:5"},
		"agents.db":      {"warning SC011 par:2", "info SC722 par:2"},
		"compaction.db":  nil,
		"interrupted.db": {"error SC101 kill:1", "error SC101 sib:1", "error SC101 sib:1"},
	} {
		t.Run(name, func(t *testing.T) {
			st := jsStore(t, jsDatabase(t, name))
			result, err := check.Run(t.Context(), st, check.Options{Rules: catalogue.UsualRules()})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range result.Findings {
				got = append(got, fmt.Sprintf("%s %s %s:%d", f.Severity, f.Rule.ID, f.Session, f.Item))
			}
			if !slices.Equal(got, want) || st.Facts().Generation != "J1" {
				t.Errorf("%s: %q", st.Facts().Generation, got)
			}
			for _, f := range result.Findings {
				if strings.Contains(f.Message, "python") || f.Rule.ID == "SC722" && !strings.Contains(f.Message, "adk-js 0.4 to 1.4") {
					t.Errorf("it blames another runtime: %s", f.Message)
				}
			}
		})
	}
}

// sent is a request as adk-js made it.
type sent struct {
	Session, Agent, Branch, Scope, Error string
	Contents                             []struct {
		Parts []struct {
			Text             string
			FunctionCall     *struct{ Name string }
			FunctionResponse *struct{ Response json.RawMessage }
		}
	}
}

// bare takes away what the results of a repair are wrapped in, which no view shows.
var bare = strings.NewReplacer(`{"error":"[sessctl]`, "[sessctl]", `repeating it."}`, "repeating it.")

// says are the texts and the calls of a request, and behind them its results in no order:
// the runtime puts each behind its call.
func (s *sent) says() (lines []string) {
	var results []string
	for _, c := range s.Contents {
		for _, p := range c.Parts {
			switch {
			case p.FunctionCall != nil:
				lines = append(lines, "call "+p.FunctionCall.Name)
			case p.FunctionResponse != nil:
				results = append(results, bare.Replace(string(p.FunctionResponse.Response)))
			default:
				lines = append(lines, bare.Replace(p.Text))
			}
		}
	}
	slices.Sort(results)
	return append(lines, results...)
}

// TestWhatIsShownIsWhatWasSent holds what the view says that the viewers of sessions are
// shown against the last request that each agent really made.
func TestWhatIsShownIsWhatWasSent(t *testing.T) {
	for _, name := range []string{"basic", "agents", "compaction", "interrupted"} {
		t.Run(name, func(t *testing.T) {
			trees, facts := treesOf(t, jsDatabase(t, name+".db"))
			requests, compared := requestsOf(t, name), 0
			for key, list := range requests {
				if key.agent == "SUMMARIZER" || key.session == "longrun" {
					continue // not an agent's; see the README of the corpus
				}
				last := list[len(list)-1]
				tree, answer := answered(trees, key.session, key.agent, len(list))
				if tree == nil { // nothing came of it, or the session never had it stored
					t.Errorf("%v: no answer is stored", key)
					continue
				}
				compared++
				got, want := shownTo(t, facts, tree, answer, answer), last.says()
				if key.session == "par" { // until it is loaded again, a turn has its ties as they were written
					slices.Sort(got)
					slices.Sort(want)
				}
				if !slices.Equal(got, want) {
					t.Errorf("%v\n%q\n%q", key, got, want)
				}
			}
			if compared == 0 {
				t.Error("no request was compared")
			}
		})
	}
}

type speaker struct{ session, agent string }

func requestsOf(t *testing.T, name string) map[speaker][]sent {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(jsCorpus, name+".requests.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	requests := map[speaker][]sent{}
	for line := range strings.Lines(string(data)) {
		var s sent
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		if s.Contents != nil {
			key := speaker{s.Session, s.Agent}
			requests[key] = append(requests[key], s)
		}
	}
	return requests
}

func jsStore(t *testing.T, path string) store.Store {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	st, err := adk.Kind.Open(t.Context(), &store.Source{Path: path, DB: db.Reader(), Bytes: db.File.Size}, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func treesOf(t *testing.T, path string) ([]*session.Tree, *session.Store) {
	t.Helper()
	st := jsStore(t, path)
	var trees []*session.Tree
	for tree, err := range st.Trees(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if err := st.Fill(t.Context(), tree); err != nil {
			t.Fatal(err)
		}
		trees = append(trees, tree)
	}
	return trees, st.Facts()
}

// answered is the session as it was when an agent got its nth answer, which is its last item.
func answered(trees []*session.Tree, id, agent string, nth int) (*session.Tree, int) {
	for _, tree := range trees {
		s := *tree.Root()
		if s.ID != id && !strings.HasSuffix(s.ID, "/"+id) {
			continue
		}
		for i := range s.Items {
			if it := &s.Items[i]; it.Agent() == agent && it.Role == session.Assistant {
				if nth--; nth == 0 {
					s.Items = slices.Clone(s.Items[:i+1])
					return &session.Tree{Sessions: []*session.Session{&s}}, i
				}
			}
		}
	}
	return nil, 0
}

// shownTo are the texts, calls and results of the items before one that the speaker of
// another item is shown, as the view has them: its subject, which has to hold what `view
// --agent` says that it sees.
func shownTo(t *testing.T, facts *session.Store, tree *session.Tree, by, end int) []string {
	t.Helper()
	root := tree.Root()
	agent, branch := root.Items[by].Agent(), root.Items[by].Branch()
	var subject *rules.Subject
	pass := rules.NewPass(facts, tree, rules.Judge{}, nil)
	for _, v := range pass.ViewersOf(root) {
		if v.ViewerIndex(by) >= 0 && v.Items[v.ViewerIndex(by)].Agent() == agent {
			subject = v
		}
	}
	out, err := view.BuildVisibility(view.Input{Store: facts, Tree: tree, Session: root.ID}, view.Question{Agent: agent, Branch: &branch})
	if err != nil {
		t.Fatal(err)
	}
	viewer := slices.IndexFunc(out.Visibility.Viewers, func(v view.Viewer) bool { return v.Scope == root.Items[by].Scope() })
	var lines, results []string
	if last := subject.LastSummary(); last >= 0 {
		lines = append(lines, facts.Retells.Summary+subject.Items[last].Body.Text)
	}
	for i := range out.Visibility.Events {
		e := &out.Visibility.Events[i]
		at := subject.ViewerIndex(e.Item)
		sees := out.Visibility.Cell(e, viewer, 0).Visible && e.Item < end && e.Stored().Kind == session.Message
		if at < 0 && sees && e.Stored().IsAnswer() && e.Stored().Agent() == "" {
			continue // the user's answer to another agent's call goes with that call
		}
		if sees != (at >= subject.Start && e.Item < end && subject.Items[at].OnWire()) {
			t.Errorf("%s: item %d is visible: %t, and not so to its subject", agent, e.Item, sees)
		}
		if !sees {
			continue
		}
		it := &subject.Items[at]
		if it.Body.Reasoning != "" {
			lines = append(lines, it.Body.Reasoning)
		}
		if it.Body.Text != "" {
			lines = append(lines, strings.Split(it.Body.Text, "\n")...)
		}
		for _, c := range it.Calls {
			lines = append(lines, "call "+c.Name)
		}
		for _, r := range it.Results {
			if !r.Pending && !subject.LeavesOut(at) {
				results = append(results, r.Text)
			}
		}
	}
	slices.Sort(results)
	return append(lines, results...)
}

// TestOddEventsOfJavaScript holds what the view says against what adk-js 2.0.0 itself made
// of events with odd contents, and of sessions that a repair mended: testdata has the
// events as it read them, and the requests that its own functions built of them for each
// agent.
func TestOddEventsOfJavaScript(t *testing.T) {
	data, err := os.ReadFile("testdata/adk-js-2.0.0.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var told struct {
			Session string
			Events  []json.RawMessage
			Views   []sent
		}
		if err := json.Unmarshal([]byte(line), &told); err != nil {
			t.Fatal(err)
		}
		t.Run(told.Session, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "js.db")
			if err := createOf(path, told.Session, told.Events); err != nil {
				t.Fatal(err)
			}
			trees, facts := treesOf(t, path)
			for _, v := range told.Views {
				if v.Error != "" { // until the next message of the user
					continue
				}
				items := trees[0].Root().Items
				by := slices.IndexFunc(items, func(it session.Item) bool {
					return it.Agent() == v.Agent && it.Branch() == v.Branch && it.Scope() == v.Scope && it.OnWire() && it.Role == session.Assistant
				})
				if by < 0 { // it has no voice: nothing that it said is sent
					continue
				}
				got := shownTo(t, facts, trees[0], by, len(items))
				for i := range got { // what the same agent said in another scope is its own
					got[i] = strings.TrimPrefix(got[i], "["+v.Agent+"] said: ")
				}
				got = slices.DeleteFunc(got, func(s string) bool { return s == "For context:" })
				want := slices.DeleteFunc(v.says(), func(s string) bool { return s == "For context:" || s == "" })
				if !slices.Equal(got, want) {
					t.Errorf("%s on %q in %q (-want +got):\n%s", v.Agent, v.Branch, v.Scope, cmp.Diff(want, got))
				}
			}
		})
	}
}

// createOf writes a database with one session whose events are stored as these
// documents of adk-js.
func createOf(path string, session string, documents []json.RawMessage) error {
	if err := adktest.Create(path, adktest.J1, adktest.Session{ID: session}); err != nil {
		return err
	}
	db, err := builder.Open(path)
	if err != nil {
		return err
	}
	for _, d := range documents {
		db.Exec(`insert into events select d ->> 'id', app_name, user_id, id, d ->> 'invocation_id', d ->> 'timestamp', d
			from sessions, (select ? as d)`, string(d))
	}
	return db.Close()
}
