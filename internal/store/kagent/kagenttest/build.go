package kagenttest

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	_ "modernc.org/sqlite" // the driver
)

// Build plays the program and writes a new database of what comes of it.
func (p Program) Build(path string, form Form) (*Written, error) {
	w := play(p, form)
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: "_pragma=synchronous(off)&_pragma=journal_mode(memory)"}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return w.written(), errors.Join(w.store(db), db.Close())
}

func (w *world) store(db *sql.DB) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	for _, write := range []func(*sql.Tx) error{w.storeSchema, w.storeSessions, w.storeEvents, w.storeTasks, w.storeStates, w.storeAgents, w.after} {
		if err := write(tx); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", w.program.Name, err), tx.Rollback())
		}
	}
	return tx.Commit()
}

func (w *world) storeSchema(tx *sql.Tx) error { return run(tx, w.form.Generation.schema()) }

func (w *world) after(tx *sql.Tx) error {
	if w.program.After == nil {
		return nil
	}
	return run(tx, w.program.After(w.written()))
}

func run(tx *sql.Tx, statements []string) error {
	for _, statement := range statements {
		if _, err := tx.Exec(statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

func (w *world) storeSessions(tx *sql.Tx) error {
	for _, s := range w.inTime() {
		row := object{
			{"id", s.id}, {"user_id", s.user}, {"agent_id", s.agent}, {"created_at", w.stamp(s.created)}, {"updated_at", w.stamp(s.updated)},
		}
		if w.writer(s.agent) != OpenAI { // whose package creates sessions without a name
			row = append(row, member{"name", s.name})
		}
		if s.delegated && w.form.Generation == Current {
			row = append(row, member{"source", "agent"})
		}
		if err := insert(tx, "session", row); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) storeEvents(tx *sql.Tx) error {
	rows := slices.SortedStableFunc(slices.Values(w.rows), func(a, b row) int { return a.at.Compare(b.at) })
	for _, r := range rows {
		err := insert(tx, "event", object{
			{"id", r.id}, {"session_id", r.session.id}, {"user_id", r.session.user},
			{"created_at", w.stamp(r.at)}, {"updated_at", w.stamp(r.at)}, {"data", w.data(r.document)},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *world) storeTasks(tx *sql.Tx) error {
	visits := slices.SortedStableFunc(slices.Values(w.visits), func(a, b *visit) int { return a.began.Compare(b.began) })
	for _, v := range visits {
		row := object{
			{"id", v.task}, {"session_id", v.session.id}, {"created_at", w.stamp(v.began)}, {"updated_at", w.stamp(v.now)},
			{"data", w.data(w.document(v))},
		}
		if w.form.Generation == Current {
			row = append(row, member{"user_id", v.session.user})
			if w.form.Shape != Legacy {
				row = append(row, member{"protocol_version", string(w.form.Shape)})
			}
		}
		if err := insert(tx, "task", row); err != nil {
			return err
		}
	}
	return nil
}

// storeStates writes what runtimes without events keep, one state for each run.
func (w *world) storeStates(tx *sql.Tx) error {
	for n, v := range w.visits {
		var err error
		saved := object{
			{"user_id", v.session.user}, {"thread_id", v.session.id}, {"created_at", w.stamp(v.now)}, {"updated_at", w.stamp(v.now)},
		}
		switch v.dialect {
		case LangGraph:
			saved = append(saved, object{{"checkpoint_ns", ""}, {"checkpoint_id", fmt.Sprintf("1f0c-%04d", n)}}...)
			err = errors.Join(
				insert(tx, "lg_checkpoint", append(slices.Clone(saved), object{
					{"metadata", `{"source":"loop","step":1}`}, {"checkpoint", "gqF2BKJpZA=="}, {"checkpoint_type", "msgpack"},
				}...)),
				insert(tx, "lg_checkpoint_write", append(saved, object{
					{"write_idx", 0}, {"value", "kA=="}, {"value_type", "msgpack"}, {"channel", "messages"}, {"task_id", v.task},
				}...)))
		case CrewAI:
			err = insert(tx, "crewai_flow_state", append(saved, object{{"method_name", fmt.Sprint("step", n)}, {"state_data", "{}"}}...))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *world) storeAgents(tx *sql.Tx) error {
	agents := map[string]bool{}
	for _, s := range w.sessions {
		agents[s.agent] = true
	}
	for _, id := range slices.Sorted(maps.Keys(agents)) {
		row := object{{"id", id}, {"created_at", w.stamp(Start)}, {"updated_at", w.stamp(Start)}, {"type", "Declarative"}, {"config", "{}"}}
		if w.form.Generation == Current {
			row = append(row, member{"workload_type", "deployment"})
		}
		if err := insert(tx, "agent", row); err != nil {
			return err
		}
	}
	return nil
}

// data is a document as the column has it.
func (w *world) data(document string) string {
	if w.form.Quoted {
		return style{html: true}.text(document)
	}
	return document
}

func (w *world) inTime() []*sess {
	return slices.SortedStableFunc(slices.Values(w.sessions), func(a, b *sess) int {
		return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.user, b.user))
	})
}

func insert(tx *sql.Tx, table string, row object) error {
	columns, values := make([]string, len(row)), make([]any, len(row))
	for i, m := range row {
		columns[i], values[i] = m.name, m.value
	}
	_, err := tx.Exec(fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s)", table, strings.Join(columns, ","), strings.Repeat(",?", len(row)-1)), values...)
	return err
}
