package render

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/replay"
)

// session is the participant that a row belongs to: that of its frame, else of the
// session that it would be stored in, else of the run.
func (d *replayDiagram) session(r *recording.Row) (string, error) {
	switch {
	case r.Frame != nil && (r.Target == "" || r.Target == r.Frame.Child):
		return d.frame(r.Frame, r.Agent)
	case r.Target == "":
		return d.frame(nil, r.Agent)
	}
	name, err := d.participant(r.Target, participantWords(r.Agent, r.Target))
	if r.Frame == nil && r.Action == replay.Persist {
		d.run = name
	}
	return name, err
}

// frame is the participant of an open delegation, or of the run for nil. Where its
// session is not known it has none but its agent's name.
func (d *replayDiagram) frame(f *replay.Frame, agent string) (string, error) {
	switch {
	case f == nil && d.run != "":
		return d.run, nil
	case f == nil:
		name, err := d.participant("", participantWords(agent, ""))
		d.run = name
		return name, err
	case d.alias[f] != "":
		return d.alias[f], nil
	}
	place := f.Child
	if place == "" {
		place = "\x00" + strconv.Itoa(len(d.names))
	}
	name, err := d.participant(place, participantWords(f.Agent, f.Child))
	d.alias[f] = name
	return name, err
}

// participant is the short name of a place in the diagram, which appears when it
// is named first.
func (d *replayDiagram) participant(place, label string) (string, error) {
	if name := d.names[place]; name != "" {
		return name, nil
	}
	if err := d.flushNotes(); err != nil {
		return "", err
	}
	name := "p" + strconv.Itoa(len(d.names))
	d.names[place] = name
	return name, d.line("participant %s as %s", name, mermaidText(participantName(label)))
}

// participantWords name a session by its agent and its id.
func participantWords(agent, id string) string {
	words := cmp.Or(strings.TrimSpace(agent), "session")
	if id != "" {
		words += " " + shortID(id)
	}
	return words
}
