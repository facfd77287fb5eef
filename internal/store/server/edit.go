package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/table"
)

// Counts are rows that were added, changed and removed.
type Counts [3]int64

// Minus is what more there is than in another count.
func (c Counts) Minus(d Counts) Counts { return Counts{c[0] - d[0], c[1] - d[1], c[2] - d[2]} }

// SQL is how Changes tell a server what to do, in its own words. W is a condition for one row.
type SQL[W any] struct {
	// Table is a table, with the columns of its primary key and those that the server computes;
	// without columns where there is none.
	Table func(name string) (t table.Table, key, made []string)
	// AtPlace and WithKey find the row of a place, and the one that has the primary key of an image.
	AtPlace func(name string, at table.Place) W
	WithKey func(name string, image table.Image) W
	// LockRow reads columns of a row and locks it; the image is nil when there is no such row.
	LockRow func(ctx context.Context, name string, where W, columns []string) (table.Place, table.Image, error)
	// InsertRow, UpdateRow and DeleteRow write. The image is what columns of the row are then, nil
	// when a trigger kept it from being written.
	InsertRow func(ctx context.Context, into string, row []table.Field, columns []string) (table.Place, table.Image, error)
	UpdateRow func(ctx context.Context, of string, where W, was table.Place, fields []table.FieldChange, columns []string) (table.Image, error)
	DeleteRow func(ctx context.Context, from string, where W) (deleted bool, err error)
	// CountChanges counts what the server counts of the transaction, with what triggers did, by
	// tables, or where Together says so of all under "".
	CountChanges func(ctx context.Context) (map[string]Counts, error)
	Together     bool
	// BeginWriting ends the snapshot and begins a transaction, of which Started finds out what has to
	// be known; BeginReading begins a snapshot.
	BeginWriting, Started, BeginReading func(ctx context.Context) error
	// Settle runs what would run with the commit only. May be nil.
	Settle func(ctx context.Context) error
	// Execute runs a statement of every server's SQL.
	Execute func(ctx context.Context, sql string) error
	// Remember notes what is known of rows besides; restore brings it back.
	Remember func() (restore func())
	// Explain turns the error of a write into a problem for people, and BreaksConstraint is
	// what is said of one about a constraint, "" for others.
	Explain          func(err error) error
	BreaksConstraint func(err error) string
	// IsLost reports whether the connection is lost, or an error does not come from the server.
	IsLost func(err error) bool
	// Outcome connects again and asks what became of the transaction, "" where nobody answers.
	Outcome func(ctx context.Context) string
	Close   func() error
}

// Changes change rows in a transaction, and write down what became of each.
type Changes[W any] struct {
	SQL[W]
	Of     string // the name of the database
	Writes bool   // a transaction is open
	Failed error  // why it takes no more changes
	Log    []table.RowChange

	triggers bool
	turn     int64             // transactions that were begun: nothing holds that was read in another one
	beside   map[string]Counts // changes of other transactions, and those that were taken back
}

// NewChanges changes rows of a database; triggers says that some may run.
func NewChanges[W any](of string, triggers bool, sql SQL[W]) Changes[W] {
	return Changes[W]{SQL: sql, Of: of, triggers: triggers}
}

// Version implements table.Transaction: a server tells nobody that others have committed, so
// that nothing holds that was read before the locks.
func (r *Changes[W]) Version(context.Context) (int64, error) { return r.turn, nil }

// Replaced implements table.Transaction: a name leads to one database.
func (r *Changes[W]) Replaced() error { return nil }

// Left implements table.Transaction: nothing lies beside a database.
func (r *Changes[W]) Left() string { return "" }

// DeclareDerived implements table.Editor: no known runtime has triggers on a server.
func (r *Changes[W]) DeclareDerived(context.Context, string, ...string) error { return nil }

// Begin implements table.Transaction.
func (r *Changes[W]) Begin(ctx context.Context) error {
	if r.Writes {
		return errors.New("a transaction is open already")
	}
	if err := r.BeginWriting(ctx); err != nil {
		return errors.Join(r.Explain(err), r.readAgain(ctx))
	}
	r.turn++
	r.Writes, r.Failed, r.Log = true, nil, nil
	err := r.Started(ctx)
	if err == nil {
		r.beside, err = r.CountChanges(ctx) // of transactions before, which the server may not have put away yet
	}
	if err != nil {
		return errors.Join(r.Explain(err), r.Rollback())
	}
	return nil
}

// readAgain begins the transaction in which everything is read that needs no lock.
func (r *Changes[W]) readAgain(ctx context.Context) error {
	r.turn++
	return r.Explain(r.BeginReading(ctx))
}

// Commit implements table.Transaction.
func (r *Changes[W]) Commit(ctx context.Context) error {
	err := errors.Join(r.Failed, ctx.Err())
	if !r.Writes {
		err = errors.New("no transaction is open")
	}
	if err == nil && r.triggers && r.Settle != nil {
		err = r.RememberError(r.Settle(ctx))
	}
	if err == nil {
		err = r.CheckStrays(ctx)
	}
	if err != nil {
		return errors.Join(err, r.Rollback())
	}
	ctx = context.WithoutCancel(ctx) // an interrupted commit would leave open what became of it
	r.Writes = false
	if err = r.Execute(ctx, "commit"); err != nil && r.IsLost(err) {
		_ = r.Close()
		err = r.askOutcome(ctx)
	}
	if err != nil {
		return r.Explain(err)
	}
	_ = r.readAgain(ctx) // it is saved; who uses the connection next hears what is wrong with it
	return nil
}

// Rollback implements table.Transaction. A server takes back by itself what a lost
// connection leaves.
func (r *Changes[W]) Rollback() error {
	if !r.Writes {
		return nil
	}
	r.Writes = false
	if r.IsLost(nil) {
		return nil
	}
	ctx := context.Background()
	switch err := r.Execute(ctx, "rollback"); {
	case r.IsLost(nil):
		return nil
	case err != nil:
		return r.Explain(err)
	}
	return r.readAgain(ctx)
}

// End rolls back what is open, and closes the connection.
func (r *Changes[W]) End() error {
	if r.IsLost(nil) {
		return nil
	}
	return errors.Join(r.Rollback(), r.Close())
}

// Insert implements table.Writer.
func (r *Changes[W]) Insert(ctx context.Context, into string, row []table.Field) (table.Place, error) {
	if err := r.CheckReady(); err != nil {
		return 0, err
	}
	at, err := r.insertRow(ctx, into, row)
	return at, r.RememberError(err)
}

// Update implements table.Writer.
func (r *Changes[W]) Update(ctx context.Context, of string, at table.Place, fields []table.FieldChange) error {
	if err := r.CheckReady(); err != nil || len(fields) == 0 {
		return err
	}
	return r.RememberError(r.updateRow(ctx, of, r.AtPlace(of, at), fields, nil))
}

// Delete implements table.Writer.
func (r *Changes[W]) Delete(ctx context.Context, from string, at table.Place) error {
	if err := r.CheckReady(); err != nil {
		return err
	}
	return r.RememberError(r.deleteRow(ctx, from, r.AtPlace(from, at), nil))
}

// Journal implements table.Transaction.
func (r *Changes[W]) Journal() ([]byte, error) { return table.EncodeChanges(r.Log) }

// CheckReady is the reason why the transaction takes no more changes.
func (r *Changes[W]) CheckReady() error {
	if !r.Writes {
		return errors.New("no transaction is open")
	}
	return r.Failed
}

// RememberError explains the error of a write and remembers it.
func (r *Changes[W]) RememberError(err error) error {
	err = r.Explain(err)
	r.Failed = cmp.Or(r.Failed, err)
	return err
}

func (r *Changes[W]) keyOf(name string) []string {
	_, key, _ := r.Table(name)
	return key
}

// columnsOf are the columns that a row of a table is kept with: all that the server does not
// compute.
func (r *Changes[W]) columnsOf(name string) (columns []string) {
	t, _, made := r.Table(name)
	for _, c := range t.Columns {
		if !slices.Contains(made, c.Name) {
			columns = append(columns, c.Name)
		}
	}
	return columns
}

// CheckChangeable makes sure that a table can be changed and has these columns.
func (r *Changes[W]) CheckChangeable(name string, columns []string) error {
	t, _, _ := r.Table(name)
	if t.Columns == nil {
		return problem.New(problem.RolledBack, "", "%s was not changed: it has no table %s", r.Of, name)
	}
	for _, c := range columns {
		if t.Column(c).Name == "" {
			return problem.New(problem.RolledBack, "", "%s was not changed: its table %s has no column %s", r.Of, name, c)
		}
	}
	if t.ReadOnly != "" {
		return problem.New(problem.Unreadable, "", "%s was not changed: %s", r.Of, t.ReadOnly)
	}
	return nil
}

func (r *Changes[W]) insertRow(ctx context.Context, into string, row []table.Field) (table.Place, error) {
	names := lists.MapEach(row, func(f table.Field) string { return f.Name })
	if err := r.CheckChangeable(into, names); err != nil {
		return 0, err
	}
	at, after, err := r.InsertRow(ctx, into, row, r.columnsOf(into))
	if err == nil && after != nil {
		r.Log = append(r.Log, table.RowChange{Table: into, After: after})
	}
	return at, err
}

// updateRow changes a row that has the old values, and the key of an image; nil for any.
func (r *Changes[W]) updateRow(ctx context.Context, of string, where W, fields []table.FieldChange, like table.Image) error {
	columns := slices.Clone(r.keyOf(of))
	key := len(columns)
	for _, f := range fields {
		if !slices.Contains(columns, f.Name) {
			columns = append(columns, f.Name)
		}
	}
	if err := r.CheckChangeable(of, columns); err != nil {
		return err
	}
	was, before, err := r.LockRow(ctx, of, where, columns)
	if err != nil {
		return err
	}
	if before == nil {
		return r.notAsPlanned(of, "a row does not exist any more")
	}
	for _, f := range fields {
		if !table.SameValue(before[f.Name], f.Old) {
			return r.notAsPlanned(of, f.Name+" of a row holds another value")
		}
	}
	for _, column := range columns[:key] { // some databases find keys in other letters
		if like != nil && !table.SameValue(before[column], like[column]) {
			return r.notAsPlanned(of, column+" of a row holds another value")
		}
	}
	after, err := r.UpdateRow(ctx, of, where, was, fields, columns)
	if err != nil {
		return err
	}
	if after == nil {
		return r.notAsPlanned(of, "a trigger keeps a row from being changed")
	}
	r.Log = append(r.Log, table.RowChange{Table: of, Before: before, After: after})
	return nil
}

// deleteRow deletes a row that is what an image says; nil for any.
func (r *Changes[W]) deleteRow(ctx context.Context, from string, where W, like table.Image) error {
	if err := r.CheckChangeable(from, nil); err != nil {
		return err
	}
	_, before, err := r.LockRow(ctx, from, where, r.columnsOf(from))
	if err != nil {
		return err
	}
	if before == nil {
		return r.notAsPlanned(from, "a row does not exist any more")
	}
	if like != nil && !before.Equal(like) {
		return r.changedSince(from)
	}
	deleted, err := r.DeleteRow(ctx, from, where)
	if err != nil {
		return err
	}
	if !deleted {
		return r.notAsPlanned(from, "a trigger keeps a row from being deleted")
	}
	r.Log = append(r.Log, table.RowChange{Table: from, Before: before})
	return nil
}

func (r *Changes[W]) notAsPlanned(name, why string) error {
	return problem.New(problem.RolledBack, "Check the store again.", "%s was not changed: in %s, %s", r.Of, name, why)
}

// changedSince is the problem with a row that is not what a repair left.
func (r *Changes[W]) changedSince(name string) error {
	return problem.New(problem.Busy, "Nothing was changed.", "%s cannot be restored: a row of %s was changed after the repair", r.Of, name)
}

// Revert implements table.Editor: the last change first, so that each finds what the one
// before it left. Rows are known by their primary keys.
func (r *Changes[W]) Revert(ctx context.Context, journal []byte, tables ...string) error {
	changes, err := table.DecodeChanges(journal)
	if err != nil {
		return err
	}
	if err := r.CheckReady(); err != nil {
		return err
	}
	for _, c := range slices.Backward(changes) {
		if !slices.Contains(tables, c.Table) {
			return problem.New(problem.Busy, "Nothing was changed.", "the receipt names the table %q, which a repair of such a store never changes", c.Table)
		}
		if err := r.takeBack(ctx, c); err != nil {
			return r.RememberError(err)
		}
	}
	return nil
}

func (r *Changes[W]) takeBack(ctx context.Context, c table.RowChange) error {
	if c.After == nil {
		_, err := r.insertRow(ctx, c.Table, c.Before.Fields())
		if said := r.BreaksConstraint(err); said != "" {
			return &problem.Error{
				Class: problem.Busy, Err: err, Next: "Nothing was changed.",
				What: fmt.Sprintf("%s cannot be restored: a row of %s has no place any more (%s)", r.Of, c.Table, said),
			}
		}
		return err
	}
	if len(r.keyOf(c.Table)) == 0 {
		return cmp.Or(r.CheckChangeable(c.Table, nil), r.changedSince(c.Table))
	}
	where := r.WithKey(c.Table, c.After)
	if c.Before == nil {
		return r.deleteRow(ctx, c.Table, where, c.After)
	}
	var fields []table.FieldChange
	for _, f := range c.After.Fields() {
		if was := c.Before[f.Name]; !table.SameValue(was, f.Value) {
			fields = append(fields, table.FieldChange{Name: f.Name, Old: f.Value, New: was})
		}
	}
	err := r.updateRow(ctx, c.Table, where, fields, c.After)
	if problem.ClassOf(err) == problem.RolledBack {
		return r.changedSince(c.Table)
	}
	return err
}

// TryChanges implements table.Transaction. Without triggers nothing can keep an undo from
// succeeding that did not keep the repair.
func (r *Changes[W]) TryChanges(ctx context.Context, do func() error) error {
	if !r.triggers {
		return nil
	}
	if err := errors.Join(r.Failed, r.CheckStrays(ctx)); err != nil {
		return err
	}
	if err := r.Execute(ctx, "savepoint trial"); err != nil {
		return r.RememberError(err)
	}
	log, restore := r.Log, r.Remember()
	r.Log = slices.Clone(log)
	err := do()
	if err == nil {
		err = r.CheckStrays(ctx)
	}
	counted, failed := r.CountChanges(ctx)
	failed = cmp.Or(r.Execute(ctx, "rollback to savepoint trial"), failed)
	r.Log, r.Failed = log, nil
	if restore(); failed != nil {
		return errors.Join(err, r.RememberError(failed))
	}
	made := r.countLog()
	for name, all := range counted { // the server counts what was taken back, too
		r.beside[name] = all.Minus(made[name])
	}
	return err
}

func (r *Changes[W]) countLog() map[string]Counts {
	made := map[string]Counts{}
	for _, c := range r.Log {
		name, how := c.Table, 1
		switch {
		case c.Before == nil:
			how = 0
		case c.After == nil:
			how = 2
		}
		if r.Together {
			name = ""
		}
		counts := made[name]
		counts[how]++
		made[name] = counts
	}
	return made
}

// CheckStrays is the problem with rows that changed and that nobody asked to change.
func (r *Changes[W]) CheckStrays(ctx context.Context) error {
	all, err := r.CountChanges(ctx)
	if err != nil {
		return r.RememberError(err)
	}
	made := r.countLog()
	for name := range made {
		if _, named := all[name]; !named {
			all[name] = Counts{}
		}
	}
	for name, c := range all {
		if c.Minus(r.beside[name]) != made[name] {
			return problem.New(problem.RolledBack, "Remove the trigger or rule during the repair.",
				"%s was not changed: rows of %s changed with it, by a trigger or a rule", r.Of, cmp.Or(name, "its tables"))
		}
	}
	return nil
}

// What became of a transaction.
const (
	Committed = "committed"
	Aborted   = "aborted"
)

// OutcomeByRow tells by the last row that was changed what became of the transaction, "" when
// somebody changed it since.
func (r *Changes[W]) OutcomeByRow(ctx context.Context) string {
	if len(r.Log) == 0 {
		return ""
	}
	c := r.Log[len(r.Log)-1]
	is := func(image, other table.Image) bool {
		known := image
		if known == nil {
			known = other
		}
		_, now, err := r.LockRow(ctx, c.Table, r.WithKey(c.Table, known), slices.Sorted(maps.Keys(known)))
		return err == nil && now.Equal(image)
	}
	switch {
	case is(c.After, c.Before):
		return Committed
	case is(c.Before, c.After):
		return Aborted
	}
	return ""
}

// answering is for how long a server is asked what became of a commit.
const answering = 30 * time.Second

// askOutcome asks what became of a commit during which the connection was lost, until there is an
// answer.
func (r *Changes[W]) askOutcome(ctx context.Context) error {
	for end := time.Now().Add(answering); time.Now().Before(end); time.Sleep(time.Second) { //nolint:forbidigo // for how long to wait
		switch r.Outcome(ctx) {
		case Committed:
			return nil
		case Aborted:
			return problem.New(problem.Busy, "Nothing of that change was saved. Run the repair again.", "the connection to %s was lost", r.Of)
		}
		_ = r.Close()
	}
	return &problem.Error{
		Class: problem.Unreadable, Err: table.ErrUnknown,
		What: "the connection to " + r.Of + " was lost while sessctl was saving a change, and nobody answers whether it was saved",
		Next: "When the server runs again, `sessctl undo` with the receipt takes the change back if it was saved, and says so if it was not.",
	}
}
