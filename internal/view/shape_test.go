package view_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/treetest"
)

// Every shape has its own numbers and roles for the same items.
func TestShapes(t *testing.T) {
	const tree = "P\n  user\n  system\n  root \"I look.\" A() B()\n  root <A <B\n  user\n  root C()\n  root <C"
	tests := []struct {
		profile string
		lines   []string
	}{
		{"anthropic", []string{"- - system", "0 0 user", "- 1 system", "1 2 assistant", "2 3 user", "2 4 user",
			"3 5 assistant", "4 6 user", "4 - user"}},
		{"bedrock", []string{"- - system", "0 0 user", "- 1 system", "1 2 assistant", "2 3 user", "2 4 user",
			"3 5 assistant", "4 6 user", "4 - user"}},
		{"gemini", []string{"- - systemInstruction", "0 0 user", "- 1 systemInstruction", "1 2 model", "2 3 user", "3 4 user",
			"4 5 model", "5 6 user", "6 - user"}},
		{"openai-chat", []string{"- - system", "0 0 user", "1 1 system", "2 2 assistant", "3-4 3 tool", "5 4 user",
			"6 5 assistant", "7 6 tool", "8 - user"}},
		{"openai-responses", []string{"- - system", "0 0 user", "1 1 system", "2-4 2 assistant", "5-6 3 function_call_output", "7 4 user",
			"8 5 function_call", "9 6 function_call_output", "10 - user"}},
	}
	for _, tt := range tests {
		t.Run(tt.profile, func(t *testing.T) {
			r := builtFor(t, treetest.Tree(t, tree), judgeOf(tt.profile)).Request
			for i := range r.Parts {
				r.Parts[i].Adjusted, r.Parts[i].Rejected = nil, nil // the system message is not the question
			}
			if diff := cmp.Diff(tt.lines, requestLines(r)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func judgeOf(profile string) rules.Judge {
	return rules.Judge{Profiles: []*rules.Profile{rules.FindProfile(profile)}}
}

// An API that pairs by id alone does not mind where a result stands, but counts.
func TestPairsByIDAlone(t *testing.T) {
	tests := []struct{ name, tree, err string }{
		{"a late result", "P\n  user\n  root A()\n  user\n  root <A", ""},
		{"a missing one", "P\n  user\n  root A()\n  user", "No tool output found for function call A."},
		{"one of nobody's", "P\n  user\n  root <X\n  root", "No tool call found for function call output with call_id X."},
		{"one before its call", "P\n  user\n  root <A\n  root A()\n  user", "No tool call found for function call output with call_id A."},
		{"a second one", "P\n  user\n  root A()\n  root <A \"x\"\n  user\n  root <A \"y\"", "Duplicate function_call_output for call_id 'A'."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := builtFor(t, treetest.Tree(t, tt.tree), judgeOf("openai-responses")).Request
			checkStart(t, firstError(r), tt.err)
		})
	}
}

// A session says itself whose it is, and a request as it is has no next message.
func TestWhoseRequest(t *testing.T) {
	const tree = "P model=gemini-3-pro\n  user\n  root"
	hinted := built(t, treetest.Tree(t, tree)).Request
	if got, want := hinted.Head(), "request as sent to: gemini (model gemini-3-pro)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	judge := judgeOf("kimi")
	judge.AsIs = true
	asked := builtFor(t, treetest.Tree(t, tree), judge).Request
	if got, want := asked.Head(), "request as sent to: kimi, without a next message"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if diff := cmp.Diff([]string{"- - system", "0 0 user", "1 1 assistant"}, requestLines(asked)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
