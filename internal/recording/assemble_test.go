package recording_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/recording"
)

// TestAssembly holds the sessions of short streams: a line for each item, with the
// id of its session in front.
func TestAssembly(t *testing.T) {
	for _, tc := range []struct{ name, events, want string }{
		{"no event says when a message is complete: docker agent v1.32.3's client", `
			user #P "go"
			text @root "I ask."
			part shell:s1 @root
			call shell:s1 @root
			answer shell:s1 @root "ok"
			text @root "Done."
			stop #P @root`, `
			P user "" "go"
			P assistant "root" "I ask." call[s1 shell {}]
			P tool "root" "" result[s1 "ok" error=false]
			P assistant "root" "Done."`},
		{"what another model takes over is thrown away", `
			user #P "go"
			text @root "Half an"
			part shell:s1 @root
			again @root
			text @root "All."
			added #P @root`, `
			P user "" "go"
			P assistant "root" "All."`},
		{"what was never complete is unfinished", `
			user #P "go"
			part shell:s1 @root
			added #P @root
			answer shell:s1 @root ""
			text @root "And"`, `
			P user "" "go"
			P assistant "root" "" call[s1 shell {}]
			P tool "root" "" result[s1 "(no output)" error=false]
			P assistant "root" "And" unfinished`},
		{"a message that was not streamed has no text", `
			user #P "go"
			added #P @root
			call shell:s1 @root`, `
			P user "" "go"
			P assistant "root" "" call[s1 shell {}]`},
		{"a session that no event names is called after its line", `
			switch root>worker
			text @worker "Hm."`, `
			events:1
			events:1/sub-session assistant "worker" "Hm." unfinished`},
		{"a failed sub-session below one that completes hangs below it", `
			start #P @root
			switch root>a
			start #A @a
			switch a>b
			text #B @b "no"
			back b>a
			done A #P @root
			back a>root`, `
			P sub_session  "" A
			A
			B assistant "b" "no" unfinished`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := recording.NewRecorder(recording.Auto, true, "(no output)")
			for _, e := range parseEvents(t, tc.events) {
				r.Take(e)
			}
			var got []string
			for _, tree := range r.End().Trees {
				for _, s := range tree.Sessions {
					if len(s.Items) == 0 {
						got = append(got, s.ID)
					}
					for i := range s.Items {
						got = append(got, s.ID+" "+strings.TrimPrefix(sayItem(&s.Items[i]), "message "))
					}
				}
			}
			var want []string
			for line := range strings.SplitSeq(strings.TrimSpace(tc.want), "\n") {
				want = append(want, strings.TrimSpace(line))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("want (-), got (+):\n%s", diff)
			}
		})
	}
}
