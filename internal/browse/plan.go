package browse

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/sessctl/sessctl/internal/ui"
)

// plan is a change of a store that was proposed, and what became of it.
type plan struct {
	*Proposal
	title string
	text  page
	whole []string // the lines of the text where it is folded, else nil
	busy  bool     // it is being carried out
	done  bool
}

// carriedOut is what a change has led to.
type carriedOut struct {
	said string
	err  error
}

// exported is the file that a session was written into.
type exported string

// planRepair plans a repair of a store.
func (m *Model) planRepair(store string, ids []string) tea.Cmd {
	width := m.width
	return m.runJob("planning the repair of "+filepath.Base(store), func(ctx context.Context, _ func(tea.Msg)) tea.Msg {
		p, err := m.Program.Plan(ctx, store, ids, width)
		return orFailed(p, err)
	})
}

// planUndo proposes to undo the last repair of a store.
func (m *Model) planUndo(store string) tea.Cmd {
	width := m.width
	return m.runJob("looking for the last repair of "+filepath.Base(store), func(ctx context.Context, _ func(tea.Msg)) tea.Msg {
		p, err := m.Program.Undo(ctx, store, width)
		return orFailed(p, err)
	})
}

// repairedPlan is a plan for the lens that shows the session as it will be.
type repairedPlan struct {
	of *opened
	*Proposal
}

// planSides plans the repair of the session on top for its lens.
func (m *Model) planSides() tea.Cmd {
	o, width := m.top(), m.panes().main-2
	return m.runJob("planning its repair", func(ctx context.Context, _ func(tea.Msg)) tea.Msg {
		p, err := m.Program.Plan(ctx, o.store, []string{o.id}, width)
		if err != nil {
			return failed{err}
		}
		return repairedPlan{o, p}
	})
}

// showProposal shows what would be changed.
func (m *Model) showProposal(p *Proposal) {
	if m.plan != nil && m.plan.busy { // whose outcome is to be seen
		return
	}
	m.plan = &plan{Proposal: p, title: p.Title + " of " + filepath.Base(p.Store), text: page{lines: strings.Split(p.Text, "\n")}}
}

// fold leaves the headings of the sessions and what is said of all, or shows the rest again.
func (p *plan) fold() {
	if p.whole != nil {
		p.text, p.whole = page{lines: p.whole}, nil
		return
	}
	p.whole = p.text.lines
	p.text = page{lines: slices.DeleteFunc(slices.Clone(p.whole), func(line string) bool { return strings.HasPrefix(ansi.Strip(line), " ") })}
}

// askToCarryOut asks for a word that nobody types by mistake.
func (m *Model) askToCarryOut() tea.Cmd {
	p := m.plan
	m.prompt = &prompt{ask: "Type yes to change " + filepath.Base(p.Store) + ": ", done: func(word string) tea.Cmd {
		if word != "yes" {
			m.note = "Nothing was changed."
			return nil
		}
		p.busy = true
		return m.runJob("changing "+filepath.Base(p.Store), func(ctx context.Context, _ func(tea.Msg)) tea.Msg {
			said, err := p.CarryOut(ctx)
			return carriedOut{said, err}
		})
	}}
	return nil
}

// showOutcome shows what became of a change, and reads anew what it may have changed.
func (m *Model) showOutcome(msg carriedOut) tea.Cmd {
	p := m.plan
	p.busy, p.done = false, true
	var lines []string
	for line := range strings.Lines(msg.said) { // whole: the command that undoes it is there
		lines = append(lines, strings.Split(lipgloss.Wrap(strings.TrimRight(line, "\n"), max(m.width, 8), ""), "\n")...)
	}
	if words := m.hide(errorWords(msg.err)); words != "" {
		lines = append(lines, ui.WrapWhole(words, m.width)...)
	}
	p.text, p.whole = page{lines: lines}, nil
	p.title += ": result"
	clear(m.sessions.marked)
	m.open = m.open[:min(len(m.open), 1)] // the agents below it are of the tree as it was
	return m.rereadAll()
}

// export writes the session that is shown.
func (m *Model) export(redact bool) tea.Cmd {
	o := m.top()
	return m.runJob("writing", func(ctx context.Context, _ func(tea.Msg)) tea.Msg {
		file, err := m.Program.Export(ctx, o.store, o.id, redact)
		return orFailed(exported(file), err)
	})
}
