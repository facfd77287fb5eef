package session

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
	Harmless bool    // a SchemaUnknown that keeps nothing known from being read and repaired
	Default  *string // the value that a repair may set, nil when there is none
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

// Unread reports whether something that is stored was not read: it is lost, or there is
// an item for it that says nothing. items are those of the session that has the fault.
func (f *Fault) Unread(items []Item) bool {
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
