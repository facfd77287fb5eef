package canonical_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/session"
)

// What a repair changed in an item is written, and no other byte of its line.
func TestAmendedLines(t *testing.T) {
	const item = `{"type":"item","session":"P","kind":"message","role":"assistant", `
	tests := []struct {
		name, line, want string
		change           func(*session.Item)
	}{
		{"id of a call", `"calls":[ {"id":"A","name":"a","args":"{ }","x":1.0},{"id":"A","name":"b","args":""} ]}`,
			`"calls":[ {"id":"A","name":"a","args":"{ }","x":1.0},{"id":"A_dup2","name":"b","args":""} ]}`,
			func(it *session.Item) { it.Calls[1].ID = "A_dup2" }},
		{"id that was not there", `"calls":[{"name":"a","args":""}]}`, `"calls":[{"name":"a","args":"","id":"call_0"}]}`,
			func(it *session.Item) { it.Calls[0].ID = "call_0" }},
		{"id of a result", `"results":[{"call":"A","text":"a\/"}, {"call":"A","text":"b"}]}`, `"results":[{"call":"A","text":"a\/"}, {"call":"B","text":"b"}]}`,
			func(it *session.Item) { it.Results[1].CallID = "B" }},
		{"id of one result, and another one gone", `"results":[{"call":"A","text":"a"}, {"call":"A","text":"b"},{"call":"C","text":"c","x":1.0}]}`, `"results":[{"call":"B","text":"b"},{"call":"C","text":"c","x":1.0}]}`,
			func(it *session.Item) { it.Results = it.Results[1:]; it.Results[0].CallID = "B" }},
		{"wrapped text", `"calls":[{"id":"A","name":"a","args":"{\"a"}]}`, `"calls":[{"id":"A","name":"a","args":"{\"INVALID_JSON\":\"{\\\"a\"}"}]}`,
			func(it *session.Item) { it.Calls[0].Args = `{"INVALID_JSON":"{\"a"}` }},
		{"wrapped value", `"calls":[{"id":"A","name":"a","args":[ 1 ]}]}`, `"calls":[{"id":"A","name":"a","args":{"INVALID_JSON":"[ 1 ]"}}]}`,
			func(it *session.Item) { it.Calls[0].Args = `{"INVALID_JSON":"[ 1 ]"}` }},
		{"text", `"text":" \n","calls":[{"id":"A","name":"a","args":""}]}`, `"text":"","calls":[{"id":"A","name":"a","args":""}]}`,
			func(it *session.Item) { it.Body.Text = "" }},
		{"text with a block", `"text":" ","blocks":[{"type":"text"},{"type":"call", "x":1.0}],"calls":[{"id":"A","name":"a","args":""}]}`,
			`"text":"","blocks":[{"type":"call", "x":1.0}],"calls":[{"id":"A","name":"a","args":""}]}`,
			func(it *session.Item) { it.Body.Text = ""; it.Blocks = it.Blocks[1:] }},
		{"id of a block", `"blocks":[ {"type":"reasoning","id":"rs_1"}, {"type":"call","id":"fc_1","y":1.0}],"calls":[{"id":"A","name":"a","args":""}]}`,
			`"blocks":[ {"type":"reasoning","id":"rs_1"}, {"type":"call","y":1.0}],"calls":[{"id":"A","name":"a","args":""}]}`,
			func(it *session.Item) { it.Blocks[1].ID = "" }},
		{"id of a call's block", `"calls":[{"id":"A","name":"a","args":"","item_id":"fc_1","with":"rs_1"}]}`, `"calls":[{"id":"A","name":"a","args":"","with":"rs_1"}]}`,
			func(it *session.Item) { it.Blocks[0].ID = "" }},
		{"id that stands in both places", `"blocks":[{"type":"call","id":"fc_1"}],"calls":[{"id":"A","name":"a","args":"","item_id":"fc_2"}]}`, `"blocks":[{"type":"call"}],"calls":[{"id":"A","name":"a","args":""}]}`,
			func(it *session.Item) { it.Blocks[0].ID = "" }},
		{"another id of a block", `"blocks":[{"type":"call","id":"fc_1"}],"calls":[{"id":"A","name":"a","args":""}]}`, `"blocks":[{"type":"call","id":"fc_2"}],"calls":[{"id":"A","name":"a","args":""}]}`,
			func(it *session.Item) { it.Blocks[0].ID = "fc_2" }},
		{"branch", `"branch":"orch.a" ,"calls":[{"id":"A","name":"a","args":"{ }","x":1.0}]}`, `"branch":"orch.b\n" ,"calls":[{"id":"A","name":"a","args":"{ }","x":1.0}]}`,
			func(it *session.Item) { it.Own().Branch = "orch.b\n" }},
		{"branch of another form", `"branch":{"tokens":[3, 1]},"text":"t\/"}`, `"branch":{"active_forks":{"1":[[0],2]}},"text":"t\/"}`,
			func(it *session.Item) {
				it.Own().Branch = `{"active_forks":{"1":[[0],2]}}`
			}},
		{"branch that was not there", `"text":"t\/", "x":1.0}`, `"text":"t\/", "x":1.0,"branch":"orch"}`,
			func(it *session.Item) { it.Own().Branch = "orch" }},
		{"branch that is taken away", `"text":"t\/","branch":"orch" , "x":1.0}`, `"text":"t\/" , "x":1.0}`,
			func(it *session.Item) { it.Own().Branch = "" }},
		{"archived", `"text":"t\/", "x":1.0}`, `"text":"t\/", "x":1.0,"archived":true}`,
			func(it *session.Item) { it.Flags |= session.Archived }},
		{"sent again", `"text":"t\/" , "archived": true, "x":1.0}`, `"text":"t\/" , "archived": false, "x":1.0}`,
			func(it *session.Item) { it.Flags &^= session.Archived }},
		{"blocks of results", `"blocks":[{"type":"result","nth":1},{"type":"result","nth":0},{"type":"result"}],"results":[{"call":"A","text":"a"},{"call":"B","text":"b"},{"call":"C","text":"c"}]}`,
			`"blocks":[{"type":"result","nth":0},{"type":"result"}],"results":[{"call":"B","text":"b"},{"call":"C","text":"c"}]}`,
			func(it *session.Item) {
				it.Results = it.Results[1:]
				it.Blocks = []session.Block{{Kind: session.ResultBlock}, {Kind: session.ResultBlock, Nth: 1}}
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var foretold session.Item
			got := rewrite(t, header+sessionOf("P")+item+tt.line, func(tree *session.Tree) {
				tt.change(&tree.Root().Items[0])
				foretold = tree.Root().Items[0]
			})
			if want := header + sessionOf("P") + item + tt.want; got != want {
				t.Fatalf("got\n%s\nwant\n%s", got, want)
			}
			again := filled(t, openStream(t, got))[0].Root().Items[0]
			if diff := cmp.Diff(foretold.Blocks, again.Blocks); diff != "" {
				t.Errorf("blocks (-foretold +read):\n%s", diff)
			}
			if again.Branch() != foretold.Branch() || again.Flags.Has(session.Archived) != foretold.Flags.Has(session.Archived) {
				t.Errorf("it is read on branch %q with the flags %b, foretold were %q and %b", again.Branch(), again.Flags, foretold.Branch(), foretold.Flags)
			}
		})
	}
}

// A result that was taken out of a message of the assistant is an answer of its
// own, which says nothing else.
func TestResultTakenOutOfTheAssistant(t *testing.T) {
	const item = `{"type":"item","session":"P","kind":"message","role":"assistant","text":"t","reasoning":"r","signature":"s","media":true,"size":99,"empty_calls":true,"calls":[{"id":"A","name":"a","args":""}],`
	got := rewrite(t, header+sessionOf("P")+item+`"results":[{"call":"A","text":"a"}],"blocks":[{"type":"result"},{"type":"text"}]}`, func(tree *session.Tree) {
		s := tree.Root()
		part := s.Items[0]
		part.Key, part.Role, part.Calls, part.Blocks = part.Key+"#results/0", session.Tool, nil, nil
		part.Flags &^= session.EmptyCalls
		part.Body, part.Size = &session.Body{Raw: part.Body.Raw}, 1
		s.Items[0].Results = nil
		s.Items[0].Blocks = slices.Delete(slices.Clone(s.Items[0].Blocks), 0, 1)
		s.Items = append(s.Items, part)
	})
	want := header + sessionOf("P") + item + `"results":[],"blocks":[{"type":"text"}]}` + "\n" +
		`{"type":"item","session":"P","kind":"message","role":"tool","text":"","reasoning":"","size":1,"calls":[],"results":[{"call":"A","text":"a"}]}` + "\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// A scrubbed line is Unicode and says what a reader took it for; others stay as
// they are, their bad text included.
func TestScrubbedLine(t *testing.T) {
	const before = `{"type":"item", "session":"P","kind":"message","role":"user","text":"`
	tests := []struct{ name, text, want string }{
		{"bytes", "a\xffé\xed\xa0\x80", "a\ufffdé\ufffd\ufffd\ufffd"},
		{"cut character", "a\xe2\x82", "a\ufffd\ufffd"},
		{"half a pair", `\ud83d`, `\ufffd`},
		{"the other half", `\u00e9\uDE00x`, `\u00e9\ufffdx`},
		{"two first halves", `\ud83d\ud83d\ude00`, `\ufffd\ud83d\ude00`},
		{"half a pair and another escape", `\ud83d\u0041\n\\ud83d\/`, `\ufffd\u0041\n\\ud83d\/`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			line := before + tt.text + "\",\"x\":1.0}\n"
			text := header + sessionOf("P") + line + line
			var said string
			got := rewrite(t, text, func(tree *session.Tree) {
				s := tree.Root()
				said = s.Items[0].Body.Text
				s.Faults = slices.DeleteFunc(s.Faults, func(f session.Fault) bool { return f.Item == 0 })
			})
			if want := header + sessionOf("P") + before + tt.want + "\",\"x\":1.0}\n" + line; got != want {
				t.Fatalf("got\n%q\nwant\n%q", got, want)
			}
			s := filled(t, openStream(t, got))[0].Root()
			if s.Items[0].Body.Text != said || len(s.Faults) != 1 || s.Faults[0].Item != 1 {
				t.Errorf("it says %q, not %q; faults %v", s.Items[0].Body.Text, said, s.Faults)
			}
		})
	}
}
