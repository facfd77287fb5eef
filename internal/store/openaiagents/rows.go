package openaiagents

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/branch"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/table"
)

// joined shows a database in the form that eventlog reads: the pairs of tables as one, messages with
// their places and branches, and sessions that have messages and no row.
type joined struct {
	table.Reader
	pairs    []pair
	branches map[key]*branches
	lost     []*lostSession
	ranks    map[key]map[int64]int64 // of messages of SQLAlchemySession whose times are not in the order of their ids, by id
}

// The columns that rows have besides their own, and the names that several pairs go by.
const (
	fieldPair   = "table"  // the messages' table, of a session, too
	fieldPlace  = "place"  // see placeOf
	fieldBranch = "branch" // of a message, the names of its branches: branch.NamesLabel
	fieldLoose  = "structure_rows"

	allSessions, allMessages = "sessions", "messages"
)

// key tells a session from all others.
type key struct{ pair, session string }

func keyOf(pair, session string) key { return key{strings.Clone(pair), strings.Clone(session)} }

// branches are those of a session.
type branches struct {
	names   map[string]bool
	spots   map[int64]*spot // of messages, by id
	unnamed map[int64]int64 // messages that no branch names, with their places
	loose   []looseRow      // rows of message_structure without a message, or that name one again
	fresh   map[int64]int64 // messages that a repair put there since, with their places
	moved   bool            // it did so, and numbers may not say it
	crossed bool            // two branches have messages in different orders
	sum     [sha256.Size]byte
}

// spot is where a message stands: a branch that began as a copy of another one's names the same
// messages, by later numbers.
type spot struct {
	first  int64 // the lowest of its numbers
	place  int64
	names  []string
	behind []*spot // the one before it, on each branch
	known  bool    // the message exists
}

type looseRow struct {
	at           table.Place
	message, seq int64
	branch       string
}

// placeOf is the place of a message on a branch, by what was read and written.
func (b *branches) placeOf(id int64) int64 {
	if at, fresh := b.fresh[id]; fresh {
		return at
	}
	if s := b.spots[id]; s != nil {
		return s.place
	}
	return 0
}

func (b *branches) isLoose(at table.Place) bool {
	return slices.ContainsFunc(b.loose, func(l looseRow) bool { return l.at == at })
}

// described are a few of the loose rows.
func (b *branches) described() (list []string) {
	for _, l := range b.loose[:min(3, len(b.loose))] {
		list = append(list, fmt.Sprintf("message %d on branch %.40q", l.message, l.branch))
	}
	return list
}

// tellUnnamed says what becomes of messages that no branch names.
func (b *branches) tellUnnamed() string {
	what := "%d messages of the session are on no branch, so AdvancedSQLiteSession does not send them"
	if len(b.names) == 0 {
		what = "SQLiteSession stored the %d messages of the session, and they are on no branch"
	}
	return fmt.Sprintf(what, len(b.unnamed)) + ". AdvancedSQLiteSession deletes them when a branch is deleted, an item is popped, or a write fails"
}

// lostSession is one that has messages, and no row.
type lostSession struct {
	key
	first, last string
}

// The places of a branched session are above those of all others; what no branch names stands at its
// start. The last bits are for what comes between.
const (
	branchedPlace = 1 << 62
	rankBits      = 16
	mostSeq       = branchedPlace>>(rankBits+1) - 1
)

// placeOf is where a message stands in its session.
func (j *joined) placeOf(p *pair, id int64, session string) int64 {
	if b := j.branches[key{p.messages, session}]; b != nil && len(b.names) > 0 {
		if at := b.spots[id]; at != nil {
			return at.place
		}
		return b.unnamed[id]
	}
	if ranks := j.ranks[key{p.messages, session}]; ranks != nil {
		return ranks[id]
	}
	return id
}

func packPlace(seq int64) int64 {
	return branchedPlace | max(0, min(seq, mostSeq))<<(rankBits+1)
}

// isUnnamed reports whether a place is one of a message that its session's branches do not name.
func isUnnamed(place int64) bool { return place&branchedPlace != 0 && place&(1<<rankBits) != 0 }

// branchedTable is the table of messages that message_structure is of, "" for none.
func (j *joined) branchedTable() string {
	for i := range j.pairs {
		if j.pairs[i].branched {
			return j.pairs[i].messages
		}
	}
	return ""
}

// label is the branches of a message, nil where its session has one at most.
func (j *joined) label(p *pair, id int64, session string) table.Value {
	b := j.branches[key{p.messages, session}]
	if b == nil || len(b.names) < 2 || b.spots[id] == nil {
		return nil
	}
	return branch.NamesLabel(b.spots[id].names...)
}

// Stored implements eventlog.View.
func (j *joined) Stored() table.Reader { return j.Reader }

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

// source is one of the tables that a view has its rows of.
type source struct {
	*joined
	n       int // of the pair
	session bool
	want    []string
	there   []string // which are read: of those that are wanted, and what the others are made of
}

// sourcesOf are the tables that a name stands for, none where it is no view.
func (j *joined) sourcesOf(name string, want []string) (list []source) {
	for n := range j.pairs {
		p := &j.pairs[n]
		ofSessions, ofMessages := name == p.sessions, name == p.messages
		if len(j.pairs) > 1 {
			ofSessions, ofMessages = name == allSessions, name == allMessages
		}
		s := source{joined: j, n: n, session: ofSessions, want: want, there: []string{fieldSession, "created_at"}}
		columns := p.columns
		if ofSessions {
			columns = sessionColumns
		} else {
			s.there = append(s.there, "id")
		}
		for _, c := range want {
			if slices.Contains(columns, c) && !slices.Contains(s.there, c) {
				s.there = append(s.there, c)
			}
		}
		if ofSessions || ofMessages {
			list = append(list, s)
		}
	}
	return list
}

func (s *source) pair() *pair { return &s.pairs[s.n] }

func (s *source) name() string {
	if s.session {
		return s.pair().sessions
	}
	return s.pair().messages
}

// row makes the wanted row of one that was read.
func (s *source) row(read []table.Value) []table.Value {
	row := make([]table.Value, len(s.want))
	name, id := column.View(read[0]), int64(0)
	if !s.session {
		id, _ = column.Int(read[2])
	}
	for i, c := range s.want {
		switch c {
		case fieldPair:
			row[i] = s.pair().messages
		case fieldPlace:
			row[i] = s.placeOf(s.pair(), id, name)
		case fieldBranch:
			row[i] = s.label(s.pair(), id, name)
		case fieldLoose:
			if b := s.branches[key{s.pair().messages, name}]; b != nil && len(b.loose) > 0 {
				row[i] = fmt.Sprint(len(b.loose))
			}
		default:
			if at := slices.Index(s.there, c); at >= 0 {
				row[i] = read[at]
			}
		}
	}
	return row
}

// place is where a row of the table is in the view.
func (s *source) place(at table.Place) table.Place {
	return at*table.Place(len(s.pairs)) + table.Place(s.n)
}

// selection is the part of a selection that is about this table; ok is false where there is none.
func (s *source) selection(of table.Selection) (part table.Selection, ok bool) {
	part = of
	part.Table, part.Columns = s.name(), s.there
	at := slices.Index(of.Key, fieldPair)
	if at < 0 || of.Key == nil {
		return part, true
	}
	part.Key, part.Keys = []string{fieldSession}, nil
	for _, k := range of.Keys {
		if column.View(k[at]) == s.pair().messages {
			part.Keys = append(part.Keys, []table.Value{k[1-at]})
		}
	}
	return part, of.Keys == nil || len(part.Keys) > 0
}

// Scan implements table.Reader.
func (j *joined) Scan(ctx context.Context, of table.Selection, fn func(at table.Place, row []table.Value) error) (lost []session.Fault, err error) {
	sources := j.sourcesOf(of.Table, of.Columns)
	if sources == nil {
		return j.Reader.Scan(ctx, of, fn)
	}
	if slices.Equal(of.Key, []string{"id"}) { // somebody looks for a new id among those that the database gives out
		return nil, nil
	}
	var ended error
	for _, s := range sources {
		part, ok := s.selection(of)
		if !ok {
			continue
		}
		if of.Lacking != nil {
			part.Lacking = &table.Selection{Table: s.pair().sessions, Columns: []string{fieldSession}}
		}
		found, err := j.Reader.Scan(ctx, part, func(at table.Place, read []table.Value) error {
			ended = fn(s.place(at), s.row(read))
			return ended
		})
		if lost = append(lost, found...); err != nil || ended != nil {
			return lost, err
		}
	}
	for n := 0; sources[0].session && of.Lacking == nil && n < len(j.lost) && ended == nil; n++ {
		ended = fn(firstLost-table.Place(n), j.lostRow(n, of.Columns))
	}
	if ended == table.Enough { //nolint:errorlint // it is handed on as it is
		ended = nil
	}
	return lost, ended
}

// firstLost is the place of the first session without a row; the others are before it.
const firstLost = table.Place(-2)

func (j *joined) lostRow(n int, columns []string) []table.Value {
	row := make([]table.Value, len(columns))
	for i, c := range columns {
		switch l := j.lost[n]; c {
		case fieldPair:
			row[i] = l.pair
		case fieldSession:
			row[i] = l.session
		case "created_at":
			row[i] = column.OrNull(l.first)
		case "updated_at":
			row[i] = column.OrNull(l.last)
		case fieldLoose: // tells the row from the one that a repair makes
			row[i] = "none"
		}
	}
	return row
}

// Rows implements table.Reader.
func (j *joined) Rows(ctx context.Context, name string, columns []string, places []table.Place, fn func(n int, row []table.Value) error) (unread []int, err error) {
	sources := j.sourcesOf(name, columns)
	if sources == nil {
		return j.Reader.Rows(ctx, name, columns, places, fn)
	}
	for i, s := range sources {
		var rows []table.Place
		var at []int
		for n, place := range places {
			switch {
			case place < 0 && i == 0:
				if err := fn(n, j.lostRow(int(firstLost-place), columns)); err != nil {
					return nil, err
				}
			case place >= 0 && int(place)%len(j.pairs) == s.n:
				rows, at = append(rows, place/table.Place(len(j.pairs))), append(at, n)
			}
		}
		missing, err := j.Reader.Rows(ctx, s.name(), s.there, rows, func(n int, read []table.Value) error { return fn(at[n], s.row(read)) })
		if err != nil {
			return nil, err
		}
		for _, n := range missing {
			unread = append(unread, at[n])
		}
	}
	slices.Sort(unread)
	return unread, nil
}

// prepareTables reads which messages are on which branches, and which sessions have no row.
func (j *joined) prepareTables(ctx context.Context, _ table.Reader, _ [][]table.Value) error {
	j.branches, j.lost, j.ranks = map[key]*branches{}, nil, map[key]map[int64]int64{}
	for n := range j.pairs {
		p := &j.pairs[n]
		if p.branched {
			if err := j.readStructure(ctx, p); err != nil {
				return err
			}
		}
		if p.timed {
			if err := j.readTimes(ctx, p); err != nil {
				return err
			}
		}
		if j.Reader.About().Remote { // whose server keeps foreign keys
			continue
		}
		if err := j.readMessages(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// readStructure reads message_structure.
func (j *joined) readStructure(ctx context.Context, p *pair) error {
	var buf []byte
	_, err := j.Reader.Scan(ctx, table.Selection{Table: tableStructure, Columns: structureColumns, Glance: true}, func(at table.Place, row []table.Value) error {
		of := key{p.messages, column.View(row[1])}
		b := j.branches[of]
		if b == nil {
			b = &branches{names: map[string]bool{}, spots: map[int64]*spot{}, unnamed: map[int64]int64{}, fresh: map[int64]int64{}}
			j.branches[keyOf(of.pair, of.session)] = b
		}
		buf = append(buf[:0], b.sum[:]...)
		for _, value := range row {
			buf = table.AppendExactly(buf, value)
		}
		b.sum = sha256.Sum256(buf)
		id, _ := column.Int(row[2])
		seq, _ := column.Int(row[5])
		b.spots[id] = &spot{first: mostSeq}
		b.loose = append(b.loose, looseRow{at, id, seq, column.Text(row[3])})
		return nil
	})
	return err
}

// readMessages finds the messages whose session has no row, and what of message_structure has none.
func (j *joined) readMessages(ctx context.Context, p *pair) error {
	stored, lost := map[string]bool{}, map[string]*lostSession{}
	_, err := table.Glance(ctx, j.Reader, p.sessions, []string{fieldSession}, func(row []table.Value) { stored[column.Text(row[0])] = true })
	if err != nil {
		return err
	}
	_, err = table.Glance(ctx, j.Reader, p.messages, []string{"id", fieldSession, "created_at"}, func(row []table.Value) {
		id, _ := column.Int(row[0])
		name := column.View(row[1])
		if b := j.branches[key{p.messages, name}]; b != nil {
			if s := b.spots[id]; s != nil {
				s.known = true
			} else {
				b.unnamed[id] = 0
			}
		} else if p.branched {
			b = &branches{unnamed: map[int64]int64{id: 0}}
			j.branches[keyOf(p.messages, name)] = b
		}
		if stored[name] {
			return
		}
		at := column.Text(row[2])
		if lost[name] == nil {
			lost[strings.Clone(name)] = &lostSession{keyOf(p.messages, name), at, at}
		}
		lost[name].last = max(lost[name].last, at)
	})
	for _, name := range slices.Sorted(maps.Keys(lost)) {
		j.lost = append(j.lost, lost[name])
	}
	for of, b := range j.branches {
		if of.pair == p.messages {
			b.settle()
		}
	}
	return err
}

// settle finds what the branches of a session are, when all their rows and messages were seen.
func (b *branches) settle() {
	maps.DeleteFunc(b.spots, func(_ int64, s *spot) bool { return !s.known })
	last := map[string]*spot{}
	slices.SortStableFunc(b.loose, func(a, c looseRow) int { return cmp.Compare(a.seq, c.seq) })
	b.loose = slices.DeleteFunc(b.loose, func(l looseRow) bool {
		s := b.spots[l.message]
		if s == nil || slices.Contains(s.names, l.branch) {
			return false
		}
		b.names[l.branch] = true
		s.first, s.names = min(s.first, l.seq), append(s.names, l.branch)
		if before := last[l.branch]; before != nil {
			s.behind = append(s.behind, before)
		}
		last[l.branch] = s
		return true
	})
	ids, placed := slices.SortedFunc(maps.Keys(b.spots), func(x, y int64) int {
		return cmp.Or(cmp.Compare(b.spots[x].first, b.spots[y].first), cmp.Compare(x, y))
	}), int64(0)
	var place func(s *spot)
	place = func(s *spot) { // in the order of each branch, where these agree
		if s.place > 0 {
			return
		}
		s.place = 1
		for _, before := range s.behind {
			place(before)
		}
		placed++
		s.place = packPlace(placed)
	}
	for _, id := range ids {
		place(b.spots[id])
	}
	for _, s := range b.spots {
		b.crossed = b.crossed || slices.ContainsFunc(s.behind, func(before *spot) bool { return before.place > s.place })
	}
	for n, id := range slices.Sorted(maps.Keys(b.unnamed)) {
		b.unnamed[id] = packPlace(0) | 1<<rankBits | min(int64(n), 1<<rankBits-1)
	}
}

// structureSum stands for what message_structure has of a session.
func (j *joined) structureSum(of []table.Value) []byte {
	at := key{j.pairs[0].messages, column.View(of[len(of)-1])}
	if len(of) > 1 {
		at.pair = column.View(of[0])
	}
	if b := j.branches[at]; b != nil {
		return b.sum[:]
	}
	return nil
}

// readTimes finds the sessions of SQLAlchemySession whose messages it does not send in the order of
// their ids: a clock was set back.
func (j *joined) readTimes(ctx context.Context, p *pair) error {
	type message struct{ id, at int64 }
	all := map[string][]message{}
	_, err := table.Glance(ctx, j.Reader, p.messages, []string{"id", fieldSession, "created_at"}, func(row []table.Value) {
		id, _ := column.Int(row[0])
		m, name := message{id, times.Read(row[2]).UnixMicro()}, column.View(row[1])
		list := all[name]
		if list == nil {
			name = strings.Clone(name)
		}
		all[name] = append(list, m)
	})
	for name, list := range all {
		slices.SortFunc(list, func(a, b message) int { return cmp.Compare(a.id, b.id) })
		if slices.IsSortedFunc(list, func(a, b message) int { return cmp.Compare(a.at, b.at) }) {
			continue
		}
		slices.SortStableFunc(list, func(a, b message) int { return cmp.Compare(a.at, b.at) })
		ranks := map[int64]int64{}
		for n, m := range list {
			ranks[m.id] = int64(n) + 1
		}
		j.ranks[key{p.messages, name}] = ranks
	}
	return err
}
