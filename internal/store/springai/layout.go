package springai

import (
	"context"
	"math"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// saidColumns are the columns of an event that say something. The others say
// where and when it stands, and whether it is still sent.
var saidColumns = []string{"message_type", "message_content", "message_data", "synthetic", "branch", "metadata"}

// layout is how a database of this schema is read and written.
func (sc *schema) layout() *eventlog.Layout {
	l := &eventlog.Layout{
		Sessions: eventlog.Table{Name: sc.sessions.name, Columns: sc.sessions.columns, Key: sc.sessions.pick("id")},
		Events: eventlog.Table{
			Name: sc.events.name, Columns: sc.events.columns, Key: sc.events.pick("session_id"), ID: sc.events.stored["id"],
		},
		Place: sc.events.pick("timestamp"), Order: sc.orderByTime,
		Session: sc.session, Item: sc.item, Finish: sc.finish,
		Said: sc.events.pick(saidColumns...), Content: sc.content,
		Write: eventlog.Write{Insert: sc.insert, Part: sc.part, Update: sc.update, Session: sc.updateSession, Set: sc.setEvent},
	}
	if sc.sequenced() {
		l.Place, l.Order = sc.events.pick("seq"), sc.orderBySequence
	}
	if sc.given {
		l.Write.Renumber = l.Place
	}
	return l
}

// The places of events without a usable one: before all others and behind them,
// with room for those that a repair puts beside them.
const (
	beforeAll = math.MinInt64
	behindAll = math.MaxInt64 / 2
)

func (sc *schema) orderBySequence(_ table.Place, place eventlog.Row) (at, tie int64) {
	stored := sc.events.value(place, "seq")
	if stored == nil {
		return beforeAll, 0
	}
	if seq, ok := numberOf(stored); ok {
		return seq, 0
	}
	return behindAll, 0
}

// orderByTime goes by the numbers where times are stored as numbers of
// milliseconds, and else by microseconds. SQLite orders numbers before texts, and
// so does this.
func (sc *schema) orderByTime(_ table.Place, place eventlog.Row) (at, tie int64) {
	stored := sc.events.value(place, "timestamp")
	if stored == nil {
		return beforeAll, 0
	}
	if ms, ok := numberOf(stored); ok {
		return ms, 0
	}
	t, wrong := parseTime(stored)
	if wrong != "" {
		return behindAll, 0
	}
	return t.UnixMicro(), 0
}

// reread is the layout of a database that is open for writing.
func reread(ctx context.Context, db table.Reader) (session.Store, *eventlog.Layout, error) {
	sc, err := readSchema(ctx, db)
	if err != nil {
		return session.Store{}, nil, err
	}
	return sc.facts(), sc.layout(), nil
}
