package rules

import (
	"maps"
	"slices"

	"github.com/sessctl/sessctl/internal/branch"
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/session"
)

// Viewer is one agent that runs on one branch: it has requests of its own, of
// what it said and of what the store's reader shows it of the others.
type Viewer struct{ Agent, branch, Scope string }

// mostShown is how many items all viewers of a session may be shown together, so
// that memory follows the items and not the number of agents. In a session with
// more, every viewer but the first keeps its own items and where others interrupt
// it, and the numbers of messages in what a provider would answer are not known.
// A test makes it small.
var mostShown = 200_000

// viewers are the subjects of a session: itself, or one for each of several viewers,
// in the order in which they speak first. Where the last speaker has no branch, it
// is the one that goes on, and comes first.
func (p *Pass) viewers(s *Subject) []*Subject {
	if !p.Store.ForeignText && !branch.ByLabel(p.Store.BranchModel) || len(s.Replay.Delegations) > 0 {
		return []*Subject{s}
	}
	of, list := p.owners(s)
	if len(list) < 2 {
		return []*Subject{s}
	}
	subjects := make([]*Subject, len(list))
	whole := len(list)*len(s.Items) <= mostShown
	own := make([][]int, len(list))
	for i, v := range of {
		if v >= 0 {
			own[v] = append(own[v], i)
		}
	}
	plain, all := next(s, inRoot), next(s, (*session.Item).OnWire)
	for v := range list {
		at := own[v]
		switch {
		case whole || v == 0:
			at = p.shown(s, list[v], of, v)
		case !p.Store.ForeignText && list[v].branch == "":
			at = interrupted(at, all)
		default:
			at = interrupted(at, plain)
		}
		subjects[v] = p.listener(s, at, of, v, !whole && v > 0)
		subjects[v].who = list[v]
	}
	strayed(subjects)
	return subjects
}

// strayed finds the results that are not shown to who is shown their calls, and the
// other way round: those that another viewer pairs, by their places, and those that
// nobody does, by their ids.
func strayed(subjects []*Subject) {
	orphans, missing := map[string]bool{}, map[string]bool{}
	paired := map[pairing.Occurrence]bool{}
	for _, v := range subjects {
		for _, pair := range v.Pairs.Pairs {
			paired[v.placed(pair.Call)], paired[v.placed(pair.Result)] = true, true
		}
		for _, at := range v.Pairs.Orphans {
			orphans[v.ResultAt(at).CallID] = true
		}
		for _, m := range v.Pairs.Missing {
			missing[v.CallAt(m.Call).ID] = true
		}
	}
	maps.DeleteFunc(missing, func(id string, _ bool) bool { return id == "" || !orphans[id] })
	for _, v := range subjects {
		v.Strayed = maps.Clone(missing)
		for _, at := range v.Pairs.Orphans {
			if paired[v.placed(at)] {
				v.Strayed[v.ResultAt(at).CallID] = true
			}
		}
		for _, m := range v.Pairs.Missing {
			if paired[v.placed(m.Call)] {
				v.Strayed[v.CallAt(m.Call).ID] = true
			}
		}
	}
}

// placed is a call or result of a viewer by its place in the session.
func (s *Subject) placed(at pairing.Occurrence) pairing.Occurrence {
	at.Item = s.Place(at.Item)
	return at
}

// owners say whose viewer each item is of, -1 for those of everybody: what the user
// says, and items that are no messages. Results that the user posted, or that
// carry another agent's name on the same branch, belong to who made the call.
func (p *Pass) owners(s *Subject) (of []int, list []Viewer) {
	of = make([]int, len(s.Items))
	numbers, callers := map[Viewer]int{}, map[string][]int{}
	for i := range s.Items {
		it := &s.Items[i]
		of[i] = -1
		if !it.OnWire() && !it.Flags.Has(session.Archived) {
			continue
		}
		v := Viewer{branch: it.Branch, Scope: it.Scope}
		if p.Store.ForeignText {
			v.Agent = it.Agent
		}
		if it.Answers() {
			if caller := p.asked(it, v, callers, list); caller >= 0 {
				of[i] = caller
				continue
			}
		}
		if it.Role != session.Assistant && (!it.Answers() || p.Store.ForeignText && it.Agent == "") {
			continue
		}
		number, known := numbers[v]
		if !known {
			number = len(list)
			numbers[v] = number
			list = append(list, v)
		}
		of[i] = number
		for n := range it.Calls {
			callers[it.Calls[n].ID] = append(callers[it.Calls[n].ID], number)
		}
	}
	return of, firstOn(s, of, list)
}

// asked is the viewer whose call an item answers, -1 for none that is shown it: the
// item's own where that made such a call, else the one that did last.
func (p *Pass) asked(it *session.Item, own Viewer, callers map[string][]int, list []Viewer) int {
	model := p.Reader()
	for n := range it.Results {
		made := callers[it.Results[n].CallID]
		for _, v := range slices.Backward(made) {
			if list[v] == own {
				return v
			}
		}
		for _, v := range slices.Backward(made) {
			shown, _ := model.Visible(branch.Viewer{Label: list[v].branch, Scope: list[v].Scope}, branch.Event{Label: it.Branch, Scope: it.Scope})
			if shown {
				return v
			}
		}
	}
	return -1
}

// firstOn puts the viewer that goes on first.
func firstOn(s *Subject, of []int, list []Viewer) []Viewer {
	for i := len(of) - 1; i >= 0; i-- {
		v := of[i]
		if v < 0 || !s.Items[i].OnWire() {
			continue
		}
		if list[v].branch != "" || v == 0 {
			break
		}
		for n := range of {
			switch of[n] {
			case v:
				of[n] = 0
			case 0:
				of[n] = v
			}
		}
		list[0], list[v] = list[v], list[0]
		break
	}
	return list
}
