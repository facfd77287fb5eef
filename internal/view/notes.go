package view

import (
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// noteFindings puts a note at every item that a finding names, and at every
// leaked one.
func (b *builder) noteFindings() {
	leaks := map[session.Place]*replay.Delegation{}
	for _, rs := range b.trace.Sessions {
		for _, d := range rs.Delegations {
			for _, l := range d.Leaked {
				at := rs.Session.At(l.Item)
				leaks[at] = d
				b.notes[at] = []Note{{Text: leakText(l)}}
			}
		}
	}
	for _, f := range b.in.Findings {
		if f.Session == "" {
			continue
		}
		if len(f.Items) == 0 {
			b.note(session.Place{Session: f.Session, Item: -1}, f)
		}
		for _, i := range f.Items {
			at := session.Place{Session: f.Session, Item: i}
			if d := leaks[at]; d != nil && isLeak(f, d) {
				b.notes[at][0].Rule, b.notes[at][0].Severity = f.Rule.ID, f.Severity
				continue
			}
			b.note(at, f)
		}
	}
}

// note adds a finding's note; a rule that names a place for several calls is
// noted once.
func (b *builder) note(at session.Place, f *check.Finding) {
	n := Note{Rule: f.Rule.ID, Severity: f.Severity, Text: f.Rule.Name}
	if !slices.Contains(b.notes[at], n) {
		b.notes[at] = append(b.notes[at], n)
	}
}

// isLeak reports whether the finding is about the whole leak of a delegation.
func isLeak(f *check.Finding, d *replay.Delegation) bool {
	return f.Call == d.Call().ID && f.Item == d.Leaked[0].Item && len(f.Items) == len(d.Leaked)
}

// leakText says where a leaked item belongs.
func leakText(l replay.Leaked) string {
	switch {
	case l.Twin != nil:
		return fmt.Sprintf("leaked from sub-session %s (item %d), depth %d", rules.Short(l.Twin.Session.ID), l.Twin.Item, l.Frame.Depth())
	case l.Undecidable:
		return fmt.Sprintf("leaked or the caller's own: it has the caller's name and no copy, depth %d", l.Frame.Depth())
	}
	return fmt.Sprintf("leaked, only copy, depth %d", l.Frame.Depth())
}

// Mark is the sign at the left of a row: "!" where something is wrong, "i"
// where something is worth knowing, else "".
func (r *Row) Mark() string {
	if r.Marked || r.Depth > 0 {
		return "!"
	}
	return markOf(r.Notes)
}

// Mark is the sign of what findings say about the session itself.
func (s *Session) Mark() string { return markOf(s.Notes) }

func markOf(notes []Note) string {
	mark := ""
	for _, n := range notes {
		switch {
		case n.Rule == "":
		case n.Severity > rules.Info:
			return "!"
		default:
			mark = "i"
		}
	}
	return mark
}

// Rules are the rules that name the row, each once, in the order of the report.
func (r *Row) Rules() []string { return rulesOf(r.Notes) }

func rulesOf(notes []Note) []string {
	var ids []string
	seen := map[string]bool{}
	for _, n := range notes {
		if n.Rule != "" && !seen[n.Rule] {
			seen[n.Rule] = true
			ids = append(ids, n.Rule)
		}
	}
	return ids
}
