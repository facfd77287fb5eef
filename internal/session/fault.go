package session

import (
	"cmp"
	"fmt"
	"time"
)

// FaultKind names a defect that only the reader of the stored bytes can see.
// Rules turn faults into findings; an adapter reports them and never judges.
type FaultKind uint8

// The kinds of faults. The comment names what Field, Detail and Default hold.
const (
	StoreDamaged   FaultKind = iota + 1 // Detail: what is damaged and what that means
	SchemaUnknown                       // Detail: what is newer or missing
	ForeignKey                          // Detail: table, row and the table it points to
	SetAsideBackup                      // Detail: path and number of sessions that the store lacks
	LegacyFuller                        // Field: the old column; Detail: both counts
	RequiredNull                        // Field: the column; Default: the documented value
	BadMetadata                         // Field: the column; Detail: the parse error; Default
	BadTime                             // Field: the column or key; Detail: the form found
	UnknownKind                         // Field: the kind found
	Undecodable                         // Field: the column; Detail: the decoder's error
	BadSummary                          // Field: the column; Detail: what is wrong; Default
	Housekeeping                        // Detail: what could be tidied and how
	ParentCycle                         // Detail: the loop of session ids
	BadUnicode                          // Field: the column or key; Detail: what is wrong with the text
	UnknownPart                         // Field: the role or type found; Detail: what knows it not
	CopiesDiffer                        // Field: the column; Detail: both values' places, and which one the reader takes
	MixedDialects                       // Detail: which dialects, and how many records of each
	OrphanRecord                        // Detail: what has no session, and since when such rows can be
	SharedID                            // Detail: who else has a session with this id
	TornLine                            // Detail: which line of a file was cut off
	BrokenChain                         // Field: the key; Detail: which line names one that is missing
	SharedKey                           // Field: the key; Detail: which records have one, and which of them is read
	Misplaced                           // Detail: where the runtime looks for the session, and where it is; Harmless where it finds it there
	NulCharacter                        // Field: the column or key of what is sent and has U+0000
	HistoryDeleted                      // Field: the counter; Detail: what it counts, and what is left
	Unnamed                             // Detail: what names none of the records, and what becomes of them
	SharedOrdinal                       // Field: the key; Detail: which records have one, or go back; Default: from which one on to number them anew
	ForeignOwner                        // Field: the column; Detail: whose the record is, "" for nobody's; Default: whose its session is
	OutOfSchema                         // Field: which value; Detail: what the runtime says to it
	HiddenRecord                        // Field: the mark; Detail: which record the model does not see because of it
	KeptBeside                          // Detail: which record a backup of the runtime holds, and the store lacks; Default: the text of a result
)

// Fault is one such defect at one place.
type Fault struct {
	Kind FaultKind
	// Ref is the record. A fault of the store names the session that its records are
	// said to belong to, where one is known: it is told by that, and not by the first
	// of them.
	Ref    Ref
	Item   int    // index into Session.Items, -1 when it is the session's or store's own
	Field  string // column or key
	Count  int    // how many records it is about, 0 where it is one
	Detail string // for people; never message text
	Remedy string // what puts it right, where that is something else than Store.Recovery
	// Whole: an Undecodable record is not damaged: it is a whole document in a form that
	// the adapter does not know. A newer program or another one may have written it.
	Whole    bool
	Unloads  bool    // the runtime fails to load the session because of it
	Hides    bool    // the runtime sends none of the items before, which are Unshown
	Deep     bool    // only the tests of the whole file find it
	Passed   bool    // the runtime passes over the record, and loads what else there is
	Harmless bool    // a SchemaUnknown that keeps nothing known from being read and repaired, or a TornLine that is being written
	Default  *string // the value that a repair may set, nil when there is none
	Loses    bool    // Default is in place of content or state, which the receipt keeps
	Guess    bool    // Default is likely, and nothing tells that it is so
	Failed   bool    // Default is the text of a result that is an error
	Position int64   // that of the item with Default, where it is another one; else 0
	// Calls are those that a record which was not read makes or answers, as far as what is
	// left of it tells.
	Calls []string
	Time  time.Time // that of the item with Default, where it is another one; else zero
	// Lost: what it is about is stored, and not among the sessions and items that the
	// store yields. Damage and orphans always are.
	Lost bool
}

// Loss says what was not read, and why.
func (f *Fault) Loss() string {
	if f.Kind == Undecodable && (f.Item >= 0 || f.Ref.Session != "" && f.Ref.Table == TableSessions) {
		return f.Ref.Row() + " does not decode: " + f.Detail
	}
	return f.Detail
}

// IsUnread reports whether something that is stored was not read: it is lost, or there is
// an item for it that says nothing. items are those of the session that has the fault.
func (f *Fault) IsUnread(items []Item) bool {
	switch f.Kind {
	case StoreDamaged:
		return true
	case OrphanRecord: // one that is about a column only was read
		return f.Field == ""
	case Undecodable:
		return f.Lost || f.Item >= 0 && f.Item < len(items) && items[f.Item].Kind == Other
	}
	return f.Lost
}

// Damage is what faults say of a store that was not read, so that no result covers
// all of it.
type Damage struct {
	First   string // "" where everything was read
	Remedy  string // of the first, "" where it is Store.Recovery
	Count   int
	records int // that they are about
	pages   bool
}

// AddFaults takes in the faults that tell of damage.
func (d *Damage) AddFaults(faults []Fault) {
	for i := range faults {
		if faults[i].Kind == StoreDamaged {
			d.addFault(&faults[i])
		}
	}
}

// AddUnread takes in the faults that tell of what a list or an export lacks: damage, and
// what is stored and was not read. items are those of the session that has the faults.
func (d *Damage) AddUnread(faults []Fault, items []Item) {
	for i := range faults {
		if faults[i].IsUnread(items) {
			d.addFault(&faults[i])
		}
	}
}

func (d *Damage) addFault(f *Fault) {
	if d.Count++; d.Count == 1 {
		d.First, d.Remedy = f.Loss(), f.Remedy
	}
	d.records += max(f.Count, 1)
	d.pages = d.pages || f.Kind == StoreDamaged
}

// String is the first damage and how many there are besides, "" for none.
func (d *Damage) String() string {
	switch {
	case d.Count < 2:
		return d.First
	case d.pages: // of which nobody can say how much they held
		return fmt.Sprintf("%s, and %d more", d.First, d.Count-1)
	}
	return fmt.Sprintf("%s, and %d more (%d records in all)", d.First, d.Count-1, d.records)
}

// IncompleteReason is the reason why a tree of a store was not read whole, "" if it was. What
// is known to be of another session is none.
func IncompleteReason(facts *Store, tree *Tree) string {
	var d Damage
	for i := range facts.Faults {
		f := &facts.Faults[i]
		if f.Kind == StoreDamaged || f.IsUnread(nil) && (f.Ref.Session == "" || tree.Session(f.Ref.Session) != nil) {
			d.addFault(f)
		}
	}
	for _, s := range tree.Sessions {
		d.AddUnread(s.Faults, s.Items)
	}
	return cmp.Or(facts.Incomplete, d.String())
}

// KeptRef is the record in a backup of the runtime that a KeptBeside tells of.
func (f *Fault) KeptRef() Ref {
	return Ref{Session: f.Ref.Session, Table: TableBackups, Key: f.Field}
}

// KeptTexts are the texts of the results that backups of the runtime hold, by the rows of their records.
func (s *Session) KeptTexts() map[string]string {
	texts := map[string]string{}
	for i := range s.Faults {
		if f := &s.Faults[i]; f.Kind == KeptBeside && f.Default != nil {
			texts[f.KeptRef().Row()] = *f.Default
		}
	}
	return texts
}
