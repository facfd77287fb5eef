package view

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/branch"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// Question asks who could see what of a session.
type Question struct {
	Branch *string  // the viewer on this branch, or else the agent of that name, "" for the one without a branch; nil when none is named
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
	ToAll   bool // every viewer sees it, under every model
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

// HasAgent reports whether there is an agent that a question for all could show.
func (v *Visibility) HasAgent() bool {
	return v.Viewers[0].Agent != "" || slices.ContainsFunc(v.Events, func(e Event) bool { return e.Stored().Role == session.Assistant })
}

// BuildVisibility makes the view that answers a question. Bodies need to be loaded only
// where texts are shown. Its errors are usage problems.
func BuildVisibility(in Input, q Question) (*View, error) {
	b := &builder{in: in, trace: replay.TraceStored(in.Tree), drawn: map[string]bool{}, notes: map[session.Place][]Note{}}
	b.noteFindings()
	shown := in.Tree.Session(in.Session)
	s := newCoverage(b, shown)
	models, err := s.askedModels(q)
	if err != nil {
		return nil, err
	}
	viewers, err := s.askedViewers(&q, models)
	if err != nil {
		return nil, err
	}
	v := &Visibility{
		Models: models, Viewers: viewers, Events: s.events, Total: len(s.events),
		Single: len(viewers) == 1 && !q.All && (q.Branch != nil || q.Agent != ""),
	}
	if q.Tokens {
		v.Holders = s.tokenHolders(&models[0], viewers)
	}
	v.fillCells()
	out := &View{Store: in.Store, Visibility: v}
	out.Shown = &Session{Session: shown, Agent: replay.FirstAgent(shown), Below: len(s.drawn) - 1}
	out.assignFindings(in.Findings, s.drawn)
	return out, nil
}

// fillCells fills in the cells, counts what each viewer sees, and leaves out what the
// models of a comparison agree on.
func (v *Visibility) fillCells() {
	type class struct {
		branch.Event
		set string
	}
	known := map[class][]Cell{}
	listed := v.Events[:0]
	for i := range v.Events {
		e := &v.Events[i]
		c := class{e.modelEvent(), e.Set}
		if known[c] == nil {
			known[c] = v.cellsOf(c.Event, e.Set)
		}
		e.cells = known[c]
		e.ToAll = !slices.ContainsFunc(e.cells, func(c Cell) bool { return !c.Visible })
		for n, cell := range e.cells {
			if cell.Visible {
				v.Viewers[n/len(v.Models)].Sees[n%len(v.Models)]++
			}
		}
		if len(v.Models) == 1 || v.isDisputed(e) {
			listed = append(listed, *e)
		}
	}
	v.Events = listed
}

// cellsOf is what all viewers see of an event, under all models. No model shows
// an agent what another session holds.
func (v *Visibility) cellsOf(e branch.Event, set string) []Cell {
	cells := make([]Cell, 0, len(v.Viewers)*len(v.Models))
	stored := e.Label
	for i := range v.Viewers {
		for m := range v.Models {
			e.Label = v.Models[m].comparedLabel(stored, set)
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

// mostCompared is how many viewers are compared event by event. Of more, each one's events
// are named.
const mostCompared = 50

// IsCrowd reports whether there are more viewers than anybody compares event by event.
func (v *Visibility) IsCrowd() bool { return len(v.Viewers) > mostCompared }

// Run are neighbours among the items of a session: the first and the last of them.
type Run [2]int

// RunsWhere are the events of a viewer's session for which something holds.
func (v *Visibility) RunsWhere(viewer int, holds func(e *Event) bool) (runs []Run) {
	for i := range v.Events {
		e := &v.Events[i]
		switch last := len(runs) - 1; {
		case e.Session != v.Viewers[viewer].Session || !holds(e):
		case last >= 0 && runs[last][1] == e.Item-1:
			runs[last][1] = e.Item
		default:
			runs = append(runs, Run{e.Item, e.Item})
		}
	}
	return runs
}

// RunWords are the numbers of events, with what stands between the first and the last of a
// run, and between runs.
func RunWords(runs []Run, to, comma string) string {
	words := make([]string, len(runs))
	for i, r := range runs {
		if words[i] = strconv.Itoa(r[0]); r[1] > r[0] {
			words[i] += to + strconv.Itoa(r[1])
		}
	}
	return strings.Join(words, comma)
}

// isDisputed reports whether some viewer sees an event under one model only.
func (v *Visibility) isDisputed(e *Event) bool {
	for i := range v.Viewers {
		if v.ModelsDisagree(e, i) {
			return true
		}
	}
	return false
}

// ModelsDisagree reports whether a viewer sees an event under one of two models only.
func (v *Visibility) ModelsDisagree(e *Event, viewer int) bool {
	return len(v.Models) == 2 && v.Cell(e, viewer, 0).Visible != v.Cell(e, viewer, 1).Visible
}

// coverage lists the events of a session and of those below it, in reading order.
type coverage struct {
	*builder
	shown  *session.Session
	events []Event
}

func newCoverage(b *builder, shown *session.Session) *coverage {
	s := &coverage{builder: b, shown: shown}
	b.byID = map[string]*session.Session{}
	started := map[*session.Session]map[int][]*session.Session{}
	depths := map[*session.Session]func(i int) int{}
	for _, rs := range b.trace.Sessions {
		if b.byID[rs.Session.ID] == nil {
			b.byID[rs.Session.ID] = rs.Session
		}
		started[rs.Session] = startedBy(rs)
		depths[rs.Session] = func(i int) int { return rs.Steps[i].Depth }
	}
	var add func(s *session.Session)
	below := func(list []*session.Session) {
		for _, child := range list {
			if !b.drawn[child.ID] {
				add(child)
			}
		}
	}
	add = func(of *session.Session) {
		b.drawn[of.ID] = true
		kept := keptIn(of)
		s.events = slices.Grow(s.events, len(of.Items))
		for i := range of.Items {
			e := Event{Session: of, Item: i, Depth: depths[of](i), kept: kept(i)}
			if notes := b.notes[of.ItemPlace(i)]; len(notes) > 0 {
				e.Rules = rulesOf(notes)
			}
			s.events = append(s.events, e)
			if child := b.byID[of.Items[i].Child()]; child != nil && of.Items[i].Kind == session.SubSession {
				below([]*session.Session{child})
			}
			below(started[of][i])
		}
		below(of.Children)
	}
	add(shown)
	return s
}

// keptIn says why the reader passes over an item of a session, whoever asks.
func keptIn(s *session.Session) func(i int) branch.Reason {
	start, last := s.RequestStart(), s.LastSummary()
	for i := range s.Items {
		if s.Items[i].Flags.Has(session.Compacted) {
			start = 0 // what is covered says so itself, and there may be several summaries
			break
		}
	}
	return func(i int) branch.Reason {
		it := &s.Items[i]
		switch {
		case it.Flags.Has(session.Archived):
			return branch.Archived
		case it.Flags.Has(session.Rewound):
			return branch.Rewound
		case it.Flags.Has(session.Compacted):
			return branch.Compacted
		case it.Kind == session.Summary && it.Text != 0 && !it.Flags.Has(session.Skipped):
			if i < last && start > 0 {
				return branch.Compacted
			}
			return branch.None
		case !it.OnWire():
			return branch.HiddenKind
		case i < start:
			return branch.Compacted
		}
		return branch.None
	}
}

// Stored is the item itself.
func (e *Event) Stored() *session.Item { return &e.Session.Items[e.Item] }

// Key is the record as findings name it.
func (e *Event) Key() string { return e.Session.ItemRef(e.Item).Row() }

// Who is the speaker: user, system, the agent, or what the item is.
func (e *Event) Who() string {
	it := e.Stored()
	if it.Kind != session.Message {
		return map[session.Kind]string{session.SubSession: "sub-session", session.Summary: "summary", session.Other: "record"}[it.Kind]
	}
	return speakerName(it)
}

// modelEvent is the event as a model is asked about it.
func (e *Event) modelEvent() branch.Event {
	asked := rules.EventOf(e.Session, e.Item)
	asked.Kept = e.kept
	return asked
}

// isSpoken reports whether an agent produced the event itself, in its own session.
func (e *Event) isSpoken() bool {
	it := e.Stored()
	return it.Kind == session.Message && e.Depth == 0 &&
		(it.Role == session.Assistant || it.Role == session.Tool && it.Agent() != "")
}

// Text is what the event says, stored and whole: its text, else the texts of its
// results.
func (e *Event) Text() string {
	it := e.Stored()
	text := textOf(it)
	if it.Kind == session.Other {
		_, text = otherLabel(e.Session, e.Item)
	}
	for i := range it.Results {
		if r := it.Results[i].Text; text == "" {
			text = r
		} else if r != "" {
			text += "\n" + r
		}
	}
	return text
}

// About is what the event says or, where it says nothing, does. It may hold
// stored text.
func (e *Event) About() string {
	if text := e.Text(); text != "" {
		return text
	}
	it := e.Stored()
	switch {
	case it.Kind == session.Summary:
		return summaryLabel(e.Session, e.Item, 0)
	case it.Kind == session.Other:
		label, _ := otherLabel(e.Session, e.Item)
		return label
	case it.Kind == session.SubSession:
		return "sub-session " + rules.ShortID(it.Child())
	case len(it.Calls) == 1:
		c := callOf(&it.Calls[0])
		return c.Label() + " " + c.About
	case len(it.Calls) > 1:
		return ui.Count(len(it.Calls), "call")
	}
	return ""
}

// unknownBranch names the branches that there are.
func (s *coverage) unknownBranch(label string) error {
	return problem.New(problem.Usage, "Its branches: "+s.branchList()+".",
		"session %s has no event on branch %q", rules.ShortID(s.shown.ID), label)
}

// unusedNote says that a viewer is one that has stored nothing, which may be a slip of
// the keyboard; "" for all others.
func (s *coverage) unusedNote(one *reading) string {
	if one.last != nil || one.branch == "" {
		return ""
	}
	return "nothing is stored on branch " + strconv.Quote(one.branch) + ". This is what an agent on that branch would see. Branches of the session: " + s.branchList()
}

func (s *coverage) branchList() string {
	var labels []string
	for i := range s.events {
		labels = append(labels, viewersOf(s.events[i].Stored().Branch())...)
	}
	return listWords(labels)
}

// noViewerError says that a question names no viewer of the session.
func (s *coverage) noViewerError(q Question) error {
	var agents []string
	for i := range s.events {
		if e := &s.events[i]; e.isSpoken() {
			agents = append(agents, agentOf(e.Stored()))
		}
	}
	known := "Its agents: " + listWords(agents) + "."
	short := rules.ShortID(s.shown.ID)
	switch {
	case q.Agent != "" && q.Branch != nil && slices.Contains(agents, q.Agent):
		return problem.New(problem.Usage, "Leave --branch out to see where it spoke.",
			"agent %q never spoke on branch %q of session %s", q.Agent, *q.Branch, short)
	case q.Agent != "":
		return problem.New(problem.Usage, known, "session %s has no event of agent %q", short, q.Agent)
	}
	return problem.New(problem.Usage, "`--branch ''` shows what an agent without a branch would see.", "no agent has spoken in session %s yet", short)
}

// listWords lists the different words of a list, as many as people read.
func listWords(words []string) string {
	const most = 20
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "" })
	slices.Sort(words)
	words = slices.Compact(words)
	if len(words) == 0 {
		return "none"
	}
	text := strings.Join(words[:min(len(words), most)], ", ")
	if len(words) > most {
		text += ", …"
	}
	return text
}

// reasons are the reasons in words.
var reasons = map[branch.Reason]string{
	branch.Root:            "root event, visible to all",
	branch.Ancestor:        "ancestor",
	branch.Own:             "own branch",
	branch.Unbranched:      "a viewer without a branch sees all",
	branch.OtherInvocation: "other invocation",
	branch.Sibling:         "sibling branch",
	branch.Child:           "child branch",
	branch.Unrelated:       "unrelated branch",
	branch.Archived:        "archived",
	branch.OutOfScope:      "outside its scope",
	branch.Rewound:         "rewound",
	branch.Compacted:       "covered by a summary",
	branch.HiddenKind:      "not sent to a model",
	branch.TokenSubset:     "all its tokens are held",
	branch.TokenMissing:    "a token is missing",
	branch.ForkDisjoint:    "other side of a fork",
	branch.OwnSession:      "own session",
	branch.OtherSession:    "other session",
}

// Words say why a viewer sees an event or not.
func (c Cell) Words(viewer *Viewer, e *Event) string {
	parent, event := viewer.Branch[:max(strings.LastIndexByte(viewer.Branch, '.'), 0)], e.Stored().Branch()
	switch {
	case c.Reason == branch.Ancestor && parent == event:
		return "direct ancestor"
	case c.Visible && (c.Reason == branch.Sibling || c.Reason == branch.Unrelated && strings.HasPrefix(viewer.Branch, event)):
		return reasons[c.Reason] + ", but its text is a prefix"
	}
	return reasons[c.Reason]
}

// ReasonWords say why, for no viewer in particular.
func ReasonWords(r branch.Reason) string { return reasons[r] }

// BranchLabel is a branch for people: a path as it is stored, names, a set in braces, "–" for
// none.
func BranchLabel(label string) string {
	parsed := branch.ParseLabel(label)
	switch {
	case parsed.Tokens != nil:
		return SetWords(parsed.Tokens)
	case parsed.Names != nil:
		return strings.Join(parsed.Names, ", ")
	case label == "":
		return "–"
	}
	return label
}

// SetWords are a set of tokens: "{1,3}".
func SetWords(tokens branch.Set) string {
	text := strings.Trim(branch.Label{Tokens: branch.JoinSets(tokens)}.String(), "{}")
	return "{" + strings.Trim(strings.TrimPrefix(text, `"tokens":`), "[]") + "}"
}

// Name is a viewer for people: "orch.researcher".
func (v *Viewer) Name() string {
	switch {
	case v.Key == v.Session.ID:
		return strings.TrimSpace(v.Agent + " in session " + rules.ShortID(v.Key))
	case v.Key == "" && v.Agent != "":
		return v.Agent + ", without a branch"
	case v.Key == "":
		return "an agent without a branch"
	case strings.HasPrefix(v.Branch, "{") || branch.ParseLabel(v.Branch).Names != nil:
		return BranchLabel(v.Branch) + strings.TrimPrefix(v.Key, v.Branch)
	}
	return v.Key
}

// Head says which model decides, and whose reader goes by it: "path (Spring AI
// Session)".
func (m *Model) Head(st *session.Store) string {
	switch {
	case m.Recomputed:
		return m.Name + ", computed from paths"
	case m.Own:
		return m.Name + " (" + st.Title + ")"
	case st.BranchModel != "":
		return m.Name + " (" + st.Title + " uses " + st.BranchModel + ")"
	}
	return m.Name
}

// Remarks are what has to be known of the models, in sentences.
func (v *Visibility) Remarks(st *session.Store) []string {
	var said []string
	for i := range v.Models {
		switch m := &v.Models[i]; {
		case m.Name == "raw-prefix":
			readers := st.PrefixReaders
			if readers == "" {
				readers = "adk-python up to 1.4 and some later releases, adk-go 0.1 and adk-java up to 1.8.0"
			}
			said = append(said, "raw-prefix is how older versions decided ("+readers+"): a branch counts as an ancestor if the viewer's branch begins with its text.")
		case m.Recomputed:
			said = append(said, "The token sets are computed from paths and order. Their numbers can differ from those of the runtime, because an agent that stored nothing took a token too.")
			if m.Unreadable > 0 {
				said = append(said, countEvents(m.Unreadable)+" a path that is not a list of pairs (parallel agent, child), so its set cannot be computed. The model tokens shows such events to all.")
			}
		}
	}
	return said
}

func countEvents(n int) string {
	if n == 1 {
		return "1 event has"
	}
	return ui.Count(n, "event") + " have"
}
