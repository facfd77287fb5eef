package sqlite

import (
	"context"
	"os"
	"runtime"

	"github.com/sessctl/sessctl/internal/session"
)

// Writer is what the locks on a database tell about other processes.
type Writer struct {
	State session.Writer
	Name  string // "docker-agent (pid 4711)", "" when nobody is known
	Why   string // the reason of WriterUnknown

	exclusive bool // readers are locked out
	changing  bool // a transaction that uses the rollback journal is open
}

// finder finds a process that has a file open for writing, 0 when none is seen.
type finder func(file *os.File) (pid int, err error)

// InOneRun makes the databases that are opened with a context share one look at what other
// processes have open. Without it, each one looks anew.
func InOneRun(ctx context.Context) context.Context {
	return context.WithValue(ctx, (*openFiles)(nil), &openFiles{})
}

// WriterOf says whether another process has a file open for writing, whatever is in it.
func WriterOf(ctx context.Context, file *os.File) session.Writer {
	pid, err := openFilesOf(ctx).findWriter(file)
	switch {
	case err != nil || runtime.GOOS != "linux":
		return session.WriterUnknown
	case pid != 0:
		return session.WriterLive
	}
	return session.WriterDead
}

func openFilesOf(ctx context.Context) *openFiles {
	if shared, ok := ctx.Value((*openFiles)(nil)).(*openFiles); ok {
		return shared
	}
	return &openFiles{}
}
