package repair

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// edited are the edits of what record n says, counted from 1: "/calls/0 id=x",
// "text=", "/calls/0 wrap", "scrub", "/blocks/0 item_id" for none, "/results/0
// move N" behind record N.
func edited(n int, words string) session.Edit {
	e := session.Edit{Op: session.Set, Ref: session.Ref{Session: "P", Table: "items", Key: fmt.Sprint(n)}}
	for word := range strings.FieldsSeq(words) {
		field, value, given := strings.Cut(word, "=")
		switch {
		case strings.HasPrefix(word, "/"):
			e.Ref.Pointer = word
		case word == "wrap" || word == "scrub" || word == "move" || word == "quarantine":
			e.Op, e.To = session.Op(word), "P"
		case e.Op == session.Move:
			e.After = session.Ref{Session: "P", Table: "items", Key: word}
		default:
			if e.Field = field; given {
				e.Value = &value
			}
		}
	}
	return e
}

// saying lists what the items of a tree say, one line each.
func saying(tree *session.Tree) string {
	var b strings.Builder
	for _, s := range tree.Sessions {
		for i := range s.Items {
			it := &s.Items[i]
			fmt.Fprintf(&b, "%s %s %q", it.Key, it.Role, it.Body.Text)
			for _, c := range it.Calls {
				fmt.Fprintf(&b, " %s(%s)%d", c.ID, c.Args, c.Form)
			}
			for _, r := range it.Results {
				fmt.Fprintf(&b, " <%s %q", r.CallID, r.Text)
			}
			for _, block := range it.Blocks {
				fmt.Fprintf(&b, " %s.%d%s", block.Kind, block.Nth, block.ID)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// wordy is a session with what the edits are for.
func wordy(t testing.TB) *session.Tree {
	tree := treetest.Tree(t, `
P
  user "q"
  root "  " c1({"path":) c2([1])
  root <c1 "one" <c2 "two" <c3 "three"
  root "caf`+"\xff\xff"+`" c4(`+"\xff"+`)
  root <c4 "four"`)
	root := tree.Root()
	blank := &root.Items[1]
	blank.Flags |= session.BlankText | session.TrailingSpace
	blank.Calls[0].Form, blank.Calls[1].Form = session.ArgsBroken, session.ArgsValue
	blank.Blocks = []session.Block{
		{Kind: session.TextBlock, Blank: true}, {Kind: session.ReasoningBlock, ID: "rs"}, {Kind: session.CallBlock, ID: "fc"}, {Kind: session.CallBlock, Nth: 1},
	}
	root.Items[2].Blocks = []session.Block{{Kind: session.ResultBlock}, {Kind: session.ResultBlock, Nth: 1}, {Kind: session.ResultBlock, Nth: 2}}
	root.Faults = []session.Fault{
		{Kind: session.BadUnicode, Ref: root.ItemRef(3), Item: 3, Field: "text"},
		{Kind: session.BadUnicode, Ref: root.ItemRef(4), Item: 4, Field: "text"},
		{Kind: session.BadTime, Ref: root.ItemRef(3), Item: 3, Field: "time"},
	}
	return tree
}

func TestAnEditChangesWhatARecordSays(t *testing.T) {
	const (
		second = "2 assistant \"  \" c1({\"path\":)2 c2([1])1 text.0 reasoning.0rs call.0fc call.1\n"
		third  = "3 tool \"\" <c1 \"one\" <c2 \"two\" <c3 \"three\" result.0 result.1 result.2\n"
	)
	tests := []struct {
		name  string
		edits []session.Edit
		line  string // of the tree as it was
		want  string // in its place
	}{
		{"the id of a call", []session.Edit{edited(2, "/calls/1 id=c9")}, second, strings.Replace(second, "c2(", "c9(", 1)},
		{"the call of a result", []session.Edit{edited(3, "/results/1 call=c9")}, third, strings.Replace(third, "<c2", "<c9", 1)},
		{"the id of a block", []session.Edit{edited(2, "/blocks/1 item_id=rs2")}, second, strings.Replace(second, "0rs", "0rs2", 1)},
		{"a block without its id", []session.Edit{edited(2, "/blocks/2 item_id")}, second, strings.Replace(second, "0fc", "0", 1)},
		{
			"a blank text, and a block by its stored place", []session.Edit{edited(2, "text="), edited(2, "/blocks/2 item_id")},
			second, "2 assistant \"\" c1({\"path\":)2 c2([1])1 reasoning.0rs call.0 call.1\n",
		},
		{
			"arguments", []session.Edit{edited(2, "/calls/0 wrap"), edited(2, "/calls/1 wrap")},
			second, strings.NewReplacer(`({"path":)2`, `({"INVALID_JSON":"{\"path\":"})0`, "([1])1", `({"INVALID_JSON":"[1]"})0`).Replace(second),
		},
		{
			"what is no Unicode", []session.Edit{edited(4, "scrub")},
			"4 assistant \"caf\\xff\\xff\" c4(\xff)0\n", "4 assistant \"caf��\" c4(�)0\n",
		},
		{
			"a result that leaves its item", []session.Edit{edited(3, "/results/0 move 1"), edited(3, "/results/2 call=c9")},
			second + third, "3#results/0 tool \"\" <c1 \"one\"\n" + second + "3 tool \"\" <c2 \"two\" <c9 \"three\" result.0 result.1\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree := wordy(t)
			before := saying(tree)
			d := newDraft(tree, nil)
			if err := d.applyFix(tt.edits); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Replace(before, tt.line, tt.want, 1), saying(d.buildTree())); diff != "" {
				t.Errorf("want (-), got (+):\n%s", diff)
			}
			if diff := cmp.Diff(before, saying(tree)); diff != "" {
				t.Errorf("the tree that it began with changed:\n%s", diff)
			}
		})
	}
}

func TestEditsThatDoNotFitAreErrors(t *testing.T) {
	for words, what := range map[string]string{
		"9 /calls/0 id=x":     "does not exist",
		"2 /calls/2 id=x":     "no such part",
		"2 /calls/-1 id=x":    "no such part",
		"2 /calls/0 call=x":   "no such part", // the field of a result
		"2 /calls/0 id=c1":    "already has that value",
		"3 /results/3 call=x": "no such part",
		"2 /blocks/4 item_id": "no such part",
		"2 text=more":         "writes no text",
		"1 text=":             "not blank",
		"3 text=":             "not blank",
		"2 /calls/2 wrap":     "no such call",
		"4 /calls/0 wrap":     "already an object",
		"9 scrub":             "does not exist",
	} {
		n, edit, _ := strings.Cut(words, " ")
		var row int
		_, _ = fmt.Sscan(n, &row)
		if err := newDraft(wordy(t), nil).applyFix([]session.Edit{edited(row, edit)}); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: got %v, want %q", words, err, what)
		}
	}
	d := newDraft(wordy(t), nil)
	if err := d.applyFix([]session.Edit{edited(3, "/results/1 move 5"), edited(3, "/results/1 call=x")}); err == nil {
		t.Error("a result that left its item was edited there")
	}
}

// Two copies say the same again when the same is done to both of them.
func TestTwinsThatAreEditedAlikeStayTwins(t *testing.T) {
	tree := treetest.Tree(t, "P\n  user\n  root c1()\n  root c1()\n  root c1()")
	d := newDraft(tree, nil)
	if err := d.applyFix([]session.Edit{edited(2, "/calls/0 id=x"), edited(3, "/calls/0 id=x"), edited(4, "/calls/0 id=y")}); err != nil {
		t.Fatal(err)
	}
	items := d.buildTree().Root().Items
	if items[1].Meaning != items[2].Meaning || items[1].Meaning == items[3].Meaning || items[1].Meaning == tree.Root().Items[1].Meaning {
		t.Errorf("the meanings are %v, %v and %v", items[1].Meaning, items[2].Meaning, items[3].Meaning)
	}
}

func TestEditsMendTheOutline(t *testing.T) {
	d := newDraft(wordy(t), nil)
	if err := d.applyFix([]session.Edit{edited(2, "text="), edited(4, "scrub")}); err != nil {
		t.Fatal(err)
	}
	s := d.buildTree().Root()
	if it := &s.Items[1]; it.Flags&(session.BlankText|session.TrailingSpace) != 0 || it.Text != 0 {
		t.Errorf("the emptied item has the flags %b and the text %v", it.Flags, it.Text)
	}
	var left []string
	for _, f := range s.Faults {
		left = append(left, fmt.Sprint(f.Kind, " ", f.Item))
	}
	if diff := cmp.Diff([]string{fmt.Sprint(session.BadTime, " 3"), fmt.Sprint(session.BadUnicode, " 4")}, left); diff != "" {
		t.Errorf("faults, want (-), got (+):\n%s", diff)
	}
}

// A result moves out of the message of a user or of the assistant as a message of
// its own, and a message that held nothing else is gone.
func TestAResultLeavesAMessageOfAnotherRole(t *testing.T) {
	tree := treetest.Tree(t, "P\n  user\n  root \"text\" c1()\n  user \"more\"\n  user \"\"")
	items := tree.Root().Items
	for i := 1; i <= 3; i++ {
		items[i].Results = []session.Result{{CallID: "c1", Text: "one"}}
	}
	items[3].Body = &session.Body{}
	d := newDraft(tree, nil)
	if err := d.applyFix([]session.Edit{edited(2, "/results/0 move 2"), edited(3, "/results/0 move 2"), edited(4, "/results/0 move 2")}); err != nil {
		t.Fatal(err)
	}
	want := `1 user "user"
2 assistant "text" c1()0
2#results/0 tool "" <c1 "one"
3#results/0 tool "" <c1 "one"
4#results/0 tool "" <c1 "one"
3 user "more"
`
	if diff := cmp.Diff(want, saying(d.buildTree())); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
}
