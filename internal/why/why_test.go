package why_test

import (
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
	"github.com/sessctl/sessctl/internal/view"
	"github.com/sessctl/sessctl/internal/why"
)

// TestTheRecordThatWasNotRead: of a result that is missing, the cause is the record that was
// not read and says something of that very call, and no other one.
func TestTheRecordThatWasNotRead(t *testing.T) {
	for _, test := range []struct {
		calls []string
		want  string
	}{
		{nil, "SC101"},
		{[]string{"call_10"}, "SC101"},
		{[]string{"call_10", "call_1"}, "SC010"},
	} {
		tree := treetest.Tree(t, "s\n  user\n  root call_1()\n")
		root := tree.Root()
		root.Faults = append(root.Faults, session.Fault{Kind: session.Undecodable, Item: -1, Field: "line 9", Passed: true,
			Detail: "line 9 was cut off; what is left of it follows the call " + strings.Join(test.calls, ", "), Calls: test.calls})
		judge := rules.Judge{Profiles: []*rules.Profile{rules.FindProfile("anthropic")}}
		facts := &session.Store{Writer: session.WriterDead}
		found := check.Tree(facts, tree, catalogue.Usual(), judge)
		request := view.Build(view.Input{Store: facts, Tree: tree, Findings: found, Session: root.ID, Request: true, Judge: judge}).Request
		d := why.Diagnosis{Session: &why.Candidate{}}
		d.Diagnose(why.Input{Store: facts, Tree: tree, Findings: found, Request: request})
		if len(d.Findings) == 0 || d.Findings[0].Rule.ID != test.want {
			t.Errorf("%v: %s, and %s is wanted first", test.calls, d.Cause, test.want)
		}
	}
}
