package storetest

import (
	"context"
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
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/view"
)

// Opened are the facts and the sessions of a store, by their ids, with texts.
func Opened(t Tester, path string) (*session.Store, map[string]*session.Session) {
	t.Helper()
	facts, list := readStore(t, path, store.Options{}, true)
	sessions := map[string]*session.Session{}
	for _, tree := range list {
		for _, s := range tree.Sessions {
			sessions[s.ID] = s
		}
	}
	return facts, sessions
}

func readStore(t Tester, path string, opts store.Options, texts bool) (*session.Store, []*session.Tree) {
	t.Helper()
	o, err := registry.Open(context.Background(), path, "", nil, opts)
	if err != nil {
		t.Fatalf("%v", err)
	}
	var list []*session.Tree
	for tree, err := range o.Trees(context.Background()) {
		if err == nil && texts {
			err = o.Fill(context.Background(), tree)
		}
		if err != nil {
			t.Fatalf("%v", err)
		}
		list = append(list, tree)
	}
	if err := o.Close(); err != nil {
		t.Fatalf("%v", err)
	}
	return o.Facts(), list
}

// Findings are those of a store, as severity, rule and call, and what is wrong with the
// store itself.
func Findings(t Tester, path string) (found []string) {
	t.Helper()
	facts, list := readStore(t, path, store.Options{Deep: true}, false)
	for _, tree := range list {
		for _, f := range check.RunTree(facts, tree, catalogue.UsualRules(), rules.Judge{}) {
			found = append(found, fmt.Sprint(f.Severity, " ", f.Rule.ID, " ", f.Call))
		}
	}
	for _, f := range facts.Faults {
		found = append(found, "store: "+f.Detail)
	}
	slices.Sort(found)
	return found
}

// Outlooks say what becomes of the root sessions of a store, in its order.
func Outlooks(t Tester, path string) (list []string) {
	t.Helper()
	facts, trees := readStore(t, path, store.Options{Deep: true}, false)
	for _, tree := range trees {
		list = append(list, check.OutlookOf(tree.Root().ID, check.RunTree(facts, tree, catalogue.UsualRules(), rules.Judge{})).String())
	}
	return list
}

// Corpus is a folder of databases that a runtime wrote, NAME.db, and of the requests that it
// sent, NAME.requests.jsonl. It stands beside the checkout, if it is there.
type Corpus string

// Names are those of the databases. A test without them is skipped.
func (c Corpus) Names(t *testing.T) (list []string) {
	t.Helper()
	all, _ := filepath.Glob(filepath.Join(string(c), "*.db"))
	if len(all) == 0 {
		t.Skipf("the shared corpus is not beside this checkout (%s)", strings.TrimLeft(string(c), "./"))
	}
	for _, path := range all {
		list = append(list, strings.TrimSuffix(filepath.Base(path), ".db"))
	}
	return list
}

// Copy is a copy of a database.
func (c Corpus) Copy(t *testing.T, name string) string {
	t.Helper()
	c.Names(t)
	return Copy(t, filepath.Join(string(c), name+".db"), t.TempDir())
}

// Run is the conformance suite on databases.
func (c Corpus) Run(t *testing.T, kind store.Kind, names ...string) {
	t.Helper()
	for _, name := range names {
		Run(t, kind, Sample{Name: name, Make: func(t *testing.T, folder string) string {
			c.Names(t)
			return Copy(t, filepath.Join(string(c), name+".db"), folder)
		}})
	}
}

// Verdicts holds the findings of all databases against those that are right. A database
// without a verdict is clean.
func (c Corpus) Verdicts(t *testing.T, verdicts map[string][]string) {
	t.Helper()
	all := c.Names(t)
	for _, name := range all {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(verdicts[name], Findings(t, c.Copy(t, name))); diff != "" {
				t.Error(diff)
			}
		})
	}
	for name := range verdicts {
		if !slices.Contains(all, name) {
			t.Errorf("%s is not recorded", name)
		}
	}
}

// Request is what a runtime sent to a Chat Completions server.
type Request struct {
	Aux  bool // for a title or a summary
	Body struct {
		Messages []struct {
			Role    string
			Content string
			CallID  string `json:"tool_call_id"`
			Calls   []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
	}
}

// Requests are those of a database, but for titles and summaries.
func (c Corpus) Requests(t *testing.T, name string) (list []Request) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(string(c), name+".requests.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var r Request
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if !r.Aux {
			list = append(list, r)
		}
	}
	return list
}

// Said are its messages, a line each, without instructions, which no database holds.
func (r *Request) Said() (lines []string) {
	for _, m := range r.Body.Messages {
		if m.Role == "system" {
			continue
		}
		line := fmt.Sprintf("%s %s%q", m.Role, m.CallID, m.Content)
		for _, c := range m.Calls {
			line += fmt.Sprintf(" %s %s(%s)", c.ID, c.Function.Name, c.Function.Arguments)
		}
		lines = append(lines, line)
	}
	return lines
}

// Foretold are the messages of the next request of every session, as `view --model-input`
// has them, in the words of a request.
func Foretold(t *testing.T, path string, said func(r *view.Request, facts *session.Store) []string) (sessions [][]string) {
	t.Helper()
	facts, list := readStore(t, path, store.Options{}, true)
	for _, tree := range list {
		found := check.RunTree(facts, tree, catalogue.UsualRules(), rules.Judge{})
		for _, s := range tree.Sessions {
			v := view.BuildView(view.Input{Store: facts, Tree: tree, Findings: found, Session: s.ID, Request: true})
			v.Request.Parts = v.Request.Parts[:len(v.Request.Parts)-1] // the last one is the next message of the user
			sessions = append(sessions, said(v.Request, facts))
		}
	}
	return sessions
}

// Say are the messages that a view foretells, as Request.Said has them. Results that the
// runtime invents stand before those that are stored; byCalls, all stand in the order of
// their calls.
func Say(byCalls bool) func(r *view.Request, facts *session.Store) []string {
	return func(r *view.Request, _ *session.Store) (list []string) {
		type answer struct {
			nth  int
			line string
		}
		var calls []string
		var answers []answer // to them
		result := func(call, text string) {
			answers = append(answers, answer{slices.Index(calls, call), fmt.Sprintf("tool %s%q", call, text)})
		}
		next := func() {
			if byCalls {
				slices.SortStableFunc(answers, func(a, b answer) int { return a.nth - b.nth })
			}
			for _, a := range answers {
				list = append(list, a.line)
			}
			calls, answers = nil, nil
		}
		for i := range r.Parts {
			p := &r.Parts[i]
			it := p.Row.Stored
			switch {
			case p.Unsent || it == nil && p.Message < 0: // an empty message that is refused has no number
			case it == nil:
				next()
				list = append(list, fmt.Sprintf("user %q", p.Row.Text))
			case it.Role == session.Tool:
				for _, res := range it.Results {
					result(res.CallID, res.Text)
				}
			default:
				next()
				line := fmt.Sprintf("%s %q", it.Role, it.Body.Text)
				for _, c := range it.Calls {
					line += fmt.Sprintf(" %s %s(%s)", c.ID, c.Name, c.Args)
					calls = append(calls, c.ID)
				}
				list = append(list, line)
				if r.Masking != nil {
					for _, m := range r.Masking.Invented {
						if m.Item == p.Row.Item {
							result(m.Call, m.Result)
						}
					}
				}
			}
		}
		next()
		return list
	}
}

// SentAll holds every request that is recorded against what is stored, in its own state and in the
// one that was resumed from it: a session is sent so next, but for a new prompt, or it begins so,
// because the answer came later. unlike names those that are not foretold, as NAME/NUMBER, and why.
func (c Corpus) SentAll(t *testing.T, sent func(r *Request) []string, foretold func(r *view.Request, facts *session.Store) []string, unlike map[string]string) {
	t.Helper()
	recorded, _ := filepath.Glob(filepath.Join(string(c), "*.requests.jsonl"))
	for _, file := range recorded {
		name := strings.TrimSuffix(filepath.Base(file), ".requests.jsonl")
		t.Run(name, func(t *testing.T) {
			var sessions [][]string
			for _, state := range []string{name, name + "-resumed"} {
				if slices.Contains(c.Names(t), state) {
					sessions = append(sessions, Foretold(t, c.Copy(t, state), foretold)...)
				}
			}
			for n, r := range c.Requests(t, name) {
				said, key := sent(&r), fmt.Sprintf("%s/%d", name, n)
				ok := slices.ContainsFunc(sessions, func(s []string) bool {
					return slices.Equal(s, said[:len(said)-1]) || strings.HasPrefix(strings.Join(s, "\n"), strings.Join(said, "\n"))
				})
				if ok == (unlike[key] != "") {
					t.Errorf("%s: foretold: %t (%s)\n%s\n%q", key, ok, unlike[key], strings.Join(said, "\n"), sessions)
				}
			}
		})
	}
	if len(recorded) == 0 {
		c.Names(t)
	}
}
