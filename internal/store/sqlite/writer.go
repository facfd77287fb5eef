package sqlite

import "github.com/sessctl/sessctl/internal/session"

// Writer is what the locks on a database tell about other processes.
type Writer struct {
	State session.Writer
	Name  string // "docker-agent (pid 4711)", "" when nobody is known
	Why   string // the reason of WriterUnknown

	exclusive bool // readers are locked out
	changing  bool // a transaction that uses the rollback journal is open
}
