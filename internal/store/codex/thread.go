package codex

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"strconv"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/filelog"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// thread is a session while it is read.
type thread struct {
	*session.Session
	lines map[string][]filelog.Record // the own lines of each item by its key; nil where nobody asks
	calls map[string][]filelog.Record // and those of its calls
	made  map[string]payload          // the calls by their ids; of several with one id the last
	sums  map[string]hash.Hash        // of what each item says; nil where nobody asks
}

// newSession begins the session of a rollout, without items.
func (c *codex) newSession(r *rollout) *session.Session {
	s := &session.Session{ID: r.id, Title: c.index.titles[r.id], Agent: strings.TrimSpace(r.Agent), Delegated: r.delegated}
	s.Parent = r.Parent
	if p, known := c.index.parents[r.id]; s.Parent == "" && known {
		s.Parent, s.Delegated = p, true
	}
	s.Forked = r.Forked != "" || r.Base != nil
	if r.wrong != "" {
		s.Faults = []session.Fault{{Kind: session.Undecodable, Item: -1, Ref: s.Ref(), Field: "line 1", Detail: r.wrong}}
	}
	return s
}

// reader makes the items of a thread of lines.
type reader struct {
	*codex
	*thread
	self    *rollout
	own     bool // the lines are those of the thread, and no base's
	body    bool
	prefix  string // of keys
	model   string
	ordinal int64             // of the last line, -1 before the first
	spawned map[string][2]int // the calls that start sub-agents, by their ids
	message                   // the item that is open
}

// message is what the open item says so far: the lines of one answer are an item.
type message struct {
	open     int // its index, -1 for none
	said     session.Meaning
	text     []string
	thoughts []string
	raw      []byte
}

// readThread reads the items of a session.
func (c *codex) readThread(ctx context.Context, t *thread, body bool) error {
	r := &reader{codex: c, thread: t, self: c.byID[t.ID], body: body, spawned: map[string][2]int{}, message: message{open: -1}}
	if err := r.readHistory(ctx, r.self, -1, map[*rollout]bool{}); err != nil {
		return err
	}
	for i := range t.Items {
		it := &t.Items[i]
		it.Position = int64(i)
		if t.Created.IsZero() || !it.Time.IsZero() && it.Time.Before(t.Created) {
			t.Created = it.Time
		}
		if it.Time.After(t.Updated) {
			t.Updated = it.Time
		}
	}
	return nil
}

// readHistory reads the lines of a rollout up to an offset, -1 for all, behind those of the
// rollout that it continues.
func (r *reader) readHistory(ctx context.Context, of *rollout, until int64, seen map[*rollout]bool) error {
	seen[of] = true
	if of.Base != nil {
		switch base := r.byID[of.Base.Thread]; {
		case base != nil && !seen[base]:
			if err := r.readHistory(ctx, base, of.Base.End, seen); err != nil {
				return err
			}
			if of == r.self {
				r.checkBase(ctx, base)
			}
		case of == r.self && len(r.list) == 1:
			r.addFault(session.Fault{Kind: session.BrokenChain, Item: -1, Field: "history_base", Detail: "its history begins in the rollout of thread " + of.Base.Thread + ", which is not beside it: only what came since is looked at"})
		default:
			r.addFault(session.Fault{Kind: session.Undecodable, Item: -1, Field: "history_base", Detail: "the history begins in the rollout of thread " + of.Base.Thread + ", which does not exist, or builds on this one"})
		}
	}
	log, keys, err := r.file(of.name)
	if err == nil {
		err = r.readLines(ctx, log, keys, of, until)
		_ = log.Close()
	}
	if err != nil && ctx.Err() == nil && r.root != nil {
		r.addFault(session.Fault{Kind: session.Undecodable, Item: -1, Field: of.name, Detail: problem.Reason(err), Lost: true, Remedy: "Make it readable, or put the file itself in its place."})
		return nil
	}
	return err
}

// checkBase tells of a fork that reads the rollout which it continues up to another line than it
// says. What was put in or taken out there since moved the lines.
func (r *reader) checkBase(ctx context.Context, base *rollout) {
	log, _, err := r.file(base.name)
	if err != nil || r.self.Base.Before == r.ordinal+1 {
		return
	}
	defer func() { _ = log.Close() }()
	for at, err := range log.Lines(ctx) {
		l, wrong := parseLine(at.Text)
		if err != nil || wrong != "" || l.Ordinal == nil || *l.Ordinal != r.self.Base.Before-1 {
			continue
		}
		end := at.Offset + int64(at.Length) + int64(at.Rest)
		r.addFault(session.Fault{
			Kind: session.BrokenChain, Item: -1, Field: "history_base", Remedy: fmt.Sprintf("set history_base.end_byte_offset to %d in the first line of %s", end, r.self.name),
			Detail: fmt.Sprintf("the history ends with line %d of the rollout of thread %s, and the offset that names its end is that of another line; the model is sent another part of it", at.Number, base.id),
		})
		return
	}
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
		if until >= 0 && at.Offset >= until {
			break
		}
		r.addLine(&at, filelog.Record{Span: at.Span, Place: place, Is: true}, r.prefix+strconv.FormatInt(keys.Key(place), 10))
		place++
	}
	r.endItem()
	return nil
}

// addLine adds what a line says.
func (r *reader) addLine(at *filelog.Line, rec filelog.Record, key string) {
	l, wrong := parseLine(at.Text)
	var p payload
	if at.Err != nil {
		wrong = at.Err.Error()
	} else if wrong == "" && l.Type == typeItem {
		p, wrong = parsePayload(l.Payload)
	}
	if wrong != "" {
		r.addBroken(at, rec, key, wrong)
		return
	}
	r.checkOrdinal(&l, at.Number, rec.Place)
	when, _ := time.Parse(time.RFC3339Nano, l.Time)
	var e event
	switch l.Type {
	case typeItem:
		r.addItem(&p, l.Payload, when, key)
		r.noteLine(key, rec, at.Text, p.isCall())
		if r.made != nil && p.isCall() {
			r.made[p.CallID] = payload{Type: p.Type, Meta: p.Meta}
		}
	case typeCompacted:
		if serde.Unmarshal(l.Payload, &e) == nil {
			r.addCompaction(&e, when, key, at.Text)
		}
	case typeUsage, typeTurn:
		r.endItem()
		if serde.Unmarshal(l.Payload, &e) == nil && e.Model != "" {
			r.model, r.Model = e.Model, e.Model
		}
	case typeEvent:
		if serde.Unmarshal(l.Payload, &e) != nil {
			break
		}
		switch e.Type {
		case "token_count":
			r.endItem()
		case "thread_rolled_back":
			r.rewindTurns(e.Turns)
		}
	}
}

// noteLine keeps where the lines of an item are, and what they say.
func (r *reader) noteLine(key string, rec filelog.Record, text []byte, call bool) {
	if n := len(r.Items); n == 0 || r.Items[n-1].Key != key { // it is a part of an item
		if r.open < 0 {
			return
		}
		key = r.Items[r.open].Key
	}
	if r.lines != nil && r.own {
		if r.lines[key] = append(r.lines[key], rec); call {
			r.calls[key] = append(r.calls[key], rec)
		}
	}
	if r.sums != nil {
		if r.sums[key] == nil {
			r.sums[key] = sha256.New()
		}
		if _, has := jsonedit.RawValue(text, "/ordinal"); has { // another line may have it after a repair
			text, _ = jsonedit.SetValue(text, "/ordinal", []byte("0"))
		}
		_, _ = r.sums[key].Write(append(text[:len(text):len(text)], '\n'))
	}
}

// checkOrdinal tells of the first line whose number is not greater than that of the line before it.
func (r *reader) checkOrdinal(l *line, number, place int64) {
	if l.Ordinal == nil {
		return
	}
	if r.own && *l.Ordinal <= r.ordinal {
		from := strconv.FormatInt(place, 10)
		r.addFault(session.Fault{
			Kind: session.SharedOrdinal, Item: -1, Field: fieldOrdinal, Default: &from,
			Detail: fmt.Sprintf("line %d has the ordinal %d, and the line before it %d: the index of Codex's app stops there, so that the app shows old turns only and forks nothing, and `codex exec resume` goes on (openai/codex#35746)", number, *l.Ordinal, r.ordinal),
		})
	}
	r.ordinal = *l.Ordinal
}

// fieldOrdinal is what a repair sets of a thread: the value is the place of the line from which on
// lines are numbered anew.
const fieldOrdinal = "ordinal"

// addFault adds a fault of the session; the second ordinal is not told.
func (r *reader) addFault(f session.Fault) {
	if f.Kind == session.SharedOrdinal {
		for i := range r.Faults {
			if known := &r.Faults[i]; known.Kind == f.Kind {
				known.Count = max(known.Count, 1) + 1
				return
			}
		}
	}
	f.Ref = r.Ref()
	if f.Item >= 0 {
		f.Ref = r.ItemRef(f.Item)
	}
	r.Faults = append(r.Faults, f)
}

// addBroken adds a line that Codex passes over.
func (r *reader) addBroken(at *filelog.Line, rec filelog.Record, key, wrong string) {
	if !r.own || rec.Place == 0 && r.self.wrong != "" {
		return
	}
	it := session.Item{Table: session.TableLines, Key: key, Kind: session.Other}
	if r.body {
		it.Body = &session.Body{Raw: append([]byte(nil), at.Text...)}
	}
	r.Items = append(r.Items, it)
	r.noteLine(key, rec, at.Text, false)
	f := session.Fault{Kind: session.Undecodable, Item: len(r.Items) - 1, Field: fmt.Sprintf("line %d", at.Number), Detail: wrong, Passed: true}
	f.Whole = at.Err == nil && jsonedit.IsWhole(at.Text)
	if at.Open && !f.Whole {
		f = session.Fault{Kind: session.TornLine, Item: f.Item, Field: f.Field, Harmless: r.Writer == session.WriterLive,
			Detail: fmt.Sprintf("line %d, the last one, was cut off while it was written; Codex passes over it, and keeps it when the thread goes on", at.Number)}
	}
	r.addFault(f)
}

// addCompaction adds the history that stands for all before it. Versions before 0.4x have a summary only.
func (r *reader) addCompaction(e *event, when time.Time, key string, text []byte) {
	r.endItem()
	for i := range r.Items {
		if r.Items[i].Kind == session.Message {
			r.Items[i].Flags |= session.Compacted
		}
	}
	for n, raw := range e.History {
		if p, wrong := parsePayload(raw); wrong == "" {
			r.addItem(&p, raw, when, fmt.Sprintf("%s.%d", key, n))
			r.endItem()
			r.Items[len(r.Items)-1].Flags |= session.SummaryTurn
		}
	}
	if e.History == nil {
		r.begin(session.User, when, key)
		r.Items[r.open].Kind = session.Summary
		r.addText(e.Message, "")
		r.endItem()
	}
	r.noteSummary(key, text)
}

// noteSummary keeps what the items of a compaction say. They have no lines of their own.
func (r *reader) noteSummary(key string, text []byte) {
	if r.sums == nil {
		return
	}
	for i := range r.Items {
		if k := r.Items[i].Key; k == key || strings.HasPrefix(k, key+".") {
			r.sums[k] = sha256.New()
			_, _ = r.sums[k].Write(text)
		}
	}
}

// rewindTurns takes the last turns of the user out of what is sent.
func (r *reader) rewindTurns(turns int) {
	r.endItem()
	from := len(r.Items)
	for i := from - 1; i >= 0 && turns > 0; i-- {
		if it := &r.Items[i]; it.OnWire() && it.Role == session.User && !it.Note {
			from = i
			turns--
		}
	}
	for i := from; i < len(r.Items); i++ {
		r.Items[i].Flags |= session.Rewound
	}
}
