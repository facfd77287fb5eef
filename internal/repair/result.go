package repair

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/forest"
)

// buildTree builds what the edits made of the tree: with positions, and with every index
// that counts in a changed list of items counted anew.
func (d *draft) buildTree() *session.Tree {
	faults := d.itemFaults()
	heads := make([]forest.Head, len(d.sessions))
	exists := func(id string) bool { return d.byID[id] != nil }
	for i, b := range d.sessions {
		s := b.buildSession(faults)
		s.Faults = nil
		for _, f := range b.Faults {
			if f.Item < 0 && f.Kind != session.ParentCycle { // grouping finds loops anew
				s.Faults = append(s.Faults, f)
			}
		}
		for n := range s.Items {
			for _, f := range faults[s.ItemRef(n).Row()] {
				f.Item, f.Ref.Session = n, s.ID
				s.Faults = append(s.Faults, f)
			}
			if it := &s.Items[n]; it.Flags.Has(session.Dangling) && exists(it.Child()) {
				it.Flags &^= session.Dangling | session.Skipped
			}
		}
		if b.touched {
			d.recountIndexes(s)
		}
		heads[i] = forest.HeadOf(s)
	}
	whole := &session.Tree{}
	for _, t := range forest.GroupHeads(heads) {
		whole.Sessions = append(whole.Sessions, t.Sessions...)
	}
	for _, s := range whole.Sessions {
		if was := d.before.Session(s.ID); was != nil {
			s.Mended = was.Mended || !reflect.DeepEqual(sentItems(was), sentItems(s))
		}
	}
	return whole
}

// sentItems are the items of a session that are sent, without their places. Of one in which
// nothing was refused nobody asks.
func sentItems(s *session.Session) (list []session.Item) {
	if !slices.ContainsFunc(s.Items, func(it session.Item) bool { return it.Refusal() != session.Refusal{} }) {
		return nil
	}
	for _, it := range s.Items {
		if it.OnWire() {
			it.Position, it.Time = 0, time.Time{}
			list = append(list, it)
		}
	}
	return list
}

// itemFaults are the faults of items that are still to be mended, by row.
func (d *draft) itemFaults() map[string][]session.Fault {
	faults := map[string][]session.Fault{}
	for _, b := range d.sessions {
		for _, f := range b.Faults {
			if f.Item >= 0 {
				faults[f.Ref.Row()] = append(faults[f.Ref.Row()], f)
			}
		}
	}
	return faults
}

// buildSession builds the session with its items in their order and at their positions. Where
// positions change at all, one that is stored as no number becomes one, which mends it.
func (b *draftSession) buildSession(faults map[string][]session.Fault) *session.Session {
	s := b.Session
	s.IndexRefs = slices.Clone(b.IndexRefs)
	s.Items = make([]session.Item, 0, b.items.Len())
	if at := b.items.Front(); b.split && at != nil {
		s.Created = at.Value.(*entry).Time
		s.Updated = s.Created
	}
	last := int64(-1)
	for at := b.items.Front(); at != nil; at = at.Next() {
		e := at.Value.(*entry)
		it, says := e.buildItem()
		if !says {
			continue // all its parts were taken
		}
		// A gap that an item leaves takes in what comes later: as few rows
		// change as can.
		row := session.Ref{Table: it.Table(), Key: it.Key}.Row()
		odd := slices.ContainsFunc(faults[row], ofPosition) || it.Position == math.MaxInt64
		stays := (!e.moved || e.came && b.Tick > 0) && !odd
		if b.touched && (!stays || it.Position <= last) {
			b.setPosition(&it, last+1)
			if odd {
				faults[row] = slices.DeleteFunc(faults[row], ofPosition)
			}
		}
		last = it.Position
		s.Items = append(s.Items, it)
	}
	return &s
}

func ofPosition(f session.Fault) bool { return f.Field == session.FieldPosition }

// setPosition gives an item another position, and another time where that is the same.
func (b *draftSession) setPosition(it *session.Item, position int64) {
	if !it.Time.IsZero() {
		it.Time = it.Time.Add(time.Duration(position>>b.TickBits-it.Position>>b.TickBits) * b.Tick)
	}
	it.Position = position
}

// buildItem builds the item without what was taken out of it; says is false when
// nothing is left.
func (e *entry) buildItem() (it session.Item, says bool) {
	it = e.Item
	if !e.parted && !e.emptied && e.omitted == nil {
		return it, true
	}
	taken := func(n int) bool { return e.Results[n].CallID == takenResult }
	before := 0 // results that were taken
	it.Results, it.Blocks = nil, nil
	place := make([]int, len(e.Results))
	for n := range e.Results {
		if place[n] = n - before; taken(n) {
			before++
			continue
		}
		it.Results = append(it.Results, e.Results[n])
	}
	for n, b := range e.Blocks {
		switch {
		case slices.Contains(e.omitted, n) && (b.Kind != session.MediaBlock || b.In > 0):
			continue
		case slices.Contains(e.omitted, n):
			b = session.Block{Kind: session.TextBlock, ID: b.ID, Cached: b.Cached}
		case b.Kind == session.TextBlock && b.Blank && e.emptied:
			continue
		case b.Kind == session.ResultBlock && b.Nth < len(place):
			if taken(b.Nth) {
				continue
			}
			b.Nth, b.Blank = place[b.Nth], b.Blank && !e.emptied
		}
		it.Blocks = append(it.Blocks, b)
	}
	if before > 0 && len(it.Results) == 0 && it.Body != nil { // its results no longer say something for it
		it.Flags = it.Flags&^(session.BlankText|session.TrailingSpace) | session.TextFlags(it.Body.Text)
		if strings.TrimSpace(it.Body.Text) == "" && len(it.Calls) == 0 && !it.HasBlock(session.MediaBlock) && !it.HasBlock(session.UnknownBlock) {
			it.Flags |= session.Blank
		}
	}
	return it, before == 0 || len(it.Results) > 0 || !onlyResults(&it)
}

// onlyResults reports whether an item is there for its results only. White space and
// thoughts in a message of a tool are nothing that anybody said.
func onlyResults(it *session.Item) bool {
	tool := it.Role == session.Tool
	if it.Body == nil {
		return tool
	}
	if len(it.Calls) > 0 || it.HasBlock(session.MediaBlock) {
		return false
	}
	return tool && strings.TrimSpace(it.Body.Text) == "" ||
		it.Body.Text+it.Body.Reasoning == "" && !it.HasBlock(session.ReasoningBlock)
}

// recountIndexes counts the indexes anew that mean a place in the session's list.
func (d *draft) recountIndexes(s *session.Session) {
	before := d.before.Session(s.ID)
	if before == nil {
		return
	}
	for i := range s.Items {
		if it := &s.Items[i]; it.Kind == session.Summary && it.KeptFrom() > 0 {
			it.Own().KeptFrom = session.RemapIndex(before, s, it.KeptFrom())
		}
	}
	for i := range s.IndexRefs {
		s.IndexRefs[i].Index = session.RemapIndex(before, s, s.IndexRefs[i].Index)
	}
}
