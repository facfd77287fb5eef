package view_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
	"github.com/sessctl/sessctl/internal/view"
)

// requestLines are the parts of a request as "message item role", "-" for
// nothing and "2-3" for two messages, with "!" where it is refused and "~" where
// it is sent otherwise than it is stored.
func requestLines(r *view.Request) []string {
	number := func(n int) string {
		if n < 0 {
			return "-"
		}
		return strconv.Itoa(n)
	}
	var lines []string
	for _, p := range r.Parts {
		words := []string{number(p.Message), number(p.Row.Item), p.Role}
		if p.Last > p.Message {
			words[0] += "-" + number(p.Last)
		}
		if p.Unsent {
			words[2] = "unsent"
		}
		if len(p.Rejected) > 0 {
			words = append(words, "!")
		}
		if len(p.Adjusted) > 0 {
			words = append(words, "~")
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return lines
}

// firstError is what the provider answers, "" when it accepts the request.
func firstError(r *view.Request) string {
	if refusal := r.FirstRefusal(); refusal != nil {
		return refusal.Error
	}
	return ""
}

func TestRequest(t *testing.T) {
	tests := []struct {
		name, tree string
		lines      []string
		err        string // the beginning of the first error
		masking    *view.Masking
	}{
		{
			name: "results and the text behind them are one message",
			tree: "P model=claude-opus-4-1\n  user\n  root A() B()\n  root <A\n  root <B\n  user\n  root",
			lines: []string{"- - system", "0 0 user", "1 1 assistant", "2 2 user", "2 3 user", "2 4 user",
				"3 5 assistant", "4 - user"},
		},
		{
			name:  "a summary takes the first place, and the next user text joins the results",
			tree:  "P model=claude-opus-4-1\n  user\n  summary \"s\"\n  root A()\n  root <A",
			lines: []string{"- - system", "0 - user", "1 2 assistant", "2 3 user", "2 - user"},
		},
		{
			name: "what is not sent parts nothing",
			tree: "P model=claude-opus-4-1\n  user\n  root A()\n  sub C\n  other\n  root blank\n  system\n  user archived\n  root <A\nC<P\n  user",
			lines: []string{"- - system", "0 0 user", "1 1 assistant", "- 2 unsent", "- 3 unsent", "- 4 unsent ~", "- 5 system ~",
				"- 6 unsent", "2 7 user", "2 - user"},
		},
		{
			name:    "a call without a result",
			tree:    "P model=claude-opus-4-1\n  user\n  root A() B()\n  root <B\n  user",
			lines:   []string{"- - system", "0 0 user", "1 1 assistant !", "2 2 user", "2 3 user", "3 - user"},
			err:     "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: A.",
			masking: &view.Masking{Invented: []view.Masked{{Item: 1, Call: "A", Name: "shell", Result: "No result provided"}}},
		},
		{
			name:  "an orphan behind another result",
			tree:  "P model=claude-opus-4-1\n  user\n  root A()\n  root <A\n  root <X",
			lines: []string{"- - system", "0 0 user", "1 1 assistant", "2 2 user", "2 3 user !", "2 - user"},
			err:   "messages.2.content.1: unexpected `tool_use_id` found in `tool_result` blocks: X.",
			masking: &view.Masking{
				Dropped: []view.Masked{{Item: 3, Call: "X"}},
			},
		},
		{
			name:    "two results for one call",
			tree:    "P model=claude-opus-4-1\n  user\n  root A()\n  root <A \"x\"\n  root <A \"y\"",
			lines:   []string{"- - system", "0 0 user", "1 1 assistant", "2 2 user", "2 3 user !", "2 - user"},
			err:     "each tool_use must have a single result. Found multiple `tool_result` blocks with id: A",
			masking: &view.Masking{Dropped: []view.Masked{{Item: 3, Call: "A", Name: "shell"}}},
		},
		{
			name:  "a placeholder answers its call, and the real result is too late",
			tree:  "P model=claude-opus-4-1\n  user\n  root A()\n  root <A~\n  user\n  root <A",
			lines: []string{"- - system", "0 0 user", "1 1 assistant", "2 2 user", "2 3 user", "3 4 user !", "3 - user"},
			err:   "messages.3.content.0: unexpected `tool_use_id`",
			masking: &view.Masking{
				Dropped: []view.Masked{{Item: 4, Call: "A", Name: "shell"}},
			},
		},
		{
			name: "an id that is used twice",
			tree: "P model=claude-opus-4-1\n  user\n  root A()\n  root <A\n  root A()\n  root <A\n  root",
			lines: []string{"- - system", "0 0 user", "1 1 assistant", "2 2 user", "3 3 assistant !", "4 4 user",
				"5 5 assistant", "6 - user"},
			err: "messages.3.content.0: `tool_use` ids must be unique",
		},
		{
			name: "a leak: the delegation's own result is dropped, and two are invented",
			tree: "P model=claude-opus-4-1\n  user\n  root T>worker(do)\n  worker W()\n  sub C\n  root <T \"done\"\n  root\n" +
				"C<P \"Transferred task\"\n  system(do)\n  user implicit\n  worker W()\n  worker <W\n  worker \"done\"",
			lines: []string{"- - system", "0 0 user", "1 1 assistant !", "2 2 assistant !", "- 3 unsent", "3 4 user !",
				"4 5 assistant", "5 - user"},
			err: "messages.1: `tool_use` ids",
			masking: &view.Masking{
				Invented: []view.Masked{
					{Item: 1, Call: "T", Name: "transfer_task", Result: "No result provided"}, {Item: 2, Call: "W", Name: "shell", Result: "No result provided"},
				},
				Dropped: []view.Masked{{Item: 4, Call: "T", Name: "transfer_task"}},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := built(t, treetest.Tree(t, tt.tree)).Request
			if diff := cmp.Diff(tt.lines, requestLines(r)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			checkStart(t, firstError(r), tt.err)
			if diff := cmp.Diff(tt.masking, r.Masking); diff != "" {
				t.Errorf("masking (-want +got):\n%s", diff)
			}
		})
	}
}

// A system message parts a call from its result for some providers, but never for
// the sanitiser.
func TestSystemMessagesDoNotMask(t *testing.T) {
	const tree = "P\n  user\n  root A()\n  system\n  root <A\n  user"
	for profile, refused := range map[string]bool{"anthropic": false, "openai-chat": true} {
		r := builtFor(t, treetest.Tree(t, tree), judgeOf(profile)).Request
		if (r.FirstRefusal() != nil) != refused || r.Masking != nil {
			t.Errorf("%s: %+v, %+v", profile, r.FirstRefusal(), r.Masking)
		}
	}
}

// Only docker agent is known to mask, and no other runtime is spoken of by its name:
// neither one that never sends a child again.
func TestOtherRuntimesDoNotMask(t *testing.T) {
	const child = "\nC<P\n  system(do)\n  user implicit\n  worker blank\n  worker W()"
	tree := treetest.Tree(t, "P\n  user\n  root A() T>worker(do)\n  sub C\n  root <T\n  user"+child)
	for _, name := range []string{"P", "C"} {
		in := view.Input{Store: &session.Store{Kind: "my-runtime", Title: "my runtime", Children: session.Children{ChildrenClosed: true}}, Tree: tree, Session: name, Request: true}
		r := view.BuildView(in).Request
		said := strings.Join(r.Verdict(), " ")
		for i := range r.Parts {
			said += " " + r.Parts[i].Why
		}
		if r.Masking != nil || strings.Contains(said, "docker") || !strings.Contains(said, "reject") {
			t.Errorf("%s: %q, %+v", name, said, r.Masking)
		}
	}
	tree = treetest.Tree(t, "P\n  user\n  root A()\n  user")
	v := view.BuildView(view.Input{Store: &session.Store{Kind: "my-runtime"}, Tree: tree, Session: "P", Request: true})
	if said := v.Request.Verdict(); v.Request.Masking != nil || len(said) != 1 || !strings.Contains(said[0], "rejected") {
		t.Errorf("%q, %+v", said, v.Request.Masking)
	}
}

// A finished child is never sent again, whatever is wrong with it.
func TestClosedChild(t *testing.T) {
	tree := treetest.Tree(t, "P\n  user\n  root T>worker(do)\n  sub C\n  root <T\nC<P\n  system(do)\n  user implicit\n  worker W()")
	in := view.Input{Store: &session.Store{Children: session.Children{ChildrenClosed: true}}, Tree: tree, Session: "C", Request: true}
	if said := view.BuildView(in).Request.Verdict(); len(said) != 1 || !strings.Contains(said[0], "never sends it to a model again, so nothing fails") {
		t.Errorf("%q", said)
	}
}

// What the runtime passes over is not sent, and the row says why.
func TestWhatTheReaderPassesOverIsNotSent(t *testing.T) {
	for flag, word := range map[session.Flags]string{
		session.Archived: "archived", session.Rewound: "rewound",
		session.Compacted: "covered by a summary", session.Unshown: "not sent to a model",
	} {
		tree := treetest.Tree(t, "P\n  user\n  root \"gone\"\n  user")
		tree.Root().Items[1].Flags |= flag
		for _, part := range built(t, tree).Request.Parts {
			if part.Row.Item != 1 {
				continue
			}
			if !part.Unsent || part.Role != "" || !slices.Contains(part.Row.Flags, word) {
				t.Errorf("%s: unsent %t, role %q, flags %v", word, part.Unsent, part.Role, part.Row.Flags)
			}
		}
	}
}
