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
	for _, s := range tree.Sessions {
		_, _ = fmt.Fprintf(h, "session %q %q %q %d\n", s.ID, s.Parent, s.Title, len(s.Faults))
		for _, r := range s.IndexRefs {
			_, _ = fmt.Fprintf(h, "index %q %d\n", r.Field, r.Index)
		}
		for i := range s.Items {
			it := &s.Items[i]
			_, _ = fmt.Fprintf(h, "item %q %q %q %d %d %d\n", it.Table, it.Key, it.Agent, it.Position, it.KeptFrom, len(it.Results))
		}
	}
	return string(h.Sum(nil))
}
