package view_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/canonical"
	"github.com/sessctl/sessctl/internal/view"
)

// stream writes a canonical stream of one session S: a line for each event, with
// its author, its branch ("-" for none) and other members of the item.
func stream(header, events string) string {
	var out strings.Builder
	fmt.Fprintf(&out, `{"type":"header","format":"sessctl.canonical/1","kind":"my-runtime","writer":"dead"%s}`+"\n", header)
	out.WriteString(`{"type":"session","id":"S","title":"A session"}` + "\n")
	for line := range strings.Lines(events) {
		fields := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(fields) < 2 {
			continue
		}
		author, branch, more := fields[0], fields[1], `"invocation":"e-1"`
		if len(fields) == 3 {
			more = fields[2]
		}
		role := "assistant"
		if author == "user" {
			role = "user"
		}
		fmt.Fprintf(&out, `{"type":"item","session":"S","kind":"message","role":%q,"agent":%q,"text":"%s says it",%s`, role, author, author, more)
		switch {
		case strings.HasPrefix(branch, "{"):
			fmt.Fprintf(&out, `,"branch":%s`, branch)
		case branch != "-":
			fmt.Fprintf(&out, `,"branch":%q`, branch)
		}
		out.WriteString("}\n")
	}
	return out.String()
}

const byPath = `,"branch_model":"path"`

// read opens a stream of one tree, with the bodies loaded.
func read(t *testing.T, text string) view.Input {
	t.Helper()
	st, err := canonical.Kind.Open(t.Context(), &store.Source{Path: "case.ndjson", Stream: strings.NewReader(text)}, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	in := view.Input{Store: st.Facts()}
	for tree, err := range st.Trees(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if err := st.Fill(t.Context(), tree); err != nil {
			t.Fatal(err)
		}
		in.Tree, in.Session = tree, tree.Root().ID
	}
	return in
}

func look(t *testing.T, in view.Input, q view.Question) *view.Visibility {
	t.Helper()
	v, err := view.BuildVisibility(in, q)
	if err != nil {
		t.Fatal(err)
	}
	return v.Visibility
}

// seen are the positions of the events that each viewer sees, by its key.
func seen(v *view.Visibility) map[string]string {
	list := map[string]string{}
	for i := range v.Viewers {
		var at []string
		for n := range v.Events {
			if v.Cell(&v.Events[n], i, 0).Visible {
				at = append(at, fmt.Sprint(v.Events[n].Item))
			}
		}
		list[v.Viewers[i].Key] = strings.Join(at, " ")
	}
	return list
}

func on(label string) *string { return &label }

// documented is the table of Spring AI Session's documentation.
const documented = `
	user -
	orch orch
	researcher orch.researcher
	writer orch.writer
	summarizer orch.researcher.summarizer`

func TestTheTableOfSpringsDocumentation(t *testing.T) {
	v := look(t, read(t, stream(byPath, documented)), view.Question{Branch: on("orch.researcher")})
	var got []string
	for i := range v.Events {
		cell := v.Cell(&v.Events[i], 0, 0)
		got = append(got, fmt.Sprint(cell.Visible, " ", cell.Reason, ": ", cell.Words(&v.Viewers[0], &v.Events[i])))
	}
	want := []string{
		"true root: root event, visible to all",
		"true ancestor: direct ancestor",
		"true own: own branch",
		"false sibling: sibling branch",
		"false child: child branch",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if v.Viewers[0].Agent != "researcher" || v.Viewers[0].Sees[0] != 3 || !v.Single {
		t.Errorf("the viewer is %+v", v.Viewers[0])
	}
}

// The two architectures of google/adk-python issue 3470.
const (
	sequence = `
	user -
	Alice p1.Alice
	Bob p1.Bob
	Charlie p1.Charlie
	Delta p2.Delta
	Eve p2.Eve
	Frank p2.Frank
	Grace p3.Grace
	Henry p3.Henry
	Iris p3.Iris`
	nested = `
	user -
	Alice Final.Seq1.P1.Alice
	David Final.Seq2.P2.David
	Bob Final.Seq1.P1.Bob
	Charlie Final.Seq1.P1.Charlie
	Eve Final.Seq2.P2.Eve
	Frank Final.Seq2.P2.Frank
	Reducer1 Final.Seq1
	Reducer2 Final.Seq2
	Final_Reducer -`
)

func TestTokensCloseTheGapOfPaths(t *testing.T) {
	tests := []struct {
		name, events string
		paths        map[string]string // what some agents see under path
		sets         string            // of the agents, in the order of their events
		shows        map[string]string // whom each of some agents sees under tokens
	}{
		{
			"sequence of groups", sequence,
			map[string]string{"p1.Alice": "0 1", "p2.Delta": "0 4", "p3.Iris": "0 9"},
			"Alice{1} Bob{2} Charlie{3} Delta{1,2,3,4} Eve{1,2,3,5} Frank{1,2,3,6} " +
				"Grace{1,2,3,4,5,6,7} Henry{1,2,3,4,5,6,8} Iris{1,2,3,4,5,6,9}",
			map[string]string{
				"Alice": "user", "Delta": "user Alice Bob Charlie",
				"Iris": "user Alice Bob Charlie Delta Eve Frank",
			},
		},
		{
			"nested groups with reducers", nested,
			map[string]string{"Final.Seq1": "0 7 9", "Final.Seq1.P1.Alice": "0 1 7 9", "": "0 1 2 3 4 5 6 7 8 9"},
			"Alice{1,3} David{2,6} Bob{1,4} Charlie{1,5} Eve{2,7} Frank{2,8} " +
				"Reducer1{1,3,4,5} Reducer2{2,6,7,8} Final_Reducer{1,2,3,4,5,6,7,8}",
			map[string]string{
				"Alice": "user", "Reducer1": "user Alice Bob Charlie", "Reducer2": "user David Eve Frank",
				"Final_Reducer": "user Alice David Bob Charlie Eve Frank Reducer1 Reducer2",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := read(t, stream(byPath, tt.events))
			paths := seen(look(t, in, view.Question{All: true}))
			for key, want := range tt.paths {
				if paths[key] != want {
					t.Errorf("under path %q sees %q, want %q", key, paths[key], want)
				}
			}
			v := look(t, in, view.Question{Tokens: true})
			var sets []string
			for _, h := range v.Holders {
				sets = append(sets, h.Agent+view.SetWords(h.Tokens))
				if want, listed := tt.shows[h.Agent]; listed && strings.Join(h.Sees, " ") != want {
					t.Errorf("under tokens %s sees %v, want %s", h.Agent, h.Sees, want)
				}
			}
			if got := strings.Join(sets, " "); got != tt.sets {
				t.Errorf("got  %s\nwant %s", got, tt.sets)
			}
			if said := strings.Join(v.Remarks(in.Store), " "); !strings.Contains(said, "numbers can differ") {
				t.Errorf("it is not said how exact the sets are: %s", said)
			}
		})
	}
}

func TestADiffListsWhatModelsDisagreeOn(t *testing.T) {
	in := read(t, stream(byPath, sequence))
	v := look(t, in, view.Question{Agent: "Delta", Diff: []string{"path", "tokens"}})
	var got []string
	for i := range v.Events {
		e := &v.Events[i]
		got = append(got, fmt.Sprint(e.Item, v.Cell(e, 0, 0), v.Cell(e, 0, 1)))
	}
	want := []string{
		"1 {false unrelated} {true token-subset}", "2 {false unrelated} {true token-subset}", "3 {false unrelated} {true token-subset}",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if v.Total != 10 || v.Viewers[0].Sees != [2]int{2, 5} {
		t.Errorf("of %d events it sees %v", v.Total, v.Viewers[0].Sees)
	}
}

func TestViewers(t *testing.T) {
	const twoRuns = `
	user - "invocation":"e-1"
	root - "invocation":"e-1"
	a p.a "invocation":"e-1"
	b p.a "invocation":"e-1"
	a p.a "invocation":"e-2"
	a q.a "invocation":"e-2"`
	tests := []struct {
		name, header, events string
		q                    view.Question
		want                 map[string]string
	}{
		{"every agent on every branch", byPath, twoRuns, view.Question{All: true}, map[string]string{
			"": "0 1 2 3 4 5", "p.a": "0 1 2 3 4", "p.a (b)": "0 1 2 3 4", "q.a": "0 1 5",
		}},
		{"an agent on each of its branches", byPath, twoRuns, view.Question{Agent: "a"}, map[string]string{"p.a": "0 1 2 3 4", "q.a": "0 1 5"}},
		{"an agent on one of its branches", byPath, twoRuns, view.Question{Agent: "b", Branch: on("p.a")}, map[string]string{"p.a": "0 1 2 3 4"}},
		{"no branch", byPath, twoRuns, view.Question{Branch: on("")}, map[string]string{"": "0 1 2 3 4 5"}},
		{"tokens are those of the last event", byPath, twoRuns, view.Question{Agent: "a", Branch: on("p.a"), Model: "tokens"}, map[string]string{
			"p.a": "0 1 2 3 4", // what another run said is visible; q.a of its own run has one token more
		}},
		{"stored token sets", "", `
			user -
			a {"tokens":[1]}
			b {"tokens":[3,1]}
			c {"tokens":[2]}`, view.Question{Branch: on(`{"tokens":[1,3]}`)}, map[string]string{`{"tokens":[3,1]}`: "0 1 2"}},
		{"forks", "", `
			user -
			a {"active_forks":{"1":[[0],2]}}
			b {"active_forks":{"1":[[1],2]}}`, view.Question{Agent: "a"}, map[string]string{`{"active_forks":{"1":[[0],2]}}`: "0 1"}},
		{"scopes are exact", byPath, `
			user -
			root -
			task - "scope":"c1"
			root -`, view.Question{All: true}, map[string]string{"": "0 1 3", "(task)": "2"}},
		{"tool runs stay hidden", byPath + `,"hides_tool_runs":true`, `
			user -
			tr tr@call_1
			root -`, view.Question{Agent: "root"}, map[string]string{"": "0 2"}},
		{"the text of a label", byPath, `
			user -
			x p.agent_1
			y p.agent_10`, view.Question{Agent: "y", Model: "raw-prefix"}, map[string]string{"p.agent_10": "0 1 2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := read(t, stream(tt.header, tt.events))
			if tt.name == "scopes are exact" {
				in.Tree.Root().Items[2].Own().Scope = "c1"
			}
			if diff := cmp.Diff(tt.want, seen(look(t, in, tt.q))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheModelIsThatOfTheReaderOrOfTheLabels(t *testing.T) {
	tests := []struct{ header, branch, want string }{
		{byPath, "a.b", "path"},
		{`,"branch_model":"raw-prefix"`, "a.b", "raw-prefix"},
		{byPath, "-", "path"},
		{byPath, `{"tokens":[1]}`, "tokens"},
		{"", `{"tokens":[1]}`, "tokens"},
		{"", `{"active_forks":{}}`, "forks"},
		{"", "a.b", "path"},
		{"", "-", "session"},
	}
	for _, tt := range tests {
		v := look(t, read(t, stream(tt.header, "user -\na "+tt.branch)), view.Question{All: true})
		if got := v.Models[0].Name; got != tt.want {
			t.Errorf("%s with %s: got %s, want %s", tt.header, tt.branch, got, tt.want)
		}
	}
}

func TestWhatTheReaderPassesOverIsHiddenFromAll(t *testing.T) {
	events := strings.Repeat("a a\n", 8)
	in := read(t, stream(byPath, events))
	items := in.Tree.Root().Items
	items[0].Flags |= session.Archived
	items[1].Flags |= session.Rewound
	items[3].Flags |= session.Unshown
	items[4].Kind = session.Other
	items[5].Flags |= session.Skipped
	items[6].Kind = session.SubSession
	check := func(want string) {
		t.Helper()
		v := look(t, in, view.Question{Agent: "a"})
		var got []string
		for i := range v.Events {
			got = append(got, v.Cell(&v.Events[i], 0, 0).Reason.String())
		}
		if diff := cmp.Diff(strings.Fields(want), got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	check("archived rewound own hidden-kind hidden-kind hidden-kind hidden-kind own")

	items[6].Kind, items[6].Text = session.Summary, 1
	check("archived rewound compacted hidden-kind hidden-kind hidden-kind own own")

	// A store that marks what is covered keeps the rest.
	items[0].Flags |= session.Compacted
	items[0].Flags &^= session.Archived
	check("compacted rewound own hidden-kind hidden-kind hidden-kind own own")
}

func TestAgentsOfSubSessionsAreIsolated(t *testing.T) {
	in := read(t, `{"type":"header","format":"sessctl.canonical/1","kind":"my-runtime","writer":"dead"}
{"type":"session","id":"P","agent":"root"}
{"type":"item","session":"P","kind":"message","role":"user","text":"Do it."}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","calls":[{"id":"T","name":"transfer_task","args":"{\"agent\":\"worker\",\"task\":\"It.\"}"}]}
{"type":"item","session":"P","kind":"sub_session","child":"C"}
{"type":"item","session":"P","kind":"message","role":"tool","agent":"root","results":[{"call":"T","text":"Done."}]}
{"type":"session","id":"C","parent":"P","agent":"worker"}
{"type":"item","session":"C","kind":"message","role":"user","text":"It."}
{"type":"item","session":"C","kind":"message","role":"assistant","agent":"worker","text":"Done."}
`)
	for _, model := range []string{"", "path"} {
		v := look(t, in, view.Question{Agent: "root", Model: model})
		var got []string
		for i := range v.Events {
			got = append(got, fmt.Sprint(v.Events[i].Session.ID, v.Events[i].Item, v.Cell(&v.Events[i], 0, 0).Visible))
		}
		want := "P0 true P1 true P2 false C0 false C1 false P3 true"
		if strings.Join(got, " ") != want {
			t.Errorf("model %q: got %v, want %s", model, got, want)
		}
	}
	v := look(t, in, view.Question{All: true})
	if len(v.Viewers) != 2 || v.Viewers[0].Key != "P" || v.Viewers[1].Key != "C" || v.Viewers[1].Agent != "worker" {
		t.Errorf("the viewers are %+v", v.Viewers)
	}
}

// An agent that has stored nothing yet sees what its branch lets it see.
func TestViewersThatStoredNothing(t *testing.T) {
	tests := []struct {
		name, stream, branch, model string
		sees                        int
	}{
		{"below all", stream(byPath, "a orch\nb orch.researcher"), "orch.researcher.sub", "", 2},
		{"the root is everybody's", stream(byPath, "user -"), "orch.writer", "", 1},
		{"a longer name is no ancestor", stream(byPath, "a orch\nb orchestra"), "orchestra.researcher", "", 1},
		{"without branches in a store that has none", stream(byPath, "user -\na -"), "a.b", "", 2},
		{"without branches in a store without a model, by one that is named", stream("", "user -\na -"), "a.b", "path", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := look(t, read(t, tt.stream), view.Question{Branch: on(tt.branch), Model: tt.model})
			if one := v.Viewers[0]; one.Sees[0] != tt.sees || !strings.Contains(one.Note, strconv.Quote(tt.branch)) {
				t.Errorf("%q sees %d, want %d; note %q", tt.branch, one.Sees[0], tt.sees, one.Note)
			}
		})
	}
}

func TestQuestionsThatHaveNoAnswer(t *testing.T) {
	paths, none := stream(byPath, documented), stream("", "user -\na -")
	tests := []struct {
		name, stream string
		q            view.Question
		what, next   string
	}{
		{"unknown branch", paths, view.Question{Branch: on("orch.x"), Model: "tokens"}, `no event on branch "orch.x"`, "orch, orch.researcher, orch.researcher.summarizer, orch.writer"},
		{"unknown agent", paths, view.Question{Agent: "x"}, `no event of agent "x"`, "orch, researcher, summarizer, writer"},
		{"an agent elsewhere", paths, view.Question{Agent: "writer", Branch: on("orch")}, "never spoke on branch", "Leave --branch out"},
		{"no labels", none, view.Question{Branch: on("orch")}, "session S has no event with a branch", "--all"},
		{"no labels for tokens", none, view.Question{Tokens: true}, "no event with a branch", "--all"},
		{"labels of another form", paths, view.Question{All: true, Model: "forks"}, "cannot compare", "path, raw-prefix, tokens or session"},
		{"nobody spoke", stream(byPath, "user -"), view.Question{All: true}, "no agent has spoken", "--branch"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := view.BuildVisibility(read(t, tt.stream), tt.q)
			p, ok := errors.AsType[*problem.Error](err)
			if !ok || p.Class != problem.Usage || !strings.Contains(p.What, tt.what) || !strings.Contains(p.Next, tt.next) {
				t.Errorf("got %+v", err)
			}
		})
	}
}
