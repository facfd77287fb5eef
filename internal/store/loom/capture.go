package loom

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/lines"
	"github.com/sessctl/sessctl/internal/session"
)

// capture is a file of events, one on a line.
type capture struct {
	path  string // below the workspace
	owner string // the agent in whose folder it is, "" for the workspace's own
}

// longestEvent is the length up to which a line is read, in bytes. An event says a goal
// or an answer; what is longer was offloaded, or is somebody's data.
const longestEvent = 16 << 20

// tableEvents is the table of a Ref to a line of a capture that belongs to no session.
const tableEvents = "events"

// events reads the spawns and results of a capture. A file without any, and without a
// broken line that names one, is somebody's data, and nothing in it is a fault.
func (w workspace) events(ctx context.Context, c capture) (list []*event, faults []session.Fault, err error) {
	f, _, err := w.open(c.path)
	if err != nil {
		return nil, nil, err
	}
	r, broken := lines.NewBounded(f, longestEvent), brokenLines{}
	for ctx.Err() == nil {
		line, err := r.Next()
		switch {
		case err == io.EOF:
			if len(list) > 0 || broken.named {
				faults = broken.fault(c)
			}
			return list, faults, f.Close()
		case errors.Is(err, lines.ErrTooLong):
			broken.add(line.Number, fmt.Sprintf("it is longer than %d MiB", longestEvent>>20))
			continue
		case err != nil:
			return list, nil, errors.Join(err, f.Close())
		case len(line.Text) == 0:
			continue
		}
		ev, _, known, wrong := decodeEvent(line.Text)
		if wrong != nil {
			broken.add(line.Number, wrong.why)
			broken.named = broken.named || namesEvent(line.Text)
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

// brokenLines are the lines of a file that could not be read.
type brokenLines struct {
	count int
	first []int64 // their numbers
	why   string  // of the first one
	named bool    // one names a spawn or a result
}

func (b *brokenLines) add(number int64, why string) {
	const told = 10
	if b.count++; b.count == 1 {
		b.why = why
	}
	if len(b.first) < told {
		b.first = append(b.first, number)
	}
}

func (b *brokenLines) fault(c capture) []session.Fault {
	if b.count == 0 {
		return nil
	}
	var numbers []string
	for _, n := range b.first {
		numbers = append(numbers, strconv.FormatInt(n, 10))
	}
	detail := "line " + numbers[0] + ": " + b.why
	if also := strings.Join(numbers[1:], ", "); also != "" {
		if more := b.count - len(numbers); more > 0 {
			also += fmt.Sprintf(" and %d more", more)
		}
		detail += "; nor can these lines be read: " + also
	}
	return []session.Fault{{
		Kind: session.Undecodable, Item: -1, Field: "a line of " + shown(c.path), Detail: detail, Count: b.count, Lost: true,
		Ref: session.Ref{Table: tableEvents, Key: shown(c.path) + ":" + numbers[0]},
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
