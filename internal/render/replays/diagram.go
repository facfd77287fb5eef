package replays

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/replay"
)

// replayDiagram prints a sequence diagram: the user and the sessions are its
// participants, delegations are arrows with an activation, what is stored in the
// session of the run is an arrow, and what else is skipped, is odd or divides the
// models is a note. Participants stand in the order in which they appear. A diagram
// has no place for findings.
type replayDiagram struct {
	*render.ReplayRows
	names map[string]string        // of participants, by session
	alias map[*replay.Frame]string // of delegations that are open
	run   string                   // the run's own participant
	held  *recording.Row           // a user's message to a session whose agent has not spoken
	open  []openArrow
	notes []string // that wait for more of their kind
	over  string   // their participant
	print document.Printer
	steps document.Diagram // that are not printed yet
}

// openArrow is a delegation that is open: the return arrow goes the other way.
type openArrow struct {
	frame          *replay.Frame
	call, from, to string
}

func newReplayDiagram(opts render.ReplayOptions) *replayDiagram {
	opts.All = false
	d := &replayDiagram{names: map[string]string{}, alias: map[*replay.Frame]string{}}
	d.ReplayRows = render.NewReplayRows(opts, opts.Screen.Plain(), func(r *recording.Row) error {
		d.drawRow(r)
		return d.flushSteps()
	})
	d.print = document.Mermaid(d.ReplayRows)
	return d
}

func (d *replayDiagram) flushSteps() error {
	steps := d.steps
	d.steps = nil
	return d.print(document.Document{steps})
}

func (d *replayDiagram) Close(end render.ReplayEnd) error {
	if err := d.End(&end); err != nil {
		return err
	}
	d.releaseHeld("")
	d.flushNotes()
	for _, o := range slices.Backward(d.open) {
		d.steps = append(d.steps, document.Step{Kind: document.Release, From: o.to})
	}
	if err := d.flushSteps(); err != nil {
		return err
	}
	return d.Out.Flush()
}

// drawRow draws the arrows and the notes of a row.
func (d *replayDiagram) drawRow(r *recording.Row) {
	if r.Kind == recording.UserMessage && r.Agent == "" && d.held == nil && d.names[r.Target] == "" {
		held := *r
		d.held = &held
		return
	}
	d.releaseHeld(runAgent(r))
	if r.Depth > r.Before {
		d.drawDelegation(r)
		return
	}
	if r.Depth < r.Before {
		d.drawReturns(r)
	}
	switch {
	case r.Action == replay.Persist && !isPiece(r):
		d.drawArrow(r)
	case r.Action == replay.Skip || r.Anomaly != nil || r.Disagree() || r.Kind == recording.Failed || r.Kind == recording.Restarted:
		d.addNote(r)
	}
}

// runAgent is the agent of the run's own session, "" when the row does not name it.
func runAgent(r *recording.Row) string {
	if path := r.Path(); len(path) > 0 {
		return path[0]
	}
	return ""
}

// releaseHeld prints the message that is held: now it is known whom it is for.
func (d *replayDiagram) releaseHeld(agent string) {
	r := d.held
	if r == nil {
		return
	}
	d.held = nil
	r.Agent = cmp.Or(agent, "session")
	d.drawRow(r)
}

// isPiece reports whether a row is told with the message that it becomes part of.
func isPiece(r *recording.Row) bool {
	return r.Kind == recording.Choice || r.Kind == recording.Reasoning || r.Kind == recording.PartialCall
}

// drawArrow shows what is stored in the session: as said to or by the user, or by the
// session to itself.
func (d *replayDiagram) drawArrow(r *recording.Row) {
	answer := r.Kind == recording.MessageAdded && len(r.Calls) == 0 && r.Call == ""
	user := ""
	if r.Kind == recording.UserMessage || answer {
		user = d.addParticipant("\x00user", "user")
	}
	at := d.sessionParticipant(r)
	switch {
	case answer:
		d.addArrow(document.Answer, at, user, arrowWords(r, d.Model))
	case user != "":
		d.addArrow(document.Send, user, at, arrowWords(r, d.Model))
	default:
		d.addArrow(document.Send, at, at, arrowWords(r, d.Model))
	}
}

func (d *replayDiagram) addArrow(kind document.StepKind, from, to, words string) {
	d.flushNotes()
	d.steps = append(d.steps, document.Step{Kind: kind, From: from, To: to, Lines: []string{words}})
}

// drawDelegation draws the arrow to a sub-session.
func (d *replayDiagram) drawDelegation(r *recording.Row) {
	var caller *replay.Frame
	if r.Frame != nil {
		caller = r.Frame.Parent
	}
	from := d.frameParticipant(caller, "")
	to := d.frameParticipant(r.Frame, r.Agent)
	call := r.Call
	if call == "" && r.Frame != nil {
		call = r.Frame.Call
	}
	d.open = append(d.open, openArrow{r.Frame, call, from, to})
	d.addArrow(document.Open, from, to, delegationWords(call, arrowColumns)+" opens")
}

// drawReturns draws an arrow back for every delegation that a row closes: the one that
// it names, else the last ones.
func (d *replayDiagram) drawReturns(r *recording.Row) {
	for range r.Before - r.Depth {
		at := len(d.open) - 1
		if at < 0 {
			return
		}
		named := slices.IndexFunc(d.open, func(o openArrow) bool {
			return r.Call != "" && o.call == r.Call || r.Kind == recording.StreamStopped && o.frame == r.Frame
		})
		if named >= 0 {
			at = named
		}
		o := d.open[at]
		d.open = slices.Delete(d.open, at, at+1)
		delete(d.alias, o.frame)
		d.addArrow(document.Close, o.to, o.from, delegationWords(o.call, arrowColumns)+" closes")
	}
}

// addNote collects what is said about one session in a row, a few lines at a time.
func (d *replayDiagram) addNote(r *recording.Row) {
	const most = 6
	at := d.sessionParticipant(r)
	if at != d.over || len(d.notes) == most {
		d.flushNotes()
	}
	d.over, d.notes = at, append(d.notes, skipWords(r, d.Model))
}

func (d *replayDiagram) flushNotes() {
	if len(d.notes) > 0 {
		d.steps = append(d.steps, document.Step{Kind: document.Note, From: d.over, Lines: d.notes})
		d.notes = nil
	}
}

// skipWords say what is not stored here, and why where that is not told by the
// session that the note is over.
func skipWords(r *recording.Row, model recording.Model) string {
	sign, _ := replaySign(r)
	words := strings.TrimSpace(sign + " " + replayEventWords(r))
	if r.Action != replay.None {
		words += ", " + r.Action.String()
	}
	about := strings.Join(replaySubject(r, arrowColumns), "")
	if r.Anomaly != nil || r.Disagree() {
		about = replayWhyAndOther(r, model, arrowColumns)
	}
	if about != "" {
		words += " (" + about + ")"
	}
	return words
}

// arrowWords say what is stored, and in which line it stands. Of a row with a sign
// they say why.
func arrowWords(r *recording.Row, model recording.Model) string {
	words := replayEventWords(r)
	if r.Anomaly != nil || r.Disagree() {
		sign, _ := replaySign(r)
		words = sign + " " + words + " (" + replayWhyAndOther(r, model, arrowColumns) + ")"
	} else if about := replaySubject(r, arrowColumns); len(about) > 0 {
		words += ", " + about[0]
	}
	return strconv.FormatInt(r.Line, 10) + " " + words
}

// sessionParticipant is the participant that a row belongs to: that of its frame, else of the
// session that it would be stored in, else of the run.
func (d *replayDiagram) sessionParticipant(r *recording.Row) string {
	switch {
	case r.Frame != nil && (r.Target == "" || r.Target == r.Frame.Child):
		return d.frameParticipant(r.Frame, r.Agent)
	case r.Target == "":
		return d.frameParticipant(nil, r.Agent)
	}
	name := d.addParticipant(r.Target, participantWords(r.Agent, r.Target))
	if r.Frame == nil && r.Action == replay.Persist {
		d.run = name
	}
	return name
}

// frameParticipant is the participant of an open delegation, or of the run for nil. Where its
// session is not known it has none but its agent's name.
func (d *replayDiagram) frameParticipant(f *replay.Frame, agent string) string {
	switch {
	case f == nil && d.run != "":
		return d.run
	case f == nil:
		d.run = d.addParticipant("", participantWords(agent, ""))
		return d.run
	case d.alias[f] != "":
		return d.alias[f]
	}
	place := f.Child
	if place == "" {
		place = "\x00" + strconv.Itoa(len(d.names))
	}
	d.alias[f] = d.addParticipant(place, participantWords(f.Agent, f.Child))
	return d.alias[f]
}

// addParticipant is the short name of a place in the diagram, which appears when it
// is named first.
func (d *replayDiagram) addParticipant(place, label string) string {
	if name := d.names[place]; name != "" {
		return name
	}
	d.flushNotes()
	name := "p" + strconv.Itoa(len(d.names))
	d.names[place] = name
	d.steps = append(d.steps, document.Step{Kind: document.Enter, From: name, Lines: []string{label}})
	return name
}

// arrowColumns are so many of an id.
const arrowColumns = 40

// participantWords name a session by its agent and its id.
func participantWords(agent, id string) string {
	words := cmp.Or(strings.TrimSpace(agent), "session")
	if id != "" {
		words += " " + shortID(id)
	}
	return words
}
