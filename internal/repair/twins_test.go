package repair

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// A record whose copy leaves later is kept in the receipt, and what a person
// reads names the copy that stays.
func TestATwinWhoseCopyLeavesIsKept(t *testing.T) {
	tests := []struct {
		name  string
		fixes [][3]string // op, record, its copy ("" for none)
		want  []string    // op, and the record that stays
	}{
		{"the copy stays", [][3]string{{"remove", "1", "2"}}, []string{"remove 2"}},
		{"the copy goes to the receipt", [][3]string{{"remove", "1", "2"}, {"quarantine", "2", "3"}}, []string{"quarantine 3", "quarantine 3"}},
		{"the copy has a copy", [][3]string{{"remove", "1", "2"}, {"remove", "2", "3"}}, []string{"quarantine 3", "remove 3"}},
		{"both leave", [][3]string{{"remove", "1", "2"}, {"remove", "2", "3"}, {"quarantine", "3", ""}}, []string{"quarantine -", "quarantine -", "quarantine -"}},
		{"another record leaves", [][3]string{{"remove", "1", "2"}, {"quarantine", "4", ""}}, []string{"remove 2", "quarantine -"}},
		{"the record left before its copy's copy", [][3]string{{"quarantine", "1", ""}, {"remove", "2", "3"}}, []string{"quarantine -", "remove 3"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var fixes []Fix
			for _, f := range tt.fixes {
				e := session.Edit{Op: session.Op(f[0]), Ref: session.Ref{Table: "items", Key: f[1]}}
				step := Step{Op: e.Op}
				if f[2] != "" {
					e.Twin, step.Twin = session.Ref{Table: "items", Key: f[2]}, &session.Place{Session: f[2]}
				}
				fixes = append(fixes, Fix{Fix: rules.Fix{Edits: []session.Edit{e}}, Steps: []Step{step}})
			}
			keepWithoutCopy(fixes)
			var got []string
			for _, f := range fixes {
				stays := "-"
				if twin := f.Steps[0].Twin; twin != nil {
					stays = twin.Session
				}
				if f.Steps[0].Op != f.Edits[0].Op {
					t.Errorf("the step says %s, the edit %s", f.Steps[0].Op, f.Edits[0].Op)
				}
				got = append(got, fmt.Sprint(f.Edits[0].Op, " ", stays))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("want (-), got (+):\n%s", diff)
			}
		})
	}
}
