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
		found := check.RunTree(facts, tree, catalogue.UsualRules(), judge)
		request := view.BuildView(view.Input{Store: facts, Tree: tree, Findings: found, Session: root.ID, Request: true, Judge: judge}).Request
		d := why.Diagnosis{Session: &why.Candidate{ID: root.ID}}
		d.Diagnose(why.Input{Store: facts, Tree: tree, Findings: found, Request: request})
		if len(d.Findings) == 0 || d.Findings[0].Rule.ID != test.want {
			t.Errorf("%v: %s, and %s is wanted first", test.calls, d.Cause, test.want)
		}
	}
}

// TestWhatCannotBeReadIsSaid: a form of messages that sessctl does not know, and of this session alone.
func TestWhatCannotBeReadIsSaid(t *testing.T) {
	tree := treetest.Tree(t, "s\n  user\n  root T>worker(do)\n  sub k\n  root <T\n  user\nk<s\n  user\n  worker")
	for _, s := range tree.Sessions {
		s.Faults = append(s.Faults, session.Fault{Kind: session.SchemaUnknown, Ref: s.Ref(), Item: -1, Harmless: true, Detail: "1 message of " + s.ID + " is encrypted"})
	}
	judge := rules.Judge{Profiles: []*rules.Profile{rules.FindProfile("anthropic")}}
	facts := &session.Store{Writer: session.WriterDead}
	found := check.RunTree(facts, tree, catalogue.UsualRules(), judge)
	request := view.BuildView(view.Input{Store: facts, Tree: tree, Findings: found, Session: "s", Request: true, Judge: judge}).Request
	d := why.Diagnosis{Session: &why.Candidate{ID: "s"}}
	d.Diagnose(why.Input{Store: facts, Tree: tree, Findings: found, Request: request})
	if d.Unread != "1 message of s is encrypted" {
		t.Errorf("not read: %q", d.Unread)
	}
}

// TestARecordedRefusalLeads: before what else was found, of which it lists what fits its text.
func TestARecordedRefusalLeads(t *testing.T) {
	const refused = `
  root refused(API Error: 400 messages.2: ` + "`tool_use` ids were found without `tool_result`" + ` blocks immediately after: call_1)`
	for name, test := range map[string]struct {
		tree, found, cause string
		verdict            why.Verdict
	}{
		"what fits it":                    {"s\n  user\n  root call_1()\n  user" + refused, "SC309 SC101", "the last request was refused, and nothing was answered since", why.Refused},
		"nothing fits, and it came once":  {"s\n  user\n  root\n  user" + refused, "SC309", "Try once more", why.Resumes},
		"nothing fits, and it came twice": {"s\n  user\n  root\n  user" + refused + "\n  user" + refused, "SC309", "the last 2 requests were refused alike", why.Refused},
		"answered since":                  {"s\n  user\n  root\n  user" + refused + "\n  user\n  root", "", "", why.Resumes},
	} {
		tree := treetest.Tree(t, test.tree)
		judge := rules.Judge{Profiles: []*rules.Profile{rules.FindProfile("anthropic")}}
		facts := &session.Store{Writer: session.WriterDead}
		found := check.RunTree(facts, tree, catalogue.UsualRules(), judge)
		request := view.BuildView(view.Input{Store: facts, Tree: tree, Findings: found, Session: "s", Request: true, Judge: judge}).Request
		d := why.Diagnosis{Session: &why.Candidate{ID: "s"}}
		d.Diagnose(why.Input{Store: facts, Tree: tree, Findings: found, Request: request})
		var ids []string
		for _, f := range d.Findings {
			ids = append(ids, f.Rule.ID)
		}
		if got := strings.Join(ids, " "); got != test.found || d.Verdict != test.verdict || !strings.Contains(d.Cause, test.cause) {
			t.Errorf("%s: %s, %s, %q", name, got, d.Verdict, d.Cause)
		}
		if d.Verdict == why.Refused && !strings.HasPrefix(d.Answer.Error, "messages.2:") {
			t.Errorf("%s: the answer is %q", name, d.Answer.Error)
		}
	}
}
