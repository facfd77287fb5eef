package cmd

import (
	"context"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// taken are the files that an output of the run must not replace: its stores with what
// SQLite keeps beside them, the configuration, and others.
func (p *program) taken(stores []string, others ...string) []string {
	paths := append(others, p.config.File)
	for _, path := range stores {
		paths = append(paths, registry.WithLogs(path)...)
		if real, err := atomicfile.Destination(path); err == nil { // SQLite keeps them beside what a link leads to
			paths = append(paths, registry.WithLogs(real)...)
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool { return path == "" || path == "-" })
}

// isTaken reports whether a path leads to a file that must not be replaced: one of
// those that are taken, the one that standard input comes from, or some store.
func (p *program) isTaken(ctx context.Context, path string, taken []string) bool {
	standing, err := os.Stat(path)
	if err == nil && !standing.Mode().IsRegular() {
		return false // nothing is replaced: it is written to
	}
	input := fileOf(p.stdin)
	return err == nil && input != nil && os.SameFile(standing, input) ||
		slices.ContainsFunc(taken, func(other string) bool { return atomicfile.Same(path, other) }) ||
		registry.OfAStore(ctx, path)
}

// streamAt is the stream of the program that goes into the file at path, nil where
// none does: `--report markdown=/dev/stdout >> log` is to go on in the log, where a new
// file under its name would take what it holds.
func (p *program) streamAt(path string) io.Writer {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	for _, stream := range []io.Writer{p.stdout, p.stderr} {
		if file := fileOf(stream); file != nil && os.SameFile(file, info) {
			return stream
		}
	}
	return nil
}

// fileOf is the file that a stream of the program comes from or goes to, nil where
// there is none.
func fileOf(stream any) fs.FileInfo {
	if in, ok := stream.(*interruptible); ok {
		stream = in.r
	}
	file, ok := stream.(*os.File)
	if !ok {
		return nil
	}
	info, err := file.Stat()
	if err != nil {
		return nil
	}
	return info
}
