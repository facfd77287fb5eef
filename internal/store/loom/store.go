// Package loom reads workspaces in the layout of Loom's design: a folder of agents,
// each with its steps and outputs, and the spawn events of a captured event bus. The
// layout is that of design documents (loom-os/loom c34e1de, loom-py/docs/context:
// ISOLATION.md, DESIGN.md); no release of Loom writes it. docs/stores/loom.md says
// what is accepted. Nothing outside the folder is ever read.
package loom

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/forest"
)

// loom is an opened workspace.
type loom struct {
	*index
	facts session.Store
}

// textPrompt is what every prompt builder of Loom does: what was called and what came
// back is written into one text (loom-py cognitive/loop.py and strategies.py; DESIGN.md,
// build_prompt). So nothing that an API minds about calls, results and turns matters.
const textPrompt = "writes steps into the text of its prompt, where no provider minds it"

var adaptations = map[string]string{
	"SC109": textPrompt, "SC110": textPrompt, "SC111": textPrompt, "SC203": textPrompt, "SC204": textPrompt, "SC205": textPrompt,
	"SC206": textPrompt, "SC207": textPrompt, "SC301": textPrompt, "SC302": textPrompt, "SC303": textPrompt, "SC305": textPrompt,
	"SC306": textPrompt, "SC401": textPrompt, "SC402": textPrompt, "SC403": textPrompt, "SC406": textPrompt, "SC506": textPrompt,
}

// Facts implements store.Store.
func (l *loom) Facts() *session.Store { return &l.facts }

// Close implements store.Store. The folder is the caller's.
func (l *loom) Close() error { return nil }

// Trees implements store.Store. The steps of one tree are read at a time; agents come
// in the order of their names.
func (l *loom) Trees(ctx context.Context) iter.Seq2[*session.Tree, error] {
	return func(yield func(*session.Tree, error) bool) {
		if ctx.Err() != nil {
			yield(nil, ctx.Err())
			return
		}
		trees := forest.GroupHeads(l.listHeads())
		for i, tree := range trees {
			trees[i] = nil // the caller's from here on
			looked := map[string]looked{}
			for _, s := range tree.Sessions {
				b := builder{loom: l, history: l.byID[s.ID], session: s, looked: looked}
				if err := b.buildSession(ctx); err != nil {
					yield(nil, err)
					return
				}
			}
			if !yield(tree, nil) {
				return
			}
		}
	}
}

// listHeads lists the sessions without their items. Nothing records a parent with its
// child: it is the one whose spawns name it.
func (l *loom) listHeads() []forest.Head {
	heads := make([]forest.Head, len(l.agents))
	for i, h := range l.agents {
		heads[i].Session = &session.Session{ID: h.id}
		for _, d := range h.delegations {
			if d.child != "" {
				heads[i].Refs = append(heads[i].Refs, d.child)
			}
		}
	}
	return heads
}

// Fill implements store.Store.
func (l *loom) Fill(ctx context.Context, tree *session.Tree) error {
	for _, s := range tree.Sessions {
		for i := range s.Items {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			l.fillItem(s.Agent, &s.Items[i])
		}
	}
	return nil
}

// FillParts implements store.PartFiller.
func (l *loom) FillParts(ctx context.Context, _ *session.Tree) (*store.Parts, error) {
	return &store.Parts{Fill: func(part *session.Tree) error { return l.Fill(ctx, part) }}, nil
}

// builder makes the session of one agent, at the outline level.
type builder struct {
	*loom
	*history
	session *session.Session
	looked  map[string]looked

	rows  []row
	calls map[*delegation]callPlace
}

// row is an item before it has its position.
type row struct {
	item      session.Item
	faults    []session.Fault // without Ref and Item
	step      int             // how many steps stand before it, its own among them
	number    int64           // of a step's first item: the file's number, else -1
	event     bool
	spawn     *delegation // of a call
	answer    *delegation // of a result
	notBefore time.Time   // of a result: when its call was made
}

// callPlace is where the call of a delegation stands.
type callPlace struct {
	id   string
	step int
	time time.Time
}

func (b *builder) buildSession(ctx context.Context) error {
	s := b.session
	s.Agent, s.Delegated, s.Workspace = b.id, b.named, b.realFolder(b.dir)
	b.calls = map[*delegation]callPlace{}
	if err := b.readSteps(ctx); err != nil {
		return err
	}
	b.addEvents()
	b.arrangeItems()
	b.finishSession()
	return ctx.Err()
}

// readSteps makes the items of the history.
func (b *builder) readSteps(ctx context.Context) error {
	files, err := b.listSteps(b.agent)
	if err != nil {
		b.addFault(session.StoreDamaged, historyFolder, "the history of "+b.id+" cannot be read: "+describeReason(err))
	}
	for i, file := range files {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		b.readStep(i+1, file)
	}
	if gaps := nameMissing(files); gaps != "" {
		b.addFault(session.StoreDamaged, historyFolder, "the history of "+b.id+" lacks "+gaps+": what these steps did is lost")
	}
	return nil
}

// readStep makes the items of a file: a call and its result, unless another record
// has that.
func (b *builder) readStep(nth int, file stepFile) {
	r := row{step: nth, number: file.number}
	raw, err := b.readStepFile(file.path)
	if err != nil {
		r.item = otherItem(nil)
		r.faults = []session.Fault{{Kind: session.Undecodable, Field: file.name, Detail: "it cannot be read: " + describeReason(err)}}
		b.addRow(r, keyOf(b.agent, file))
		return
	}
	s, usable, wrong := decodeStep(raw)
	if wrong != nil {
		r.faults = append(r.faults, session.Fault{Kind: wrong.kind, Field: file.name, Detail: wrong.why})
	}
	if !usable {
		r.item = otherItem(raw)
		b.addRow(r, keyOf(b.agent, file))
		return
	}
	r.item = stepItem(b.id, &s, raw)
	r.faults = append(r.faults, s.findFaults(file)...)
	named, made := b.findArgumentFiles(&s), b.findOutcome(&s)
	result := row{step: nth, number: -1, item: observationItem(b.id, &s)}
	d := b.steps[file.path]
	if d != nil {
		r.item.Calls[0].Delegation, r.spawn = d.toModel(), d
		b.calls[d] = callPlace{s.ID, nth, r.item.Time}
	}
	if d == nil || d.isAnswered() {
		r.item.SetOutputs(named)
		result.item.SetOutputs(made)
		b.addRow(r, keyOf(b.agent, file))
		result.answer = d
		b.addRow(result, keyOf(b.agent, file))
		return
	}
	r.item.SetOutputs(append(named, made...))
	b.addRow(r, keyOf(b.agent, file))
}

func (b *builder) addRow(r row, key string) {
	r.item.Key = key
	r.item.DropTexts()
	b.rows = append(b.rows, r)
}

// addFault notes what is wrong with the session as a whole.
func (b *builder) addFault(kind session.FaultKind, field, detail string) {
	b.session.Faults = append(b.session.Faults, session.Fault{Kind: kind, Ref: b.session.Ref(), Item: -1, Field: field, Detail: detail})
}

// findFaults finds what the values of a step say that cannot be.
func (s *step) findFaults(file stepFile) []session.Fault {
	var list []session.Fault
	if _, ok := parseInstant(s.Time); !ok {
		list = append(list, badTime(s.Time))
	}
	if name := strings.TrimSuffix(file.name, path.Ext(file.name)); s.ID != name {
		list = append(list, session.Fault{
			Kind: session.CopiesDiffer, Field: "id",
			Detail: fmt.Sprintf("the file is %s, and the step in it says %.40q; sessctl uses the id from the step and the place from the file name", file.name, s.ID),
		})
	}
	return list
}

// nameMissing names the numbers that lie between those of the files. What a history
// begins with is not known: the design counts from 1, and a counter may go on from
// an earlier run.
func nameMissing(files []stepFile) string {
	var first, count int64
	for i := 1; i < len(files); i++ {
		if gap := files[i].number - files[i-1].number - 1; gap > 0 {
			if count += gap; first == 0 {
				first = files[i-1].number + 1
			}
		}
	}
	switch count {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("step_%03d", first)
	}
	return fmt.Sprintf("%d steps, the first of them step_%03d", count, first)
}

const (
	kindName  = "loom"
	kindTitle = "Loom"
)

// Kind is Loom's row in the table of adapters. A workspace is wherever a program has
// it, so there is no place to look for one.
var Kind = store.Kind{Name: kindName, Title: kindTitle, Folder: true, Detect: detectWorkspace, Open: openWorkspace}

// detectWorkspace looks for steps in the folders of agents. Names alone are a hint; one file
// that says what a step says makes it certain.
func detectWorkspace(ctx context.Context, src *store.Source) store.Detection {
	const enough = 20 // files that are looked into
	if src.Folder == nil {
		return store.Detection{}
	}
	w := newWorkspace(src.Folder)
	agents, _, err := w.listAgents()
	if err != nil {
		return store.Detection{}
	}
	looked := 0
	for _, a := range agents {
		files, _ := w.listSteps(a)
		for _, file := range files {
			if looked++; looked > enough || ctx.Err() != nil {
				return store.Detection{Sure: store.Maybe, Why: "folders of agents with files called step_NNN.json"}
			}
			if data, err := w.readStepFile(file.path); err == nil {
				if _, usable, _ := decodeStep(data); usable {
					return store.Detection{Sure: store.Certain, Why: "folders of agents with steps in history/"}
				}
			}
		}
	}
	if looked > 0 {
		return store.Detection{Sure: store.Maybe, Why: "folders of agents with files called step_NNN.json"}
	}
	return store.Detection{}
}

// openWorkspace finds out who spawned whom: it reads every step and every event once and keeps
// the spawns.
func openWorkspace(ctx context.Context, src *store.Source, opts store.Options) (store.Store, error) {
	if src.Folder == nil {
		return nil, problem.New(problem.Unreadable, "Name the folder that holds the folders of the agents.", "%s is not a folder", src.Path)
	}
	x, err := readIndex(ctx, newWorkspace(src.Folder), opts.Progress)
	if err != nil {
		return nil, err
	}
	return &loom{index: x, facts: x.storeFacts(src.Path)}, nil
}

// describeReason describes why a file of the folder could not be read, without its path.
func describeReason(err error) string {
	switch {
	case errors.Is(err, os.ErrPermission):
		return "permission denied"
	case errors.Is(err, os.ErrNotExist):
		return "it does not exist, or is a link that leads nowhere"
	}
	return problem.Reason(err)
}
