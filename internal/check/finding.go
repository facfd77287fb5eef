package check

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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
	Eased       string // by which runtimes, all that read the store: they hide what is refused
	Fingerprint string // stays the same when the record moves
	// Known: it is in the baseline of the run, so that it fails nothing. Check
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
	Outlook Outlook // of the tree
}

func headOf(tree *session.Tree) *Head {
	root := tree.Root()
	return &Head{ID: root.ID, Title: root.Title, Created: root.Created}
}

// AllowWords are the words of --allow that a repair of it needs, nil where there is no
// repair, or one that needs none.
func (f *Finding) AllowWords() []string {
	for _, fix := range f.Fixes {
		if len(fix.Edits) > 0 {
			return fix.Allow
		}
	}
	return nil
}

// MissingWords are the words of --allow with which it would be repaired: nil where all of them were
// given, and something else is in the way.
func (f *Finding) MissingWords(given []string) []string {
	if slices.ContainsFunc(f.AllowWords(), func(word string) bool { return !slices.Contains(given, word) }) {
		return f.AllowWords()
	}
	return nil
}

// FreshFindings are the findings that no baseline knows.
func FreshFindings(findings []*Finding) []*Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f *Finding) bool { return f.Known })
}

// ReportedMessage is the message for what is kept and passed on.
func (f *Finding) ReportedMessage() string { return cmp.Or(f.Discreet, f.Message) }

// IsAccepted reports whether every provider that was asked takes what was found:
// then a repair leaves it, unless its rule is named.
func (f *Finding) IsAccepted() bool { return f.Profile != nil && f.Severity == rules.Info }

// Concerns reports whether a finding is in a session, or its repair brings something there.
func (f *Finding) Concerns(id string) bool {
	return f.Session == id || slices.ContainsFunc(f.Fixes, func(fix rules.Fix) bool {
		return slices.ContainsFunc(fix.Edits, func(e session.Edit) bool { return e.Op == session.Move && e.To == id })
	})
}

// IsRefused reports whether a provider that was asked refuses the next request because of
// what was found: in words of its own, and not only some of its models or servers. What the
// runtime mends before it sends a request is not.
func (f *Finding) IsRefused() bool {
	return f.Eased == "" && slices.ContainsFunc(f.Judged, func(j rules.Judgement) bool {
		_, listed := j.Profile.Levels[f.Rule.ID]
		return j.Error != "" && (!listed || j.Severity == rules.Error)
	})
}

// IsRepairable reports whether a repair that needs no --allow and no --select changes what
// was found.
func (f *Finding) IsRepairable() bool {
	return !f.IsAccepted() && slices.ContainsFunc(f.Fixes, func(fix rules.Fix) bool {
		return len(fix.Edits) > 0 && len(fix.Allow) == 0 && fix.Safety <= rules.Kept
	})
}

// reportedForm makes the reported form of what a rule found, which needs no tree.
func reportedForm(f *rules.Finding, facts *session.Store, tree *session.Tree, seq, order int) *Finding {
	flat := &Finding{Defect: f.Defect, Row: f.Ref.Row(), tree: seq, order: order, id: identityOf(f, tree)}
	flat.Fingerprint = flat.id.fingerprint(lastingName(f, facts))
	if f.Session != nil {
		flat.Root = headOf(tree)
	}
	return flat
}

// Identity tells findings apart as long as the keys of records stay: in a store as it
// was read once, also after edits of the model. It has the rule, the root of the tree,
// the record and the place in it, never another session or a position: moving a record
// within its tree does not make its finding look new, and the same record of another
// store is another one.
type Identity struct {
	Rule, Root, Row, Field string
	Nth                    int
}

// Identity is that of the finding.
func (f *Finding) Identity() Identity { return f.id }

func identityOf(f *rules.Finding, tree *session.Tree) Identity {
	id := Identity{Rule: f.Rule.ID, Row: f.Ref.Row(), Field: f.Field, Nth: f.Nth}
	if f.Session != nil {
		id.Root = tree.Root().ID
	}
	return id
}

// fingerprint is the same in every run, with a name of the record that lasts.
func (id Identity) fingerprint(record string) string {
	if id.Field != "" {
		record += "\x00" + id.Field
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%d", id.Rule, id.Root, record, id.Nth))
	return hex.EncodeToString(sum[:8])
}

// lastingName names the record of a finding so that changes of other records do not change
// the name. What is about many records is named by what they have in common, and not
// by the first of them; an item whose key is its place in the store by its place in
// the session.
func lastingName(f *rules.Finding, facts *session.Store) string {
	switch {
	case f.Session == nil && f.Ref.Session != "":
		return f.Ref.Table + " of " + f.Ref.Session
	case f.Session != nil && f.Whole:
		return f.Session.Ref().Row()
	case f.Session != nil && facts.CountsKeys:
		if at := itemAt(f); at >= 0 {
			here := session.Ref{Table: f.Session.Ref().Row(), Key: fmt.Sprint(at), Pointer: f.Ref.Pointer}
			return here.Row()
		}
	}
	return f.Ref.Row()
}

// itemAt is the position of the record of a finding in its session, -1 where it is no
// item of it.
func itemAt(f *rules.Finding) int {
	is := func(i int) bool {
		return f.Session.Items[i].Table() == f.Ref.Table && f.Session.Items[i].Key == f.Ref.Key
	}
	if f.Item >= 0 && f.Item < len(f.Session.Items) && is(f.Item) {
		return f.Item
	}
	for i := range f.Session.Items {
		if is(i) {
			return i
		}
	}
	return -1
}
