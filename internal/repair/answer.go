package repair

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// placeAnswer puts a result behind a record, and behind the results that were put
// there before: the answers to one turn keep the order in which they come.
func (d *draft) placeAnswer(e *entry, to *draftSession, after session.Ref) error {
	place := after
	if last := d.behind[after.Row()]; last != nil {
		before := last.Value.(*entry)
		place = session.Ref{Table: before.Table(), Key: before.Key}
	}
	if to.CallOrder {
		place = d.inCallOrder(e, after)
	}
	if err := d.insertEntry(e, to, place); err != nil {
		return err
	}
	d.behind[after.Row()] = d.findRecord(session.Ref{Table: e.Table(), Key: e.Key})
	return nil
}

// inCallOrder is the record behind which a result comes among those that were put behind
// one before: the last whose call is before its own.
func (d *draft) inCallOrder(e *entry, after session.Ref) session.Ref {
	from := d.findRecord(after)
	message := from
	for message != nil && !message.Value.(*entry).MakesCall(e.Results[0].CallID) {
		message = message.Prev()
	}
	if message == nil {
		return after
	}
	nth := func(id string) int {
		return slices.IndexFunc(message.Value.(*entry).Calls, func(c session.Call) bool { return c.ID == id })
	}
	for at := from.Next(); at != nil; at = at.Next() {
		other := at.Value.(*entry)
		if !other.moved || len(other.Results) != 1 || nth(other.Results[0].CallID) > nth(e.Results[0].CallID) {
			break
		}
		after = session.Ref{Table: other.Table(), Key: other.Key}
	}
	return after
}
