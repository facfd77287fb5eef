package codex

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/docedit"
	"github.com/sessctl/sessctl/internal/store/filelog"
)

// changed is what becomes of a file.
type changed struct {
	splices []filelog.Splice
	keys    filelog.Keys // of its lines afterwards
}

// rewrite is what a repair makes of the lines of a rollout: some leave, new ones come between
// others or behind them, and some values become others.
type rewrite struct {
	*thread
	of    *rollout
	log   *filelog.Log
	edits *filelog.Edits
	lines map[int64]*lineChange // by their places
	end   []addition            // behind the last line
	from  int64                 // the place from which on lines are numbered anew
	first int64                 // the offset of the first byte that becomes another one
}

// lineChange is what becomes of a line.
type lineChange struct {
	gone          bool
	values        map[string][]byte // by their JSON pointers
	before, after []addition
}

// addition is a line that was not at its place: a stored one, or a new one without its time and number.
type addition struct {
	stored  []byte
	payload []byte
	key     int64
}

// composeFiles composes what becomes of the files of a tree.
func (c *codex) composeFiles(ctx context.Context, tree *store.Change) (map[string]*changed, error) {
	all, err := change.CompareSessions(tree)
	if err != nil {
		return nil, err
	}
	files := map[string]*changed{}
	for _, s := range all {
		r := c.byID[s.Is.ID]
		if r == nil || s.Was == nil || s.Was.Parent != s.Is.Parent {
			return nil, errors.New("a repair of rollouts makes no session, and gives none another parent")
		}
		if !s.ListDiffers() && len(s.Sets) == 0 {
			continue
		}
		to, err := c.rewriteThread(ctx, s, r)
		if err != nil {
			return nil, err
		}
		files[r.name] = to
	}
	return files, nil
}

func (c *codex) rewriteThread(ctx context.Context, s *change.Session, r *rollout) (*changed, error) {
	t := &thread{Session: c.newSession(r), lines: map[string][]filelog.Record{}, calls: map[string][]filelog.Record{}, made: map[string]payload{}}
	if err := c.readThread(ctx, t, false); err != nil {
		return nil, err
	}
	log, keys, err := c.file(r.name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	total := int64(0)
	for _, err := range log.Lines(ctx) {
		if err != nil {
			return nil, err
		}
		total++
	}
	w := &rewrite{thread: t, of: r, log: log, edits: filelog.NewEdits(log, keys, total), lines: map[int64]*lineChange{}, from: math.MaxInt64, first: math.MaxInt64}
	if err := w.planSession(s); err != nil {
		return nil, err
	}
	if err := w.walkLines(ctx); err != nil {
		return nil, err
	}
	if w.first < r.history {
		return nil, fmt.Errorf("a fork reads the rollout of session %s up to byte %d, and the change would move what is before that; Codex would lose the end of its history", r.id, r.history)
	}
	splices, after, err := w.edits.Compose()
	return &changed{splices, after}, err
}

// lineAt is what becomes of the line at a place.
func (w *rewrite) lineAt(place int64) *lineChange {
	if w.lines[place] == nil {
		w.lines[place] = &lineChange{values: map[string][]byte{}}
	}
	return w.lines[place]
}

// planSession plans the changes of the session.
func (w *rewrite) planSession(s *change.Session) error {
	for _, e := range s.Sets {
		if e.Field != fieldOrdinal || e.Value == nil {
			return errors.New("a repair of rollouts does not set " + e.Field)
		}
		var err error
		if w.from, err = strconv.ParseInt(*e.Value, 10, 64); err != nil {
			return err
		}
	}
	for _, it := range s.Removed {
		lines := w.thread.lines[it.Key]
		if lines == nil {
			return w.refuseForeign(it.Key)
		}
		for _, at := range lines {
			w.lineAt(at.Place).gone = true
		}
	}
	moved := change.MovedResults(s.Items)
	next := make([]int64, len(s.Items)) // the place of the own item behind each that stays
	for i := len(s.Items) - 1; i >= 0; i-- {
		lines := w.thread.lines[s.Items[i].Is.Key]
		switch {
		case s.Items[i].Was != nil && !moved[i] && lines != nil:
			next[i] = lines[0].Place
		case i+1 < len(s.Items):
			next[i] = next[i+1]
		default:
			next[i] = -1
		}
	}
	last := int64(-1)
	for i := range s.Items {
		it := &s.Items[i]
		lines := w.thread.lines[it.Is.Key]
		if err := w.planValues(it); err != nil {
			return err
		}
		if it.Was != nil && !moved[i] {
			if lines != nil {
				last = lines[len(lines)-1].Place
			}
			continue
		}
		add, err := w.newLine(it, lines)
		switch {
		case err != nil:
			return err
		case next[i] < 0:
			w.end = append(w.end, add)
		case last < 0:
			to := w.lineAt(next[i])
			to.before = append(to.before, add)
		default:
			to := w.lineAt(last)
			to.after = append(to.after, add)
		}
	}
	return nil
}

// refuseForeign says why an item cannot be changed that has no lines of its own.
func (w *rewrite) refuseForeign(key string) error {
	why := "it is a part of a compaction"
	if strings.HasPrefix(key, w.of.id+"<") {
		why = "it is in the rollout that this thread continues; repair that one"
	}
	return store.Unwritable{key: errors.New(why)}
}

// planValues plans the values of an item that become others.
func (w *rewrite) planValues(it *change.Item) error {
	if it.Was == nil {
		return nil
	}
	refuse := func(what string) error {
		return store.Unwritable{it.Is.Key: errors.New("a repair of rollouts does not change " + what)}
	}
	if it.Moves || it.Part >= 0 || len(it.Taken)+len(it.Sets) > 0 || it.Scrubbed || it.Shown {
		return refuse("parts of a message")
	}
	for _, v := range it.Values {
		lines, pointer := w.calls[it.Is.Key], "/payload/call_id"
		switch {
		case v.Of == change.OfItem && v.Field == session.FieldPosition:
			continue
		case v.Of == change.OfCall && v.Field == change.FieldArgs:
			pointer = "/payload/arguments"
		case v.Of == change.OfResult && v.Field == session.FieldResultID:
			lines = w.thread.lines[it.Is.Key]
		case v.Of == change.OfCall && v.Field == session.FieldCallID:
		default:
			return refuse(v.Name())
		}
		if len(lines) == 0 {
			return w.refuseForeign(it.Is.Key)
		}
		if v.Nth >= len(lines) {
			return refuse(v.Name())
		}
		w.lineAt(lines[v.Nth].Place).values[pointer] = docedit.QuoteText(v.Is)
	}
	return nil
}

// newLine is the line of a result that moves, or that is new.
func (w *rewrite) newLine(it *change.Item, lines []filelog.Record) (addition, error) {
	if it.Was != nil {
		key, err := strconv.ParseInt(it.Is.Key[strings.LastIndexByte(it.Is.Key, ':')+1:], 10, 64)
		if len(lines) != 1 || err != nil {
			return addition{}, w.refuseForeign(it.Is.Key)
		}
		w.lineAt(lines[0].Place).gone = true
		text, err := w.log.Window().Line(lines[0].Span)
		return addition{stored: bytes.Clone(text), key: key}, err
	}
	if it.Is.Role != session.Tool || len(it.Is.Results) != 1 {
		return addition{}, errors.New("a repair of rollouts adds only results")
	}
	res := &it.Is.Results[0]
	call, kind := w.made[res.CallID], "function_call_output"
	if call.Type == "custom_tool_call" || call.Type == "tool_search_call" {
		kind = strings.TrimSuffix(call.Type, "_call") + "_call_output"
	}
	text := fmt.Appendf(nil, `{"type":%q,"call_id":%s,"output":%s`, kind, docedit.QuoteText(res.CallID), docedit.QuoteText(res.Text))
	if call.Meta.Turn != "" {
		text = fmt.Appendf(text, `,"internal_chat_message_metadata_passthrough":{"turn_id":%s}`, docedit.QuoteText(call.Meta.Turn))
	}
	return addition{payload: append(text, '}'), key: w.edits.Fresh()}, nil
}

// walk is where a rewrite is in its file.
type walk struct {
	next    int64  // the ordinal of the next line, -1 where lines have none
	renumer bool   // lines are numbered anew from here on
	time    string // of the last line
	turn    string // that was begun and not ended
}

// walkLines makes the edits of the lines, in their order.
func (w *rewrite) walkLines(ctx context.Context) error {
	at, place := walk{next: -1}, int64(0)
	var rec filelog.Record
	for l, err := range w.log.Lines(ctx) {
		if err != nil {
			return err
		}
		rec = filelog.Record{Span: l.Span, Place: place, Is: true}
		if err := w.walkLine(&at, &l, rec); err != nil {
			return err
		}
		place++
	}
	if len(w.end) == 0 {
		return nil
	}
	w.touch(rec.Offset + int64(rec.Length) + int64(rec.Rest))
	to := w.edits.Of(rec)
	for _, a := range w.end {
		to.After = append(to.After, at.writeLine(typeItem, a))
	}
	if at.turn != "" && slices.ContainsFunc(w.end, func(a addition) bool { return a.stored == nil }) {
		ends := fmt.Appendf(nil, `{"type":"turn_aborted","turn_id":%s,"reason":"interrupted"}`, docedit.QuoteText(at.turn))
		to.After = append(to.After, at.writeLine(typeEvent, addition{payload: ends, key: w.edits.Fresh()}))
	}
	return nil
}

func (w *rewrite) touch(offset int64) { w.first = min(w.first, offset) }

// walkLine makes the edit of one line.
func (w *rewrite) walkLine(at *walk, l *filelog.Line, rec filelog.Record) error {
	to := w.lines[rec.Place]
	said, wrong := parseLine(l.Text)
	at.renumer = at.renumer || rec.Place >= w.from
	if to != nil {
		for _, a := range to.before {
			w.touch(l.Offset)
			w.edits.Of(rec).Before = append(w.edits.Of(rec).Before, at.writeLine(typeItem, a))
		}
	}
	if to != nil && to.gone {
		w.touch(l.Offset)
		w.edits.Of(rec).Gone = true
		at.renumer = at.renumer || said.Ordinal != nil && wrong == ""
	} else if err := w.keepLine(at, l, rec, &said, wrong); err != nil {
		return err
	}
	if to != nil {
		for _, a := range to.after {
			w.touch(l.Offset + int64(l.Length) + int64(l.Rest))
			w.edits.Of(rec).After = append(w.edits.Of(rec).After, at.writeLine(typeItem, a))
		}
	}
	return nil
}

// keepLine gives a line its number and values.
func (w *rewrite) keepLine(at *walk, l *filelog.Line, rec filelog.Record, said *line, wrong string) error {
	values := map[string][]byte{}
	if to := w.lines[rec.Place]; to != nil {
		values = to.values
	}
	if wrong == "" {
		at.time = said.Time
		at.followTurn(said)
	}
	if wrong == "" && said.Ordinal != nil {
		is := *said.Ordinal
		if at.renumer && at.next >= 0 && is != at.next {
			if is < w.of.Start {
				return errors.New("lines that are copies of the parent's would get other numbers, which the first line counts")
			}
			is = at.next
			values["/ordinal"] = strconv.AppendInt(nil, is, 10)
		}
		at.next = is + 1
	}
	if l.Err != nil && at.renumer {
		return fmt.Errorf("line %d is too long to be numbered anew", l.Number)
	}
	if len(values) == 0 {
		return nil
	}
	text := bytes.Clone(l.Text)
	for pointer, value := range values {
		var err error
		if text, err = jsonedit.SetValue(text, pointer, value); err != nil {
			return err
		}
	}
	w.touch(l.Offset)
	w.edits.Of(rec).Text = text
	return nil
}

// followTurn keeps which turn is open.
func (at *walk) followTurn(l *line) {
	var e event
	if l.Type != typeEvent || serde.Unmarshal(l.Payload, &e) != nil {
		return
	}
	switch e.Type {
	case "task_started":
		at.turn = e.Turn
	case "task_complete", "turn_aborted":
		at.turn = ""
	}
}

// writeLine is a line at its new place, with the next number and, if it is new, the time of the
// line before it.
func (at *walk) writeLine(kind string, a addition) filelog.NewLine {
	at.renumer = true
	text := a.stored
	if text == nil {
		text = fmt.Appendf(nil, `{"timestamp":%s,`, docedit.QuoteText(at.time))
		if at.next >= 0 {
			text = fmt.Appendf(text, `"ordinal":%d,`, at.next)
		}
		text = fmt.Appendf(text, `"type":%q,"payload":%s}`, kind, a.payload)
	} else if at.next >= 0 {
		if numbered, err := jsonedit.SetValue(text, "/ordinal", strconv.AppendInt(nil, at.next, 10)); err == nil {
			text = numbered
		}
	}
	if at.next >= 0 {
		at.next++
	}
	return filelog.NewLine{Text: text, Key: a.key, Is: true}
}
