package store

import (
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

// Later is what a store has that its adapter does not know, because a newer release of its
// runtime or another program made it. Of every kind of store the same is said: what was
// read, what was not, and what is still safe.
type Later struct {
	Found  string   // in what it is not as known: "the tables are not those of a known release"
	Read   string   // what was read nevertheless: "Sessions and events"
	Unread []string // what was not: "column mood of events"
	Doubts []string // why a repair could do harm; none where all that it writes is known
}

// Fault says so. It is harmless where the store is repaired nevertheless.
func (l *Later) Fault(at session.Ref) session.Fault {
	text := strings.ToUpper(l.Found[:1]) + l.Found[1:] + ". " + l.Read + " were read"
	if len(l.Unread) > 0 {
		text += "; not read: " + strings.Join(l.Unread, ", ")
	}
	if len(l.Doubts) == 0 {
		text += ". A repair is safe: it changes only what sessctl knows"
	} else {
		text += ". You can check, view and export it. It is not repaired: " + strings.Join(l.Doubts, "; ")
	}
	return session.Fault{Kind: session.SchemaUnknown, Item: -1, Ref: at, Detail: text, Harmless: len(l.Doubts) == 0}
}

// Doubt adds why a repair could do harm, and in what the store is not as known.
func (l *Later) Doubt(found, why string) { l.Found, l.Doubts = found, append(l.Doubts, why) }

// ReadOnly reads the reason why the store is not repaired in place, "" where it is.
func (l *Later) ReadOnly() string {
	if len(l.Doubts) == 0 {
		return ""
	}
	return l.Found + ", so a repair could do harm: " + strings.Join(l.Doubts, "; ")
}
