package openaiagents

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/branch"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/docedit"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/responses"
	"github.com/sessctl/sessctl/internal/store/table"
)

var document = docedit.Spot{Column: fieldData}

// editor writes what changes in the view into the tables that it is made of.
type editor struct {
	eventlog.Through
	view *joined
}

// ReserveNumbers implements table.Writer. The numbers are those of the pair that a row goes to, which is known
// when it does.
func (e *editor) ReserveNumbers(_ context.Context, _, _ string, count int) ([]int64, error) {
	return make([]int64, count), nil
}

// Lock implements table.Editor.
func (e *editor) Lock(ctx context.Context, rows table.Selection, _ ...string) error {
	for n := range e.view.pairs {
		part := e.view.From[n].NarrowKey(rows)
		part.Table, part.Columns = e.view.pairs[n].sessions, []string{fieldSession}
		if err := e.Editor.Lock(ctx, part, e.view.pairs[n].messages); err != nil {
			return err
		}
	}
	return nil
}

// Update implements table.Writer.
func (e *editor) Update(ctx context.Context, name string, at table.Place, fields []table.FieldChange) error {
	if name == e.view.Sessions {
		return e.updateSession(ctx, at, fields)
	}
	p, row := e.view.pairAt(at)
	var own []table.FieldChange
	for _, f := range fields {
		switch f.Name {
		case fieldPlace: // of a row that comes again
		case fieldBranch:
			if err := e.addBranches(ctx, p, at, column.View(f.Old), column.View(f.New)); err != nil {
				return err
			}
		default:
			own = append(own, f)
		}
	}
	if len(own) == 0 {
		return nil
	}
	return e.Editor.Update(ctx, p.messages, row, own)
}

// updateSession makes the row of a session that has none, and removes what message_structure has of it
// and of no message of it.
func (e *editor) updateSession(ctx context.Context, at table.Place, fields []table.FieldChange) error {
	own, err := docedit.ReadStored(ctx, e.view, e.view.Sessions, at, fieldPair, fieldSession)
	if err == nil {
		err = e.ensureSession(ctx, e.view.pairOf(column.View(own[0])), own[1])
	}
	if err != nil || !slices.ContainsFunc(fields, func(f table.FieldChange) bool { return f.Name == fieldLoose }) {
		return err
	}
	return e.removeStructure(ctx, fieldSession, own[1], e.view.branches[column.View(own[1])].isLoose) // some went with their messages
}

// ensureSession makes the row of a session that has none, which foreign keys need, unless a message that
// came did so.
func (e *editor) ensureSession(ctx context.Context, p *pair, id table.Value) error {
	name := column.View(id)
	made := e.view.lost().Made
	at := slices.IndexFunc(made, func(row table.Image) bool { return row[fieldSession] == name && row[fieldPair] == p.messages })
	if at < 0 {
		return nil
	}
	there := false
	_, err := table.GlanceAt(ctx, e.Editor.Reader(), p.sessions, []string{fieldSession}, [][]table.Value{{name}}, func(row []table.Value) { there = there || column.View(row[0]) == name })
	if there || err != nil {
		return err
	}
	_, err = e.Editor.Insert(ctx, p.sessions, made[at].FieldsOf(sessionColumns))
	return err
}

// Delete implements table.Writer. What message_structure says of a message goes before it.
func (e *editor) Delete(ctx context.Context, _ string, at table.Place) error {
	p, row := e.view.pairAt(at)
	if p.branched {
		own, err := docedit.ReadStored(ctx, e.Editor.Reader(), p.messages, row, "id")
		if err == nil {
			err = e.removeStructure(ctx, "message_id", own[0], func(table.Place) bool { return true }) // another session's, too
		}
		if err != nil {
			return err
		}
	}
	return e.Editor.Delete(ctx, p.messages, row)
}

// Insert implements table.Writer.
func (e *editor) Insert(ctx context.Context, _ string, fields []table.Field) (table.Place, error) {
	row := table.ImageOf(fields)
	p, id := e.view.pairOf(column.View(row[fieldPair])), row[fieldSession]
	if err := e.ensureSession(ctx, p, id); err != nil {
		return 0, err
	}
	numbers, err := e.Editor.ReserveNumbers(ctx, p.messages, "id", 1)
	if err != nil {
		return 0, err
	}
	row["id"] = numbers[0]
	at, err := e.Editor.Insert(ctx, p.messages, row.FieldsOf(p.columns))
	if place, _ := column.Int(row[fieldPlace]); err == nil && e.view.branchesOf(p, column.View(id)).hasNames() && !isUnnamed(place) {
		x, _ := parseItem(column.Bytes(row[fieldData]))
		err = e.nameMessage(ctx, p, id, numbers[0], place, branch.ParseLabel(column.View(row[fieldBranch])).Names, x.Type)
	}
	return e.view.placeIn(p, at), err
}

// structureOf reads what message_structure has of a session or a message, in its order.
func (e *editor) structureOf(ctx context.Context, by string, of table.Value) (list []structureRow, err error) {
	rows := table.Selection{Table: tableStructure, Columns: structureColumns, Key: []string{by}, Keys: [][]table.Value{{of}}}
	_, err = e.Editor.Reader().Scan(ctx, rows, func(at table.Place, row []table.Value) error {
		r := readStructureRow(at, row)
		r.values = table.Image{}
		for i, name := range structureColumns {
			r.values[name] = table.CloneValue(row[i])
		}
		if column.View(r.values[by]) == column.View(of) {
			list = append(list, r)
		}
		return nil
	})
	slices.SortStableFunc(list, func(a, b structureRow) int { return cmp.Compare(a.seq, b.seq) })
	return list, err
}

// removeStructure removes rows of message_structure of a session or a message.
func (e *editor) removeStructure(ctx context.Context, by string, of table.Value, goes func(at table.Place) bool) error {
	list, err := e.structureOf(ctx, by, of)
	for _, r := range list {
		if err == nil && goes(r.at) {
			err = e.Editor.Delete(ctx, tableStructure, r.at)
		}
	}
	return err
}

// nameMessage puts a message on branches, at a place of the session. What else message_structure says of it
// is as of the message before; kind is what it has for a new one.
func (e *editor) nameMessage(ctx context.Context, p *pair, of table.Value, id, place int64, names []string, kind table.Value) error {
	if err := e.ensureSession(ctx, p, of); err != nil {
		return err
	}
	list, err := e.structureOf(ctx, fieldSession, of)
	if err != nil || len(list) == 0 {
		return err
	}
	if n := slices.IndexFunc(list, func(r structureRow) bool { return r.message == id }); n >= 0 {
		kind = list[n].values["message_type"]
	}
	b, last := e.view.branches[column.View(of)], list[len(list)-1].seq
	for _, name := range names {
		like := -1
		for n, r := range list {
			if r.branch == name && r.message != id && !b.isLoose(r.at) && (like < 0 || b.placeOf(r.message) <= place) {
				like = n
			}
		}
		if like < 0 {
			return problem.New(problem.RolledBack, "", "branch %.60q has no other message", name)
		}
		numbers, err := e.Editor.ReserveNumbers(ctx, tableStructure, "id", 1)
		if err != nil {
			return err
		}
		last++
		row := list[like].values
		row["id"], row["message_id"], row["message_type"], row["sequence_number"], row["tool_name"] = numbers[0], id, kind, last, nil
		if _, err := e.Editor.Insert(ctx, tableStructure, row.Fields()); err != nil {
			return err
		}
	}
	if b.moved = true; b.spots[id] == nil {
		b.spots[id] = &spot{place: place}
	}
	return nil
}

// arrangeBranches is eventlog.Write.OtherTables. Where a message came or moved, or one left that told the
// order of others, and the numbers of its session do not say so, the session's are given out anew.
func (j *joined) arrangeBranches(ctx context.Context, to table.Writer, sessions []*change.Session) error {
	e, writes := to.(*editor)
	for _, s := range sessions {
		switch b := j.branchesNamed(s.Is.ID); {
		case b == nil || b.rows == nil || len(s.Removed) == 0 || b.keepsOrder(s.Removed):
		case b.crossed:
			return problem.New(problem.RolledBack, "", differentOrders)
		default:
			b.moved = b.moved || writes
		}
	}
	for id, b := range j.branches {
		if !writes || !b.moved {
			continue
		}
		list, err := e.structureOf(ctx, fieldSession, id)
		if err != nil {
			return err
		}
		list = slices.DeleteFunc(list, func(r structureRow) bool { return b.isLoose(r.at) })
		slices.SortStableFunc(list, func(x, y structureRow) int {
			return cmp.Or(cmp.Compare(b.placeOf(x.message), b.placeOf(y.message)), cmp.Compare(x.seq, y.seq))
		})
		first, on := int64(-1), map[string]int64{} // the lowest number of the message before, and the last of each branch
		tells := true
		for n, r := range list {
			if n == 0 || r.message != list[n-1].message {
				tells, first = tells && r.seq > first, r.seq
			}
			tells, on[r.branch] = tells && r.seq > on[r.branch], r.seq
		}
		for n, r := range list {
			if seq := int64(n) + 1; !tells && seq != r.seq {
				is := table.FieldChange{Name: "sequence_number", Old: r.values["sequence_number"], New: column.IntLike(r.values["sequence_number"], seq)}
				if err := e.Editor.Update(ctx, tableStructure, r.at, []table.FieldChange{is}); err != nil {
					return err
				}
			}
		}
		b.moved = false
	}
	return nil
}

// addBranches puts a message on branches that it lacks.
func (e *editor) addBranches(ctx context.Context, p *pair, at table.Place, from, to string) error {
	own, err := docedit.ReadStored(ctx, e.view, e.view.Events, at, fieldSession, "id", fieldPlace)
	if err != nil {
		return err
	}
	id, _ := column.Int(own[1])
	place, _ := column.Int(own[2])
	old := branch.ParseLabel(from).Names
	names := slices.DeleteFunc(branch.ParseLabel(to).Names, func(name string) bool { return slices.Contains(old, name) })
	if len(names) == 0 || isUnnamed(place) {
		return problem.New(problem.RolledBack, "", "a message cannot leave a branch")
	}
	return e.nameMessage(ctx, p, own[0], id, place, names, nil)
}

// branchesNamed are the branches of a session, by the id that it goes by.
func (j *joined) branchesNamed(id string) *branches {
	for i := range j.pairs {
		name, is := strings.CutPrefix(id, j.pairs[i].messages+"/")
		if len(j.pairs) == 1 {
			name, is = id, true
		}
		if is {
			return j.branchesOf(&j.pairs[i], name)
		}
	}
	return nil
}

const differentOrders = "branches of the session have the same messages in different orders"

// checkOrder refuses to place a message where its place says too little: no order of a session keeps those
// of branches that have the same messages in different ones, and a time stays as it is.
func (j *joined) checkOrder(of docedit.Record, moves bool) error {
	p := j.pairOf(column.View(of.Value(fieldPair)))
	switch b := j.branchesOf(p, column.View(of.Value(fieldSession))); {
	case b != nil && b.crossed:
		return problem.New(problem.RolledBack, "", differentOrders)
	case p.timed && moves:
		return problem.New(problem.RolledBack, "", "SQLAlchemySession sends messages in the order of created_at, which sessctl does not change")
	}
	return nil
}

// updateItem is the difference of a message that a repair changed.
func (j *joined) updateItem(r *docedit.Row, c *change.Item) error {
	if c.Is.Branch() != c.Was.Branch() || c.Is.Position>>rankBits != c.Was.Position>>rankBits {
		if err := j.checkOrder(r, true); err != nil {
			return err
		}
	}
	if c.Shown {
		if err := r.ShowNUL(document); err != nil {
			return err
		}
	}
	return r.Apply(c, func(v change.Value) docedit.Place { return findPlace(r, c, v) }, func(int) docedit.Spot { return document.Member("output") })
}

// members are where values of a message are stored.
var members = map[string]string{session.FieldCallID: "call_id", session.FieldResultID: "call_id", change.FieldName: "name", change.FieldArgs: "arguments"}

// findPlace finds where a value of a message is stored.
func findPlace(r *docedit.Row, c *change.Item, v change.Value) docedit.Place {
	switch name := members[v.Field]; {
	case v.Field == session.FieldPosition:
		return docedit.Place{Write: func() error { r.Set(fieldPlace, c.Is.Position); return nil }}
	case v.Field == session.FieldBranch:
		return docedit.Place{Write: func() error { r.Set(fieldBranch, v.Is); return nil }}
	case name != "":
		return docedit.Place{Spot: document.Member(name), Form: docedit.Text}
	}
	return docedit.Place{}
}

// insertResult is the row of a new result, which is of the type of its call.
func (j *joined) insertResult(s *session.Session, it *session.Item, near *docedit.Row, _ string) ([]table.Field, error) {
	if err := j.checkOrder(near, false); err != nil {
		return nil, err
	}
	res, kind := &it.Results[0], ""
	for i := range s.Items {
		if s.Items[i].MakesCall(res.CallID) {
			kind = cmp.Or(s.Items[i].Blocks[0].Name, responses.TypeCall)
		}
	}
	data := responses.ComposeOutput(kind, res.CallID, res.Text)
	if data == "" {
		return nil, problem.New(problem.RolledBack, "", "nobody can make up the result of a call of type %q", kind)
	}
	return []table.Field{
		{Name: fieldData, Value: data}, {Name: "created_at", Value: near.Value("created_at")},
		{Name: fieldPlace, Value: it.Position}, {Name: fieldBranch, Value: column.OrNull(it.Branch())},
	}, nil
}
