package delegation

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var parentCycle = rules.Rule{
	ID: "SC706", Name: "parent-cycle", Severity: rules.Error, Safety: rules.Lossless, Scope: rules.PerTree, Since: "0.1.0",
	Title: "sessions that are each other's parents or refer to each other",
	Run: func(p *rules.Pass) {
		rules.Faults(session.ParentCycle, parentLoop)(p)
		for _, l := range linked(p).loops {
			p.Report(referenceLoop(p, &l))
		}
	},
}

// parentLoop words a loop of recorded parents. Only a session that names itself
// can be told what to do.
func parentLoop(found *rules.Finding, f *session.Fault) {
	found.Message = "the parents of these sessions form a loop: " + f.Detail + ". A program that follows them never ends, and deleting one session deletes all of them."
	found.Fixes = []rules.Fix{{Title: "decide which session is the root", Safety: rules.Manual}}
	if s := found.Session; s != nil && s.Parent == s.ID {
		found.Message = "the session is its own parent. A program that follows the link never ends."
		found.Fixes = []rules.Fix{{
			Title: "clear the link to the parent", Safety: rules.Lossless,
			Edits: []session.Edit{{Op: session.Set, Ref: s.Ref(), Field: "parent_id"}},
		}}
	}
}

// referenceLoop words items or calls of a session that lead back up.
func referenceLoop(p *rules.Pass, l *loop) rules.Finding {
	f := p.Find(l.from.Session, l.items[0])
	f.Items = rules.Unique(l.items)
	who, what, fix := "this item refers", "loads it", "decide which reference is wrong"
	if l.call != nil {
		who, what, fix = "call "+rules.CallName(l.call)+" leads", "follows it", "decide which call names the wrong session"
		f.Call = l.call.ID
	}
	f.Message = who + " to session " + rules.Short(l.to.ID) + ", which this session belongs to (" + l.text() + ")"
	if l.to == l.from.Session {
		f.Message = who + " to its own session"
	}
	f.Then("A program that " + what + " never ends")
	f.Fixes = []rules.Fix{{Title: fix, Safety: rules.Manual}}
	return f
}
