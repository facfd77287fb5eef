package rules_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// TestLevelsAreOfRulesThatAskProviders: a level of any other rule would never be
// looked at. Rules about calls and ids concern everybody and may be listed too.
func TestLevelsAreOfRulesThatAskProviders(t *testing.T) {
	for _, p := range rules.Profiles {
		for _, id := range slices.Sorted(maps.Keys(p.Levels)) {
			switch r := catalogue.FindRule(id); {
			case r == nil:
				t.Errorf("%s lists %s, which does not exist", p.Name, id)
			case !r.Profiled && (id < "SC100" || id >= "SC700"):
				t.Errorf("%s lists %s, which no provider is asked about", p.Name, id)
			}
		}
	}
}

// TestEveryProfiledRuleIsMindedBySomebody: else it can find nothing.
func TestEveryProfiledRuleIsMindedBySomebody(t *testing.T) {
	for _, r := range catalogue.All {
		minds := func(p *rules.Profile) bool { _, ok := p.Levels[r.ID]; return ok }
		if r.Profiled && !slices.ContainsFunc(rules.Profiles, minds) {
			t.Errorf("no profile lists %s", r.ID)
		}
	}
}

func TestErrorTextsAreFilledIn(t *testing.T) {
	hole := regexp.MustCompile(`\{[a-z_]*\}`)
	for _, p := range rules.Profiles {
		for _, id := range slices.Sorted(maps.Keys(p.Errors)) {
			if rule, _, _ := strings.Cut(id, " "); catalogue.FindRule(rule) == nil {
				t.Errorf("%s has a text for %s, which does not exist", p.Name, id)
			}
			text := p.ErrorText(id, rules.Said{Message: 2, Block: 3, ID: "call_1", Name: "read", N: 5})
			if left := hole.FindString(text); text == "" || left != "" {
				t.Errorf("%s, %s: %q is not filled in: %s", p.Name, id, left, text)
			}
		}
		if got := p.ErrorText("SC999", rules.Said{}); got != "" {
			t.Errorf("%s has a text for a rule that does not exist: %s", p.Name, got)
		}
	}
}

func TestFindProfile(t *testing.T) {
	names := map[string]bool{}
	for _, p := range rules.Profiles {
		if names[p.Name] || p.Title == "" {
			t.Errorf("the name %q is taken, or it lacks a title", p.Name)
		}
		names[p.Name] = true
		for _, name := range []string{p.Name, strings.ToUpper(p.Name)} {
			if rules.FindProfile(name) != p {
				t.Errorf("%s is not found", name)
			}
		}
	}
	for _, name := range []string{"", "openai", "anthropic ", "bare"} {
		if p := rules.FindProfile(name); p != nil {
			t.Errorf("%q finds %s", name, p.Name)
		}
	}
}

// TestWhoIsAskedByDefault: the model that answered last decides, then the form of
// the calls' ids.
func TestWhoIsAskedByDefault(t *testing.T) {
	for model, want := range map[string]string{
		"anthropic/claude-sonnet-4-5": "anthropic",
		"claude-opus-5-5":             "anthropic",
		"Claude-Haiku-5-5":            "anthropic",
		"openai/gpt-4o":               "openai-chat",
		"azure/gpt-5":                 "openai-chat",
		"gpt-5":                       "openai-chat",
		"o3-mini":                     "openai-chat",
		"google/gemini-2.5-pro":       "gemini",
		"gemini-3-pro":                "gemini",
		"amazon-bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0":    "bedrock",
		"us.anthropic.claude-sonnet-4-5-20250929-v1:0":                "bedrock",
		"amazon-bedrock/global.anthropic.claude-opus-4-5-20251101-v1": "bedrock",
		"mistral-large":                          "mistral",
		"mistral/mistral-large-latest":           "mistral",
		"deepseek/deepseek-chat":                 "deepseek",
		"deepseek-reasoner":                      "deepseek",
		"moonshot/kimi-k2":                       "kimi",
		"kimi-k2-thinking":                       "kimi",
		"openrouter/anthropic/claude-sonnet-4.5": "generic",
		"dmr/ai/qwen3":                           "generic",
		"google-vertex/claude-sonnet-4-5":        "anthropic",
		"mistral.mistral-large-2402-v1:0":        "bedrock",
		"us.deepseek.r1-v1:0":                    "bedrock",
		"gpt-oss:20b":                            "generic",
		"ollama/deepseek-r1":                     "generic",
		"qwen3-coder":                            "generic",
	} {
		if name, why := hinted(t, "P model="+model+"\n  user"); name != want || !strings.Contains(why, model) {
			t.Errorf("%s: %s, because %s; want %s, and the model in the reason", model, name, why, want)
		}
	}
	for _, tc := range []struct{ name, tree, want string }{
		{"ids of Anthropic", "P\n  user\n  root toolu_1()\n  root <toolu_1", "anthropic"},
		{"a result alone", "P\n  user\n  root <toolu_1", "anthropic"},
		{"other ids", "P\n  user\n  root call_1()\n  root <call_1", "generic"},
		{"no calls", "P\n  user\n  root \"ok\"", "generic"},
		{"a gateway's model, too", "P model=openrouter/anthropic/claude-sonnet-4.5\n  user\n  root toolu_1()\n  root <toolu_1", "generic"},
		{"the model decides before the ids", "P model=openai/gpt-5\n  user\n  root toolu_1()\n  root <toolu_1", "openai-chat"},
	} {
		if name, why := hinted(t, tc.tree); name != tc.want || why == "" {
			t.Errorf("%s: %s, because %q; want %s", tc.name, name, why, tc.want)
		}
	}
}

func hinted(t *testing.T, text string) (name, why string) {
	t.Helper()
	pass := rules.NewPass(&session.Store{}, treetest.Trees(t, text)[0], rules.Judge{}, func(*rules.Finding) {})
	s := pass.Subjects[0]
	if len(s.Profiles) != 1 {
		t.Fatalf("%d profiles judge the session", len(s.Profiles))
	}
	return s.Profiles[0].Name, s.Hint
}

// TestAskedProfilesNeedNoHint: who asks by name gets exactly those.
func TestAskedProfilesNeedNoHint(t *testing.T) {
	asked := []*rules.Profile{rules.FindProfile("gemini"), rules.FindProfile("kimi")}
	tree := treetest.Trees(t, "P model=gpt-5\n  user")[0]
	s := rules.NewPass(&session.Store{}, tree, rules.Judge{Profiles: asked}, func(*rules.Finding) {}).Subjects[0]
	if !slices.Equal(s.Profiles, asked) || s.Hint != "" {
		t.Errorf("%d profiles judge, because %q", len(s.Profiles), s.Hint)
	}
}

// TestTheTableOfLevelsIsInTheDocs holds the tables of docs/profiles.md against
// the profiles.
func TestTheTableOfLevelsIsInTheDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/profiles.md")
	if err != nil {
		t.Fatal(err)
	}
	var stated []string
	for line := range strings.SplitSeq(string(page), "\n") {
		if strings.HasPrefix(line, "| Rule |") || strings.HasPrefix(line, "| [SC") {
			stated = append(stated, line)
		}
	}
	if diff := cmp.Diff(levelTable(), stated); diff != "" {
		t.Errorf("docs/profiles.md lacks (-) or has (+):\n%s", diff)
	}
}

// levelTable has a line for every rule that some profile lists. Where a profile
// does not list a rule for everybody, the rule's own severity holds.
func levelTable() []string {
	heads := []string{"Rule"}
	listed := map[string]bool{}
	for _, p := range rules.Profiles {
		heads = append(heads, p.Name)
		for id := range p.Levels {
			listed[id] = true
		}
	}
	table := []string{"| " + strings.Join(heads, " | ") + " |"}
	for _, r := range catalogue.All {
		if !listed[r.ID] {
			continue
		}
		cells := []string{"[" + r.ID + "](rules/" + r.ID + ".md) " + r.Name}
		for _, p := range rules.Profiles {
			level, ok := p.Levels[r.ID]
			switch {
			case ok:
				cells = append(cells, level.String())
			case r.Profiled:
				cells = append(cells, "–")
			default:
				cells = append(cells, r.Severity.String())
			}
		}
		table = append(table, "| "+strings.Join(cells, " | ")+" |")
	}
	return table
}
