package rules_test

import (
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC831EarlySynthesis(t *testing.T) {
	const begin = `
P agent=root
  user
  root T1>ann(search) T2>bob(collect)
`
	runCases(t, []ruleCase{
		{name: "both came back", only: "SC831", tree: begin + `
  root <T1 "found it"
  root <T2 "got it"
  root "here it is"`},
		{
			name: "one is missing", only: "SC831", tree: begin + `
  root <T1 "found it"
  root "here it is"`,
			want: "SC831 warning P.3 see P.1", says: `"root" answers before T2 (transfer_task) has a result or an error. It combines only a part of what it asked for`,
		},
		{
			name: "one came behind the answer", only: "SC831", tree: begin + `
  root <T1 "found it"
  root "here it is"
  root <T2 "got it"`,
			want: "SC831 warning P.3 see P.1",
		},
		{
			name: "one still waits", only: "SC831", tree: begin + `
  root <T1 "found it"
  root <T2? "waiting"
  root "here it is"`,
			want: "SC831 warning P.4 see P.1",
		},
		{name: "one waited for a person, who let it go on", only: "SC831", tree: begin + `
  root <T1? "waiting" <T2 "got it"
  root a1:ask()
  root <T1 "found it"
  root "here it is"`},
		{
			name: "one was let go on behind the answer", only: "SC831", tree: begin + `
  root <T1? "waiting" <T2 "got it"
  root a1:ask()
  root "here it is"
  root <T1 "found it"`,
			want: "SC831 warning P.4 see P.1",
		},
		{name: "one failed", only: "SC831", tree: begin + `
  root <T1 "found it"
  root <T2! "no such model"
  root "here it is"`},
		{name: "a placeholder says that it is lost", only: "SC831", tree: begin + `
  root <T1 "found it"
  root <T2~ "No result provided"
  root "here it is"`},
		{name: "nothing came back: SC101", only: "SC831", tree: begin + `
  root "here it is"`},
		{name: "the user interrupted", only: "SC831", tree: begin + `
  root <T1 "found it"
  user
  root "something else"`},
		{name: "the caller goes on to ask", only: "SC831", tree: begin + `
  root <T1 "found it"
  root "I look" s1()
  root <s1`},
		{name: "nobody waits for background delegations", only: "SC831", tree: `
P agent=root
  user
  root T1>>ann(search) T2>>bob(collect)
  root <T1 "started"
  root "both run"`},
		{name: "what a child said leaked", only: "SC831", tree: begin + `
  root <T1 "found it"
  bob "got it"
  root <T2 "got it"
  root "here it is"`},
	})
}

func TestSC831RepeatedResults(t *testing.T) {
	const report = "The library has forty modules, and nine of them are tested."
	const tree = `
P agent=root
  user
  root T1>ann(search) T2>bob(collect)
  root <T1 "` + report + `"
  root <T2 "the  library has forty modules, and nine of them are Tested."
  root "here it is"`
	text := func(item int, text string) func(*session.Tree) {
		return func(tree *session.Tree) { tree.Root().Items[item].Results[0].Text = text }
	}
	runCases(t, []ruleCase{
		{
			name: "two children say the same", only: "SC831", tree: tree,
			want: "SC831 info P.3 see P.1 see P.2", says: "calls T1 (transfer_task) and T2 (transfer_task) have the same result. They asked for different things, so count it once",
		},
		{
			name: "in objects with different ids", only: "SC831", tree: tree,
			tweak: func(tree *session.Tree) {
				text(2, `{"id":"A","result":"`+report+`"}`)(tree)
				text(3, `{"id":"B","result":"`+report+`"}`)(tree)
			},
			want: "SC831 info P.3 see P.1 see P.2",
		},
		{name: "objects that are equal for what is around the answer", only: "SC831", tree: tree, tweak: func(tree *session.Tree) {
			text(2, `{"model":"the one that everybody uses nowadays","result":"done"}`)(tree)
			text(3, `{"model":"the one that everybody uses nowadays","result":"done"}`)(tree)
		}},
		{name: "something else", only: "SC831", tree: tree, tweak: text(3, report+" So I say.")},
		{name: "they had one task", only: "SC831", tree: tree, tweak: func(tree *session.Tree) {
			calls := tree.Root().Items[1].Calls
			calls[1].Delegation.Task = calls[0].Delegation.Task
		}},
		{name: "too little to be no chance", only: "SC831", tree: tree, tweak: func(tree *session.Tree) {
			text(2, "done")(tree)
			text(3, "done")(tree)
		}},
		{name: "both failed alike", only: "SC831", tree: tree, tweak: func(tree *session.Tree) {
			text(2, "Error: the model of this agent is not known to the provider")(tree)
			text(3, "Error: the model of this agent is not known to the provider")(tree)
		}},
	})
}

// TestSC831WrappedAnswers: a store may put an answer into a text of its own.
func TestSC831WrappedAnswers(t *testing.T) {
	const tree = `
P agent=root
  user
  root T1>ann(search) T2>bob(collect)
  sub A
  sub B
  root <T1 "answer of A: REPORT"
  root <T2 "answer of B: REPORT"
  root "here it is"
A<P
  system(search)
  ann "REPORT"
B<P
  system(collect)
  bob "REPORT"`
	wrapped := func(tree *session.Tree) {
		for i, child := range []string{"A", "B"} {
			tree.Root().Items[4+i].Results[0].Answer = tree.Session(child).Items[1].Text
		}
	}
	named := func(report string) string { return strings.ReplaceAll(tree, "REPORT", report) }
	runCases(t, []ruleCase{
		{
			name: "the children say the same", only: "SC831", tweak: wrapped,
			tree: named("The library has forty modules, and nine of them are tested."),
			want: "SC831 info P.5 see P.1 see P.4",
		},
		{name: "too little to be no chance", only: "SC831", tweak: wrapped, tree: named("That is done.")},
	})
}

func TestSC831Attribution(t *testing.T) {
	const tree = `
P agent=root
  user
  root T1>ann(search) T2>bob(collect)
  root <T1 "found it"
  root <T2 "got it"
  root "here it is"`
	unnamed := func(tree *session.Tree) {
		for i := 2; i < 4; i++ {
			tree.Root().Items[i].Results[0].CallID = ""
		}
	}
	runCases(t, []ruleCase{
		{
			name: "results that name nothing", only: "SC831", tree: tree, tweak: unnamed,
			want: "SC831 warning P.2,3 see P.1", says: "2 results after 2 delegations name neither a call nor a sub-session. It is not known which agent gave which result",
		},
		{name: "results that name the child", only: "SC831", tree: tree, tweak: func(tree *session.Tree) {
			unnamed(tree)
			tree.Root().Items[2].Results[0].Child, tree.Root().Items[3].Results[0].Child = "A", "B"
		}},
		{
			name: "a child answers in its caller's place", only: "SC831",
			tree: `
P agent=root
  user
  root T1>ann(search)
  root <T1 "found it"
  ann "here it is"`,
			want: "SC831 warning P.3 see P.1", says: `"ann" answers in place of "root", which had asked it. The agent that asked should combine the results`,
		},
		{
			name: "the caller handed over", only: "SC831",
			tree: `
P agent=root
  user
  root T1>ann(search)
  root <T1 "found it"
  root h1:handoff()
  root <h1
  ann "here it is"`,
		},
	})
}
