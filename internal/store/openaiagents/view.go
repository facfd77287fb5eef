package openaiagents

import (
	"cmp"
	"context"
	"slices"

	"github.com/sessctl/sessctl/internal/branch"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// joined shows a database in the form that eventlog reads: the pairs of tables as one, messages with
// their places and branches, and sessions that have messages and no row.
type joined struct {
	*eventlog.Parted
	pairs    []pair
	branches map[string]*branches // of the sessions of the pair that has some
}

// The columns that rows have besides their own, and the names that several pairs go by.
const (
	fieldPair   = "table"  // the messages' table, of a session, too
	fieldPlace  = "place"  // see placeOf
	fieldBranch = "branch" // of a message, the names of its branches: branch.NamesLabel
	fieldLoose  = "structure_rows"

	allSessions, allMessages = "sessions", "messages"
)

func newJoined(db table.Reader) *joined {
	j := &joined{}
	j.Parted = &eventlog.Parted{Reader: db, List: j.listMessages, Load: j.loadMessages}
	return j
}

// joinPairs shows the tables of all pairs as two.
func (j *joined) joinPairs(pairs []pair) {
	j.pairs, j.From = pairs, nil
	for i := range pairs {
		j.From = append(j.From, eventlog.Source{Table: pairs[i].sessions, Also: table.Image{fieldPair: pairs[i].messages}})
	}
	j.From = append(j.From, eventlog.Source{}) // sessions without a row
	if j.Sessions, j.Events = allSessions, allMessages; len(pairs) == 1 {
		j.Sessions, j.Events = pairs[0].sessions, pairs[0].messages
	}
}

// lost are the sessions that have messages and no row.
func (j *joined) lost() *eventlog.Source { return &j.From[len(j.pairs)] }

// branchesOf are those of a session of a pair, nil for none.
func (j *joined) branchesOf(p *pair, session string) *branches {
	if !p.branched {
		return nil
	}
	return j.branches[session]
}

// pairOf is the pair with a table of messages.
func (j *joined) pairOf(messages string) *pair {
	return &j.pairs[max(0, slices.IndexFunc(j.pairs, func(p pair) bool { return p.messages == messages }))]
}

// pairAt is the pair that a row of messages is of, and its place there.
func (j *joined) pairAt(at table.Place) (p *pair, row table.Place) {
	n, row := eventlog.SplitPlace(at, len(j.pairs))
	return &j.pairs[n], row
}

func (j *joined) placeIn(p *pair, row table.Place) table.Place {
	return row*table.Place(len(j.pairs)) + table.Place(p.number)
}

// Faults leaves out what sessions tell of: messages without a session, and structure without a message.
func (j *joined) Faults(ctx context.Context, deep bool) ([]session.Fault, error) {
	faults, err := j.Reader.Faults(ctx, deep)
	told := func(f session.Fault) bool {
		return f.Kind == session.ForeignKey && slices.ContainsFunc(j.pairs, func(p pair) bool {
			return f.Ref.Table == p.messages || p.branched && f.Ref.Table == tableStructure
		})
	}
	return slices.DeleteFunc(slices.Clone(faults), told), err
}

// message is a row of messages, while it is read.
type message struct {
	*joined
	of      *pair
	columns []string
	row     []table.Value
}

func (m message) stored(name string) table.Value {
	if i := slices.Index(m.columns, name); i >= 0 {
		return m.row[i]
	}
	return nil
}

// ColumnValue implements eventlog.Valued.
func (m message) ColumnValue(name string) table.Value {
	id, _ := column.Int(m.stored("id"))
	switch b := m.branchesOf(m.of, column.View(m.stored(fieldSession))); name {
	case fieldPair:
		return m.of.messages
	case fieldPlace:
		return m.of.placeOf(b, id)
	case fieldBranch:
		if b == nil || b.spots[id] == nil {
			return nil
		}
		return branch.NamesLabel(b.spots[id].names...)
	}
	return m.stored(name)
}

func (j *joined) listMessages(ctx context.Context, s table.Selection, fn func(at table.Place, e eventlog.Valued) error) (lost []session.Fault, err error) {
	if slices.Equal(s.Key, []string{"id"}) { // somebody looks for a new id among those that the database gives out
		return nil, nil
	}
	var ended error
	for n := 0; n < len(j.pairs) && err == nil && ended == nil; n++ {
		p, part := &j.pairs[n], j.From[n].NarrowKey(s)
		part.Table, part.Columns = p.messages, table.UniteNames([]string{"id", fieldSession}, s.Columns)
		part.Columns = slices.DeleteFunc(part.Columns, func(name string) bool { return !slices.Contains(p.columns, name) })
		if s.Lacking != nil {
			part.Lacking = &table.Selection{Table: p.sessions, Columns: []string{fieldSession}}
		}
		var faults []session.Fault
		faults, err = j.Reader.Scan(ctx, part, func(at table.Place, row []table.Value) error {
			ended = fn(j.placeIn(p, at), message{j, p, part.Columns, row})
			return ended
		})
		lost = append(lost, faults...)
	}
	return lost, err
}

func (j *joined) loadMessages(ctx context.Context, records []table.Place, fn func(at table.Place, e eventlog.Valued) error) error {
	for n := range j.pairs {
		p, rows := &j.pairs[n], []table.Place{}
		for _, at := range records {
			if of, row := j.pairAt(at); of == p {
				rows = append(rows, row)
			}
		}
		_, err := j.Reader.Rows(ctx, p.messages, p.columns, rows, func(i int, row []table.Value) error {
			return fn(j.placeIn(p, rows[i]), message{j, p, p.columns, row})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// prepareTables reads which messages are on which branches, and which sessions have no row.
func (j *joined) prepareTables(ctx context.Context, _ table.Reader, _ [][]table.Value) (err error) {
	j.branches, j.lost().Made = map[string]*branches{}, nil
	for n := range j.pairs {
		p := &j.pairs[n]
		if p.branched {
			err = j.readStructure(ctx)
		}
		if remote := j.Reader.About().Remote; err == nil && (p.branched || p.timed || !remote) { // whose server keeps foreign keys
			err = j.readMessages(ctx, p)
		}
		if err != nil {
			return err
		}
	}
	for _, b := range j.branches {
		b.settle()
	}
	return nil
}

// readMessages finds the messages whose session has no row, those that are on branches, and when they were.
func (j *joined) readMessages(ctx context.Context, p *pair) error {
	rows, stamps := map[string]table.Image{}, map[string][]stamp{} // of sessions; the rows that are stored are nil
	_, err := table.Glance(ctx, j.Reader, p.sessions, []string{fieldSession}, func(row []table.Value) { rows[column.Text(row[0])] = nil })
	if err != nil {
		return err
	}
	_, err = table.Glance(ctx, j.Reader, p.messages, []string{"id", fieldSession, "created_at"}, func(row []table.Value) {
		id, _ := column.Int(row[0])
		name, at := column.Text(row[1]), column.Text(row[2])
		if p.branched {
			if b := j.branchesIn(name); b.spots[id] != nil {
				b.spots[id].known = true
			} else {
				b.unnamed[id] = 0
			}
		}
		if p.timed {
			stamps[name] = append(stamps[name], stamp{id, times.Read(row[2]).UnixMicro()})
		}
		made, known := rows[name]
		if !known { // what is loose tells it from the row that it gets
			made = table.Image{fieldSession: name, fieldPair: p.messages, fieldLoose: "none", "created_at": column.OrNull(at)}
			rows[name], j.lost().Made = made, append(j.lost().Made, made)
		}
		if made != nil {
			made["updated_at"] = column.OrNull(max(column.Text(made["updated_at"]), at))
		}
	})
	p.rankMessages(stamps)
	return err
}

type stamp struct{ id, at int64 }

// rankMessages places the messages of SQLAlchemySession, which sends them in the order of their times, and
// then of their ids.
func (p *pair) rankMessages(stamps map[string][]stamp) {
	p.ranks = map[int64]int64{}
	for _, list := range stamps {
		slices.SortFunc(list, func(a, b stamp) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.id, b.id)) })
		place := int64(timedPlace)
		for n, m := range list {
			if place++; n > 0 && m.at != list[n-1].at {
				place = (place>>rankBits + 1) << rankBits
			}
			p.ranks[m.id] = place
		}
	}
}
