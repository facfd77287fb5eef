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

func (m *Model) planRepair(store string, ids []string) tea.Cmd {
	return m.propose("planning the repair of ", store, func(ctx context.Context, store string, width int) (*Proposal, error) {
		return m.Program.Plan(ctx, store, ids, width)
	})
}

// propose shows what would be changed.
func (m *Model) propose(what, store string, find func(ctx context.Context, store string, width int) (*Proposal, error)) tea.Cmd {
	width := m.width
	return m.runJob(what+filepath.Base(store), func(ctx context.Context, _ func(func())) (func() tea.Cmd, error) {
		p, err := find(ctx, store, width)
		return func() tea.Cmd {
			if m.plan == nil || !m.plan.busy { // else its outcome is to be seen
				m.plan = &plan{Proposal: p, title: p.Title + " of " + filepath.Base(p.Store), text: page{lines: strings.Split(p.Text, "\n")}}
			}
			return nil
		}, err
	})
}

func (m *Model) planUndo(store string) tea.Cmd {
	return m.propose("looking for the last repair of ", store, m.Program.Undo)
}

// planSides plans the repair of the session on top for the lens that shows it as it will be.
func (m *Model) planSides() tea.Cmd {
	o, width := m.topSession(), m.shareScreen().main-2
	return m.runJob("planning its repair", func(ctx context.Context, _ func(func())) (func() tea.Cmd, error) {
		p, err := m.Program.Plan(ctx, o.store, []string{o.id}, width)
		return func() tea.Cmd {
			o.plan = p
			m.layOutAgain()
			return nil
		}, err
	})
}

// toggleSteps leaves the headings of the sessions and what is said of all, or shows the rest again.
func (p *plan) toggleSteps() {
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
		return m.runJob("changing "+filepath.Base(p.Store), func(ctx context.Context, _ func(func())) (func() tea.Cmd, error) {
			said, err := p.CarryOut(ctx)
			return func() tea.Cmd { return m.showOutcome(said, err) }, nil
		})
	}}
	return nil
}

// showOutcome shows what became of a change, and reads anew what it may have changed.
func (m *Model) showOutcome(said string, err error) tea.Cmd {
	p := m.plan
	p.busy, p.done = false, true
	var lines []string
	for line := range strings.Lines(said) { // whole: the command that undoes it is there
		lines = append(lines, strings.Split(lipgloss.Wrap(strings.TrimRight(line, "\n"), max(m.width, 8), ""), "\n")...)
	}
	if words := m.hideSecrets(errorWords(err)); words != "" {
		lines = append(lines, ui.WrapWhole(words, m.width)...)
	}
	p.text, p.whole = page{lines: lines}, nil
	p.title += ": result"
	clear(m.sessions.marked)
	m.open = m.open[:min(len(m.open), 1)] // the agents below it are of the tree as it was
	return m.rereadAll()
}

func (m *Model) exportSession(redact bool) tea.Cmd {
	o := m.topSession()
	return m.runJob("writing", func(ctx context.Context, _ func(func())) (func() tea.Cmd, error) {
		file, err := m.Program.Export(ctx, o.store, o.id, redact)
		return func() tea.Cmd { m.note = "Written: " + file; return nil }, err
	})
}
