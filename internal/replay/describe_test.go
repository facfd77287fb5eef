package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// replayCase is a tree and what its replay says, in the form of describe.
type replayCase struct{ name, tree, want string }

func runCases(t *testing.T, cases []replayCase) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			trace := replay.TraceStored(treetest.Tree(t, tc.tree))
			checkSteps(t, trace)
			var want strings.Builder
			for line := range strings.SplitSeq(strings.TrimSpace(tc.want), "\n") {
				want.WriteString(strings.TrimSpace(line) + "\n")
			}
			if diff := cmp.Diff(strings.TrimSpace(want.String()), strings.TrimSpace(describe(trace))); diff != "" {
				t.Errorf("want (-), got (+):\n%s\n%s", diff, tc.tree)
			}
		})
	}
}

// describe prints the delegations of a trace, one a line:
//
//	P.1 T1 → C at 4, answered 5, leaked 2=C.2 3 4? 5/3=D.2
//
// One that waited has the item with the result that counts behind "and". An open one has "until" and the end of its window instead of "answered". A
// leaked item has its twin behind "=" and a mark when it is undecidable. Behind
// "/" stands what opened its frame, when that is not the delegation itself: an
// item of the session, or one of the child if it did not leak; "+1" means the
// second of its calls.
func describe(trace *replay.Trace) string {
	var b strings.Builder
	for _, rs := range trace.Sessions {
		for _, d := range rs.Delegations {
			fmt.Fprintf(&b, "%s.%d %s → ", rs.Session.ID, d.Item, d.Call().ID)
			switch {
			case d.Child == nil:
				b.WriteString("none")
			case d.Reference < 0:
				b.WriteString(d.Child.ID)
			default:
				fmt.Fprintf(&b, "%s at %d", d.Child.ID, d.Reference)
			}
			if d.Result >= 0 {
				fmt.Fprintf(&b, ", answered %d", d.Result)
				if d.Final != d.Result {
					fmt.Fprintf(&b, " and %d", d.Final)
				}
			} else {
				fmt.Fprintf(&b, ", until %d", d.End)
			}
			for i, l := range d.Leaked {
				b.WriteString([]string{", leaked ", " "}[min(i, 1)] + describeLeaked(d, &l))
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func describeLeaked(d *replay.Delegation, l *replay.Leaked) string {
	text := fmt.Sprint(l.Item)
	switch copied := l.Frame.Copy; {
	case l.Frame.Item < 0:
		text += fmt.Sprintf("/%s.%d", copied.Session.ID, copied.Item)
	case l.Frame.Item != d.Item:
		text += fmt.Sprint("/", l.Frame.Item)
	}
	if l.Frame.Item != d.Item && l.Frame.Nth > 0 {
		text += fmt.Sprint("+", l.Frame.Nth)
	}
	if l.Twin != nil {
		text += fmt.Sprintf("=%s.%d", l.Twin.Session.ID, l.Twin.Item)
	}
	if l.Undecidable {
		text += "?"
	}
	return text
}

// checkSteps holds the steps against the delegations: what is skipped is
// exactly what leaked, at the depth of its frame.
func checkSteps(t *testing.T, trace *replay.Trace) {
	t.Helper()
	for _, rs := range trace.Sessions {
		leaked := map[int]*replay.Frame{}
		for _, d := range rs.Delegations {
			for _, l := range d.Leaked {
				if leaked[l.Item] != nil {
					t.Errorf("%s.%d leaked from two delegations", rs.Session.ID, l.Item)
				}
				leaked[l.Item] = l.Frame
			}
		}
		for i, step := range rs.Steps {
			frame := leaked[i]
			if (step.Action == replay.Skip) != (frame != nil) || step.Frame != frame || step.Depth != frame.Depth() {
				t.Errorf("%s.%d: step %+v, frame of its leak %+v", rs.Session.ID, i, step, frame)
			}
		}
	}
}

// sessionOf finds a session of a trace's tree.
func sessionOf(trace *replay.Trace, id string) *replay.Session {
	for _, rs := range trace.Sessions {
		if rs.Session.ID == id {
			return rs
		}
	}
	return &replay.Session{Session: &session.Session{ID: id}}
}
