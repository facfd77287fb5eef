package repair

import (
	"fmt"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// A step says of which call it moves the result or takes it out, and whether
// something else of the message stays.
func TestStepsOfResults(t *testing.T) {
	tree := treetest.Tree(t, "P\n  user\n  root c1() c2()\n  user \"more\"\n  user \"\"\n  root \"text\" c3()\n  root <c1 \"one\" <c2 \"two\"\n  root <c2 \"three\"")
	items := tree.Root().Items
	for i := 2; i <= 4; i++ {
		items[i].Results = []session.Result{{CallID: "c1", Text: "one"}}
	}
	items[3].Body = &session.Body{}
	tests := []struct {
		name string
		edit session.Edit
		want string
	}{
		{"beside a text of the user", edited(3, "/results/0 move 2"), `c1 "one" rest true`},
		{"alone in a message of the user", edited(4, "/results/0 move 2"), `c1 "one" rest false`},
		{"beside a text and calls", edited(5, "/results/0 quarantine"), `c1 "one" rest true`},
		{"one of two", edited(6, "/results/1 quarantine"), `c2 "two" rest true`},
		{"a whole item", edited(7, "move 2"), `c2 "three" rest false`},
		{"a whole message of the user", edited(3, "move 2"), ` "more" rest false`},
		{"another id", edited(7, "/results/0 call=x"), `c2 "three" rest false`},
		{"the id of a call", edited(2, "/calls/1 id=x"), `c2 "" rest false`},
	}
	for _, tt := range tests {
		step := newOrigin(tree).describeSteps(itemsByRow(tree), []session.Edit{tt.edit})[0]
		if got := fmt.Sprintf("%s %q rest %t", step.Call, step.Text, step.Rest); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}
