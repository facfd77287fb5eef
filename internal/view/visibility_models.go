package view

import (
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/branch"
	"github.com/sessctl/sessctl/internal/problem"
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

// label is the branch of an event as the model compares it.
func (m *Model) label(stored, set string) string {
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
	modelSession = "session"
)

// compares says which forms of labels a model can tell apart; one that is not
// here needs no labels.
var compares = map[string][]string{
	modelPath:    {modelPath},
	"raw-prefix": {modelPath},
	modelTokens:  {modelTokens, modelPath},
	modelForks:   {modelForks},
}

// formNames are the forms for people, in the order in which they decide about the
// model where nothing else does.
var formNames = []struct{ form, name string }{
	{modelForks, "sets of forks"},
	{modelTokens, "sets of tokens"},
	{modelPath, "paths"},
}

// forms are the forms of the branches that the events and the viewer have.
func (s *survey) forms(q Question) map[string]bool {
	forms, seen := map[string]bool{}, map[string]bool{"": true}
	var labels []string
	if q.Branch != nil {
		labels = append(labels, *q.Branch)
	}
	for i := range s.events {
		labels = append(labels, s.events[i].Stored().Branch)
	}
	for _, label := range labels {
		if seen[label] {
			continue
		}
		seen[label] = true
		switch parsed := branch.Parse(label); {
		case parsed.Tokens != nil:
			forms[modelTokens] = true
		case parsed.Forks != nil:
			forms[modelForks] = true
		default:
			forms[modelPath] = true
		}
	}
	return forms
}

// models are the models that a question names, ready to be asked.
func (s *survey) models(q Question) ([]Model, error) {
	forms := s.forms(q)
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
	if none := len(s.forms(Question{})) == 0; none && unsaid && (q.Tokens || len(forms) > 0) {
		return nil, problem.New(problem.Usage, "`--all` shows what each of its agents sees.",
			"no event of the session %s has a branch", rules.Short(s.shown.ID))
	}
	var models []Model
	for _, name := range names {
		if !fits(name, forms) {
			return nil, misfit(name, forms)
		}
		m := Model{Name: name, Own: name == s.reader(), rule: rules.ReaderOf(s.in.Store, name)}
		if name == modelTokens && !forms[modelTokens] {
			m.Recomputed, m.Unreadable = true, s.recompute()
		}
		models = append(models, m)
	}
	return models, nil
}

// reader is the model of the store's own reader. A store without one keeps agents
// apart by sessions.
func (s *survey) reader() string {
	if name := s.in.Store.BranchModel; name != "" {
		return name
	}
	return modelSession
}

// defaultModel is the store's own, unless the labels are of a form that it cannot
// compare or that it says nothing of.
func (s *survey) defaultModel(forms map[string]bool) string {
	if name := s.in.Store.BranchModel; name != "" && fits(name, forms) {
		return name
	}
	for _, f := range formNames {
		if forms[f.form] {
			return f.form
		}
	}
	return modelSession
}

func fits(model string, forms map[string]bool) bool {
	able := compares[model]
	return len(forms) == 0 || len(able) == 0 || slices.ContainsFunc(able, func(form string) bool { return forms[form] })
}

func misfit(model string, forms map[string]bool) error {
	var there, useful []string
	for _, f := range formNames {
		if forms[f.form] {
			there = append(there, f.name)
		}
	}
	for _, m := range branch.Models {
		if fits(m.Name, forms) {
			useful = append(useful, m.Name)
		}
	}
	last := len(useful) - 1
	return problem.New(problem.Usage, "Use "+strings.Join(useful[:last], ", ")+" or "+useful[last]+".",
		"the branches of this session are %s, which the model %s cannot compare", strings.Join(there, " and "), model)
}

// recompute computes the token sets of all events from their paths and order, and
// counts those that it cannot read.
func (s *survey) recompute() (unreadable int) {
	bySession := map[*session.Session][]int{}
	var order []*session.Session
	for i := range s.events {
		of := s.events[i].Session
		if bySession[of] == nil {
			order = append(order, of)
		}
		bySession[of] = append(bySession[of], i)
	}
	for _, of := range order {
		var events []branch.Event
		for _, i := range bySession[of] {
			events = append(events, s.events[i].asked())
		}
		sets := branch.Recompute(events)
		for n, i := range bySession[of] {
			s.events[i].Set = sets.Labels[n]
		}
		unreadable += sets.Unreadable
	}
	return unreadable
}
