package delegation

import (
	"slices"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// reportStrays reports the messages of which the store tells that another session's run
// stored them, those that this session has, too, or the others: a finding for each of these
// sessions that is there.
func reportStrays(p *rules.Pass, copied bool) {
	homeOf := homesIn(p.Tree)
	for _, s := range p.Subjects {
		reportStraysIn(p, s, copied, homeOf)
	}
}

// The copies of what the session's own caller had said are SC708.
func reportStraysIn(p *rules.Pass, s *rules.Subject, copied bool, homeOf func(*session.Session, *session.Item) string) {
	away := map[string][]int{}
	for i := range s.Items {
		if s.Items[i].Copied != copied {
			continue
		}
		if home := homeOf(s.Session, &s.Items[i]); home == session.HomeUnknown || home != s.ID && p.Tree.Session(home) != nil && (!copied || !slices.Contains(p.Tree.Session(home).Children, s.Session)) {
			away[home] = append(away[home], i)
		}
	}
	if items := away[session.HomeUnknown]; len(items) > 0 {
		f := p.FindItems(s.Session, items)
		f.Message = rules.CountedNoun(len(items), "message") + " of the run of a sub-session" + rules.VerbForm(len(items), " is", " are") + " stored here, and nothing tells which sub-session"
		f.SetFix(rules.Manual, "decide whose messages these are")
		p.Report(f)
	}
	for _, home := range p.Tree.Sessions {
		items := away[home.ID]
		p.ReportItems(s.Session, items, func(f *rules.Finding) {
			count, child := rules.CountedNoun(len(items), "message"), "sub-session "+rules.ShortID(home.ID)
			by := "the run of " + child
			if home.Parent == "" && !home.Delegated { // its turns say so themselves, and hide nothing
				f.Severity, child = rules.Warning, "session "+rules.ShortID(home.ID)
				by = child
			}
			f.Message = count + " of " + by + rules.VerbForm(len(items), " is", " are") + " stored here"
			if copied {
				f.Message += " as well as there"
				f.SetFix(rules.Kept, "remove the copies here, which the receipt keeps; "+child+" has them", rules.QuarantineItems(s.Session, items)...)
			} else {
				f.Message += ", and missing there"
				f.SetFix(rules.Lossless, "move "+count+" into "+child, bringHome(p, s.Session, home, items)...)
			}
			f.AddSentence(rules.VerbForm(len(items), "It is sent as if this session's agent had said it", "They are sent as if this session's agent had said them"))
		})
	}
}

// homesIn tells of an item of a session whose run stored it: that of the session with what
// else belongs to that run, or what its store tells, unless that session has only what other
// runs stored; of a copy it is where the other one is. It looks through the tree once, when an
// item is away from home.
func homesIn(tree *session.Tree) func(s *session.Session, it *session.Item) string {
	var runs map[string][]*session.Session // by run, the sessions that have something of it
	asked := map[string]string{}           // by run, the home of its question
	ran := map[string]bool{}               // sessions that have something of any run
	return func(s *session.Session, it *session.Item) string {
		if it.Home() == "" || it.Invocation() == "" || it.Copied {
			return it.Home()
		}
		if runs == nil {
			runs = map[string][]*session.Session{}
			for _, o := range tree.Sessions {
				for i := range o.Items {
					run := o.Items[i].Invocation()
					if o.Items[i].Role == session.User && o.Items[i].Kind == session.Message {
						asked[run] = o.Items[i].Home()
					}
					if home := o.Items[i].Home(); run != "" && (home == "" || home == o.ID) && !slices.Contains(runs[run], o) {
						runs[run], ran[o.ID] = append(runs[run], o), true
					}
				}
			}
		}
		switch found := runs[it.Invocation()]; {
		case len(found) == 1 && (found[0] == s || isBelow(tree, found[0], s) || found[0].ID == it.Home()):
			return found[0].ID
		case len(found) > 0 || ran[it.Home()] && asked[it.Invocation()] != it.Home():
			return session.HomeUnknown
		}
		return it.Home()
	}
}

// isBelow reports whether a session is a sub-session of another one, or one of those.
func isBelow(tree *session.Tree, s, top *session.Session) bool {
	for range tree.Sessions { // parents may be a ring
		if s = tree.Session(s.Parent); s == nil || s == top {
			break
		}
	}
	return s == top
}

// bringHome are the edits that move items of a session into another one, by their positions,
// or by their times where a chain orders them.
func bringHome(p *rules.Pass, s, home *session.Session, items []int) (edits []session.Edit) {
	before := func(other, it *session.Item) bool {
		if p.Store.ByChain {
			return !other.Time.After(it.Time)
		}
		return other.Position < it.Position || it.Role != session.User && other.Position == it.Position // of one tick, a question comes before its answer
	}
	if p.Store.ByChain {
		slices.SortStableFunc(items, func(a, b int) int { return s.Items[a].Time.Compare(s.Items[b].Time) })
	}
	next, after := 0, session.Ref{}
	for _, i := range items {
		for ; next < len(home.Items) && before(&home.Items[next], &s.Items[i]); next++ {
			if at := home.Items[next].Home(); at == "" || at == home.ID { // else it leaves as well
				after = home.ItemRef(next)
			}
		}
		edits = append(edits, session.Edit{Op: session.Move, Ref: s.ItemRef(i), To: home.ID, After: after})
		after = s.ItemRef(i)
	}
	return edits
}
