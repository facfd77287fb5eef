package view_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
	"github.com/sessctl/sessctl/internal/view"
)

// What check says of the next request is what the view says of it, in the same words,
// and where it is refused, the view shows a place that is, or that has to be sent
// otherwise.
func TestViewAgreesWithCheck(t *testing.T) {
	often(t)
	rapid.Check(t, func(rt *rapid.T) {
		tree := rapid.OneOf(dressed(treetest.Wild()), notated(t), nearlyGood(t)).Draw(rt, "tree")
		facts := session.Store{
			Title: "my runtime", Writer: session.Writer(rapid.IntRange(0, 2).Draw(rt, "writer")),
			Children: session.Children{ChildrenClosed: rapid.Bool().Draw(rt, "closed")},
			Requests: session.Requests{Adapts: rapid.SampledFrom(adaptations).Draw(rt, "adapts")},
		}
		judge := rules.Judge{AsIs: rapid.Bool().Draw(rt, "as it is")}
		if n := rapid.IntRange(0, len(rules.Profiles)).Draw(rt, "profile"); n > 0 {
			judge.Profiles = rules.Profiles[n-1 : n]
		}
		for _, s := range tree.Sessions {
			agree(rt, &memory{facts, tree}, s, judge)
		}
	})
}

// often makes a property run more often than others, and very often with
// SESSCTL_LONG=1: the sessions on which the two could differ are rare.
func often(t *testing.T) {
	t.Helper()
	campaign.Checks(t, 2000, 100000)
}

var adaptations = []map[string]string{
	nil,
	{"SC401": "leaves blank messages out", "SC304 gemini": "sends it in front"},
	{"SC203 mistral": "sends another", "SC402": "leaves blank texts out"},
}

// agree asks both about the next request of a session.
func agree(rt *rapid.T, st *memory, s *session.Session, judge rules.Judge) {
	result, err := check.Run(rt.Context(), st, check.Options{Rules: catalogue.UsualRules(), Judge: judge, Session: s.ID, Explain: true})
	if err != nil {
		rt.Fatal(err)
	}
	r := view.BuildView(view.Input{
		Store: &st.facts, Tree: st.tree, Findings: result.Findings, Session: s.ID, Request: true, Judge: judge,
	}).Request
	answer := result.Answers[0]
	if diff := cmp.Diff(answer, r.Answer, cmpopts.IgnoreUnexported(check.Answer{}), cmp.Comparer(sameProfile)); diff != "" {
		rt.Fatalf("check and view differ: %s", diff)
	}
	if minds(r) && answer.Verdict != check.Reject {
		rt.Fatalf("%s: check says %s, and the view shows a place that is refused: %q", r.Profile.Name, answer.Verdict, requestLines(r))
	}
	if answer.Verdict == check.Reject && answer.Viewer == "" && !minds(r) {
		rt.Fatalf("%s: check says %q (%v), and the view shows no place: %q", r.Profile.Name, answer.Error, answer.Rules, requestLines(r))
	}
}

func sameProfile(a, b *rules.Profile) bool { return a == b }

// minds reports whether the provider refuses the request as it is stored.
func minds(r *view.Request) bool {
	return r.FirstRefusal() != nil || slices.ContainsFunc(r.Parts, func(p view.Part) bool {
		return slices.ContainsFunc(p.Adjusted, func(a view.Adjustment) bool { return a.Severity == rules.Error })
	})
}

func notated(t *testing.T) *rapid.Generator[*session.Tree] {
	return rapid.Custom(func(rt *rapid.T) *session.Tree { return treetest.Trees(t, randomNotation(rt))[0] })
}

// nearlyGood draws conversations of turns that most providers take, with few that
// they do not. What stands at second 7, or holds
// calls and results, is a message of the assistant.
func nearlyGood(t *testing.T) *rapid.Generator[*session.Tree] {
	turns := []string{
		"user", "user", "root \"x\"", "root #()\n  root <#", "root #() #b()\n  root <#b\n  root <#", "root #()\n  root <#!\n  user",
		"root #() <#", "root #()\n  user\n  root \"x\" <# at=7", "root #() <#\n  root <#~", "root #() <#~\n  root <#", "root #()\n  root <#~",
		"root #()\n  system\n  root <#", "root #()\n  root blank\n  root <#", "root #()\n  root <", "summary \"s\"", "system",
		"root #()\n  user\n  root <#", "root <#\n  root #()", "root #()", "root <#",
	}
	return rapid.Custom(func(rt *rapid.T) *session.Tree {
		notation := "P\n  user"
		for n := range rapid.IntRange(1, 4).Draw(rt, "turns") {
			notation += "\n  " + strings.ReplaceAll(rapid.SampledFrom(turns).Draw(rt, "turn"), "#", fmt.Sprintf("call%05d", n))
		}
		tree := treetest.Tree(t, notation)
		users := rapid.Bool().Draw(rt, "results in messages of the user")
		for i := range tree.Root().Items {
			it := &tree.Root().Items[i]
			switch {
			case len(it.Results) == 0:
			case len(it.Calls) > 0 || !it.Time.IsZero():
				it.Role = session.Assistant
			case users:
				it.Role, it.Own().Agent, it.Text = session.User, "", 0
			}
		}
		return tree
	})
}

// dressed adds to trees what the others leave out: tools that the provider ran,
// stand-ins, texts of white space, arguments of any form, and models.
func dressed(trees *rapid.Generator[*session.Tree]) *rapid.Generator[*session.Tree] {
	rarely := func(rt *rapid.T, what string) bool { return rapid.IntRange(0, 4).Draw(rt, what) == 4 }
	return rapid.Custom(func(rt *rapid.T) *session.Tree {
		tree := trees.Draw(rt, "tree")
		for _, s := range tree.Sessions {
			s.Model = rapid.SampledFrom([]string{"", "claude-opus-4-1", "gemini-3-pro", "mistral-large"}).Draw(rt, "model")
			for i := range s.Items {
				it := &s.Items[i]
				if len(it.Calls)+len(it.Results) > 0 {
					it.Flags &^= session.Blank // by its meaning
				}
				if rarely(rt, "blank text") {
					it.Flags |= session.BlankText
				}
				for n := range it.Calls {
					it.Calls[n].Server = rarely(rt, "server")
					it.Calls[n].Form = session.ArgsForm(rapid.IntRange(0, 2).Draw(rt, "form"))
				}
				for n := range it.Results {
					it.Results[n].Server = rarely(rt, "server")
					it.Results[n].Synthetic = rarely(rt, "synthetic")
					it.Results[n].Pending = rarely(rt, "pending")
				}
			}
		}
		return tree
	})
}
