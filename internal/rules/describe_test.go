package rules_test

import (
	"fmt"
	"strings"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// describe prints findings in the form in which tests expect them:
//
//	SC701 error P.2,3 see C.1
//	kept: remove P.2 twin C.2; remove P.3 twin C.3
//
// The items of the finding, the places related to it, and one line a fix with
// its safety and edits. Sessions that a fix creates are called new1, new2.
func describe(trees []*session.Tree, found []*rules.Finding) string {
	p := printer{rows: map[string]string{}, created: map[string]string{}}
	for _, tree := range trees {
		for _, s := range tree.Sessions {
			p.rows[s.Ref().Row()] = s.ID
			for i := range s.Items {
				p.rows[s.ItemRef(i).Row()] = fmt.Sprintf("%s.%d", s.ID, i)
			}
		}
	}
	var b strings.Builder
	for _, f := range found {
		b.WriteString(f.Rule.ID + " " + f.Severity.String() + p.place(f))
		for _, related := range f.Related {
			if f.Session == nil || related.Session != f.Session.ID || !contains(f.Items, related.Item) {
				fmt.Fprintf(&b, " see %s.%d", related.Session, related.Item)
			}
		}
		b.WriteByte('\n')
		for _, fix := range f.Fixes {
			b.WriteString(strings.TrimSuffix(fix.Safety.String()+" with "+strings.Join(fix.Allow, ","), " with ") + ":")
			for n, edit := range fix.Edits {
				b.WriteString([]string{" ", "; "}[min(n, 1)] + p.edit(edit))
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

type printer struct {
	rows    map[string]string // row → "P.2"
	created map[string]string // id → "new1"
}

func contains(list []int, n int) bool {
	for _, m := range list {
		if m == n {
			return true
		}
	}
	return false
}

func (p *printer) place(f *rules.Finding) string {
	if f.Session == nil {
		return ""
	}
	text := " " + f.Session.ID
	for n, i := range f.Items {
		text += []string{".", ","}[min(n, 1)] + fmt.Sprint(i)
	}
	return text
}

// ref is a record as "P.2", "P" or "P.2/results/1".
func (p *printer) ref(r session.Ref) string {
	row := r
	row.Pointer = ""
	name, known := p.rows[row.Row()]
	if !known {
		name = row.Row()
	}
	if of, _, _ := strings.Cut(name, "."); known && of != r.Session {
		name += " (said to be in " + r.Session + ")"
	}
	return name + r.Pointer
}

func (p *printer) session(id string) string {
	if name, ok := p.created[id]; ok {
		return name
	}
	return id
}

func (p *printer) after(e session.Edit) string {
	if e.After == (session.Ref{}) {
		return " at start"
	}
	return " after " + p.ref(e.After)
}

func (p *printer) edit(e session.Edit) string {
	switch e.Op {
	case session.Move:
		return "move " + p.ref(e.Ref) + " to " + p.session(e.To) + p.after(e)
	case session.RemoveTwin:
		return "remove " + p.ref(e.Ref) + " twin " + p.ref(e.Twin)
	case session.Quarantine:
		return "quarantine " + p.ref(e.Ref)
	case session.Create:
		p.created[e.NewID] = fmt.Sprint("new", len(p.created)+1)
		if e.Like != "" {
			return "split " + p.session(e.NewID) + " from " + e.Like + " for " + e.Call.ID + " of " + p.ref(e.Call.Ref)
		}
		return "create " + p.session(e.NewID) + " below " + p.session(e.To) + " for " + e.Call.ID + " of " + p.ref(e.Call.Ref)
	case session.Insert:
		return "insert " + p.added(e) + " in " + p.session(e.To) + p.after(e)
	case session.Set:
		if e.Value == nil {
			return "clear " + p.ref(e.Ref) + " " + e.Field
		}
		return fmt.Sprintf("set %s %s=%s", p.ref(e.Ref), e.Field, p.session(*e.Value))
	case session.MoveRun:
		return "run " + e.Ref.Key + " of " + e.Ref.Session + " to " + p.session(e.To)
	case session.Wrap, session.Scrub, session.Omit:
		return string(e.Op) + " " + p.ref(e.Ref)
	}
	return "unknown edit " + string(e.Op)
}

// added names the item that an edit inserts.
func (p *printer) added(e session.Edit) string {
	switch n := e.New; {
	case n.Prologue:
		return "prologue for " + e.Call.ID + " of " + p.ref(e.Call.Ref)
	case n.Kind == session.SubSession:
		return "sub " + p.session(n.Child)
	case n.Restored:
		return "result " + n.CallID + " from " + p.ref(n.TextFrom)
	case n.IsError && strings.HasPrefix(n.Text, session.SyntheticPrefix):
		return "placeholder " + n.CallID + " by " + n.Agent
	default:
		return fmt.Sprintf("%+v", *n)
	}
}
