package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// splitCase is a session that calls share, and what the split of it gives to whom.
type splitCase struct {
	name  string
	calls string // of the parent, with their results
	child string
	want  string // the first item and the run that each call but one gets: "T2 W.1 R2"
	allow string
	tweak func(*session.Tree)
}

func TestASplitGivesEveryCallWhatItStarted(t *testing.T) {
	const allowSure, allowGuessed = "split", "split,guesses"
	for _, tc := range []splitCase{
		{
			name:  "by the request, whatever the order",
			calls: "root T1>w(one)=W T2>w(two)=W\n  root <T1=W <T2=W",
			child: "user \"two\" run=i2\n  user \"one\" run=i1\n  w \"b\" run=i2\n  w \"a\" run=i1",
			want:  "T1 W.1", allow: allowSure,
		},
		{
			name:  "equal requests by their answers",
			calls: "root T1>w(one)=W T2>w(one)=W\n  root <T1=W \"a\" <T2=W \"b\"",
			child: "user \"one\" run=i2\n  user \"one\" run=i1\n  w \"b\" run=i2\n  w \"a\" run=i1",
			want:  "T1 W.1", allow: allowSure,
		},
		{
			name:  "equal requests and answers in their order, which is a guess",
			calls: "root T1>w(one)=W T2>w(one)=W T3>w(two)=W\n  root <T1=W \"a\" <T2=W \"a\" <T3=W \"c\"",
			child: "user \"one\" run=i1\n  user \"two\" run=i3\n  user \"one\" run=i2\n  w \"a\" run=i1\n  w \"a\" run=i2\n  w \"c\" run=i3",
			want:  "T3 W.1; T2 W.2", allow: allowGuessed,
		},
		{
			name: "equal requests of several turns by their time",
			calls: "root T1>w(one)=W T2>w(two)=W at=1\n  root <T1=W \"a\" <T2=W \"b\" at=5\n" +
				"  root T3>w(one)=W at=6\n  root <T3=W \"a\" at=9",
			child: "user \"one\" run=i1 at=2\n  user \"two\" run=i2 at=3\n  w \"a\" run=i1 at=4\n  w \"b\" run=i2 at=4\n  user \"one\" run=i3 at=7\n  w \"a\" run=i3 at=8",
			want:  "T2 W.1", allow: allowSure,
		},
		{
			name: "the call that ran alone stays, and one of each that ran together",
			calls: "root T1>w(one)=W T2>w(two)=W\n  root <T1=W <T2=W\n  root T3>w(three)=W\n  root <T3=W\n" +
				"  root T4>w(four)=W T5>w(five)=W\n  root <T4=W <T5=W",
			child: "user \"one\" run=i1\n  user \"two\" run=i2\n  w \"a\" run=i1\n  w \"b\" run=i2\n  user \"three\" run=i3\n  w \"c\" run=i3\n" +
				"  user \"five\" run=i5\n  w \"e\" run=i5\n  user \"four\" run=i4\n  w \"d\" run=i4",
			want: "T2 W.1; T4 W.8", allow: allowSure,
		},
		{
			name:  "calls of several turns that only overlap one by one",
			calls: "root T1>w(one)=W\n  root <T1=W\n  root T2>w(two)=W\n  root <T2=W\n  root T3>w(three)=W\n  root <T3=W",
			child: "user \"one\" run=i1\n  user \"two\" run=i2\n  w \"a\" run=i1\n  user \"three\" run=i3\n  w \"b\" run=i2\n  w \"c\" run=i3",
			want:  "T2 W.1; T3 W.3", allow: allowSure,
		},
		{
			name:  "the run that began first stays, whichever message came first",
			calls: "root T1>w(one)=W T2>w(two)=W\n  root <T1=W <T2=W",
			child: "run R1 run=i1 at=2\n  run R2 run=i2 at=1\n  user \"one\" run=i1 at=3\n  user \"two\" run=i2 at=4\n  w \"a\" run=i1 at=5\n  w \"b\" run=i2 at=6",
			want:  "T1 W.0 R1", allow: allowSure,
		},
		{
			name:  "the run that the store has with the call",
			calls: "root T1>w()=W T2>w()=W\n  root <T1=W <T2=W",
			child: "run R1 run=i1\n  run R2 run=i2\n  user \"one\" run=i1\n  user \"two\" run=i2\n  w \"a\" run=i1\n  w \"b\" run=i2",
			want:  "T1 W.1 R2", allow: allowSure,
			tweak: func(tree *session.Tree) {
				calls := tree.Root().Items[1].Calls
				calls[0].Delegation.Run, calls[1].Delegation.Run = "R2", "R1"
			},
		},
		{
			name:  "runs by their requests, where they name no invocation",
			calls: "root T1>w(one)=W T2>w(two)=W\n  root <T1=W <T2=W",
			child: "run R1 asked(two)\n  run R2 asked(one)\n  user \"one\" run=i1\n  user \"two\" run=i2\n  w \"a\" run=i1\n  w \"b\" run=i2",
			want:  "T2 W.1 R1", allow: allowSure,
		},
		{
			name:  "runs with equal requests by their answers",
			calls: "root T1>w(one)=W T2>w(one)=W\n  root <T1=W \"a\" <T2=W \"b\"",
			child: "run R1 asked(one) answered(b)\n  run R2 asked(one) answered(a)\n  user \"one\" run=i1\n  user \"one\" run=i2\n  w \"a\" run=i1\n  w \"b\" run=i2",
			want:  "T2 W.1 R1", allow: allowSure,
		},
		{
			name:  "runs with equal requests and no answers in their order, which is a guess",
			calls: "root T1>w(one)=W T2>w(one)=W\n  root <T1=W \"a\" <T2=W \"b\"",
			child: "run R1 asked(one)\n  run R2 asked(one)\n  user \"one\" run=i1\n  user \"one\" run=i2\n  w \"a\" run=i1\n  w \"b\" run=i2",
			want:  "T2 W.1 R2", allow: allowGuessed,
		},
		{
			name:  "the one call and the one part that are left",
			calls: "root T1>w(one)=W T2>w()=W\n  root <T1=W <T2=W",
			child: "user \"one\" run=i1\n  user \"two\" run=i2\n  w \"a\" run=i1\n  w \"b\" run=i2",
			want:  "T2 W.1", allow: allowSure,
		},
		{
			name:  "the one call and the one part that are left, though they differ: a guess",
			calls: "root T1>w(one)=W T2>w(two)=W\n  root <T1=W <T2=W",
			child: "user \"one\" run=i1\n  user \"zwei\" run=i2\n  w \"a\" run=i1\n  w \"b\" run=i2",
			want:  "T2 W.1", allow: allowGuessed,
		},
		{
			name:  "a mark goes with the request behind it, one of several stays",
			calls: "root T1>w(one)=W T2>w(two)=W T3>w(three)=W\n  root <T1=W <T2=W <T3=W",
			child: "other run=m\n  user \"one\" run=i1\n  other run=m\n  user \"two\" run=i2\n  other run=m\n  other run=m\n  user \"three\" run=i3\n" +
				"  w \"a\" run=i1\n  w \"b\" run=i2\n  w \"c\" run=i3",
			want: "T2 W.2; T3 W.6", allow: allowSure,
		},
		{
			name:  "a mark goes with its request over what others say, and stays where several waited at one time",
			calls: "root T1>w(one)=W T2>w(two)=W T3>w(three)=W T4>w(four)=W\n  root <T1=W <T2=W <T3=W <T4=W",
			child: "other run=m\n  user \"one\" run=i1\n  other run=m\n  w \"a\" run=i1\n  user \"two\" run=i2\n" +
				"  other run=m\n  other run=m\n  user \"three\" run=i3\n  user \"four\" run=i4\n  w \"b\" run=i2\n  w \"c\" run=i3\n  w \"d\" run=i4",
			want: "T2 W.2; T3 W.7; T4 W.8", allow: allowSure,
		},
		{
			name:  "what was resumed under another invocation",
			calls: "root T1>w(one)=W T2>w(two)=W\n  root <T1=W <T2=W",
			child: "user \"one\" run=i1\n  user \"two\" run=i2\n  w ok() run=i2\n  w \"a\" run=i1\n  user <ok run=i3\n  w \"b\" run=i3",
			want:  "T2 W.1", allow: allowSure,
		},
		{
			name:  "what a call started whose result names no session stays",
			calls: "root T1>w(one)=W T2>w(two) T3>w(three)=W\n  root <T1=W <T2! <T3=W",
			child: "user \"one\" run=i1\n  user \"two\" run=i2\n  user \"three\" run=i3\n  w \"a\" run=i1\n  w \"c\" run=i3",
			want:  "T3 W.2", allow: allowSure,
		},
		{
			name:  "so does what a call without a result started, whose run is open for ever",
			calls: "root T1>w(one)=W T2>w(two) T3>w(three)=W\n  root <T1=W <T3=W",
			child: "run R1 run=i1\n  run R2 run=i2 open\n  run R3 run=i3\n  user \"two\" run=i2\n  user \"one\" run=i1\n  user \"three\" run=i3\n  w \"a\" run=i1\n  w \"c\" run=i3",
			want:  "T3 W.2 R3", allow: allowSure,
		},
		{
			name:  "calls without a result of which the store says what they started keep the session alone",
			calls: "root T1>w(one)=W T2>w(two)=W T3>w(three)=W\n  root <T1=W <T3=W",
			child: "user \"one\" run=i1\n  user \"two\" run=i2\n  user \"three\" run=i3\n  w \"a\" run=i1\n  w \"c\" run=i3",
			want:  "T1 W.0; T3 W.2", allow: allowSure,
		},
		{
			name:  "a call that never reached the agent has no part of it",
			calls: "root T1>w(one)=W T2>w(two) T3>w(three)=W\n  root <T1=W <T2! <T3=W",
			child: "user \"one\" run=i1\n  user \"three\" run=i3\n  w \"a\" run=i1\n  w \"c\" run=i3",
			want:  "T3 W.1", allow: allowSure,
		},
		{
			name:  "equal requests, of which one names no session: which is which is a guess",
			calls: "root T1>w(one)=W T2>w(one) T3>w(three)=W\n  root <T1=W \"a\" <T2! <T3=W \"c\"",
			child: "user \"one\" run=i1\n  user \"one\" run=i2\n  user \"three\" run=i3\n  w \"c\" run=i3",
			want:  "T3 W.2", allow: allowGuessed,
		},
		{
			name:  "a call that waited for an approval has two results that name it",
			calls: "root T1>w(one)=W T2>w(two)=W\n  root <T1=W <T2?=W\n  root <T2=W",
			child: "user \"one\" run=i1\n  user \"two\" run=i2\n  w \"a\" run=i1\n  w \"b\" run=i2",
			want:  "T2 W.1", allow: allowSure,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tree := treetest.Tree(t, "P\n  user\n  "+tc.calls+"\n  root \"fine\"\nW delegated\n  "+tc.child)
			if tc.tweak != nil {
				tc.tweak(tree)
			}
			found := findWith([]*rules.Rule{catalogue.FindRule("SC707")}, &session.Store{Writer: session.WriterDead}, []*session.Tree{tree}, rules.Judge{})
			if len(found) != 1 || len(found[0].Fixes) != 1 {
				t.Fatalf("no split was offered: %s", messages(found))
			}
			fix := found[0].Fixes[0]
			if diff := cmp.Diff([]string{tc.want, tc.allow}, []string{given(tree, fix.Edits), strings.Join(fix.Allow, ",")}); diff != "" {
				t.Errorf("want (-), got (+):\n%s", diff)
			}
			if guessed := strings.Contains(fix.Title, "matched by order alone"); guessed != (tc.allow == allowGuessed) {
				t.Errorf("the title is %q", fix.Title)
			}
		})
	}
}

// given says what each call gets: "T2 W.1 R2".
func given(tree *session.Tree, edits []session.Edit) string {
	var list []string
	row := map[string]int{}
	for i := range tree.Session("W").Items {
		row[tree.Session("W").ItemRef(i).Row()] = i
	}
	for _, e := range edits {
		switch {
		case e.Op == session.Create:
			list = append(list, e.Call.ID)
		case e.Op == session.Move && e.After == session.Ref{}:
			list[len(list)-1] += fmt.Sprint(" W.", row[e.Ref.Row()])
		case e.Op == session.MoveRun:
			list[len(list)-1] += " " + e.Ref.Key
		}
	}
	return strings.Join(list, "; ")
}
