package view_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
	"github.com/sessctl/sessctl/internal/view"
)

// A request that check says would be refused is refused in the view too, or has
// to be sent otherwise. System and blank messages are no messages of some requests
// but part a call from its result all the same, so there are none here.
func TestViewAgreesWithCheck(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		judge := rules.Judge{
			Profiles: []*rules.Profile{rapid.SampledFrom(rules.Profiles).Draw(rt, "profile")},
			AsIs:     rapid.Bool().Draw(rt, "as it is"),
		}
		notation := strings.NewReplacer("system(do)", "user", "root blank", "root").Replace(randomNotation(rt))
		for _, tree := range treetest.Trees(t, notation) {
			st := &memory{session.Store{Title: "my runtime", Writer: session.WriterDead}, tree}
			result, err := check.Run(t.Context(), st, check.Options{Rules: rules.All, Judge: judge, Session: tree.Root().ID, Explain: true})
			if err != nil {
				rt.Fatal(err)
			}
			r := view.Build(view.Input{
				Store: &st.facts, Tree: tree, Findings: result.Findings, Session: tree.Root().ID, Request: true, Judge: judge,
			}).Request
			if answer := result.Answers[0]; answer.Verdict == check.Reject && !minds(r) {
				rt.Fatalf("check says %q (%v), the view %q", answer.Error, answer.Rules, r.Verdict())
			}
		}
	})
}

// minds reports whether the provider refuses the request as it is stored.
func minds(r *view.Request) bool {
	return r.Refusal() != nil || slices.ContainsFunc(r.Parts, func(p view.Part) bool {
		return slices.ContainsFunc(p.Adjusted, func(a view.Adjustment) bool { return a.Severity == rules.Error })
	})
}
