package delegation

import (
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var subsessionOrphan = rules.Rule{
	ID: "SC705", Name: "subsession-orphan", Severity: rules.Warning, Safety: rules.Lossless, Scope: rules.PerTree | rules.PerComparison, Retells: lacksReference, Since: "0.1.0",
	Title: "a sub-session that its parent does not refer to",
	Run: func(p *rules.Pass) {
		refs := ListReferrers(p)
		for _, s := range p.Subjects {
			d := s.Caller
			if s.Parent == "" || len(refs[s.ID]) > 0 || inLoop(p, s.Session) || (isNamed(s) || namedByStray(p, s)) && p.Tree.Session(s.Parent) != nil {
				continue
			}
			if (d == nil || !isDecidable(d) || d.Reference >= 0) && !isRenamed(p, s.Session) {
				reportOrphanSession(p, s)
			} // else the leak's own fix adds the reference, or that of SC704
		}
	},
}

func reportOrphanSession(p *rules.Pass, s *rules.Subject) {
	f := p.FindSession(s.Session)
	d := s.Caller
	switch {
	case p.Tree.Session(s.Parent) == nil:
		f.Message = "the parent of this session, " + rules.ShortID(s.Parent) + ", does not exist. Lists of sessions do not show it."
		if s.Delegated { // its runtime leaves it behind when a person deletes the parent
			f.Severity = rules.Info
		}
		if isNamed(s) {
			f.AddSentence("Its id names a call of session " + rules.ShortID(d.Session.ID))
			f.SetFix(rules.Lossless, "make that session its parent", session.Edit{Op: session.Set, Ref: s.Ref(), Field: "parent_id", Value: &d.Session.ID})
		}
	case d == nil && p.Store.WholeTurns && s.Delegated:
		f.Message = "parent session " + rules.ShortID(s.Parent) + " does not refer to this sub-session: it was stopped before it stored the turn in which it started it"
		up := p.Tree.Session(s.Parent)
		if awaitsModel(up) || !slices.ContainsFunc(up.Items, func(it session.Item) bool { return it.Time.After(s.Created) }) {
			f.Severity = rules.Info // nothing goes on as if the turn had ended
		} else {
			f.AddSentence("It goes on without that turn, and does not know what the sub-session did")
		}
	case d == nil:
		f.Message = "parent session " + rules.ShortID(s.Parent) + " does not refer to this sub-session. No single call there fits it, and lists of sessions do not show it."
		f.SetFix(rules.Manual, "decide which call started it")
	default:
		f.Message = "parent session " + rules.ShortID(s.Parent) + " does not refer to this sub-session"
		fits := "It fits call " + rules.CallName(d.Call()) + " at item " + strconv.Itoa(d.Item)
		f.Agent, f.Call = replay.FirstAgent(s.Session), d.Call().ID
		f.Related = []session.Place{d.Session.ItemPlace(d.Item)}
		f.Fixes = []rules.Fix{attachFix(p.SubjectOf(d.Session), s, d)}
		if p.Store.Writer == session.WriterLive && (d.Result < 0 || !d.Call().Delegation.Blocking) {
			f.Severity, f.Fixes = rules.Info, nil
			fits += ", which may still be running"
		}
		f.AddSentence(fits)
	}
	p.Report(f)
}

// awaitsModel reports whether the last message that a session sends is the user's, or a result:
// the model is to speak next.
func awaitsModel(s *session.Session) bool {
	for _, it := range slices.Backward(s.Items) {
		if it.OnWire() {
			return it.Role != session.Assistant
		}
	}
	return false
}

// isNamed reports whether the store keeps the id of the sub-session with its call.
func isNamed(s *rules.Subject) bool {
	return s.Caller != nil && s.Caller.Call().Delegation.Child == s.ID
}

// namedByStray reports whether a call names the sub-session that stands in its parent and is of
// another session: SC702 brings it home.
func namedByStray(p *rules.Pass, s *rules.Subject) bool {
	up := p.Tree.Session(s.Parent)
	return up != nil && slices.ContainsFunc(up.Items, func(it session.Item) bool { return it.Home() != "" && namesChild(&it, s.ID) })
}

// attachFix is the fix that adds the missing reference: before the result of a call
// that waited for it, behind that of one that did not.
func attachFix(caller, s *rules.Subject, d *replay.Delegation) rules.Fix {
	place := d.Result
	switch {
	case d.Result < 0:
		place = caller.AnswerPlace(pairing.Occurrence{Item: d.Item, Nth: d.Nth})
	case d.Call().Delegation.Blocking:
		place = lastStaying(caller, d.Result)
	}
	return rules.NewFix(rules.Lossless, "add a reference to the sub-session after its call", session.Edit{
		Op: session.Insert, To: caller.ID, After: caller.ItemRef(place),
		New: &session.NewItem{Kind: session.SubSession, Child: s.ID, Rule: "SC705"},
	})
}

// lacksReference: the lost item refers to the sub-session of the finding.
func lacksReference(f *rules.Finding, d *replay.Difference) bool {
	return d.Kind == replay.Lost && rules.RecordedItem(d).Child() == f.Session.ID
}
