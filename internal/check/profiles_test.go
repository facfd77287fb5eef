package check_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/treetest"
)

// TestSeveralProfilesGiveOneFinding about the same database, with the worst
// severity and the words of the one that minds it most.
func TestSeveralProfilesGiveOneFinding(t *testing.T) {
	o := newOffice(t, 29).works(agenttest.CallTool("r2", "shell", "{}"))
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	for names, want := range map[string]string{
		"openai-chat":                   "SC202 info openai-chat: openai-chat info",
		"generic":                       "SC202 warning generic: generic warning",
		"anthropic":                     "SC202 error anthropic says messages.11.content.0: `tool_use` ids must be unique: anthropic error",
		"openai-chat generic anthropic": "SC202 error anthropic says messages.11.content.0: `tool_use` ids must be unique: openai-chat info, generic warning, anthropic error",
		"anthropic openai-chat":         "SC202 error anthropic says messages.11.content.0: `tool_use` ids must be unique: anthropic error, openai-chat info",
		"generic openai-chat":           "SC202 warning generic: generic warning, openai-chat info",
	} {
		got := judgements(judgeFile(t, o.Path, store.Options{}, judge(names, false)))
		if diff := cmp.Diff([]string{want}, got); diff != "" {
			t.Errorf("for %s, want (-), got (+):\n%s", names, diff)
		}
	}
}

// judgements are the findings with who minds them how much.
func judgements(r *check.Result) []string {
	var list []string
	for _, f := range r.Findings {
		line := f.Rule.ID + " " + f.Severity.String()
		if f.Profile != nil {
			line += " " + f.Profile.Name
		}
		if f.ProviderError != "" {
			line += " says " + f.ProviderError
		}
		var each []string
		for _, j := range f.Judged {
			each = append(each, j.Profile.Name+" "+j.Severity.String())
		}
		list = append(list, line+": "+strings.Join(each, ", "))
	}
	return list
}

// TestAHealthyDatabaseIsFineForProviders, together and with the words that the
// user says next. Mistral wants ids of its own form, and DeepSeek and Kimi want
// reasoning beside the calls.
func TestAHealthyDatabaseIsFineForProviders(t *testing.T) {
	o := newOffice(t, 29).summarized()
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	r := judgeFile(t, o.Path, store.Options{}, judge("anthropic bedrock openai-chat openai-responses gemini generic", false))
	if len(r.Findings) > 0 {
		t.Errorf("found %v", judgements(r))
	}
}

// TestWhatTheRuntimeSeesTo is found only where a profile is asked for, and then
// as an info that says who sees to it; other providers mind it as ever.
func TestWhatTheRuntimeSeesTo(t *testing.T) {
	blank := func(t *testing.T) *office {
		o := newOffice(t, 29)
		o.root.User("Thanks")
		return o.damage(t, "BlankMessage", o.root.Assistant("root", agenttest.Message{Content: "Bye."}).Row)
	}
	misplaced := func(t *testing.T) *office {
		o := newOffice(t, 29).answers(agenttest.Message{Model: claude, Content: "Yes."})
		return o.damage(t, "MisplacedSystem", o.result.Row)
	}
	unsigned := func(t *testing.T) *office { return newOffice(t, 29).answers(thought(claude, "It is fine.", "")) }
	pictured := func(t *testing.T) *office {
		o := newOffice(t, 29).answers(agenttest.Message{Model: "openai/gpt-5", Content: "Yes."})
		o.root.User("Show me")
		o.root.Assistant("root", agenttest.Message{Model: "openai/gpt-5", ToolCalls: []agenttest.ToolCall{agenttest.CallTool("r9", "shot", "{}")}})
		o.root.Message("root", agenttest.Message{Role: "tool", Content: "shot", ToolCallID: "r9", MultiContent: images(1)}, false)
		o.root.Assistant("root", agenttest.Message{Model: "openai/gpt-5", Content: "Here."})
		return o
	}
	for _, tc := range []struct {
		rule    string
		build   func(*testing.T) *office
		profile string // the one that the session hints at as well
		asked   string // what is found then
		says    string
	}{
		{"SC401", blank, "generic", "SC401 info generic: generic info", "docker agent leaves blank messages out"},
		{"SC304", misplaced, "anthropic", "SC304 info anthropic: anthropic info", "docker agent puts system messages into the system prompt"},
		{"SC304", misplaced, "anthropic generic", "SC304 warning generic: anthropic info, generic warning", "Many models accept only user and assistant messages"},
		{"SC502", unsigned, "anthropic", "SC502 info anthropic: anthropic info", "docker agent sends thinking without a signature to no provider"},
		{"SC603", pictured, "openai-chat", "SC603 info openai-chat: openai-chat info", "docker agent sends the images of a result in a user's message"},
	} {
		t.Run(tc.rule+" for "+tc.profile, func(t *testing.T) {
			o := tc.build(t)
			if err := o.Close(); err != nil {
				t.Fatal(err)
			}
			if r := checkFile(t, o.Path, store.Options{}); len(r.Findings) > 0 {
				t.Errorf("nobody asked, and found %v", judgements(r))
			}
			r := judgeFile(t, o.Path, store.Options{}, judge(tc.profile, false))
			if diff := cmp.Diff([]string{tc.asked}, judgements(r)); diff != "" {
				t.Fatalf("want (-), got (+):\n%s", diff)
			}
			if f := r.Findings[0]; !strings.Contains(f.Message, tc.says) || len(f.Fixes) > 0 {
				t.Errorf("%d fixes, and it says %q", len(f.Fixes), f.Message)
			}
		})
	}
}

// TestUsesSayWhoJudgedAndWhy: most sessions first. Children that nobody sends to
// a model again are asked of nobody.
func TestUsesSayWhoJudgedAndWhy(t *testing.T) {
	st := &memory{facts: session.Store{Children: session.Children{ChildrenClosed: true}}, trees: treetest.Trees(t, `
A
  user
B model=openai/gpt-4o
  user
C model=anthropic/claude-sonnet-4-5
  user
D model=anthropic/claude-sonnet-4-5
  user
E model=anthropic/claude-opus-4-5
  user
F
  user
  root toolu_1()
  root <toolu_1
G model=house/blend
  user
  root T1>worker(do it)
  sub H
  root <T1
H<G model=openai/gpt-4o
  system(do it)
  user implicit
  worker "done"
`)}
	for names, want := range map[string][]string{
		"": {
			"2 anthropic: model anthropic/claude-sonnet-4-5",
			"1 anthropic: call ids of Anthropic's form",
			"1 anthropic: model anthropic/claude-opus-4-5",
			"1 generic: no model recorded",
			"1 generic: no profile for model house/blend",
			"1 openai-chat: model openai/gpt-4o",
		},
		"kimi":           {"7 kimi"},
		"mistral gemini": {"7 gemini", "7 mistral"},
	} {
		r := run(t, st, check.Options{Judge: judge(names, false)})
		var got []string
		for _, use := range r.Profiles {
			got = append(got, strings.TrimSuffix(fmt.Sprintf("%d %s: %s", use.Sessions, use.Profile.Name, use.Why), ": "))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("asked for %q, want (-), got (+):\n%s", names, diff)
		}
	}
}

// TestProfilesOfUsesComeOnce, however many reasons there are to ask one.
func TestProfilesOfUsesComeOnce(t *testing.T) {
	anthropic, gemini := rules.FindProfile("anthropic"), rules.FindProfile("gemini")
	list := []check.Use{{Profile: anthropic, Why: "the model"}, {Profile: gemini}, {Profile: anthropic, Why: "the ids"}}
	if got := check.UsedProfiles(list); !slices.Equal(got, []*rules.Profile{anthropic, gemini}) {
		t.Errorf("%d profiles", len(got))
	}
}
