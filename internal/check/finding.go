package check

import (
	"cmp"
	"slices"
	"time"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// Finding is what a rule found as it is reported: without pointers into the tree, so
// that a tree can be forgotten when its rules have run.
type Finding struct {
	rules.Defect
	Root        *Head  // the tree's root, nil when it is the store's own
	Row         string // of the record: "session_items/17"
	Fingerprint string // stays the same when the record moves
	// Known: it stands in the baseline of the run, so that it fails nothing. Check
	// itself never says so.
	Known bool
	// Was is how bad the baseline knows it to be, where it got worse since: then it is
	// not Known.
	Was *Extent

	tree, order int
	id          Identity
}

// Head is what a report says of a session.
type Head struct {
	ID      string
	Title   string
	Created time.Time
}

func headOf(tree *session.Tree) *Head {
	root := tree.Root()
	return &Head{ID: root.ID, Title: root.Title, Created: root.Created}
}

// Allow are the words of --allow that a repair of it needs, nil where there is no
// repair, or one that needs none.
func (f *Finding) Allow() []string {
	for _, fix := range f.Fixes {
		if len(fix.Edits) > 0 {
			return fix.Allow
		}
	}
	return nil
}

// Fresh are the findings that no baseline knows.
func Fresh(findings []*Finding) []*Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f *Finding) bool { return f.Known })
}

// Reported is the message for what is kept and passed on.
func (f *Finding) Reported() string { return cmp.Or(f.Discreet, f.Message) }

// Accepted reports whether every provider that was asked takes what was found:
// then a repair leaves it, unless its rule is named.
func (f *Finding) Accepted() bool { return f.Profile != nil && f.Severity == rules.Info }

// Refused reports whether a provider that was asked refuses the next request because of
// what was found: in words of its own, and not only some of its models or servers.
func (f *Finding) Refused() bool {
	return slices.ContainsFunc(f.Judged, func(j rules.Judgement) bool {
		_, listed := j.Profile.Levels[f.Rule.ID]
		return j.Error != "" && (!listed || j.Severity == rules.Error)
	})
}

// keep makes the reported form of what a rule found, which needs no tree.
func keep(f *rules.Finding, facts *session.Store, tree *session.Tree, seq, order int) *Finding {
	flat := &Finding{Defect: f.Defect, Row: f.Ref.Row(), tree: seq, order: order, id: identity(f, tree)}
	flat.Fingerprint = flat.id.fingerprint(lasting(f, facts))
	if f.Session != nil {
		flat.Root = headOf(tree)
	}
	return flat
}
