package check

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

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

func identity(f *rules.Finding, tree *session.Tree) Identity {
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

// lasting names the record of a finding so that changes of other records do not change
// the name. What is about many records is named by what they have in common, and not
// by the first of them; an item whose key is its place in the store by its place in
// the session.
func lasting(f *rules.Finding, facts *session.Store) string {
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
		return f.Session.Items[i].Table == f.Ref.Table && f.Session.Items[i].Key == f.Ref.Key
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
