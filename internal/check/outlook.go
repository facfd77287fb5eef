package check

import (
	"strings"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// Outlook is what becomes of a root session when its agent goes on, the best first.
type Outlook uint8

// The outlooks.
const (
	Resumes  Outlook = iota
	Loses            // it resumes, but the model loses something
	Doubtful         // it resumes with most models, and some may refuse it
	Waits            // the provider refuses a request until a call has its result
	Refused          // the provider refuses the next request
	Unloaded         // its runtime fails to load it
)

func (o Outlook) String() string {
	return [...]string{"resumes", "loses", "doubtful", "waits", "refused", "unloaded"}[o]
}

// OutlookOf is that of a root session, whose findings share one head. A session in which
// nothing was found resumes.
func OutlookOf(root string, found []*Finding) Outlook {
	for _, f := range found {
		if f.Root != nil && f.Root.ID == root {
			return f.Root.Outlook
		}
	}
	return Resumes
}

// look gives the findings of a tree one head with its outlook. This is the one place that
// decides: check and why say what it says.
func look(pass *rules.Pass, tree *session.Tree, found []*Finding) {
	head, asks := headOf(tree), false
	for _, f := range found {
		if f.Root != nil {
			f.Root = head
		}
		switch {
		case f.Unloads:
			head.Outlook = Unloaded
		case f.Severity == rules.Error:
			head.Outlook = max(head.Outlook, Loses)
		}
		asks = asks || f.Severity == rules.Error || len(f.Judged) > 0
		if by := pass.Store.Sanitiser; (f.Refused() || f.Severity == rules.Error) && aboutPairs(f) && eases(by, pass.Subject(tree.Session(f.Session))) {
			f.Eased = by.By
		}
	}
	if !asks {
		return
	}
	for _, a := range Answers(pass, tree.Root(), found) {
		head.Outlook = max(head.Outlook, a.outlook(eases(pass.Store.Sanitiser, pass.Subject(tree.Root()))))
	}
}

// eases reports whether every version of the runtime that reads the store sends other calls
// and results than are stored.
func eases(by *session.Sanitiser, s *rules.Subject) bool {
	if by == nil || !by.Always || s == nil {
		return false
	}
	refused := s.Refused(rules.FindProfile(by.Pairs))
	return len(refused.Calls)+len(refused.Results) > 0
}

// aboutPairs tells findings about calls and results, and those about what parts them.
func aboutPairs(f *Finding) bool {
	return strings.HasPrefix(f.Rule.ID, "SC1") || strings.HasPrefix(f.Rule.ID, "SC7")
}

func (a *Answer) outlook(eased bool) Outlook {
	switch {
	case a.Closed || a.Verdict == Accept:
		return Resumes
	case a.Verdict == Risk:
		return Doubtful
	case a.untold && !eased:
		return Refused
	}
	worst := Loses
	for _, f := range a.refusing {
		switch {
		case f.Eased != "":
		case f.Severity == rules.Error:
			return Refused
		default:
			worst = Waits
		}
	}
	return worst
}
