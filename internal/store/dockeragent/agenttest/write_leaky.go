package agenttest

import "fmt"

// Written is what a writer knows of the session that it wrote.
type Written struct {
	Root *Session
	// Leaks are the rows of the root's session that hold messages of children.
	Leaks []Leak
	// Taken are the results of delegations whose row the child had begun to
	// stream (docker-agent.md 4.2 G): the row carries the child's agent name
	// and stands before the reference to the child.
	Taken []Taken

	events []event // what the runtime emitted meanwhile
}

// Leak is the truth about one leaked row.
type Leak struct {
	Row int64
	// Calls are the delegations that were open, outermost first. The row
	// belongs to the child of the last one.
	Calls []OpenCall
	Child string // the id of that child, whether it was stored or not
	Twin  int64  // the row of the child that holds the same message, 0 when there is none
}

// OpenCall is a delegation, seen from the root's session.
type OpenCall struct {
	Row int64 // the row of the root's session with the call, 0 when that message did not leak
	ID  string
}

// Taken is the truth about a result whose row was begun by a child.
type Taken struct {
	Row   int64
	Agent string // the caller, whose result it is
}

// WriteLeaky records a program as v1.20.0 to v1.32.0 did: every message of a
// child, at any depth, that streams text or reasoning also gets a row in the
// root's session, while it happens; messages of a child that stream nothing do
// not. The child is stored when it is complete. One that fails or is killed
// leaves nothing but the leaked rows.
//
// It needs a generation with session_items, and a program without skills and
// parallel calls, which came later.
func WriteLeaky(db *DB, p Program) (Written, error) {
	if db.Generation < withItems {
		return Written{}, fmt.Errorf("generation %d has no item rows that could leak: create the database with generation %d or later", db.Generation, withItems)
	}
	for i := range p.Turns {
		if newer(p.Turns[i].Steps) {
			return Written{}, fmt.Errorf("%q runs a skill or several calls at the same time: no version that leaked could do that", p.Title)
		}
	}
	r := write(db, &p, false)
	written := Written{Root: r.record.stored[r.root], events: r.stream.events}
	for _, l := range r.record.leaks {
		written.Leaks = append(written.Leaks, l.truth())
	}
	for _, t := range r.record.taken {
		written.Taken = append(written.Taken, Taken{t.item.Row, t.entry.agent})
	}
	return written, db.Err()
}

// write plays a program into the database.
func write(db *DB, p *Program, scoped bool) *run {
	root := &conversation{row: SessionRow{Title: p.Title, ToolsApproved: true}}
	r := &run{
		db: db, program: p, root: root,
		record: newRecorder(db, root, scoped), stream: &stream{db: db, models: p.Models},
	}
	db.Batch(r.play)
	return r
}

// newer reports whether steps need a version that leaks no more.
func newer(steps []Step) bool {
	for i := range steps {
		for _, call := range steps[i].Calls {
			if task := call.Task; task != nil && (task.Skill != "" || newer(task.Steps)) {
				return true
			}
		}
		if steps[i].Parallel {
			return true
		}
	}
	return false
}

func (l *leak) truth() Leak {
	known := Leak{Row: l.item.Row, Child: l.child.row.ID}
	for c := l.child; c.caller != nil; c = c.caller {
		call := OpenCall{ID: c.callID}
		if c.opener.inRoot != nil {
			call.Row = c.opener.inRoot.Row
		}
		known.Calls = append([]OpenCall{call}, known.Calls...)
	}
	if l.entry != nil && l.entry.stored != nil {
		known.Twin = l.entry.stored.Row
	}
	return known
}
