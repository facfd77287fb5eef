package view

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/branch"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// Model is a rule of visibility as it is put to the events of a session.
type Model struct {
	Name       string
	Own        bool // the store's own reader goes by it
	Recomputed bool // its token sets were computed from paths
	Unreadable int  // events whose path no set could be computed from: everybody sees them

	rule branch.Model
}

// comparedLabel is the branch of an event as the model compares it.
func (m *Model) comparedLabel(stored, set string) string {
	if m.Recomputed {
		return set
	}
	return stored
}

// The models that need a word here; all of them are in package branch. Those that
// compare labels are also the names of the forms that labels have.
const (
	modelPath    = "path"
	modelTokens  = "tokens"
	modelForks   = "forks"
	modelNames   = "names"
	modelSession = "session"
)

// compares says which forms of labels a model can tell apart; one that is not
// here needs no labels.
var compares = map[string][]string{
	modelPath:    {modelPath},
	"raw-prefix": {modelPath},
	modelTokens:  {modelTokens, modelPath},
	modelForks:   {modelForks},
	modelNames:   {modelNames},
}

// formNames are the forms for people, in the order in which they decide about the
// model where nothing else does.
var formNames = []struct{ form, name string }{
	{modelForks, "sets of forks"},
	{modelTokens, "sets of tokens"},
	{modelNames, "names"},
	{modelPath, "paths"},
}

// branchForms are the forms of the branches that the events and the viewer have.
func (s *coverage) branchForms(q Question) map[string]bool {
	forms, seen := map[string]bool{}, map[string]bool{"": true}
	for i := range len(s.events) + 1 {
		label := ""
		if i < len(s.events) {
			label = s.events[i].Stored().Branch()
		} else if q.Branch != nil {
			label = *q.Branch
		}
		if seen[label] {
			continue
		}
		seen[label] = true
		switch parsed := branch.ParseLabel(label); {
		case parsed.Tokens != nil:
			forms[modelTokens] = true
		case parsed.Forks != nil:
			forms[modelForks] = true
		case parsed.Names != nil || branch.ByNames(s.in.Store.BranchModel):
			forms[modelNames] = true
		default:
			forms[modelPath] = true
		}
	}
	return forms
}

// askedModels are the models that a question names, ready to be asked.
func (s *coverage) askedModels(q Question) ([]Model, error) {
	forms := s.branchForms(q)
	names := q.Diff
	switch {
	case len(names) > 0:
	case q.Tokens:
		names = []string{modelTokens}
	case q.Model != "":
		names = []string{q.Model}
	default:
		names = []string{s.defaultModel(forms)}
	}
	unsaid := q.Model == "" && len(q.Diff) == 0 && s.in.Store.BranchModel == ""
	if none := len(s.branchForms(Question{})) == 0; none && unsaid && (q.Tokens || len(forms) > 0) {
		return nil, problem.New(problem.Usage, "`--all` shows what each of its agents sees.",
			"session %s has no event with a branch", rules.ShortID(s.shown.ID))
	}
	var models []Model
	for _, name := range names {
		if !canCompare(name, forms) {
			return nil, misfitError(name, forms)
		}
		m := Model{Name: name, Own: name == s.readerModel(), rule: rules.ReaderOf(s.in.Store, name)}
		if name == modelTokens && !forms[modelTokens] {
			m.Recomputed, m.Unreadable = true, s.recomputeSets()
		}
		models = append(models, m)
	}
	return models, nil
}

// readerModel is the model of the store's own reader. A store without one keeps agents
// apart by sessions.
func (s *coverage) readerModel() string {
	if name := s.in.Store.BranchModel; name != "" {
		return name
	}
	return modelSession
}

// defaultModel is the store's own, unless the labels are of a form that it cannot
// compare or that it says nothing of.
func (s *coverage) defaultModel(forms map[string]bool) string {
	if name := s.in.Store.BranchModel; name != "" && canCompare(name, forms) {
		return name
	}
	for _, f := range formNames {
		if forms[f.form] {
			return f.form
		}
	}
	return modelSession
}

func canCompare(model string, forms map[string]bool) bool {
	able := compares[model]
	return len(forms) == 0 || len(able) == 0 || slices.ContainsFunc(able, func(form string) bool { return forms[form] })
}

func misfitError(model string, forms map[string]bool) error {
	var there, useful []string
	for _, f := range formNames {
		if forms[f.form] {
			there = append(there, f.name)
		}
	}
	for _, m := range branch.Models {
		if canCompare(m.Name, forms) {
			useful = append(useful, m.Name)
		}
	}
	last := len(useful) - 1
	return problem.New(problem.Usage, "Use "+strings.Join(useful[:last], ", ")+" or "+useful[last]+".",
		"the branches of this session are %s, which the model %s cannot compare", strings.Join(there, " and "), model)
}

// recomputeSets computes the token sets of all events from their paths and order, and
// counts those that it cannot read.
func (s *coverage) recomputeSets() (unreadable int) {
	all := make([]*Event, len(s.events))
	for i := range s.events {
		all[i] = &s.events[i]
	}
	for _, events := range lists.GroupBy(all, func(e *Event) *session.Session { return e.Session }) {
		sets := branch.RecomputeLabels(lists.MapEach(events, (*Event).modelEvent))
		for n, e := range events {
			e.Set = sets.Labels[n]
		}
		unreadable += sets.Unreadable
	}
	return unreadable
}

// Viewer is an agent as it reads. It sees with the branch and, where a model asks
// for it, in the run of the last event that it produced.
type Viewer struct {
	Key     string // tells it from the others: its branch, with more where that is not enough
	Session *session.Session
	Branch  string // its label as it is stored
	Agent   string // "" when several agents ran there, or nothing says who
	Scope   string
	Set     string // the token set that was computed for its last event, as a label
	Sees    [2]int // events, under each model
	Note    string // that nothing is stored on its branch, "" otherwise

	as [2]branch.Viewer // under each model
}

// speaker is who produced an event.
type speaker struct {
	session *session.Session
	branch  string
	agent   string
	scope   string
}

// askedViewers are those that a question names, in the order of their first events.
func (s *coverage) askedViewers(q *Question, models []Model) ([]Viewer, error) {
	var list []Viewer
	q.nameAgent(s.events)
	if q.Branch != nil && q.Agent == "" {
		one := s.onBranch(*q.Branch)
		if one.last == nil && one.branch != "" && slices.ContainsFunc(models, knowsOnlyStored) {
			return nil, s.unknownBranch(one.branch)
		}
		list = []Viewer{one.newViewer(models)}
		list[0].Note = s.unusedNote(one)
	} else {
		bySession := !slices.ContainsFunc(models, func(m Model) bool { return m.Name != modelSession })
		for _, one := range s.findSpeakers(*q, bySession) {
			list = append(list, one.newViewer(models))
		}
	}
	if len(list) == 0 {
		return nil, s.noViewerError(*q)
	}
	nameViewers(list, models)
	return list, nil
}

// nameAgent takes a branch that no event has for the agent of that name, which is what
// people mean who know their agents and not the labels.
func (q *Question) nameAgent(events []Event) {
	if q.Branch == nil || *q.Branch == "" || q.Agent != "" {
		return
	}
	isAgent := false
	for i := range events {
		it := events[i].Stored()
		if sameBranch(it.Branch(), *q.Branch) {
			return
		}
		isAgent = isAgent || events[i].isSpoken() && agentOf(it) == *q.Branch
	}
	if isAgent {
		q.Agent, q.Branch = *q.Branch, nil
	}
}

// reading is a viewer before it is put to a model: who it is, and its last event.
type reading struct {
	speaker
	last *Event // nil when it has none
}

func (r *reading) newViewer(models []Model) Viewer {
	v := Viewer{Session: r.session, Branch: r.branch, Agent: r.agent, Scope: r.scope}
	as := branch.Viewer{Session: r.session.ID, Scope: r.scope}
	if r.last != nil {
		v.Set = r.last.Set
		as.Invocation, as.Node = r.last.Stored().Invocation(), r.last.Stored().Node()
	}
	for i := range models {
		as.Label = models[i].comparedLabel(r.branch, v.Set)
		v.as[i] = as
	}
	return v
}

// findSpeakers finds all that produced events and that the question asks for. Where
// agents are kept apart by sessions, the session is who speaks.
func (s *coverage) findSpeakers(q Question, bySession bool) []*reading {
	var list []*reading
	known := map[speaker]*reading{}
	for i := range s.events {
		e := &s.events[i]
		it := e.Stored()
		if !e.isSpoken() || q.Agent != "" && agentOf(it) != q.Agent || q.Branch != nil && !sameBranch(it.Branch(), *q.Branch) {
			continue
		}
		for _, label := range viewersOf(it.Branch()) {
			who := speaker{e.Session, label, cmp.Or(q.Agent, it.Agent()), it.Scope()}
			if bySession {
				who = speaker{session: e.Session, agent: cmp.Or(q.Agent, replay.FirstAgent(e.Session))}
			}
			if known[who] == nil {
				known[who] = &reading{speaker: who}
				list = append(list, known[who])
			}
			known[who].last = e
		}
	}
	return list
}

// viewersOf are the labels of those who speak on a branch: of several names, one for each.
func viewersOf(label string) []string {
	names := branch.ParseLabel(label).Names
	if len(names) < 2 {
		return []string{label}
	}
	return lists.MapEach(names, func(name string) string { return branch.NamesLabel(name) })
}

// agentOf is who produced an item. Where a store keeps no names, the last segment
// of a path is one.
func agentOf(it *session.Item) string {
	if it.Agent() != "" || branch.ParseLabel(it.Branch()).Path == "" {
		return it.Agent()
	}
	return it.Branch()[strings.LastIndexByte(it.Branch(), '.')+1:]
}

// onBranch is the viewer on a branch, whoever runs there, or would: an agent that
// has stored nothing yet has no last event.
func (s *coverage) onBranch(label string) *reading {
	out := &reading{speaker: speaker{session: s.shown, branch: label}}
	best, unscoped := 0, false
	agents := map[string]bool{}
	for i := range s.events {
		e := &s.events[i]
		it := e.Stored()
		if !sameBranch(it.Branch(), label) {
			continue
		}
		rank := 1
		if e.isSpoken() {
			agents[it.Agent()] = true
			rank = 2
		}
		if e.Session == s.shown {
			rank += 2
		}
		if rank >= best {
			best, out.last = rank, e
		}
		unscoped = unscoped || it.Scope() == ""
	}
	if out.last == nil {
		return out
	}
	if out.session = out.last.Session; branch.ParseLabel(out.last.Stored().Branch()).Names == nil {
		out.branch = out.last.Stored().Branch()
	} else {
		out.branch = branch.NamesLabel(label)
	}
	if !unscoped {
		out.scope = out.last.Stored().Scope()
	}
	if len(agents) == 1 {
		for out.agent = range agents {
		}
	}
	return out
}

// knowsOnlyStored reports whether a model can say nothing of a branch that no event
// has: a set of tokens is computed of what ran there, and a session is what it holds.
func knowsOnlyStored(m Model) bool { return m.Recomputed || m.Name == modelSession }

// sameBranch compares a stored label with one that was typed: one of several names, too.
func sameBranch(stored, typed string) bool {
	return stored == typed || slices.Contains(branch.ParseLabel(stored).Names, typed) || strings.HasPrefix(typed, "{") && strings.HasPrefix(stored, "{") &&
		branch.ParseLabel(stored).String() == branch.ParseLabel(typed).String()
}

// nameViewers gives every viewer a key of its own.
func nameViewers(list []Viewer, models []Model) {
	taken := map[string]bool{}
	for i := range list {
		v := &list[i]
		v.Key = v.Branch
		if len(models) == 1 && models[0].Name == modelSession {
			v.Key = v.Session.ID
		}
		for _, more := range []string{v.Agent, v.Scope, v.Session.ID} {
			if taken[v.Key] && more != "" {
				v.Key = strings.TrimSpace(v.Key + " (" + more + ")")
			}
		}
		taken[v.Key] = true
	}
}

// Holder is an agent of one run with the tokens that it had, and what it could see
// with them.
type Holder struct {
	Agent      string
	Branch     string // as it is stored
	Invocation string
	Tokens     branch.Set // nil when its branch is no token set
	Sees       []string   // the user and other agents of the same run, with an event that it sees
}

// run is one run of the runtime in one session.
type run struct {
	session    *session.Session
	invocation string
}

// tokenHolders say who of the viewers had which tokens, run by run. Who had others
// later in a run, because it waited for parallel agents, is listed again.
func (s *coverage) tokenHolders(model *Model, viewers []Viewer) []Holder {
	type key struct {
		run
		agent, label string
	}
	seen := map[key]bool{}
	said := map[run][]*Event{} // one event of each speaker and set
	for i := range s.events {
		e := &s.events[i]
		it := e.Stored()
		if !e.isSpoken() && it.Role != session.User {
			continue
		}
		k := key{run{e.Session, it.Invocation()}, it.Agent(), model.comparedLabel(it.Branch(), e.Set)}
		if !seen[k] {
			seen[k] = true
			said[k.run] = append(said[k.run], e)
		}
	}
	var list []Holder
	seen = map[key]bool{}
	for i := range s.events {
		e := &s.events[i]
		it := e.Stored()
		k := key{run{e.Session, it.Invocation()}, it.Agent(), model.comparedLabel(it.Branch(), e.Set)}
		asked := slices.ContainsFunc(viewers, func(v Viewer) bool {
			return v.Session == e.Session && v.Branch == it.Branch() && (v.Agent == it.Agent() || v.Agent == "")
		})
		if !e.isSpoken() || seen[k] || !asked {
			continue
		}
		seen[k] = true
		list = append(list, Holder{
			Agent: it.Agent(), Branch: it.Branch(), Invocation: it.Invocation(),
			Tokens: branch.ParseLabel(k.label).Tokens,
			Sees:   model.heardSpeakers(e, said[k.run]),
		})
	}
	return list
}

// heardSpeakers are the speakers of the events that the agent of one event sees.
func (m *Model) heardSpeakers(by *Event, said []*Event) []string {
	it := by.Stored()
	viewer := branch.Viewer{
		Label: m.comparedLabel(it.Branch(), by.Set), Invocation: it.Invocation(),
		Session: by.Session.ID, Scope: it.Scope(), Node: it.Node(),
	}
	var names []string
	for _, e := range said {
		event := e.modelEvent()
		event.Label = m.comparedLabel(event.Label, e.Set)
		name := e.Stored().Agent()
		if e.Stored().Role == session.User {
			name = session.User.String()
		}
		if visible, _ := m.rule.Visible(viewer, event); visible && name != it.Agent() {
			names = lists.AppendNew(names, name)
		}
	}
	return names
}
