package why_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/errtext"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
	"github.com/sessctl/sessctl/internal/why"
)

// TestBest: the session that fits an error text best is the one whose call it names, then
// the one whose request fails with the same words, at the same message.
func TestBest(t *testing.T) {
	trees := treetest.Trees(t, `
old
  user at=10
  root toolu_old1()
healthy
  user at=20
  root toolu_fine1()
  root <toolu_fine1
  root
deep
  user at=30
  root
  user
  root toolu_deep1()
latest
  user at=40
  root toolu_late1()
refused
  user at=25
  root refused(API Error: 400 Could not process image)
  user
  root
odd
  user at=26
  root refused(API Error: 400 the moon is in the way of request 7)
  user
`)
	for asked, want := range map[string][]string{
		unanswered(1, "toolu_old1"):                                   {"old"},
		unanswered(3, "toolu_deep1"):                                  {"deep"},
		unanswered(3, "toolu_gone1"):                                  {"deep"},
		unanswered(1, "toolu_gone1"):                                  {"latest", "old"},
		unanswered(9, "toolu_gone1"):                                  {"latest", "deep", "old"},
		unanswered(1, "toolu_fine1"):                                  {"healthy"},
		unanswered(1, "toolu_late…"):                                  {"latest"},
		"messages: text content blocks must be non-empty":             nil,
		"Could not process image":                                     {"refused"},
		`{"error":{"message":"the moon is in the way of request 7"}}`: {"odd"},
		"the moon is in the way of request 8":                         nil,
		"the moon":                                                    nil,
	} {
		text := errtext.ParseAnswer(asked)
		search := why.Search{Asked: &text}
		facts := &session.Store{Writer: session.WriterDead}
		for _, tree := range trees {
			search.Add("a.db", false, tree, check.RunTree(facts, tree, catalogue.UsualRules(), rules.Judge{Profiles: []*rules.Profile{rules.FindProfile("anthropic")}}))
		}
		var got []string
		for _, c := range search.Best() {
			got = append(got, c.ID)
			if tree := search.Tree(&c); len(want) == 1 && (tree == nil || tree.Root().ID != c.ID) {
				t.Errorf("%s: the tree of %s was not kept", asked, c.ID)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", asked, diff)
		}
	}
}

// unanswered is Anthropic's answer to a call without a result.
func unanswered(message int, id string) string {
	return fmt.Sprintf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. "+
		"Each `tool_use` block must have a corresponding `tool_result` block in the next message.", message, id)
}
