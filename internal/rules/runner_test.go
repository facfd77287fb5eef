package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// ruleCase is a tree and everything that all rules together find in it.
type ruleCase struct {
	name  string // a sentence
	tree  string // in the notation of treetest
	store func(*session.Store)
	tweak func(*session.Tree) // what the notation has no words for
	want  string              // in the form of describe, "" for nothing
	says  string              // a part of the first finding's message
	only  string              // the rule that is asked, "" for all that run when nobody names any
	limit *rules.Isolation    // of isolation rules; nil for the usual ones

	// profile names the profiles that judge, "own" stands for the session's
	// hint; "" asks for none of the rules that depend on a provider.
	profile string
	asIs    bool // no next message of the user
}

// bare minds nothing that depends on a provider.
var bare = &rules.Profile{Name: "bare", Shape: rules.Grouped, Errors: rules.FindProfile("anthropic").Errors}

func (tc *ruleCase) judge() rules.Judge {
	j := rules.Judge{Profiles: []*rules.Profile{bare}, AsIs: tc.asIs, Isolation: tc.limit}
	if tc.profile != "" {
		j.Profiles = nil
	}
	for name := range strings.FieldsSeq(tc.profile) {
		if name != "own" {
			j.Profiles = append(j.Profiles, rules.FindProfile(name))
		}
	}
	return j
}

// runCases checks a store like docker agent's: nobody has it open, and children
// are never sent to a model again.
func runCases(t *testing.T, cases []ruleCase) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			store := &session.Store{Writer: session.WriterDead, Children: session.Children{ChildrenClosed: true}}
			if tc.store != nil {
				tc.store(store)
			}
			trees := treetest.Trees(t, tc.tree)
			if tc.tweak != nil {
				tc.tweak(trees[0])
			}
			run := catalogue.UsualRules()
			if tc.only != "" {
				run = []*rules.Rule{catalogue.FindRule(tc.only)}
			}
			found := findWith(run, store, trees, tc.judge())
			if diff := cmp.Diff(lines(tc.want), lines(describe(trees, found))); diff != "" {
				t.Errorf("want (-), got (+):\n%s%s", diff, tc.tree)
			}
			sayPlainly(t, found)
			if tc.says != "" && (len(found) == 0 || !strings.Contains(found[0].Message, tc.says)) {
				t.Errorf("the first finding should say %q:\n%s", tc.says, messages(found))
			}
		})
	}
}

// The states of the store that cases need.
var (
	alive   = func(s *session.Store) { s.Writer, s.WriterName = session.WriterLive, "docker-agent (pid 4711)" }
	unknown = func(s *session.Store) { s.Writer = session.WriterUnknown }
	resumes = func(s *session.Store) { s.ChildrenClosed = false }
	scripts = func(s *session.Store) { s.ChildPrologue = true }
)

// findAll runs every rule that depends on no provider.
func findAll(store *session.Store, trees []*session.Tree) []*rules.Finding {
	return findFor(store, trees, (&ruleCase{}).judge())
}

// findFor runs the usual rules over the store and over every tree.
func findFor(store *session.Store, trees []*session.Tree, judge rules.Judge) []*rules.Finding {
	return findWith(catalogue.UsualRules(), store, trees, judge)
}

func findWith(list []*rules.Rule, store *session.Store, trees []*session.Tree, judge rules.Judge) []*rules.Finding {
	var found []*rules.Finding
	run := func(tree *session.Tree, scope rules.Scope) {
		pass := rules.NewPass(store, tree, judge, func(f *rules.Finding) { found = append(found, f) })
		for _, r := range list {
			if r.Run != nil && r.Scope&scope != 0 {
				pass.Run(r)
			}
		}
	}
	run(nil, rules.PerStore)
	for _, tree := range trees {
		run(tree, rules.PerTree)
	}
	return found
}

// lines are the lines of a text without indentation and empty ones.
func lines(text string) []string {
	list := []string{}
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

func messages(found []*rules.Finding) string {
	text := ""
	for _, f := range found {
		text += fmt.Sprintln(f.Rule.ID, f.Message)
	}
	return text
}
