package view

import (
	"github.com/sessctl/sessctl/internal/branch"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

// Question asks who could see what of a session.
type Question struct {
	Branch *string  // the viewer on this branch, "" for the one without a branch; nil when none is named
	Agent  string   // the viewers that are this agent
	All    bool     // every viewer
	Model  string   // of package branch; "" for the one that the store's own reader goes by
	Diff   []string // two models, to list the events on which they disagree
	Tokens bool     // also who held which tokens
}

// Visibility says who could see what.
type Visibility struct {
	Models  []Model // one, or the two that are compared
	Viewers []Viewer
	Single  bool // one viewer was asked for, not a list
	// Events stand in reading order, those of a sub-session behind the item that
	// refers to it. A comparison has only those on which the models disagree.
	Events  []Event
	Total   int      // events, with those that a comparison leaves out
	Holders []Holder // with Question.Tokens
}

// Event is one item of a session.
type Event struct {
	Session *session.Session
	Item    int      // its index there
	Depth   int      // open delegations at the item, as the replay says
	Set     string   // the token set that was computed for it, as a label; "" when none was
	Rules   []string // that name it
	cells   []Cell   // of every viewer and model; shared by events that look the same to all
	kept    branch.Reason
}

// Cell is whether a viewer sees an event, and why.
type Cell struct {
	Visible bool
	Reason  branch.Reason
}

// Cell is what one of the viewers sees of an event under one of the models.
func (v *Visibility) Cell(e *Event, viewer, model int) Cell {
	return e.cells[viewer*len(v.Models)+model]
}

// Visible makes the view that answers a question. Bodies need to be loaded only
// where texts are shown. Its errors are usage problems.
func Visible(in Input, q Question) (*View, error) {
	b := &builder{in: in, trace: replay.Stored(in.Tree), drawn: map[string]bool{}, notes: map[session.Place][]Note{}}
	b.noteFindings()
	shown := in.Tree.Session(in.Session)
	s := newSurvey(b, shown)
	models, err := s.models(q)
	if err != nil {
		return nil, err
	}
	viewers, err := s.viewers(q, models)
	if err != nil {
		return nil, err
	}
	v := &Visibility{
		Models: models, Viewers: viewers, Events: s.events, Total: len(s.events),
		Single: len(viewers) == 1 && !q.All && (q.Branch != nil || q.Agent != ""),
	}
	if q.Tokens {
		v.Holders = s.holders(&models[0], viewers)
	}
	v.look()
	out := &View{Store: in.Store, Visibility: v}
	out.Shown = &Session{Session: shown, Agent: replay.FirstAgent(shown), Below: len(s.drawn) - 1}
	out.assign(in.Findings, s.drawn)
	return out, nil
}

// look fills in the cells, counts what each viewer sees, and leaves out what the
// models of a comparison agree on.
func (v *Visibility) look() {
	type class struct {
		branch.Event
		set string
	}
	known := map[class][]Cell{}
	listed := v.Events[:0]
	for i := range v.Events {
		e := &v.Events[i]
		c := class{e.asked(), e.Set}
		if known[c] == nil {
			known[c] = v.cellsOf(c.Event, e.Set)
		}
		e.cells = known[c]
		for n, cell := range e.cells {
			if cell.Visible {
				v.Viewers[n/len(v.Models)].Sees[n%len(v.Models)]++
			}
		}
		if len(v.Models) == 1 || v.disputed(e) {
			listed = append(listed, *e)
		}
	}
	v.Events = listed
}

// cellsOf is what all viewers see of an event, under all models. No model shows
// an agent what another session holds.
func (v *Visibility) cellsOf(e branch.Event, set string) []Cell {
	var cells []Cell
	stored := e.Label
	for i := range v.Viewers {
		for m := range v.Models {
			e.Label = v.Models[m].label(stored, set)
			viewer := v.Viewers[i].as[m]
			cell := Cell{Reason: branch.OtherSession}
			if e.Session == viewer.Session || e.Kept != branch.None {
				cell.Visible, cell.Reason = v.Models[m].rule.Visible(viewer, e)
			}
			cells = append(cells, cell)
		}
	}
	return cells
}

// disputed reports whether some viewer sees an event under one model only.
func (v *Visibility) disputed(e *Event) bool {
	for i := range v.Viewers {
		if v.Disagree(e, i) {
			return true
		}
	}
	return false
}

// Disagree reports whether a viewer sees an event under one of two models only.
func (v *Visibility) Disagree(e *Event, viewer int) bool {
	return len(v.Models) == 2 && v.Cell(e, viewer, 0).Visible != v.Cell(e, viewer, 1).Visible
}
