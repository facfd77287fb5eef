package render

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/replay"
)

// replayDiagram prints a sequence diagram: the user and the sessions are its
// participants, delegations are arrows with an activation, what is stored in the
// session of the run is an arrow, and what else is skipped, is odd or divides the
// models is a note. Participants stand in the order in which they appear. A diagram
// has no place for findings.
type replayDiagram struct {
	*replayRows
	begun bool
	names map[string]string        // of participants, by session
	alias map[*replay.Frame]string // of delegations that are open
	run   string                   // the run's own participant
	held  *recording.Row           // a user's message to a session whose agent has not spoken
	open  []openArrow
	notes []string // that wait for more of their kind
	over  string   // their participant
}

// openArrow is a delegation that is open: the return arrow goes the other way.
type openArrow struct {
	frame          *replay.Frame
	call, from, to string
}

func newReplayDiagram(opts ReplayOptions) *replayDiagram {
	opts.All = false
	d := &replayDiagram{names: map[string]string{}, alias: map[*replay.Frame]string{}}
	d.replayRows = newReplayRows(opts, opts.Screen.Plain(), d.row)
	return d
}

func (d *replayDiagram) Close(end ReplayEnd) error {
	if err := d.end(&end); err != nil {
		return err
	}
	if err := d.begin(); err != nil {
		return err
	}
	if err := d.release(""); err != nil {
		return err
	}
	if err := d.flushNotes(); err != nil {
		return err
	}
	for _, o := range slices.Backward(d.open) {
		if err := d.line("deactivate %s", o.to); err != nil {
			return err
		}
	}
	return d.out.Flush()
}

func (d *replayDiagram) begin() error {
	if d.begun {
		return nil
	}
	d.begun = true
	return d.write("sequenceDiagram\n")
}

func (d *replayDiagram) line(format string, args ...any) error {
	return d.write("    " + fmt.Sprintf(format, args...) + "\n")
}

// row prints the arrows and the notes of a row.
func (d *replayDiagram) row(r *recording.Row) error {
	if err := d.begin(); err != nil {
		return err
	}
	if r.Kind == recording.UserMessage && r.Agent == "" && d.held == nil && d.names[r.Target] == "" {
		held := *r
		d.held = &held
		return nil
	}
	if err := d.release(runAgent(r)); err != nil {
		return err
	}
	if r.Depth > r.Before {
		return d.delegate(r)
	}
	if r.Depth < r.Before {
		if err := d.returns(r); err != nil {
			return err
		}
	}
	if r.Action == replay.Persist && !piece(r) {
		return d.arrow(r)
	}
	if r.Action == replay.Skip || r.Anomaly != nil || r.Disagree() || r.Kind == recording.Failed || r.Kind == recording.Restarted {
		return d.note(r)
	}
	return nil
}

// runAgent is the agent of the run's own session, "" when the row does not name it.
func runAgent(r *recording.Row) string {
	if path := replayFrame(r); len(path) > 0 {
		return path[0]
	}
	return ""
}

// release prints the message that is held: now it is known whom it is for.
func (d *replayDiagram) release(agent string) error {
	r := d.held
	if r == nil {
		return nil
	}
	d.held = nil
	r.Agent = cmp.Or(agent, "session")
	return d.row(r)
}

// piece reports whether a row is told with the message that it becomes part of.
func piece(r *recording.Row) bool {
	return r.Kind == recording.Choice || r.Kind == recording.Reasoning || r.Kind == recording.PartialCall
}

// arrow shows what is stored in the session: as said to or by the user, or by the
// session to itself.
func (d *replayDiagram) arrow(r *recording.Row) error {
	answer := r.Kind == recording.MessageAdded && len(r.Calls) == 0 && r.Call == ""
	user := ""
	if r.Kind == recording.UserMessage || answer {
		var err error
		if user, err = d.participant("\x00user", "user"); err != nil {
			return err
		}
	}
	at, err := d.session(r)
	switch {
	case err != nil:
		return err
	case answer:
		return d.send(at, "-->>", user, arrowWords(r, d.Model))
	case user != "":
		return d.send(user, "->>", at, arrowWords(r, d.Model))
	}
	return d.send(at, "->>", at, arrowWords(r, d.Model))
}

func (d *replayDiagram) send(from, arrow, to, words string) error {
	if err := d.flushNotes(); err != nil {
		return err
	}
	return d.line("%s%s%s: %s", from, arrow, to, mermaidText(words))
}

// delegate draws the arrow to a sub-session.
func (d *replayDiagram) delegate(r *recording.Row) error {
	var caller *replay.Frame
	if r.Frame != nil {
		caller = r.Frame.Parent
	}
	from, err := d.frame(caller, "")
	if err != nil {
		return err
	}
	to, err := d.frame(r.Frame, r.Agent)
	if err != nil {
		return err
	}
	call := r.Call
	if call == "" && r.Frame != nil {
		call = r.Frame.Call
	}
	d.open = append(d.open, openArrow{r.Frame, call, from, to})
	return d.send(from, "->>+", to, delegationWords(call, diagramColumns)+" opens")
}

// returns draws an arrow back for every delegation that a row closes: the one that
// it names, else the last ones.
func (d *replayDiagram) returns(r *recording.Row) error {
	for range r.Before - r.Depth {
		at := len(d.open) - 1
		if at < 0 {
			return nil
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
		if err := d.send(o.to, "-->>-", o.from, delegationWords(o.call, diagramColumns)+" closes"); err != nil {
			return err
		}
	}
	return nil
}

// note collects what is said about one session in a row, a few lines at a time.
func (d *replayDiagram) note(r *recording.Row) error {
	const most = 6
	at, err := d.session(r)
	if err != nil {
		return err
	}
	if at != d.over || len(d.notes) == most {
		if err := d.flushNotes(); err != nil {
			return err
		}
	}
	d.over, d.notes = at, append(d.notes, mermaidText(skipWords(r, d.Model)))
	return nil
}

func (d *replayDiagram) flushNotes() error {
	if len(d.notes) == 0 {
		return nil
	}
	text := strings.Join(d.notes, "<br/>")
	d.notes = nil
	return d.line("Note over %s: %s", d.over, text)
}

// skipWords say what is not stored here, and why where that is not told by the
// session that the note is over.
func skipWords(r *recording.Row, model recording.Model) string {
	sign, _ := replaySign(r)
	words := strings.TrimSpace(sign + " " + replayEventWords(r))
	if r.Action != replay.None {
		words += ", " + r.Action.String()
	}
	about := strings.Join(replaySubject(r, diagramColumns), "")
	if r.Anomaly != nil || r.Disagree() {
		about = replayWhyAndOther(r, model, diagramColumns)
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
		words = sign + " " + words + " (" + replayWhyAndOther(r, model, diagramColumns) + ")"
	} else if about := replaySubject(r, diagramColumns); len(about) > 0 {
		words += ", " + about[0]
	}
	return strconv.FormatInt(r.Line, 10) + " " + words
}
