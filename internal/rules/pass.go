package rules

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

// Pass is what a rule may look at: one tree with its replay and pairing, the
// store alone, or a recording alone (Subjects is empty then).
type Pass struct {
	Store    *session.Store
	Tree     *session.Tree
	Subjects []*Subject // one a session, in tree order
	// Viewers are who sends requests: a session's subject, or in its place one for
	// each agent and branch of a session that several agents share.
	Viewers []*Subject
	Trace   *replay.Trace

	Compared *replay.Comparison // with the recording of the tree's run, nil without one

	Recording *recording.Result // what the pass is about, nil for a store

	judge     Judge
	bySession map[*session.Session]*Subject
	astray    map[[2]string]bool // of sessions, the calls of which something stands in another one

	Rule    *Rule
	found   []*Finding      // of the rule
	Indexes map[place][]int // indexes of found
	report  func(*Finding)
	Known   memo
	retold  []*Rule // that may find what a comparison tells, too
}

// Judge says for whom a request is judged. The zero value asks the provider
// that each session hints at, about the session with a next message of the user.
type Judge struct {
	Profiles []*Profile // none: each session's own hint
	AsIs     bool       // the stored messages alone are the request

	Isolation *Isolation // nil: the usual limits
}

// Subject is one session of the tree with what was computed of it.
type Subject struct {
	*session.Session
	Replay *replay.Session
	Pairs  *pairing.Pairing // of the items that the replay persists
	Start  int              // index of the first item that the next request sends
	Closed bool             // a child that is never sent to a model again
	// Model is the one that gave the last answer that the session keeps, "" when
	// unknown. A leaked answer is another session's, and so is its model.
	Model string
	// Profiles are those that judge the session, and Hint why, when nobody
	// named one.
	Profiles []*Profile
	Hint     string
	// Parted are the pairs of which one half is archived and the other is not.
	Parted []pairing.Pair

	Whole    *Subject        // of which this is one viewer, nil for a session's own subject
	who      Viewer          // of a viewer
	Indexes  []int           // of a viewer: where its items stand in the session
	Strayed  map[string]bool // of a viewer: ids of calls whose result only another one is shown
	sketched bool            // a viewer that is not shown everything: numbers of messages are not known

	gathers  bool // the runtime puts late results behind their calls
	last     bool // of several results of a call it sends the last one
	asIs     bool // nothing new is said behind the stored messages
	Mender   *session.Sanitiser
	stops    string // made by arrangeMessages: see StopReason
	Caller   *replay.Delegation
	raw      *pairing.Pairing
	refused  map[readingBy]*Refused // made by Refused
	numbers  [Flat + 1][]int        // made by wireIndex
	stored   []int                  // made by arrangeMessages: the items that could be messages
	arranged []Sent                 // made by arrangeMessages, where the runtime arranges them
	sent     []bool                 // made by arrangeMessages: the items that the messages have
	Known    memo
}

// NewPass prepares the pass of a tree; report receives what the rules find.
func NewPass(store *session.Store, tree *session.Tree, judge Judge, report func(*Finding)) *Pass {
	p := &Pass{Store: store, Tree: tree, judge: judge, report: report}
	if tree != nil {
		p.Trace = replay.TraceStored(tree)
		p.prepareSubjects()
	}
	return p
}

// NewComparisonPass prepares the pass of a stored tree beside the recording of its
// run, which knows what leaked. Of all rules, those that retell differences are asked
// for them, whichever rules were chosen to run.
func NewComparisonPass(all []*Rule, store *session.Store, tree *session.Tree, compared *replay.Comparison, judge Judge, report func(*Finding)) *Pass {
	p := &Pass{Store: store, Tree: tree, Trace: compared.Trace, Compared: compared, judge: judge, report: report}
	for _, r := range all {
		if r.Retells != nil {
			p.retold = append(p.retold, r)
		}
	}
	p.prepareSubjects()
	return p
}

// NewRecordingPass prepares the pass of a recorded stream; source is where it was
// read.
func NewRecordingPass(source *session.Store, read *recording.Result, report func(*Finding)) *Pass {
	return &Pass{Store: source, Recording: read, report: report}
}

// prepareSubjects makes the subjects and viewers of the tree.
func (p *Pass) prepareSubjects() {
	for i, s := range p.Tree.Sessions {
		subject := p.newSubject(s, p.Trace.Sessions[i])
		subject.Closed, subject.Caller = p.isClosed(s), p.Trace.Callers[s]
		p.Subjects = append(p.Subjects, subject)
	}
	p.bySession = make(map[*session.Session]*Subject, len(p.Subjects))
	byID := make(map[string]*Subject, len(p.Subjects))
	for _, s := range p.Subjects { // parents come first
		byID[s.ID] = s
		p.setProfiles(s, byID[s.Parent])
		for _, v := range p.splitViewers(s) {
			p.setProfiles(v, s)
			p.Viewers = append(p.Viewers, v)
		}
	}
}

// setProfiles sets who judges a subject: those that were asked, else the one that it
// hints at, else its parent's.
func (p *Pass) setProfiles(s, parent *Subject) {
	p.bySession[s.Session] = s
	if s.Profiles != nil {
		return
	}
	if s.Profiles = p.judge.Profiles; len(s.Profiles) == 0 {
		own, why := s.hintProfile(p.Store, parent)
		s.Profiles, s.Hint = []*Profile{own}, why
	}
}

// newSubject computes what a session tells by itself.
func (p *Pass) newSubject(s *session.Session, rs *replay.Session) *Subject {
	subject := &Subject{Session: s, Replay: rs, Start: s.RequestStart(), Model: lastModel(s, rs), gathers: p.Store.GathersResults, last: p.Store.LastResult, asIs: p.judge.AsIs, Mender: p.Store.ResumptionOf(s).Sanitiser}
	p.pairCalls(subject, func(i int) bool { return rs.Steps[i].Action == replay.Persist })
	return subject
}

// isClosed reports whether s is a child that its runtime never sends to a model
// again: such a child's broken pairs are history, not a failing request.
func (p *Pass) isClosed(s *session.Session) bool {
	if !p.Store.ChildrenClosed || s.Parent == "" {
		return false
	}
	d := p.Trace.Callers[s]
	running := d != nil && d.Result < 0 && d.End == len(d.Session.Items)
	return !running || p.Store.WriterOf(s) == session.WriterDead
}

// FindItem starts a finding at an item, with the rule's own severity.
func (p *Pass) FindItem(s *session.Session, item int) Finding {
	return Finding{Defect: Defect{Severity: p.Rule.Severity, Place: s.ItemPlace(item), Agent: s.Items[item].Agent()}, Session: s, Ref: s.ItemRef(item)}
}

// FindItems starts the one finding about several items, of which there is at least one.
func (p *Pass) FindItems(s *session.Session, items []int) Finding {
	f := p.FindItem(s, items[0])
	f.Items = items
	return f
}

// ReportItems reports items in the words of word, if there are any.
func (p *Pass) ReportItems(s *session.Session, items []int, word func(*Finding)) {
	if len(items) > 0 {
		f := p.FindItems(s, items)
		word(&f)
		p.Report(f)
	}
}

// FindSession starts a finding at a session's own record.
func (p *Pass) FindSession(s *session.Session) Finding {
	return Finding{Defect: Defect{Severity: p.Rule.Severity, Place: s.ItemPlace(-1)}, Session: s, Ref: s.Ref()}
}

// SubjectOf is the subject of a session of the tree.
func (p *Pass) SubjectOf(s *session.Session) *Subject { return p.bySession[s] }

// StoredPairs is the pairing of the items as they are stored, leaks included: what
// the next request would really hold.
func (s *Subject) StoredPairs() *pairing.Pairing {
	if s.raw == nil {
		s.raw = pairing.ClaimResults(s.Items, func(i int) bool { return i >= s.Start })
	}
	return s.raw
}

// ReportFaults makes the Run of a rule that reports every fault of one kind: in the words of the
// fault itself, unless word has others. It may also add a fix, see SetDefault and SetRemedy.
func ReportFaults(kind session.FaultKind, word ...func(*Pass, *Finding, *session.Fault)) func(*Pass) {
	return func(p *Pass) {
		type field struct {
			session.Ref
			name string
		}
		told := map[field]int{} // several faults of one field are findings of their own
		report := func(s *session.Session, f *session.Fault) {
			if f.Kind != kind {
				return
			}
			found := Finding{Defect: Defect{Severity: p.Rule.Severity, Place: session.Place{Item: -1}}, Session: s}
			if s != nil && f.Item >= 0 {
				found = p.FindItem(s, f.Item)
			}
			found.Ref, found.Message = f.Ref, f.Detail
			at := field{f.Ref, f.Field}
			found.Field, found.Count, found.Nth, found.Calls = f.Field, f.Count, told[at], f.Calls
			found.Hides, found.Deep = f.Hides, f.Deep || p.Rule.Deep
			found.Unloads = s != nil && (f.Unloads || f.Kind == session.Undecodable && f.Remedy == "" && !f.Passed)
			told[at]++
			if f.Harmless {
				found.Severity = Info
			}
			for _, add := range word {
				add(p, &found, f)
			}
			p.Report(found)
		}
		if p.Tree == nil {
			for i := range p.Store.Faults {
				report(nil, &p.Store.Faults[i])
			}
		}
		for _, s := range p.Subjects {
			for i := range s.Faults {
				report(s.Session, &s.Faults[i])
			}
		}
	}
}

// SetRemedy adds what a person can do about a fault, where its reader knows that.
func SetRemedy(_ *Pass, found *Finding, f *session.Fault) {
	if f.Remedy != "" {
		found.SetFix(Manual, f.Remedy)
	}
}

// SetDefault adds the fix that writes the documented value of a field.
func SetDefault(found *Finding, f *session.Fault, safety Safety) {
	if f.Default == nil {
		return
	}
	found.SetFix(safety, "set "+f.Field+" to "+QuoteText(*f.Default), session.Edit{Op: session.Set, Ref: f.Ref, Field: f.Field, Value: f.Default})
}

// lastModel is the model that answered last of those whose answers stay, else
// the one that the session's own record names.
func lastModel(s *session.Session, rs *replay.Session) string {
	for i := len(s.Items) - 1; i >= 0; i-- {
		if m := s.Items[i].Model(); m != "" && rs.Steps[i].Action == replay.Persist {
			return m
		}
	}
	return s.Model
}

// FindLine starts a finding about a line of the recording.
func (p *Pass) FindLine(line int64) Finding {
	key := strconv.FormatInt(line, 10)
	return Finding{Defect: Defect{Severity: p.Rule.Severity, Line: key, Place: session.Place{Item: -1}}, Ref: session.Ref{Table: recording.Table, Key: key}}
}

// IsKeptElsewhere reports whether the store holds no item of a session because its
// runtime keeps them in a place of its own, which says so.
func IsKeptElsewhere(s *session.Session) bool { return s.Inseparable != "" && len(s.Items) == 0 }

// IsSpeechless reports whether a session holds no message.
func IsSpeechless(s *session.Session) bool {
	return !slices.ContainsFunc(s.Items, func(it session.Item) bool { return it.OnWire() })
}

// memo holds what is computed of a pass or of a subject when a rule first asks, one
// value a type.
type memo map[reflect.Type]any

// ComputeOnce computes the value of a type, made at the first call.
func ComputeOnce[T any](known *memo, compute func() T) T {
	key := reflect.TypeFor[T]()
	if value, is := (*known)[key]; is {
		return value.(T)
	}
	value := compute()
	if *known == nil {
		*known = memo{}
	}
	(*known)[key] = value
	return value
}
