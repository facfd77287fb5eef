package kagent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/table"
)

// task is a row of the table of tasks: the record of one request (b2).
type task struct {
	session string
	owner   string // the user by its column, "" where there is none
	named   string // the user by the metadata
	version string // of A2A, "" before 1.0
	deleted bool
	wrong   string // why it does not decode, "" when it does
	run     session.Run
	sum     [sha256.Size]byte
}

// a2aTask is the document of a task, in both shapes.
type a2aTask struct {
	Status struct {
		State   string     `json:"state"`
		Message a2aMessage `json:"message"`
	} `json:"status"`
	History   []a2aMessage  `json:"history"`
	Artifacts []a2aArtifact `json:"artifacts"`
	Metadata  a2aDetails    `json:"metadata"`
}

type a2aArtifact struct {
	Parts    []a2aPart  `json:"parts"`
	Metadata a2aDetails `json:"metadata"`
}

// readTasks reads all tasks, of which it keeps little, and the children that calls in
// them are stamped with.
func (r *reader) readTasks(ctx context.Context, db table.Reader) error {
	r.tasks, r.stamps = map[string][]task{}, map[stamp]string{}
	names := r.Columns(tableTasks)
	if !r.Has(tableTasks, "id", "session_id", "data") {
		return nil
	}
	lost, err := db.Scan(ctx, table.Selection{Table: tableTasks, Columns: names}, func(_ table.Place, values []table.Value) error {
		t := r.task(func(column string) any {
			if i := slices.Index(names, column); i >= 0 {
				return values[i]
			}
			return nil
		})
		var row []byte
		for _, v := range values {
			row = table.AppendExactly(row, v)
		}
		t.sum = sha256.Sum256(row)
		r.tasks[t.session] = append(r.tasks[t.session], t)
		return nil
	})
	r.lost = lost
	for _, list := range r.tasks { // in the order in which they came
		slices.SortStableFunc(list, func(a, b task) int { return a.run.Began.Compare(b.run.Began) })
	}
	return err
}

// task reads a row.
func (r *reader) task(column columns) task {
	t := task{
		session: textOf(column("session_id")), owner: textOf(column("user_id")), version: textOf(column("protocol_version")), deleted: column("deleted_at") != nil,
		run: session.Run{ID: textOf(column("id")), Open: true},
	}
	t.run.Began, _ = parseTime(column("created_at"))
	t.run.Ended, _ = parseTime(column("updated_at"))
	var doc a2aTask
	data, _ := unwrap(bytesOf(column("data")))
	if err := json.Unmarshal(data, &doc, lenient); err != nil {
		t.wrong = explain(err)
		return t
	}
	t.run.State, t.run.Open = doc.Status.State, isOpen(doc.Status.State)
	t.run.Invocation, t.named = doc.detail("invocation_id"), doc.detail("user_id")
	if len(doc.History) > 0 {
		t.run.Asked = session.DigestOf(doc.History[0].text())
	}
	t.run.Answered = session.DigestOf(doc.answer())
	if !t.deleted {
		r.stampsOf(t.session, &doc)
	}
	return t
}

// detail is a detail of the messages, the artifacts or the task. That of the request
// comes first: the task itself has that of the run that came last, which after an
// approval can be another one (b2, c2).
func (t *a2aTask) detail(name string) string {
	for i := range t.History {
		if value := t.History[i].Metadata.of(name); value != "" {
			return value
		}
	}
	for i := range t.Artifacts {
		if value := t.Artifacts[i].Metadata.of(name); value != "" {
			return value
		}
	}
	return cmp.Or(t.Status.Message.Metadata.of(name), t.Metadata.of(name))
}

// answer is what a caller gets of the task: the texts of its artifacts, or else that of
// its last message (_remote_a2a_tool.py of kagent-adk since v0.8).
func (t *a2aTask) answer() string {
	var parts []a2aPart
	for i := range t.Artifacts {
		parts = append(parts, t.Artifacts[i].Parts...)
	}
	return cmp.Or(joined(parts), t.Status.Message.text())
}

// digest is what the tasks of a session are: see eventlog.Layout.Beside. A task that
// names no user counts for all who have a session with its id.
func (r *reader) digest(key []table.Value) []byte {
	user, id := textOf(key[0]), textOf(key[1])
	var sums []byte
	for _, t := range r.tasks[id] {
		if t.owner == "" || t.owner == user {
			sums = append(sums, t.sum[:]...)
		}
	}
	return sums
}
