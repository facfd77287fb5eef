package loom

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/sessctl/sessctl/internal/lines"
	"github.com/sessctl/sessctl/internal/session"
)

// capture is a file of events, one on a line.
type capture struct {
	path  string // below the workspace
	owner string // the agent in whose folder it is, "" for the workspace's own
}

// tableEvents is the table of a Ref to a line of a capture that belongs to no session.
const tableEvents = "events"

// events reads the spawns and results of a capture. A file without any is somebody's
// data, and nothing in it is a fault.
func (w workspace) events(ctx context.Context, c capture) (list []*event, faults []session.Fault, err error) {
	f, _, err := w.open(c.path)
	if err != nil {
		return nil, nil, err
	}
	r, broken := lines.NewReader(f), brokenLines{}
	for ctx.Err() == nil {
		line, err := r.Next()
		switch {
		case err == io.EOF:
			if len(list) > 0 {
				faults = broken.fault(c)
			}
			return list, faults, f.Close()
		case errors.Is(err, lines.ErrTooLong):
			broken.add(line.Number, err.Error())
			continue
		case err != nil:
			return list, nil, errors.Join(err, f.Close())
		case len(line.Text) == 0:
			continue
		}
		ev, _, known, wrong := decodeEvent(line.Text)
		if wrong != nil {
			broken.add(line.Number, wrong.why)
		}
		if known {
			ev.key = shown(c.path) + ":" + strconv.FormatInt(line.Number, 10)
			ev.at = span{c.path, line.Offset, int64(len(line.Text))}
			list = append(list, ev.of(c.owner))
		}
	}
	return nil, nil, errors.Join(ctx.Err(), f.Close())
}

// of completes an event from the folder that it was captured in: what an agent's own
// capture leaves open is about that agent. A spawn that names it as the child was
// received there, as was a result that names it as the parent.
func (ev event) of(owner string) *event {
	switch {
	case owner == "":
	case ev.result && ev.parent != owner && ev.child == "" && ev.source == "":
		ev.child = owner
	case !ev.result && ev.child != owner && ev.parent == "" && ev.source == "":
		ev.parent = owner
	}
	return &ev
}

// brokenLines counts the lines of a file that could not be read.
type brokenLines struct {
	count, first int64
	why          string
}

func (b *brokenLines) add(number int64, why string) {
	if b.count++; b.count == 1 {
		b.first, b.why = number, why
	}
}

func (b *brokenLines) fault(c capture) []session.Fault {
	if b.count == 0 {
		return nil
	}
	detail := fmt.Sprintf("line %d: %s", b.first, b.why)
	if b.count > 1 {
		detail += fmt.Sprintf(" (and %d more such lines)", b.count-1)
	}
	return []session.Fault{{
		Kind: session.Undecodable, Item: -1, Field: "a line of " + shown(c.path), Detail: detail,
		Ref: session.Ref{Table: tableEvents, Key: shown(c.path) + ":" + strconv.FormatInt(b.first, 10)},
	}}
}

// textOf reads what an event said again.
func (w workspace) textOf(ev *event) (text string, raw []byte, err error) {
	f, _, err := w.open(ev.at.path)
	if err != nil {
		return "", nil, err
	}
	raw = make([]byte, ev.at.length)
	if _, err = f.ReadAt(raw, ev.at.offset); err == nil {
		_, text, _, _ = decodeEvent(raw)
	}
	return text, raw, errors.Join(err, f.Close())
}
