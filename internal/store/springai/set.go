package springai

import (
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// setEvent is the difference of an event of which columns are set that the model
// does not hold.
func (sc *schema) setEvent(row eventlog.Row, sets []session.Edit) ([]table.FieldChange, error) {
	return sc.setAll(&sc.events, row, sets)
}

// updateSession counts event_version on, as every write of the library does: a
// compaction that began before the repair is refused by it. It does so once for a
// repair.
func (sc *schema) updateSession(row eventlog.Row, sets []session.Edit) ([]table.FieldChange, error) {
	list, err := sc.setAll(&sc.sessions, row, sets)
	if err != nil || !sc.sessions.has("event_version") {
		return list, err
	}
	name := sc.sessions.stored["event_version"]
	at := slices.IndexFunc(list, func(c table.FieldChange) bool { return c.Name == name })
	if at < 0 {
		stored := table.Kept(sc.sessions.value(row, "event_version"))
		at, list = len(list), append(list, table.FieldChange{Name: name, Old: stored, New: stored})
	}
	if n, ok := numberOf(list[at].New); ok {
		list[at].New = numberLike(list[at].New, n+1)
	}
	return list, nil
}

// setAll sets columns of a row, in the forms that the store has for them.
func (sc *schema) setAll(t *relation, row eventlog.Row, sets []session.Edit) ([]table.FieldChange, error) {
	var list []table.FieldChange
	for _, e := range sets {
		if e.Op != session.Set || e.Value == nil || !t.has(e.Field) {
			return nil, problem.New(problem.RolledBack, "", "%s cannot be set: table %s has no such column", e.Field, t.name)
		}
		stored := t.value(row, e.Field)
		value, err := sc.typed(e.Field, *e.Value)
		if err != nil {
			return nil, err
		}
		list = append(list, table.FieldChange{Name: t.stored[e.Field], Old: table.Kept(stored), New: value})
	}
	return list, nil
}

// typed is a value as a column holds it.
func (sc *schema) typed(column, text string) (value any, err error) {
	switch column {
	case "event_version", "seq":
		value, err = strconv.ParseInt(text, 10, 64)
	case "timestamp", "created_at":
		value = text
		if sc.clock.numbers && !sc.clock.digits {
			value, err = strconv.ParseInt(text, 10, 64)
		}
	case "synthetic":
		value, err = int64(0), nil
		if text != defaultFlag {
			value = int64(1)
		}
	default:
		value = text
	}
	if err != nil {
		return nil, problem.New(problem.RolledBack, "", "%s cannot be set to %q: it holds numbers", column, text)
	}
	return value, nil
}
