package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/branch"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

// shown are the items that a viewer is shown, by index: its own, and those that
// the store's reader lets it see. Without a branch that is everything, also what
// runs below an agent between its call and the result.
func (p *Pass) shown(s *Subject, who Viewer, of []int, own int) []int {
	viewer := branch.Viewer{Label: who.branch, Scope: who.Scope, Session: s.ID}
	model := p.Reader()
	var at []int
	for i := range s.Items {
		it := &s.Items[i]
		if of[i] != own {
			if p.Store.ForeignText && it.Kind == session.Message && !it.OnWire() && !it.Flags.Has(session.Compacted) {
				continue // what a summary stands for says where the tail starts
			}
			if of[i] < 0 && it.Answers() && own > 0 {
				continue // of nobody's call: the first viewer tells of it
			}
			if of[i] >= 0 && p.Store.ForeignText && p.Store.GathersResults && it.Answers() && it.Agent == "" {
				continue // what the user answered to another's call is no text, and goes with that call
			}
			if seen, _ := model.Visible(viewer, EventOf(s.Session, i)); !seen && it.Kind != session.Summary {
				continue
			}
		}
		at = append(at, i)
	}
	return at
}

// Reader is the model by which the store's own reader shows events.
func (p *Pass) Reader() branch.Model { return ReaderOf(p.Store, p.Store.BranchModel) }

// ReaderOf is a model of visibility as the readers of a store have it.
func ReaderOf(st *session.Store, model string) branch.Model {
	return branch.ReaderOf(model, branch.Path{HidesToolRuns: st.HidesToolRuns, OpenScopes: st.OpenScopes})
}

// EventOf is an item as models of branches see it.
func EventOf(s *session.Session, i int) branch.Event {
	it := &s.Items[i]
	return branch.Event{Label: it.Branch, Invocation: it.Invocation, Session: s.ID, Scope: it.Scope, Node: it.Node}
}

// next says of each item which one of those that is comes at it or next behind it;
// len(Items) where none does.
func next(s *Subject, is func(*session.Item) bool) []int {
	list := make([]int, len(s.Items)+1)
	list[len(s.Items)] = len(s.Items)
	for i := len(s.Items) - 1; i >= 0; i-- {
		list[i] = list[i+1]
		if is(&s.Items[i]) {
			list[i] = i
		}
	}
	return list
}

// inRoot reports whether an item is a message without a branch.
func inRoot(it *session.Item) bool { return it.Branch == "" && it.OnWire() }

// interrupted adds to the items of a viewer one of what others said in each gap,
// and behind the last.
func interrupted(own, others []int) []int {
	var at []int
	for n, i := range own {
		if n > 0 && others[own[n-1]+1] < i {
			at = append(at, others[own[n-1]+1])
		}
		at = append(at, i)
	}
	if last := others[own[len(own)-1]+1]; last < len(others)-1 {
		at = append(at, last)
	}
	return at
}

// listener is the subject of what one viewer is shown of a session. Of others it
// hears texts where the runtime makes such of what they said, and where only the
// interruption counts.
func (p *Pass) listener(s *Subject, at, of []int, own int, sketched bool) *Subject {
	heard := *s.Session
	heard.Children, heard.IndexRefs, heard.Faults = nil, nil, nil
	heard.Items = make([]session.Item, len(at))
	for n, i := range at {
		heard.Items[n] = s.Items[i]
		if (p.Store.ForeignText || sketched) && of[i] >= 0 && of[i] != own {
			retell(&heard.Items[n], &p.Store.Retells)
		}
		if it := &heard.Items[n]; it.Kind == session.Summary && it.KeptFrom > 0 {
			it.KeptFrom = int64(s.keptIn(at, it.KeptFrom))
		}
	}
	for _, f := range s.Faults {
		if n, found := slices.BinarySearch(at, f.Item); found && (of[f.Item] == own || of[f.Item] < 0) {
			f.Item = n
			heard.Faults = append(heard.Faults, f)
		}
	}
	v := p.newSubject(&heard, &replay.Session{Session: &heard, Steps: make([]replay.Step, len(at))})
	v.Whole, v.Indexes, v.sketched = s, at, sketched
	return v
}

// keptIn is the index, among the chosen items, of the first one that a summary
// keeps.
func (s *Subject) keptIn(at []int, kept int64) int {
	loaded := s.Loaded()
	if kept >= int64(len(loaded)) {
		return len(at)
	}
	n, _ := slices.BinarySearch(at, loaded[kept])
	return n
}

// retell makes of an item what it is for somebody else: a text of the user. Calls
// and results in it need nobody's answer any more.
func retell(it *session.Item, how *session.Retelling) {
	if it.Body != nil {
		thoughts := ""
		if how.Thoughts {
			thoughts = it.Body.Reasoning
		}
		it.Body = &session.Body{Text: told(it, how), Reasoning: thoughts, Raw: it.Body.Raw}
	}
	it.Role, it.Agent, it.Model = session.User, "", ""
	it.Text = session.Digest(cmp.Or(it.Text, it.Meaning))
	it.Calls, it.Results, it.Blocks = nil, nil, nil
	it.Flags &^= session.EmptyCalls | session.NullText | session.BlankText | session.TrailingSpace
}

// told is what ADK makes of what another agent said (adk-python contents.py, adk-go
// contents_processor.go).
func told(it *session.Item, how *session.Retelling) string {
	result := cmp.Or(how.Result, "[%s] `%s` tool returned result: %s")
	parts := []string{"For context:"}
	if it.Body.Text != "" {
		parts = append(parts, "["+it.Agent+"] said: "+it.Body.Text)
	}
	for _, c := range it.Calls {
		parts = append(parts, "["+it.Agent+"] called tool `"+c.Name+"` with parameters: "+c.Args)
	}
	for _, r := range it.Results {
		parts = append(parts, fmt.Sprintf(result, it.Agent, r.Name, r.Text))
	}
	return strings.Join(parts, "\n")
}
