package delegation

import (
	"slices"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var danglingReference = rules.Rule{
	ID: "SC704", Name: "dangling-subsession-ref", Severity: rules.Warning, Safety: rules.Lossless, Allow: "prune", Scope: rules.PerTree, Since: "0.1.0",
	Title: "a reference to a sub-session that does not exist",
	Run: rules.VisitSubjects(func(p *rules.Pass, s *rules.Subject) {
		reportReferences(p, s)
		reportNamed(p, s)
	}),
}

// reportReferences tells of the items that refer to a sub-session that is gone.
func reportReferences(p *rules.Pass, s *rules.Subject) {
	for i := range s.Items {
		if !s.Items[i].Flags.Has(session.Dangling) {
			continue
		}
		f := p.FindItem(s.Session, i)
		f.Message = "this item refers to a sub-session that was deleted"
		if id := s.Items[i].Child(); id != "" {
			f.Message = "this item refers to sub-session " + rules.ShortID(id) + ", which does not exist"
		}
		f.AddSentence("It is skipped when the session is loaded")
		f.Fixes = []rules.Fix{{
			Title:  "remove the reference; the receipt keeps it",
			Safety: rules.Kept, Allow: []string{"prune"},
			Edits: []session.Edit{{Op: session.Quarantine, Ref: f.Ref}},
		}}
		p.Report(f)
	}
}

// reportNamed tells of the sub-sessions that calls name and that are gone, each once
// with all of its calls. An id that was only given out for a call is no evidence that
// there was a session.
func reportNamed(p *rules.Pass, s *rules.Subject) {
	gone := slices.DeleteFunc(slices.Clone(s.Replay.Delegations), func(d *replay.Delegation) bool {
		_, what := describeGone(p, d.Call().Delegation)
		return what == "" || refersTo(s, d.Call().Delegation.Child)
	})
	for _, calls := range lists.GroupBy(gone, func(d *replay.Delegation) string { return d.Call().Delegation.Child }) {
		call, id := calls[0].Call(), calls[0].Call().Delegation.Child
		severity, what := describeGone(p, call.Delegation)
		f := p.FindItems(s.Session, slices.Compact(lists.MapEach(calls, func(d *replay.Delegation) int { return d.Item })))
		f.Nth, f.Call, f.Severity = calls[0].Nth, call.ID, severity
		f.Message = "call " + rules.CallName(call) + " was answered by session " + rules.ShortID(id) + ", " + what
		if child, naming := unnamedChild(p, s, calls[0]); child != nil {
			f.AddSentence("Sub-session " + rules.ShortID(child.ID) + " has the task of the call, and nothing names it")
			f.Fixes = []rules.Fix{{
				Title: "name sub-session " + rules.ShortID(child.ID) + " in the result", Safety: rules.Lossless,
				Edits: []session.Edit{{Op: session.Set, Ref: naming, Field: session.FieldChild, Value: &child.ID}},
			}}
		}
		p.Report(f)
	}
}

// unnamedChild is the one sub-session that begins with the task of a call and that nothing names,
// and the result of the call, which names another one that is gone; nil for none or several of such
// sub-sessions or calls.
func unnamedChild(p *rules.Pass, s *rules.Subject, d *replay.Delegation) (found *session.Session, naming session.Ref) {
	asked, n := d.Call().Delegation, -1
	if isGone := treeLinks(p).byID[asked.Child] == nil; isGone && asked.Task != 0 && d.Result >= 0 {
		n = slices.IndexFunc(s.Items[d.Result].Results, func(r session.Result) bool { return r.CallID == d.Call().ID && r.Child != "" && r.Child == asked.Child })
	}
	if n < 0 || slices.ContainsFunc(s.Replay.Delegations, func(o *replay.Delegation) bool {
		other := o.Call().Delegation
		return o != d && other.Task == asked.Task && treeLinks(p).byID[other.Child] == nil
	}) {
		return nil, naming
	}
	for _, child := range s.Children {
		if child.Task != asked.Task || child.Parent != s.ID || isNamedIn(p.Tree, child.ID) {
			continue
		}
		if found != nil {
			return nil, naming
		}
		found = child
	}
	return found, s.ResultPart(pairing.Occurrence{Item: d.Result, Nth: n})
}

// isRenamed reports whether the fix of a call whose sub-session is gone names a session.
func isRenamed(p *rules.Pass, s *session.Session) bool {
	up := p.SubjectOf(p.Tree.Session(s.Parent))
	return up != nil && slices.ContainsFunc(up.Replay.Delegations, func(d *replay.Delegation) bool {
		child, _ := unnamedChild(p, up, d)
		return child == s
	})
}

// isNamedIn reports whether a call or an item of the tree names a session.
func isNamedIn(tree *session.Tree, id string) bool {
	return slices.ContainsFunc(tree.Sessions, func(s *session.Session) bool {
		return slices.ContainsFunc(s.Items, func(it session.Item) bool {
			return it.Kind == session.SubSession && it.Child() == id || slices.ContainsFunc(it.Calls, func(c session.Call) bool { return c.Delegation != nil && c.Delegation.Child == id })
		})
	})
}

// describeGone says what became of the session that a call names, and how much that matters;
// "" when it is there, or when none is certain.
func describeGone(p *rules.Pass, asked *session.Delegation) (severity rules.Severity, what string) {
	if asked.Child == "" || asked.Likely {
		return rules.Info, ""
	}
	child := treeLinks(p).byID[asked.Child]
	switch {
	case child != nil && child.Deleted:
		return rules.Info, "which was deleted. Its records are still stored."
	case child != nil:
		return rules.Info, ""
	case p.Store.Agents != nil && asked.Agent != "" && !p.Store.Agents[asked.Agent]:
		return rules.Info, "which is stored elsewhere. Agent " + rules.QuoteText(asked.Agent) + " is not in this store."
	}
	return rules.Warning, "which does not exist in this store"
}

// refersTo reports whether an item refers to a session that is gone.
func refersTo(s *rules.Subject, child string) bool {
	return slices.ContainsFunc(s.Items, func(it session.Item) bool { return it.Flags.Has(session.Dangling) && it.Child() == child })
}
