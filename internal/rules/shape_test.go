package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// findings are those of all rules about a tree, for one profile.
func findings(t *testing.T, profile string, asIs bool, tree string, tweak func(*session.Tree)) []*rules.Finding {
	t.Helper()
	trees := treetest.Trees(t, tree)
	if tweak != nil {
		tweak(trees[0])
	}
	judge := rules.Judge{Profiles: []*rules.Profile{rules.FindProfile(profile)}, AsIs: asIs}
	return findFor(&session.Store{Writer: session.WriterDead, Children: session.Children{ChildrenClosed: true}}, trees, judge)
}

// checkErrors holds what the provider answers to trees against a text with a
// number in it, by that number; each tree has one finding.
func checkErrors(t *testing.T, profile string, asIs bool, text string, trees map[string]string) {
	t.Helper()
	for number, tree := range trees {
		found := findings(t, profile, asIs, tree, nil)
		if want := strings.Replace(text, "%", number, 1); len(found) != 1 || found[0].ProviderError != want {
			t.Errorf("want %q for%s", want, tree)
			for _, f := range found {
				t.Errorf("got  %q of %s", f.ProviderError, f.Rule.ID)
			}
		}
	}
}

// TestShapeErrorsNameTheMessages: those of the first place.
func TestShapeErrorsNameTheMessages(t *testing.T) {
	checkErrors(t, "deepseek", false, "deepseek-reasoner does not support successive user or assistant messages (%"+" in your input).", map[string]string{
		"messages[2] and messages[3]": "\nP\n  system\n  user\n  root \"ok\"\n  root \"and\"\n  user",
		"messages[3] and messages[4]": "\nP\n  user\n  root \"ok\"\n  user\n  root \"ok\"\n  root \"and\"",
	})
	checkErrors(t, "mistral", true, "Expected last role User or Tool (or Assistant with prefix True) for serving but got %", map[string]string{
		"assistant": "\nP\n  user\n  root \"ok\"",
	})
}

// alternating draws the items of a conversation that any provider takes: users and the
// assistant alternate, every call is answered in the next message, and the last
// word is the assistant's.
func alternating(t *rapid.T) string {
	text := "\nP\n"
	if rapid.Bool().Draw(t, "system") {
		text += "  system\n"
	}
	calls := 0
	for turn := range rapid.IntRange(1, 4).Draw(t, "turns") {
		text += fmt.Sprintf("  user \"question %d\"\n", turn)
		for range rapid.IntRange(0, 3).Draw(t, "steps") {
			var asked, answered string
			for range rapid.IntRange(1, 3).Draw(t, "calls") {
				calls++
				asked += fmt.Sprintf(" call%05d()", calls)
				answered += fmt.Sprintf("  root <call%05d\n", calls)
			}
			if rapid.Bool().Draw(t, "speaks") {
				asked = fmt.Sprintf(" \"step %d\"", calls) + asked
			}
			text += "  root" + asked + "\n" + answered
		}
		text += fmt.Sprintf("  root \"answer %d\"\n", turn)
	}
	return text
}

// TestNothingIsWrongWithTheShapeOfACleanConversation asks all profiles, and makes
// sure that the same rules see what is done to it.
func TestNothingIsWrongWithTheShapeOfACleanConversation(t *testing.T) {
	about := func(found []*rules.Finding, groups ...string) []*rules.Finding {
		var list []*rules.Finding
		for _, f := range found {
			for _, group := range groups {
				if strings.HasPrefix(f.Rule.ID, group) {
					list = append(list, f)
				}
			}
		}
		return list
	}
	check(t, func(rt *rapid.T) {
		notation := alternating(rt)
		profile := rapid.SampledFrom(rules.Profiles).Draw(rt, "profile").Name
		if found := about(findings(t, profile, false, notation, nil), "SC1", "SC3", "SC4"); len(found) > 0 {
			rt.Fatalf("%s finds:\n%s%s", profile, messages(found), notation)
		}
		for name, damage := range map[string]struct{ notation, profile, rule string }{
			"a second word of the assistant": {notation + "  root \"and\"\n", "generic", "SC301"},
			"a greeting":                     {strings.Replace(notation, "  user", "  root \"hello\"\n  user", 1), "generic", "SC302"},
			"a late system message":          {notation + "  system\n", "gemini", "SC304"},
			"results at the end":             {notation + "  user\n  root last00001()\n  root <last00001\n", "mistral", "SC305"},
			"calls behind an answer":         {notation + "  root last00001()\n  root <last00001\n  root \"ok\"\n", "gemini", "SC306"},
		} {
			if found := about(findings(t, damage.profile, false, damage.notation, nil), "SC3"); len(found) != 1 || found[0].Rule.ID != damage.rule {
				rt.Fatalf("%s: want %s of %s, got:\n%s%s", name, damage.rule, damage.profile, messages(found), damage.notation)
			}
		}
	})
}

// TestWireRulesSayWhatIsSentAndChangeNothing runs all rules for all profiles over
// trees of any kind.
func TestWireRulesSayWhatIsSentAndChangeNothing(t *testing.T) {
	check(t, func(rt *rapid.T) {
		tree := trees(t).Draw(rt, "tree")
		judge := rules.Judge{Profiles: rules.Profiles, AsIs: rapid.Bool().Draw(rt, "as is")}
		for _, f := range findFor(stores().Draw(rt, "store"), []*session.Tree{tree}, judge) {
			if f.Rule.Wire && (f.Sent == "" || len(f.Fixes) > 0 || f.Rule.Safety != rules.None) {
				rt.Fatalf("%s sends %q and has %d fixes", f.Rule.ID, f.Sent, len(f.Fixes))
			}
			for n, item := range f.Items {
				if f.Message == "" || item < 0 || item >= len(f.Session.Items) || f.Rule.Wire && n > 0 && f.Items[n-1] >= item {
					rt.Fatalf("%s says %q of items %v of %d", f.Rule.ID, f.Message, f.Items, len(f.Session.Items))
				}
			}
		}
	})
}
