package loom

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/sessctl/sessctl/internal/session"
)

// addEvents adds what events tell of the agent: as a child its goals and answers, as
// a parent the spawns that no step has, and what came back.
func (b *builder) addEvents() {
	when := b.timeline()
	for _, ev := range b.asked {
		b.addEvent(row{step: when.before(ev.time)}, ev, tableGoals)
	}
	for _, ev := range b.sent {
		if !ev.failed {
			b.addEvent(row{step: when.behind(ev.time)}, ev, tableAnswers)
		}
	}
	for _, d := range b.delegations {
		if d.step == "" {
			r := row{step: when.before(d.request.time), spawn: d}
			b.calls[d] = callPlace{d.request.callID(), r.step, d.request.time}
			b.addEvent(r, d.request, tableSpawns)
		}
		call, made := b.calls[d]
		if !made || d.answer == nil {
			continue
		}
		for _, ev := range append([]*event{d.answer}, d.again...) {
			r := row{step: max(call.step, when.before(ev.time)), answer: d, notBefore: call.time}
			b.addEvent(r, ev, tableResults)
		}
	}
	for _, ev := range b.strays {
		b.addEvent(row{step: when.before(ev.time)}, ev, tableResults)
	}
}

func (b *builder) addEvent(r row, ev *event, table string) {
	text, raw, err := b.textOf(ev)
	if err != nil {
		r.faults = append(r.faults, session.Fault{Kind: session.Undecodable, Field: ev.key, Detail: "it cannot be read again: " + reason(err)})
	}
	r.item = eventItem(table, b.id, ev, text, raw)
	if r.spawn != nil {
		r.item.Calls[0].Delegation = r.spawn.model()
	}
	if r.answer != nil {
		r.item.Results[0].CallID = b.calls[r.answer].id
		meaning(&r.item)
	}
	r.event, r.number, r.faults = true, -1, append(r.faults, ev.faults...)
	b.add(r, ev.key)
}

// timeline is the time of the latest of the first steps, for each number of steps.
type timeline []time.Time

func (b *builder) timeline() timeline {
	var latest time.Time
	var line timeline
	for i := range b.rows {
		if r := &b.rows[i]; r.number >= 0 {
			if r.item.Time.After(latest) {
				latest = r.item.Time
			}
			line = append(line, latest)
		}
	}
	return line
}

// before is how many steps are older. What has no time comes first.
func (l timeline) before(t time.Time) int {
	return sort.Search(len(l), func(i int) bool { return !l[i].Before(t) })
}

// behind is how many steps are not newer. What has no time comes last.
func (l timeline) behind(t time.Time) int {
	if t.IsZero() {
		return len(l)
	}
	return sort.Search(len(l), func(i int) bool { return l[i].After(t) })
}

// order compares rows: events stand behind the steps that they follow, by time.
func order(a, b row) int {
	if c := cmp.Compare(a.step, b.step); c != 0 {
		return c
	}
	switch {
	case a.event && b.event:
		return a.at().Compare(b.at())
	case a.event:
		return 1
	case b.event:
		return -1
	}
	return 0
}

// at is when the item of a row was there at the earliest.
func (r *row) at() time.Time {
	if r.item.Time.Before(r.notBefore) {
		return r.notBefore
	}
	return r.item.Time
}

// stride is the distance of the positions of two steps, whose numbers follow each
// other: room for events between them.
const stride = 1 << 24

// arrange puts the items into their order and gives them positions. A step has the one
// of its file's number; two files of one number collide.
func (b *builder) arrange() {
	slices.SortStableFunc(b.rows, order)
	last := int64(-1)
	for i := range b.rows {
		r := &b.rows[i]
		switch {
		case r.number < 0:
			last++
		default:
			last = max(last, (r.number+1)*stride)
		}
		r.item.Position = last
		b.session.Items = append(b.session.Items, r.item)
		for _, f := range r.faults {
			f.Item, f.Ref = i, b.session.ItemRef(i)
			b.session.Faults = append(b.session.Faults, f)
		}
	}
	b.markBlocking()
}

// markBlocking finds the spawns for which the parent waited: nothing stands between the
// call and its result. The design lets a parent wait or go on.
func (b *builder) markBlocking() {
	for i := range b.rows {
		if d := b.rows[i].spawn; d != nil {
			last := i+1 == len(b.rows)
			b.session.Items[i].Calls[0].Delegation.Blocking = last || b.rows[i+1].answer == d
		}
	}
}

// finish sets what follows from the items and events.
func (b *builder) finish() {
	s := b.session
	for i := range s.Items {
		t := s.Items[i].Time
		if !t.IsZero() && (s.Created.IsZero() || t.Before(s.Created)) {
			s.Created = t
		}
		if t.After(s.Updated) {
			s.Updated = t
		}
	}
	if len(b.asked) > 0 {
		s.Task = b.asked[0].said
	}
}
