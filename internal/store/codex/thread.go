package codex

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/filelog"
	"github.com/sessctl/sessctl/internal/store/responses"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// thread is a session while it is read.
type thread struct {
	*session.Session
	body  bool
	lines map[string]filelog.Record // the own line of each item, by its key; nil where nobody asks
	made  map[string]responses.Item // the calls by their ids, of several the last; likewise
	sums  map[string]string         // digests of what each item says; likewise
	whole string                    // and of all of its file
	total int64                     // own lines
}

// newSession begins the session of a rollout, without items.
func (c *codex) newSession(r *rollout) *session.Session {
	s := &session.Session{ID: r.id, Title: c.index.titles[r.id], Agent: r.Agent, Parent: r.Parent, Delegated: r.delegated, Forked: r.Forked != "" || r.Base != nil}
	s.Created, _ = time.Parse(time.RFC3339Nano, r.Time)
	if parent := c.index.parents[r.id]; s.Parent == "" && parent != "" {
		s.Parent, s.Delegated = parent, true
	}
	if r.apart != nil {
		s.Faults = append(s.Faults, *r.apart)
	}
	if r.wrong != "" {
		s.Faults = append(s.Faults, session.Fault{Kind: session.Undecodable, Item: -1, Ref: s.Ref(), Field: "line 1", Detail: r.wrong})
	}
	return s
}

// reader makes the items of a thread of lines.
type reader struct {
	*codex
	*thread
	self    *rollout
	own     bool   // the lines are those of the thread, and not of one that it continues
	prefix  string // of keys
	model   string
	ordinal int64 // of the last line, -1 before the first
	sharing session.Sharing
}

// readThread reads the items of a session.
func (c *codex) readThread(ctx context.Context, t *thread) error {
	r := &reader{codex: c, thread: t, self: c.byID[t.ID]}
	err := r.readHistory(ctx, r.self, -1, map[*rollout]bool{})
	linkChildren(t.Session)
	for i := range t.Items {
		t.Items[i].Position = int64(i)
		if at := t.Items[i].Time; at.After(t.Updated) {
			t.Updated = at
		}
	}
	return err
}

// readHistory reads the lines of a rollout up to an offset, -1 for all, behind those of the
// rollout that it continues.
func (r *reader) readHistory(ctx context.Context, of *rollout, until int64, seen map[*rollout]bool) error {
	seen[of] = true
	if of.Base != nil {
		base := r.byID[of.Base.Thread]
		if base == nil || seen[base] {
			r.addFault(session.Fault{Kind: session.Undecodable, Item: -1, Field: "history_base", Detail: "the history begins in the rollout of thread " + of.Base.Thread + ", which is not there, or builds on this one"})
		} else if err := r.readHistory(ctx, base, of.Base.End, seen); err != nil {
			return err
		} else if of == r.self && of.Base.Before != r.ordinal+1 {
			r.addFault(session.Fault{
				Kind: session.BrokenChain, Item: -1, Field: "history_base", Remedy: "set history_base.end_byte_offset in the first line to the end of that line",
				Detail: fmt.Sprintf("the history ends with ordinal %d of thread %s, and the offset that names its end is that of another line: the model is sent another part of it", of.Base.Before-1, base.id),
			})
		}
	}
	log, keys, err := r.file(ctx, of.name)
	if err == nil {
		if err = r.readLines(ctx, log, keys, of, until); err == nil && r.sums != nil && of == r.self {
			r.whole, err = log.Digest()
		}
		_ = log.Close() // it was only read
	}
	if err != nil && ctx.Err() == nil && problem.ClassOf(err) == 0 {
		r.addFault(session.Fault{Kind: session.Undecodable, Item: -1, Field: of.name, Detail: problem.Reason(err), Lost: true, Remedy: "Make it readable, or put the file itself in its place."})
		err = nil
	}
	return err
}

func (r *reader) readLines(ctx context.Context, log *filelog.Log, keys filelog.Keys, of *rollout, until int64) error {
	r.own, r.ordinal, r.prefix = of == r.self, -1, of.id+":"
	if !r.own {
		r.prefix = r.self.id + "<" + r.prefix
	} else if file := log.File(); file != nil {
		r.Writer = sqlite.WriterOf(ctx, file)
	}
	place := int64(0)
	for at, err := range log.Lines(ctx) {
		if err != nil {
			return err
		}
		if until >= 0 && at.Offset+int64(at.Length) > until { // Codex reads a part of a line
			break
		}
		r.addLine(&at, filelog.Record{Span: at.Span, Place: place, Is: true}, r.prefix+strconv.FormatInt(keys.Key(place), 10))
		place++
	}
	r.total = place
	return nil
}

// addLine adds what a line says.
func (r *reader) addLine(at *filelog.Line, rec filelog.Record, key string) {
	l, wrong := parseLine(at.Text)
	var x responses.Item
	if at.Err != nil {
		wrong = at.Err.Error()
	} else if wrong == "" && l.Type == typeItem {
		x, wrong = parseItem(l.Payload)
	}
	if wrong != "" {
		r.addBroken(at, rec, key, wrong)
		return
	}
	r.checkOrdinal(&l, at.Number)
	var e event
	when, _ := time.Parse(time.RFC3339Nano, l.Time)
	if l.Type == typeItem {
		r.addItem(&x, l.Payload, when, key)
		r.noteLine(key, &rec, at.Text)
	} else if serde.Unmarshal(l.Payload, &e) != nil {
		return
	}
	switch {
	case l.Type == "compacted":
		r.addCompaction(&e, when, key)
	case l.Type == "turn_context" && e.Model != "":
		r.model, r.Model = e.Model, e.Model
	case l.Type == typeEvent && e.Type == "thread_rolled_back":
		r.rewindTurns(e.Turns)
	}
}

// noteLine keeps where the line of an item is, and what it says, whatever its number is.
func (r *reader) noteLine(key string, rec *filelog.Record, text []byte) {
	if r.lines != nil && r.own && rec != nil {
		r.lines[key] = *rec
	}
	if r.sums != nil {
		if numbered, err := jsonedit.SetValue(text, "/ordinal", []byte("0")); err == nil {
			text = numbered
		}
		r.sums[key] = digestOf(string(text))
	}
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// fieldOrdinal is what a repair sets of a thread, to fromLine: lines are numbered anew from there on.
const (
	fieldOrdinal = "ordinal"
	fromLine     = "anew from line %d"
)

// checkOrdinal tells of the first line whose number is not greater than that of the line before.
func (r *reader) checkOrdinal(l *line, number int64) {
	if l.Ordinal == nil {
		return
	}
	before := r.ordinal
	r.ordinal = *l.Ordinal
	if !r.own || r.ordinal > before || slices.ContainsFunc(r.Faults, func(f session.Fault) bool { return f.Kind == session.SharedOrdinal }) {
		return
	}
	from := fmt.Sprintf(fromLine, number)
	r.addFault(session.Fault{
		Kind: session.SharedOrdinal, Item: -1, Field: fieldOrdinal, Default: &from,
		Detail: fmt.Sprintf("line %d has the ordinal %d, and the line before it %d: the index of Codex's app stops there, so that the app shows old turns only and cannot fork the thread, while `codex exec resume` goes on (openai/codex#35746)", number, *l.Ordinal, before),
	})
}

// addFault adds a fault of the session, or of an item.
func (r *reader) addFault(f session.Fault) {
	if f.Ref = r.Ref(); f.Item >= 0 {
		f.Ref = r.ItemRef(f.Item)
	}
	r.Faults = append(r.Faults, f)
}

// addBroken adds a line that Codex passes over.
func (r *reader) addBroken(at *filelog.Line, rec filelog.Record, key, wrong string) {
	if !r.own || rec.Place == 0 && r.self.wrong != "" {
		return
	}
	it := session.Item{Shared: &session.Shared{Table: session.TableLines}, Key: key, Kind: session.Other}
	if r.body {
		it.Body = &session.Body{Raw: append([]byte(nil), at.Text...)}
	}
	r.Items = append(r.Items, it)
	r.noteLine(key, &rec, at.Text)
	f := session.Fault{Kind: session.Undecodable, Item: len(r.Items) - 1, Field: fmt.Sprintf("line %d", at.Number), Detail: wrong, Passed: true}
	if f.Whole = at.Err == nil && jsonedit.IsWhole(at.Text); at.Open && !f.Whole {
		f.Kind, f.Passed, f.Harmless = session.TornLine, false, r.Writer == session.WriterLive
		f.Detail = fmt.Sprintf("line %d, the last one, was cut off while it was written; Codex passes over it, and keeps it when the thread goes on", at.Number)
	}
	r.addFault(f)
}

// addCompaction adds the history that stands for all before it. Old versions have a summary only.
func (r *reader) addCompaction(e *event, when time.Time, key string) {
	for i := range r.Items {
		if r.Items[i].Kind == session.Message {
			r.Items[i].Flags |= session.Compacted
		}
	}
	if e.History == nil {
		text := session.DigestOf(e.Message)
		r.Items = append(r.Items, session.Item{Shared: &session.Shared{Table: session.TableLines}, Key: key, Kind: session.Summary, Role: session.User, Time: when, Text: text, Meaning: text})
		if r.body {
			r.Items[len(r.Items)-1].Body = &session.Body{Text: e.Message}
		}
		r.noteLine(key, nil, []byte(e.Message))
	}
	for n, raw := range e.History {
		if x, wrong := parseItem(raw); wrong == "" {
			part, before := fmt.Sprintf("%s.%d", key, n), len(r.Items)
			if r.addItem(&x, raw, when, part); len(r.Items) > before {
				r.Items[before].Flags |= session.SummaryTurn
				r.noteLine(part, nil, raw)
			}
		}
	}
}

// rewindTurns takes the last turns of the user out of what is sent.
func (r *reader) rewindTurns(turns int) {
	for i := len(r.Items) - 1; i >= 0 && turns > 0; i-- {
		it := &r.Items[i]
		if it.OnWire() && it.Role == session.User && !it.Note {
			turns--
		}
		it.Flags |= session.Rewound
	}
}
