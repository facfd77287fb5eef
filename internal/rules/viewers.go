package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/branch"
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/replay"
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

// splitViewers splits the subjects of a session: itself, or one for each of several viewers,
// in the order in which they speak first. Where the last speaker has no branch, it
// is the one that goes on, and comes first.
func (p *Pass) splitViewers(s *Subject) []*Subject {
	if branch.ByNames(p.Store.BranchModel) {
		return p.splitBranches(s)
	}
	if !p.Store.ForeignText && !branch.ByLabel(p.Store.BranchModel) || len(s.Replay.Delegations) > 0 {
		return []*Subject{s}
	}
	of, list := p.itemOwners(s)
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
	plain, all := nextIndexes(s, isInRoot), nextIndexes(s, (*session.Item).OnWire)
	for v := range list {
		at := own[v]
		switch {
		case whole || v == 0:
			at = p.shownItems(s, list[v], of, v)
		case !p.Store.ForeignText && list[v].branch == "":
			at = addInterruptions(at, all)
		default:
			at = addInterruptions(at, plain)
		}
		subjects[v] = p.newListener(s, at, of, v, !whole && v > 0)
		subjects[v].who = list[v]
	}
	markStrayed(subjects)
	return subjects
}

// splitBranches splits a session by the names of its branches, the main one first: each has requests
// of its own, with the events that others share.
func (p *Pass) splitBranches(s *Subject) []*Subject {
	at := map[string][]int{}
	for i := range s.Items {
		for _, name := range branch.ParseLabel(s.Items[i].Branch()).Names {
			at[name] = append(at[name], i)
		}
	}
	if len(at) == 0 {
		return []*Subject{s}
	}
	names, subjects := slices.Sorted(maps.Keys(at)), []*Subject{}
	if n := slices.Index(names, p.Store.MainBranch); n > 0 {
		names = slices.Insert(slices.Delete(names, n, n+1), 0, p.Store.MainBranch)
	}
	for _, name := range names {
		v := p.newListener(s, at[name], make([]int, len(s.Items)), 0, false)
		v.who = Viewer{branch: name}
		subjects = append(subjects, v)
	}
	markStrayed(subjects)
	return subjects
}

// markStrayed finds the results that are not shown to who is shown their calls, and the
// other way round: those that another viewer pairs, by their places, and those that
// nobody does, by their ids.
func markStrayed(subjects []*Subject) {
	orphans, missing := map[string]bool{}, map[string]bool{}
	paired := map[pairing.Occurrence]bool{}
	for _, v := range subjects {
		for _, pair := range v.Pairs.Pairs {
			paired[v.occurrenceInSession(pair.Call)], paired[v.occurrenceInSession(pair.Result)] = true, true
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
			if paired[v.occurrenceInSession(at)] {
				v.Strayed[v.ResultAt(at).CallID] = true
			}
		}
		for _, m := range v.Pairs.Missing {
			if paired[v.occurrenceInSession(m.Call)] {
				v.Strayed[v.CallAt(m.Call).ID] = true
			}
		}
	}
}

// ShowHalf is the fix that shows a viewer the other half of a pair, where branches have names and its own
// lacks that of one item of the session; false where it is none, or several.
func (s *Subject) ShowHalf(title string, is func(*session.Item) bool) (fix Fix, ok bool) {
	if s.Whole == nil || s.who.branch == "" {
		return fix, false
	}
	for i := range s.Whole.Items {
		names := branch.ParseLabel(s.Whole.Items[i].Branch()).Names
		if names == nil || !is(&s.Whole.Items[i]) || slices.Contains(names, s.who.branch) {
			continue
		}
		label := branch.NamesLabel(append(names, s.who.branch)...)
		ok, fix = fix.Edits == nil, Fix{
			Title: title, Safety: Lossless,
			Edits: []session.Edit{{Op: session.Set, Ref: s.Whole.ItemRef(i), Field: session.FieldBranch, Value: &label}},
		}
	}
	return fix, ok
}

// occurrenceInSession is a call or result of a viewer by its place in the session.
func (s *Subject) occurrenceInSession(at pairing.Occurrence) pairing.Occurrence {
	at.Item = s.PlaceInSession(at.Item)
	return at
}

// itemOwners say whose viewer each item is of, -1 for those of everybody: what the user
// says, and items that are no messages. Results that the user posted, or that
// carry another agent's name on the same branch, belong to who made the call.
func (p *Pass) itemOwners(s *Subject) (of []int, list []Viewer) {
	of = make([]int, len(s.Items))
	numbers, callers := map[Viewer]int{}, map[string][]int{}
	for i := range s.Items {
		it := &s.Items[i]
		of[i] = -1
		if !it.OnWire() && !it.Flags.Has(session.Archived) {
			continue
		}
		v := Viewer{branch: it.Branch(), Scope: it.Scope()}
		if p.Store.ForeignText {
			v.Agent = it.Agent()
		}
		if it.IsAnswer() && (it.Agent() == "" || !p.Store.LastResult) {
			if caller := p.askedViewer(it, v, callers, list); caller >= 0 {
				of[i] = caller
				continue
			}
		}
		if it.Role != session.Assistant && (!it.IsAnswer() || p.Store.ForeignText && it.Agent() == "") {
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

// askedViewer is the viewer whose call an item answers, -1 for none that is shown it: the
// item's own where that made such a call, else the one that did last.
func (p *Pass) askedViewer(it *session.Item, own Viewer, callers map[string][]int, list []Viewer) int {
	model := p.Reader()
	for n := range it.Results {
		made := callers[it.Results[n].CallID]
		for _, v := range slices.Backward(made) {
			if list[v] == own {
				return v
			}
		}
		for _, v := range slices.Backward(made) {
			shown, _ := model.Visible(branch.Viewer{Label: list[v].branch, Scope: list[v].Scope}, branch.Event{Label: it.Branch(), Scope: it.Scope()})
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

// shownItems are the items that a viewer is shown, by index: its own, and those that
// the store's reader lets it see. Without a branch that is everything, also what
// runs below an agent between its call and the result.
func (p *Pass) shownItems(s *Subject, who Viewer, of []int, own int) []int {
	viewer := branch.Viewer{Label: who.branch, Scope: who.Scope, Session: s.ID}
	model, made := p.Reader(), map[string]bool{}
	for i := range s.Items {
		if of[i] == own {
			AddIDs(made, &s.Items[i])
		}
	}
	var at []int
	passed := -1
	for i := range s.Items {
		it := &s.Items[i]
		if of[i] != own {
			if p.Store.ForeignText && it.Kind == session.Message && !it.OnWire() && !it.Flags.Has(session.Compacted) {
				continue // what a summary stands for says where the tail starts
			}
			seen, _ := model.Visible(viewer, EventOf(s.Session, i))
			answers := slices.ContainsFunc(it.Results, func(r session.Result) bool { return made[r.CallID] })
			switch {
			case !seen && it.Kind != session.Summary:
				continue
			case of[i] < 0 && it.IsAnswer() && own > 0 && (!answers || !p.answersAsUser(it)), // of nobody's call: the first viewer tells of it
				of[i] >= 0 && p.answersAsUser(it) && !answers: // what the user answered to another's call goes with that call
				passed = i
				continue
			}
		}
		at = append(at, i)
	}
	if p.judge.AsIs && len(at) > 0 && passed > at[len(at)-1] { // the runtime stops with it
		at = append(at, passed)
	}
	return at
}

// answersAsUser reports whether an item is what the user answered to calls: it is a text for nobody,
// and answers all calls that have its id.
func (p *Pass) answersAsUser(it *session.Item) bool {
	return p.Store.ForeignText && p.Store.GathersResults && it.IsAnswer() && it.Agent() == ""
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
	return branch.Event{Label: it.Branch(), Invocation: it.Invocation(), Session: s.ID, Scope: it.Scope(), Node: it.Node()}
}

// nextIndexes says of each item which one of those that is comes at it or next behind it;
// len(Items) where none does.
func nextIndexes(s *Subject, is func(*session.Item) bool) []int {
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

// isInRoot reports whether an item is a message without a branch.
func isInRoot(it *session.Item) bool { return it.Branch() == "" && it.OnWire() }

// addInterruptions adds to the items of a viewer one of what others said in each gap,
// and behind the last.
func addInterruptions(own, others []int) []int {
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

// newListener is the subject of what one viewer is shown of a session. Of others it
// hears texts where the runtime makes such of what they said, and where only the
// interruption counts.
func (p *Pass) newListener(s *Subject, at, of []int, own int, sketched bool) *Subject {
	heard := *s.Session
	heard.Children, heard.IndexRefs, heard.Faults = nil, nil, nil
	heard.Items = make([]session.Item, len(at))
	var told, retold *session.Shared // what the last item that was retold shared, and what it shares now
	for n, i := range at {
		heard.Items[n] = s.Items[i]
		if (p.Store.ForeignText || sketched) && of[i] >= 0 && of[i] != own && !p.answersAsUser(&s.Items[i]) {
			it := &heard.Items[n]
			retellItem(it, &p.Store.Retells)
			if retold == nil || told != it.Shared {
				told, retold = it.Shared, it.Own()
				retold.Agent, retold.Model = "", ""
			}
			it.Shared = retold
		}
		if it := &heard.Items[n]; it.Kind == session.Summary && it.KeptFrom() > 0 {
			it.Own().KeptFrom = int64(s.keptIn(at, it.KeptFrom()))
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
	loaded := s.LoadedIndexes()
	if kept >= int64(len(loaded)) {
		return len(at)
	}
	n, _ := slices.BinarySearch(at, loaded[kept])
	return n
}

// retellItem makes of an item what it is for somebody else: a text of the user. Calls
// and results in it need nobody's answer any more.
func retellItem(it *session.Item, how *session.Retelling) {
	if it.Body != nil {
		thoughts := ""
		if how.Thoughts {
			thoughts = it.Body.Reasoning
		}
		it.Body = &session.Body{Text: retoldText(it, how), Reasoning: thoughts, Raw: it.Body.Raw}
	}
	it.Role = session.User
	it.Text = session.Digest(cmp.Or(it.Text, it.Meaning))
	it.Calls, it.Results, it.Blocks = nil, nil, nil
	it.Flags &^= session.EmptyCalls | session.NullText | session.BlankText | session.TrailingSpace
}

// retoldText is what ADK makes of what another agent said (adk-python contents.py, adk-go
// contents_processor.go).
func retoldText(it *session.Item, how *session.Retelling) string {
	result := cmp.Or(how.Result, "[%s] `%s` tool returned result: %s")
	parts := []string{"For context:"}
	if it.Body.Text != "" {
		parts = append(parts, "["+it.Agent()+"] said: "+it.Body.Text)
	}
	for _, c := range it.Calls {
		parts = append(parts, "["+it.Agent()+"] called tool `"+c.Name+"` with parameters: "+c.Args)
	}
	for _, r := range it.Results {
		parts = append(parts, fmt.Sprintf(result, it.Agent(), r.Name, r.Text))
	}
	return strings.Join(parts, "\n")
}

// NextViewer is the subject whose request is the next one: that of the viewer that goes
// on, where several agents share the session.
func (p *Pass) NextViewer(s *session.Session) *Subject {
	for _, v := range p.Viewers {
		if v.Session == s || v.Whole != nil && v.Whole.Session == s {
			return v
		}
	}
	return p.SubjectOf(s)
}

// ViewersOf are all who send requests from a session, the one that goes on first.
func (p *Pass) ViewersOf(s *session.Session) []*Subject {
	return slices.DeleteFunc(slices.Clone(p.Viewers), func(v *Subject) bool { return v.Session != s && (v.Whole == nil || v.Whole.Session != s) })
}

// PlaceInSession is where an item stands in the session.
func (s *Subject) PlaceInSession(item int) int {
	if s.Whole == nil || item < 0 {
		return item
	}
	return s.Indexes[item]
}

// ViewerIndex is the index that an item of the session has for the viewer, -1 when it is
// not shown it.
func (s *Subject) ViewerIndex(item int) int {
	if s.Whole == nil || item < 0 {
		return item
	}
	if n, found := slices.BinarySearch(s.Indexes, item); found {
		return n
	}
	return -1
}

// PlaceOf is a place of the tree as findings about the subject name it; false for one
// of its own session that it is not shown.
func (s *Subject) PlaceOf(place session.Place) (session.Place, bool) {
	if place.Session == s.ID {
		place.Item = s.ViewerIndex(place.Item)
	}
	return place, place.Item >= 0
}

// ViewerName is who a viewer is, in words; "" for the only one of a session.
func (s *Subject) ViewerName() string {
	switch {
	case s.Whole == nil:
		return ""
	case s.who.branch == "" && s.who.Agent == "":
		return "the agent without a branch"
	case s.who.branch == "":
		return QuoteText(s.who.Agent)
	case s.who.Agent == "":
		return "the agent on " + QuoteText(s.who.branch)
	}
	return QuoteText(s.who.Agent) + " on " + QuoteText(s.who.branch)
}

// translatePlaces gives a finding about a viewer the places of the session.
func (f *Finding) translatePlaces(v *Subject) {
	if v == nil || v.Whole == nil {
		return
	}
	f.viewer, f.Viewer, f.Session, f.Item = v, v.ViewerName(), v.Whole.Session, v.PlaceInSession(f.Item)
	f.Items = slices.Clone(f.Items)
	for n, i := range f.Items {
		f.Items[n] = v.PlaceInSession(i)
	}
	f.Related = slices.Clone(f.Related)
	for n, r := range f.Related {
		if r.Session == v.ID {
			f.Related[n].Item = v.PlaceInSession(r.Item)
		}
	}
}
