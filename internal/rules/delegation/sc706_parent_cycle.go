package delegation

import (
	"slices"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var parentCycle = rules.Rule{
	ID: "SC706", Name: "parent-cycle", Severity: rules.Error, Safety: rules.Lossless, Scope: rules.PerTree, Since: "0.1.0",
	Title: "sessions that are each other's parents or refer to each other",
	Run: func(p *rules.Pass) {
		rules.ReportFaults(session.ParentCycle, wordParentLoop)(p)
		for _, l := range treeLinks(p).loops {
			p.Report(referenceLoop(p, &l))
		}
	},
}

// wordParentLoop words a loop of recorded parents. One link of it is wrong: that of the only
// session of the loop of which no call of its parent says that it started it.
func wordParentLoop(p *rules.Pass, found *rules.Finding, f *session.Fault) {
	s := found.Session
	found.Message = "the parents of these sessions form a loop: " + f.Detail + ". A program that follows them never ends, and deleting one session deletes all of them."
	if s.Parent == s.ID {
		found.Message = "the session is its own parent. A program that follows the link never ends."
	}
	found.SetFix(rules.Manual, "decide which session is the root")
	var round, wrong, callers []*session.Session
	for m := s; m != nil && !slices.Contains(round, m); m = p.Tree.Session(m.Parent) {
		round = append(round, m)
		if by := namingSessions(p, m); len(by) != 1 || by[0].ID != m.Parent {
			wrong, callers = append(wrong, m), by
		}
	}
	if len(wrong) != 1 {
		return
	}
	set := session.Edit{Op: session.Set, Ref: wrong[0].Ref(), Field: "parent_id"}
	switch {
	case len(callers) > 1:
		found.AddSentence("Calls of " + rules.CountedNoun(len(callers), "session") + " name " + rules.ShortID(wrong[0].ID))
		return
	case len(callers) == 1:
		found.AddSentence("A call of session " + rules.ShortID(callers[0].ID) + " names " + rules.ShortID(wrong[0].ID))
		set.Value = &callers[0].ID
		found.SetFix(rules.Lossless, "make session "+rules.ShortID(callers[0].ID)+" its parent", set)
	case wrong[0] == s:
		found.SetFix(rules.Lossless, "clear the link to the parent", set)
	default:
		found.SetFix(rules.Lossless, "clear the parent of session "+rules.ShortID(wrong[0].ID)+", which no call names", set)
	}
}

// namingSessions are the other sessions with a call by which the store names a session.
func namingSessions(p *rules.Pass, s *session.Session) []*session.Session {
	return slices.DeleteFunc(slices.Clone(p.Tree.Sessions), func(o *session.Session) bool { return o == s || !namedIn(o, s.ID) })
}

// referenceLoop words items or calls of a session that lead back up.
func referenceLoop(p *rules.Pass, l *loop) rules.Finding {
	f := p.FindItems(l.from.Session, rules.SortUnique(l.items))
	who, what, fix := "this item refers", "loads it", "decide which reference is wrong"
	if l.call != nil {
		who, what, fix = "call "+rules.CallName(l.call)+" leads", "follows it", "decide which call names the wrong session"
		f.Call = l.call.ID
	}
	f.Message = who + " to session " + rules.ShortID(l.to.ID) + ", which this session belongs to (" + l.pathText() + ")"
	if l.to == l.from.Session {
		f.Message = who + " to its own session"
	}
	f.AddSentence("A program that " + what + " never ends")
	f.SetFix(rules.Manual, fix)
	return f
}
