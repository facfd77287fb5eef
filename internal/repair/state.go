package repair

import (
	"crypto/sha256"
	"fmt"

	"github.com/sessctl/sessctl/internal/session"
)

// stateOf tells the states of a tree apart that planning goes through: which
// records stand where, with the values that a repair changes.
func stateOf(tree *session.Tree) string {
	h := sha256.New()
	line := func(format string, values ...any) { _, _ = fmt.Fprintf(h, format+"\n", values...) }
	for _, s := range tree.Sessions {
		line("session %q %q %q %d", s.ID, s.Parent, s.Title, len(s.Faults))
		for _, r := range s.IndexRefs {
			line("index %q %d", r.Field, r.Index)
		}
		for i := range s.Runs {
			line("run %q", s.Runs[i].ID)
		}
		for i := range s.Items {
			it := &s.Items[i]
			line("item %q %q %q %q %d %d %d %t %t", it.Table, it.Key, it.Agent, it.Branch, it.Position, it.KeptFrom, len(it.Results),
				it.Text != 0, it.Flags.Has(session.Archived))
			for n := range it.Calls {
				line("call %q %d", it.Calls[n].ID, it.Calls[n].Form)
			}
			for n := range it.Results {
				line("result %q %q", it.Results[n].CallID, it.Results[n].Child)
			}
			for n := range it.Blocks {
				line("block %q", it.Blocks[n].ID)
			}
		}
	}
	return string(h.Sum(nil))
}
