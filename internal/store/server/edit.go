package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/table"
)

// Counts are rows that were added, changed and removed.
type Counts [3]int64

// Minus is what more there is than in another count.
func (c Counts) Minus(d Counts) Counts { return Counts{c[0] - d[0], c[1] - d[1], c[2] - d[2]} }

// Statements is what Changes ask of a server in the SQL of that. W is a condition for one row.
type Statements[W any] interface {
	// CheckChangeable is the problem with a change of columns of a table.
	CheckChangeable(name string, columns []string) error
	// KeyColumns are those of a primary key, and RowColumns all of a row but those that the
	// server computes.
	KeyColumns(name string) []string
	RowColumns(name string) []string
	// AtPlace and WithKey find the row of a place, and the one that has the primary key of an image.
	AtPlace(name string, at table.Place) W
	WithKey(name string, image table.Image) W
	// LockRow reads columns of a row and locks it; the image is nil when there is no such row.
	LockRow(ctx context.Context, name string, where W, columns []string) (table.Place, table.Image, error)
	// InsertRow, UpdateRow and DeleteRow write. The image is what columns of the row are then, nil
	// when a trigger kept it from being written.
	InsertRow(ctx context.Context, into string, row []table.Field, columns []string) (table.Place, table.Image, error)
	UpdateRow(ctx context.Context, of string, where W, was table.Place, fields []table.FieldChange, columns []string) (table.Image, error)
	DeleteRow(ctx context.Context, from string, where W) (deleted bool, err error)
	// CountChanges counts what the server counts of the transaction, with what triggers did, by
	// the names that CountedAs gives tables.
	CountChanges(ctx context.Context) (map[string]Counts, error)
	CountedAs(name string) string
	// Execute runs a statement of both servers' SQL.
	Execute(ctx context.Context, sql string) error
	// Remember notes what is known of rows besides; restore brings it back.
	Remember() (restore func())
	// ExplainWrite turns the error of a write into a problem for people, and BreaksConstraint is
	// what is said of one about a constraint, "" for others.
	ExplainWrite(err error) error
	BreaksConstraint(err error) string
}

// Changes change rows in a transaction, and write down what became of each.
type Changes[W any] struct {
	Server   Statements[W]
	Of       string // the name of the database
	Writes   bool   // a transaction is open
	Failed   error  // why it takes no more changes
	Log      []table.RowChange
	beside   map[string]Counts // changes of other transactions, and those that were taken back
	triggers bool              // there are some
}

// BeginChanges begins a transaction for a server that has opened one.
func (r *Changes[W]) BeginChanges(ctx context.Context, triggers bool) (err error) {
	r.Writes, r.Failed, r.Log, r.triggers = true, nil, nil, triggers
	r.beside, err = r.Server.CountChanges(ctx) // which the server may not have put away yet
	return err
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
	return r.RememberError(r.updateRow(ctx, of, r.Server.AtPlace(of, at), fields, nil))
}

// Delete implements table.Writer.
func (r *Changes[W]) Delete(ctx context.Context, from string, at table.Place) error {
	if err := r.CheckReady(); err != nil {
		return err
	}
	return r.RememberError(r.deleteRow(ctx, from, r.Server.AtPlace(from, at), nil))
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
	err = r.Server.ExplainWrite(err)
	r.Failed = cmp.Or(r.Failed, err)
	return err
}

func (r *Changes[W]) insertRow(ctx context.Context, into string, row []table.Field) (table.Place, error) {
	names := make([]string, len(row))
	for i, f := range row {
		names[i] = f.Name
	}
	if err := r.Server.CheckChangeable(into, names); err != nil {
		return 0, err
	}
	at, after, err := r.Server.InsertRow(ctx, into, row, r.Server.RowColumns(into))
	if err == nil && after != nil {
		r.Log = append(r.Log, table.RowChange{Table: into, After: after})
	}
	return at, err
}

// updateRow changes a row that has the old values, and the key of an image; nil for any.
func (r *Changes[W]) updateRow(ctx context.Context, of string, where W, fields []table.FieldChange, like table.Image) error {
	columns := slices.Clone(r.Server.KeyColumns(of))
	key := len(columns)
	for _, f := range fields {
		if !slices.Contains(columns, f.Name) {
			columns = append(columns, f.Name)
		}
	}
	if err := r.Server.CheckChangeable(of, columns); err != nil {
		return err
	}
	was, before, err := r.Server.LockRow(ctx, of, where, columns)
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
	after, err := r.Server.UpdateRow(ctx, of, where, was, fields, columns)
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
	if err := r.Server.CheckChangeable(from, nil); err != nil {
		return err
	}
	_, before, err := r.Server.LockRow(ctx, from, where, r.Server.RowColumns(from))
	if err != nil {
		return err
	}
	if before == nil {
		return r.notAsPlanned(from, "a row does not exist any more")
	}
	if like != nil && !before.Equal(like) {
		return r.changedSince(from)
	}
	deleted, err := r.Server.DeleteRow(ctx, from, where)
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
		if said := r.Server.BreaksConstraint(err); said != "" {
			return &problem.Error{
				Class: problem.Busy, Err: err, Next: "Nothing was changed.",
				What: fmt.Sprintf("%s cannot be restored: a row of %s has no place any more (%s)", r.Of, c.Table, said),
			}
		}
		return err
	}
	if len(r.Server.KeyColumns(c.Table)) == 0 {
		return r.Server.CheckChangeable(c.Table, nil)
	}
	where := r.Server.WithKey(c.Table, c.After)
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
	if err := r.Server.Execute(ctx, "savepoint trial"); err != nil {
		return r.RememberError(err)
	}
	log, restore := r.Log, r.Server.Remember()
	r.Log = slices.Clone(log)
	err := do()
	if err == nil {
		err = r.CheckStrays(ctx)
	}
	counted, failed := r.Server.CountChanges(ctx)
	failed = cmp.Or(r.Server.Execute(ctx, "rollback to savepoint trial"), failed)
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

// countLog counts the changes of rows that were made.
func (r *Changes[W]) countLog() map[string]Counts {
	made := map[string]Counts{}
	for _, c := range r.Log {
		name, how := r.Server.CountedAs(c.Table), 1
		switch {
		case c.Before == nil:
			how = 0
		case c.After == nil:
			how = 2
		}
		counts := made[name]
		counts[how]++
		made[name] = counts
	}
	return made
}

// CheckStrays is the problem with rows that changed and that nobody asked to change.
func (r *Changes[W]) CheckStrays(ctx context.Context) error {
	all, err := r.Server.CountChanges(ctx)
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
		_, now, err := r.Server.LockRow(ctx, c.Table, r.Server.WithKey(c.Table, known), slices.Sorted(maps.Keys(known)))
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

// AskOutcome asks what became of a commit during which a connection was lost, until there is an
// answer: ask connects again, and gives "" where it gets none.
func AskOutcome(name string, ask func() (outcome string)) error {
	for end := time.Now().Add(answering); time.Now().Before(end); time.Sleep(time.Second) { //nolint:forbidigo // for how long to wait
		switch ask() {
		case Committed:
			return nil
		case Aborted:
			return problem.New(problem.Busy, "Nothing of that change was saved. Run the repair again.", "the connection to %s was lost", name)
		}
	}
	return &problem.Error{
		Class: problem.Unreadable, Err: table.ErrUnknown,
		What: "the connection to " + name + " was lost while sessctl was saving a change, and nobody answers whether it was saved",
		Next: "When the server runs again, `sessctl undo` with the receipt takes the change back if it was saved, and says so if it was not.",
	}
}
