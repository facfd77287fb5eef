package repair

import (
	"slices"
	"testing"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// TestFollowCauses: a recorded refusal needs the words that the repair of what it is about needs.
func TestFollowCauses(t *testing.T) {
	tree := treetest.Tree(t, "P\n  user\n  root \"refused\"\n  user\n  root \"refused\"")
	finding := func(rule string, fixes ...rules.Fix) *check.Finding {
		return &check.Finding{Defect: rules.Defect{
			Rule: &rules.Rule{ID: rule}, Severity: rules.Error, Place: session.Place{Session: "P", Item: 0}, Fixes: fixes,
		}}
	}
	edits := []session.Edit{{Op: session.Omit}}
	words, free := rules.Fix{Allow: []string{"lossy"}, Edits: edits}, rules.Fix{Safety: rules.Kept, Edits: edits}
	for name, tc := range map[string]struct {
		causes []*check.Finding
		title  string
		allow  []string
	}{
		"a repair with a word":           {[]*check.Finding{finding("SC607", words)}, "the repair of SC607 takes this out as well", []string{"lossy"}},
		"one without":                    {[]*check.Finding{finding("SC608", free)}, "the repair of SC608 takes this out as well", nil},
		"two causes":                     {[]*check.Finding{finding("SC608", free), finding("SC607", words), finding("SC607", words)}, "the repair of SC607, SC608 takes this out as well", []string{"lossy"}},
		"one that is not repaired":       {[]*check.Finding{finding("SC607", words), finding("SC608")}, "", nil},
		"something that it is not about": {[]*check.Finding{finding("SC101", free)}, "", nil},
		"nothing":                        {},
	} {
		t.Run(name, func(t *testing.T) {
			f := finding("SC309")
			f.Causes, f.Items = []string{"SC607", "SC608"}, []int{1, 3}
			followCauses(tree, f, append(tc.causes, f))
			if tc.title == "" {
				if f.Fixes != nil {
					t.Errorf("%+v", f.Fixes)
				}
				return
			}
			if len(f.Fixes) != 1 || f.Fixes[0].Title != tc.title || !slices.Equal(f.Fixes[0].Allow, tc.allow) || len(f.Fixes[0].Edits) != 2 || f.Fixes[0].Edits[1].Ref.Key != tree.Root().Items[3].Key {
				t.Errorf("%+v", f.Fixes)
			}
		})
	}
}
