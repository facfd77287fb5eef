// Package diff compares two stores: which sessions and items the second has that the
// first lacks, which it lacks, which stand in another place and which changed. The first
// store is the one before, the second the one after.
//
// Two items are the same one if they have the same record, where both stores are databases
// of one kind; else if they say the same. What an item says can be compared between all
// kinds of stores. Between two of one kind and schema the stored bytes count too: a record
// that says the same and holds another time or cost has changed. Numbers that tell nothing
// but an order are not compared, the order is.
package diff

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
)

// Change is what became of a session or an item.
type Change string

// The changes. Moved is for items only: they stand in another session, or behind another
// item of their session; a moved item may have changed besides.
const (
	Added   Change = "added"
	Gone    Change = "gone"
	Moved   Change = "moved"
	Changed Change = "changed"
	equal   Change = ""
)

// Tree is a session tree that differs. Bodies are loaded until the next one is compared.
type Tree struct {
	Root     *session.Session // as the second store has it, else as the first
	Change   Change           // Added or Gone where one store has nothing of it, else Changed
	Sessions []Session        // that differ: in the order of the second store, then those that are gone
}

// Session is a session that differs.
type Session struct {
	Change Change
	A, B   *session.Session // before and after; nil where it is not
	From   string           // of an added one: the session that most of its moved items were in, "" when it has none
	Into   string           // of one that is gone and whose items all moved: the session that most are in now, else ""
	Left   int              // items of it that stand in another session now
	Fields []Field
	Items  []Item // in the order of the second store, then those that are gone
}

// ID is the id of the session.
func (s *Session) ID() string { return s.latestSession().ID }

// latestSession is the session after, else before.
func (s *Session) latestSession() *session.Session { return cmp.Or(s.B, s.A) }

// CountStored counts how many items the session has, or had where it is gone.
func (s *Session) CountStored() int { return len(s.latestSession().Items) }

// Field is a property of a session with its values, "" for none.
type Field struct {
	// named as in the canonical stream (docs/canonical.md); the name of a stored index; `record` for
	// something else in its record, or `positions` for other numbers of items that have the same
	// order, both without values
	Name string `json:"name"`
	A    string `json:"a,omitzero"` // the value before; left out for none
	B    string `json:"b,omitzero"` // the value after; left out for none
}

// Item is an item that differs.
type Item struct {
	Change Change
	A, B   *Record       // before and after; nil where it is not
	Was    *session.Item // nil for an added one
	Is     *session.Item // nil for one that is gone

	// Twin is where the second store has another message that says the same: of one that
	// is gone the copy that stayed, of an added one of an agent what another session of the
	// tree has too. nil without one.
	Twin *Record
	// Differences name what changed: members of the canonical stream ("text", "time"),
	// pointers to members of the stored record ("/cost"), or "record" for something else
	// in it.
	Differences []string
}

// Now is the item after, else before.
func (i *Item) Now() *session.Item { return cmp.Or(i.Is, i.Was) }

// Record is where an item stands, and its record.
type Record struct {
	session.Place
	Key string // "session_items/17"
}

// Counts are numbers of one sort of thing. Only items move.
type Counts struct {
	Added   int `json:"added"`
	Gone    int `json:"gone"`
	Moved   int `json:"-"`
	Changed int `json:"changed"`
	Equal   int `json:"equal"`
}

// CountDiffering counts how many are not equal.
func (c *Counts) CountDiffering() int { return c.Added + c.Gone + c.Moved + c.Changed }

func (c *Counts) countChange(change Change) {
	switch change {
	case Added:
		c.Added++
	case Gone:
		c.Gone++
	case Moved:
		c.Moved++
	case Changed:
		c.Changed++
	default:
		c.Equal++
	}
}

func (c *Counts) addCounts(other Counts) {
	c.Added += other.Added
	c.Gone += other.Gone
	c.Moved += other.Moved
	c.Changed += other.Changed
	c.Equal += other.Equal
}

// Tally counts what was compared. An item that moved and changed is a moved one.
type Tally struct{ Trees, Sessions, Items Counts }

// Add takes in what was counted elsewhere.
func (t *Tally) Add(other Tally) {
	t.Trees.addCounts(other.Trees)
	t.Sessions.addCounts(other.Sessions)
	t.Items.addCounts(other.Items)
}

// lenient reads what a runtime's own reader would read too; the last of doubled names counts.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// differingMembers names the members in which two stored records differ, as JSON pointers in
// alphabetical order. It never tells their values: a record may hold headers and secrets.
// There are none where a record is no JSON object.
func differingMembers(a, b []byte) []string {
	was, is := membersOf(a), membersOf(b)
	if was == nil || is == nil {
		return nil
	}
	var names []string
	for name, value := range was {
		if other, there := is[name]; !there || !bytes.Equal(value, other) {
			names = append(names, memberPointer(name))
		}
	}
	for name := range is {
		if _, there := was[name]; !there {
			names = append(names, memberPointer(name))
		}
	}
	slices.Sort(names)
	return names
}

// membersOf are the members of an object, without white space; nil for anything else.
func membersOf(record []byte) map[string]jsontext.Value {
	var all map[string]jsontext.Value
	if json.Unmarshal(record, &all, lenient) != nil {
		return nil
	}
	for name, value := range all {
		if value.Compact(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true)) == nil {
			all[name] = value
		}
	}
	return all
}

// memberPointer is the JSON pointer to a member (RFC 6901).
func memberPointer(name string) string {
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
