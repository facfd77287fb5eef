package kagent

import "github.com/sessctl/sessctl/internal/store/eventlog"

// writes are how rows change. They are the same for all generations and dialects: a
// row tells by its columns and by what is in them what form it has. The row of a
// session stays as it is when its events change, updated_at too: a repair has no
// clock.
var writes = eventlog.Write{
	Insert: insert, Part: part, Update: update, Session: setColumns, Set: setColumns,
	Create: createSession, Beside: rewriteTasks, Others: []string{tableTasks},
}
