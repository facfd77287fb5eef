package check_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// delegated is a parent whose delegation is over, with a child that lost a result.
const delegated = `
P
  user
  root T1>worker(do it)
  sub C
  root <T1
  root "done"
C<P
  system(do it)
  user implicit
  worker c1()
  worker "done"`

// leaked is a parent with the messages of its worker, which stand between its call
// and the result.
const leaked = `
P
  user
  root T1>worker(do it)
  worker "doing" w1()
  worker <w1
  worker "did it"
  sub C
  root <T1
  root "done"
C<P
  system(do it)
  user implicit
  worker "doing" w1()
  worker <w1
  worker "did it"`

// TestAnswers: what providers say to the next request of session P, or C where
// the case names it.
func TestAnswers(t *testing.T) {
	alive, unknown := session.WriterLive, session.WriterUnknown
	unanswered := "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: "
	for _, tc := range []struct {
		name     string
		tree     string
		profiles string
		session  string
		asIs     bool
		writer   *session.Writer // dead where a case does not say
		want     []string        // by profile
	}{
		{
			name: "a conversation that everybody takes",
			tree: `
P
  user
  root c1()
  root <c1
  root "ok"`,
			profiles: "anthropic openai-responses generic",
			want:     []string{"anthropic: accept", "openai-responses: accept", "generic: accept"},
		},
		{
			name: "one that some servers refuse",
			tree: `
P
  user
  root c1()
  root <c1`,
			profiles: "anthropic generic",
			want:     []string{"anthropic: accept", "generic: risk at 2 for SC305"},
		},
		{
			name: "an answer at the end is nothing to mind where the user goes on",
			tree: `
P
  user
  root "ok"`,
			profiles: "mistral",
			want:     []string{"mistral: accept"},
		},
		{
			name: "an answer at the end, sent as it is",
			tree: `
P
  user
  root "ok"`,
			profiles: "gemini mistral",
			asIs:     true,
			want: []string{
				"gemini: risk at 1 for SC303: Requests ending with a model turn are not supported.",
				"mistral: reject at 1 for SC303: Expected last role",
			},
		},
		{
			name: "a call without a result",
			tree: `
P
  user
  root c1()
  user`,
			profiles: "anthropic openai-responses",
			want: []string{
				"anthropic: reject at 1 for SC101: " + unanswered + "c1",
				"openai-responses: reject at 1 for SC101: No tool output found for function call c1.",
			},
		},
		{
			name: "the first that is refused speaks, not what is at risk before",
			tree: `
P
  root "hello"
  user
  root c1()
  user
  root <z9
  root "ok"`,
			profiles: "anthropic generic",
			want: []string{
				"anthropic: reject at 2 for SC101: messages.2: `tool_use` ids",
				"generic: reject at 2 for SC101: An assistant message with 'tool_calls' must be followed",
			},
		},
		{
			name: "a late result, which one API pairs by its id",
			tree: `
P
  user
  root c1()
  user
  root <c1
  root "ok"`,
			profiles: "anthropic openai-responses",
			want:     []string{"anthropic: reject at 1 for SC104: " + unanswered + "c1", "openai-responses: accept"},
		},
		{
			name: "a call that may still be answered is refused now", tree: "P\n  user\n  root c1()",
			profiles: "anthropic gemini", writer: &alive,
			want: []string{
				"anthropic: reject at 1 for SC102: " + unanswered + "c1",
				"gemini: reject at 1 for SC102: Please ensure that the number of function response parts",
			},
		},
		{
			name: "and so when nobody can tell whether it may", tree: "P\n  user\n  root c1()",
			profiles: "anthropic", writer: &unknown,
			want: []string{"anthropic: reject at 1 for SC102: " + unanswered + "c1"},
		},
		{
			name: "a result that waits for approval is one that a provider takes", tree: "P\n  user\n  root c1()\n  root <c1?",
			profiles: "anthropic", writer: &alive,
			want: []string{"anthropic: accept"},
		},
		{
			name: "the parent of a damaged child that is over", tree: delegated, profiles: "anthropic",
			want: []string{"anthropic: accept"},
		},
		{
			name: "a damaged child that is over", tree: delegated, profiles: "anthropic", session: "C",
			want: []string{"anthropic: reject at 2 for SC101: messages.1: `tool_use` ids"},
		},
		{
			name: "a leak parts the call from its result", tree: leaked, profiles: "anthropic generic",
			want: []string{
				"anthropic: reject at 1 for SC701: " + unanswered + "T1",
				"generic: reject at 1 for SC701: An assistant message with 'tool_calls' must be followed",
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			st := &memory{facts: session.Store{Writer: session.WriterDead, Children: session.Children{ChildrenClosed: true}}, trees: treetest.Trees(t, tc.tree)}
			if tc.writer != nil {
				st.facts.Writer = *tc.writer
			}
			r := run(t, st, check.Options{Session: cmp.Or(tc.session, "P"), Explain: true, Judge: judge(tc.profiles, tc.asIs)})
			if len(r.Answers) != len(tc.want) {
				t.Fatalf("%d answers, want %d", len(r.Answers), len(tc.want))
			}
			for n, a := range r.Answers {
				if got := answered(a); !strings.HasPrefix(got, tc.want[n]) || a.Verdict == check.Accept && got != tc.want[n] {
					t.Errorf("got %q, want %q", got, tc.want[n])
				}
			}
		})
	}
}

// answered is an answer in words: "anthropic: reject at 2 for SC101: messages.1 …".
func answered(a check.Answer) string {
	text := a.Profile.Name + ": " + a.Verdict.String()
	if a.Item >= 0 || len(a.Rules) > 0 {
		text += fmt.Sprintf(" at %d for %s", a.Item, strings.Join(a.Rules, " "))
	}
	if a.Error != "" {
		text += ": " + a.Error
	}
	if a.Closed {
		text += ", closed"
	}
	return text
}

// BenchmarkOpenCalls: a check takes time that follows the number of calls that are refused.
func BenchmarkOpenCalls(b *testing.B) {
	for _, calls := range []int{5_000, 20_000} {
		b.Run(fmt.Sprint(calls), func(b *testing.B) {
			var text strings.Builder
			text.WriteString("P\n  user\n")
			for n := range calls {
				fmt.Fprintf(&text, "  root c%d()\n", n)
			}
			tree := treetest.Tree(b, text.String())
			for b.Loop() {
				check.RunTree(&session.Store{Writer: session.WriterDead}, tree, catalogue.UsualRules(), rules.Judge{})
			}
		})
	}
}
