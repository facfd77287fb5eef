// Package browse is the browser for a terminal: the sessions of stores, one session with the tree
// of its agents, and the plan of a repair. It has no logic of its own: what it shows are values of
// check, view and repair, printed as their commands print them, and what it changes the commands
// change, which are its Program.
package browse

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// Program is what the browser asks of the commands. Each method may be called beside others, and
// ends when its context does.
type Program interface {
	// List has the sessions of a store, without what is wrong with them.
	List(ctx context.Context, store string) (*render.ListedStore, error)
	// Check tells of every conversation of a store what was found in it, and without a row what was
	// found in the store itself.
	Check(ctx context.Context, store string, tell func(*render.Row, []*check.Finding)) error
	// Read has the tree of a session with its texts, judged for a provider, "" for its own.
	Read(ctx context.Context, store, id, provider string) (view.Input, error)
	// Plan plans the repair of the trees of these sessions, or of all without one.
	Plan(ctx context.Context, store string, ids []string, width int) (*Proposal, error)
	// Undo proposes to take the last repair of a store back.
	Undo(ctx context.Context, store string, width int) (*Proposal, error)
	// Export writes a session into a new file, whose name it returns.
	Export(ctx context.Context, store, id string, redact bool) (string, error)
	// Stamp changes when a store does; "" where nobody can tell.
	Stamp(store string) string
}

// Proposal is a change of a store that waits for a yes.
type Proposal struct {
	Store string
	Title string            // "Repair"
	Text  string            // what the command prints
	Sides document.Document // the sessions before and after
	// CarryOut makes the change and says what its command prints; nil where there is none.
	CarryOut func(ctx context.Context) (said string, err error)
}

// Options say how a browser begins.
type Options struct {
	Program Program
	Stores  []string
	Home    string                   // the folder that ~ stands for
	Hide    func(text string) string // takes passwords out of what is said of errors; nil for none
	Color   bool
	Watch   time.Duration // how often it is looked whether a store changed; 0 for never
	In      io.Reader
	Out     io.Writer
}

// Run shows the browser until somebody leaves it or the context ends. What it began has ended
// when it returns.
func Run(ctx context.Context, opts Options) error {
	ctx, leave := context.WithCancel(ctx)
	m := New(ctx, opts)
	profile := colorprofile.ASCII
	if opts.Color {
		profile = colorprofile.ANSI
	}
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(opts.In), tea.WithOutput(opts.Out), tea.WithoutSignalHandler(), tea.WithColorProfile(profile)).Run()
	interrupted := ctx.Err()
	leave()
	m.jobs.wait()
	return cmp.Or(interrupted, m.nothing, err)
}

// Model is the state of the browser. Update takes everything from the message that it is given:
// what reads or writes is in the commands that it returns.
type Model struct {
	Options
	ctx  context.Context // ends when the browser is left
	jobs *jobs

	width, height int

	sessions sessions
	open     []*opened // a session, and the agents below it that were entered
	plan     *plan     // over these
	page     *page     // over all of them
	prompt   *prompt   // at the foot
	running  []job     // the last one is what Ctrl-C stops
	note     string    // what happened last
	nothing  error     // why there is nothing to show: no store could be read
}

// New is a browser that has shown nothing yet.
func New(ctx context.Context, opts Options) *Model {
	return &Model{
		Options: opts, ctx: ctx, jobs: &jobs{}, width: 80, height: 24,
		sessions: sessions{about: map[*render.Row]*entry{}, known: map[sessionKey]*render.Row{}, marked: map[*render.Row]bool{}, stamps: map[string]string{}},
	}
}

// Init lists the sessions, and checks them then.
func (m *Model) Init() tea.Cmd { return tea.Batch(m.readStores(), m.watchStores()) }

// What happened: a job told something, with what goes on telling, or ended.
type (
	told struct {
		id     int
		change func() tea.Cmd // of the state
		next   tea.Cmd
	}
	looked struct{ stamps map[string]string } // what stores are by now
)

// Update changes the state by one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.layOutAgain()
	case tea.KeyPressMsg:
		return m, m.pressKey(msg.String(), msg.Text)
	case tea.MouseClickMsg:
		return m, m.clickAt(msg)
	case tea.MouseWheelMsg:
		m.turnWheel(msg)
	case tea.PasteMsg:
		if m.prompt != nil {
			m.prompt.text += strings.Join(strings.Fields(msg.Content), " ")
		}
	case told:
		if !slices.ContainsFunc(m.running, func(j job) bool { return j.id == msg.id }) { // it was given up
			return m, msg.next
		}
		if msg.next == nil {
			m.endJobs(func(j job) bool { return j.id == msg.id })
		}
		return m, tea.Batch(msg.change(), msg.next)
	case looked:
		m.sessions.noteChanges(msg.stamps)
		return m, m.watchStores()
	}
	return m, nil
}

func (m *Model) watchStores() tea.Cmd {
	if m.Watch == 0 {
		return nil
	}
	return tea.Tick(m.Watch, func(time.Time) tea.Msg {
		stamps := map[string]string{}
		for _, store := range m.Stores {
			stamps[store] = m.Program.Stamp(store)
		}
		return looked{stamps}
	})
}

// noteError says at the foot what went wrong, if something did.
func (m *Model) noteError(err error) {
	if err != nil {
		m.note = m.hideSecrets(errorWords(err))
	}
}

func (m *Model) hideSecrets(text string) string {
	if m.Hide == nil {
		return text
	}
	return m.Hide(text)
}

// errorWords are an error for people, with what to do about it.
func errorWords(err error) string {
	if err == nil {
		return ""
	}
	if known, ok := errors.AsType[*problem.Error](err); ok {
		return ui.JoinSentences(ui.AsSentence(known.What), ui.AsSentence(known.Next))
	}
	if errors.Is(err, context.Canceled) {
		return "Stopped."
	}
	return ui.AsSentence(err.Error())
}

// leaveBrowser ends the browser, unless a store is being changed.
func (m *Model) leaveBrowser() tea.Cmd {
	if m.plan != nil && m.plan.busy {
		m.note = "The store is being changed: Ctrl-C stops that."
		return nil
	}
	return tea.Quit
}

// stopOrLeave stops what runs, or ends the browser.
func (m *Model) stopOrLeave() tea.Cmd {
	if n := len(m.running); n > 0 {
		m.running[n-1].cancel()
		m.note = "Stopping " + m.running[n-1].what + "…"
		return nil
	}
	return tea.Quit
}

// goBack leaves what was entered last.
func (m *Model) goBack() {
	switch {
	case m.page != nil:
		m.page = nil
	case m.plan != nil && m.plan.busy:
		m.note = "The store is being changed: Ctrl-C stops that."
	case m.plan != nil:
		m.plan = nil
	case len(m.open) > 0 && m.topSession().inTree:
		m.topSession().inTree = false
	case len(m.open) > 0:
		m.open = m.open[:len(m.open)-1]
		m.layOutAgain()
	}
}

func (m *Model) topSession() *opened { return m.open[len(m.open)-1] }

// layOutAgain lays out anew what depends on the size of the screen.
func (m *Model) layOutAgain() {
	if len(m.open) > 0 {
		m.topSession().printLens(m.shareScreen())
	}
}

func (m *Model) rereadAll() tea.Cmd {
	var again tea.Cmd
	if len(m.open) > 0 {
		o := m.topSession()
		again = m.readSession(o.store, o.id, o.provider, true)
	}
	return tea.Batch(m.readStores(), again)
}
