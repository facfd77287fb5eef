package sqlite

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

// idler is a process that has no file open until it is told to open one for writing, and
// never locks it. It has the number that it had before.
func idler(t *testing.T, path string) (cmd *exec.Cmd, openIt, stop func()) {
	t.Helper()
	cmd = exec.Command("sh", "-c", `read go && exec 3<>"$0" && echo ready && read end`, path)
	stdin, err := cmd.StdinPipe()
	ok(t, err)
	stdout, err := cmd.StdoutPipe()
	ok(t, err)
	ok(t, cmd.Start())
	stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	t.Cleanup(stop)
	return cmd, func() {
		t.Helper()
		_, err := io.WriteString(stdin, "go\n")
		ok(t, err)
		if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "ready\n" {
			t.Fatalf("the other process says %q (%v)", line, err)
		}
	}, stop
}

// A writer is known by the file that it has open, not by a path: it may have opened that
// by another name, as from a container, or before it was moved.
func TestProbeWriterByAnotherName(t *testing.T) {
	for name, move := range map[string]func(old, new string) error{"a hard link": os.Link, "before it was moved": os.Rename} {
		t.Run(name, func(t *testing.T) {
			old := filepath.Join(t.TempDir(), "old.db")
			path := filepath.Join(t.TempDir(), "session.db")
			create(t, old, rows(1)...)
			_, openIt, stop := idler(t, old)
			openIt()
			ok(t, move(old, path))
			if w, err := ProbeWriter(path); err != nil || w.State != session.WriterLive {
				t.Errorf("%+v (%v)", w, err)
			}
			stop()
			if w, err := ProbeWriter(path); err != nil || w.State != session.WriterDead {
				t.Errorf("after its end: %+v (%v)", w, err)
			}
		})
	}
}

// A file that took the place of the one that a process has open has no writer.
func TestProbeWriterOfAReplacedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.db")
	create(t, path, rows(1)...)
	_, openIt, _ := idler(t, path)
	openIt()
	create(t, path+".new", rows(1)...)
	ok(t, os.Rename(path+".new", path))
	if w, err := ProbeWriter(path); err != nil || w.State != session.WriterDead {
		t.Errorf("%+v (%v)", w, err)
	}
}

// Where a lease tells, only databases with a writer need a walk over the processes, and
// all of a run share it. Where none does, the walk alone tells.
func TestOneWalkForARun(t *testing.T) {
	ctx := InOneRun(t.Context())
	others := openFilesOf(ctx)
	dir := t.TempDir()
	database := func(name string) string {
		path := filepath.Join(dir, name)
		create(t, path, rows(1)...)
		return path
	}
	state := func(path string) session.Writer {
		t.Helper()
		db, err := Open(ctx, path, Options{})
		ok(t, err)
		defer func() { _ = db.Close() }()
		return db.Writer.State
	}
	alone := database("alone.db")
	file, err := os.Open(alone)
	ok(t, err)
	defer func() { _ = file.Close() }()
	leases := tryLease(file) == nil
	if state(alone) != session.WriterDead || leases && others.walks != 0 {
		t.Errorf("%d walks where nobody writes", others.walks)
	}
	var held []string
	for i := range 3 {
		held = append(held, database(fmt.Sprint(i, ".db")))
		_, openIt, _ := idler(t, held[i])
		openIt()
	}
	if !leases {
		t.Skip("the file system has no leases, so that a writer is missed who comes after the walk")
	}
	for _, path := range held {
		if state(path) != session.WriterLive {
			t.Errorf("the writer of %s is not seen", path)
		}
	}
	if others.walks != 1 {
		t.Errorf("%d walks for three databases", others.walks)
	}
	late := database("late.db")
	for _, path := range append(held, late) { // without a lease
		file, err := os.Open(path)
		ok(t, err)
		if pid, err := others.lookFor(file, false); err != nil || (pid != 0) != (path != late) {
			t.Errorf("%s: process %d (%v)", path, pid, err)
		}
		ok(t, file.Close())
	}
	_, openIt, stop := idler(t, late)
	openIt()
	if state(late) != session.WriterLive || others.walks != 2 {
		t.Errorf("the writer who came after the walk is not seen, with %d walks", others.walks)
	}
	stop()
	if state(late) != session.WriterDead || others.walks != 2 {
		t.Errorf("the writer who has left is seen still, with %d walks", others.walks)
	}
}

// BenchmarkFindWriter looks for the writer of a database among 30 processes that have 500
// files open each: where nobody has it open, so that the kernel tells, and with a walk.
func BenchmarkFindWriter(b *testing.B) {
	path := filepath.Join(b.TempDir(), "session.db")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		b.Fatal(err)
	}
	for range 30 {
		cmd := exec.Command(os.Args[0], path)
		cmd.Env = append(os.Environ(), childVar+"="+childFiles)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
			b.Fatalf("the other process says %q (%v)", line, err)
		}
	}
	file, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	for name, find := range map[string]finder{
		"nobody": func(f *os.File) (int, error) { return new(openFiles).findWriter(f) },
		"walk":   func(f *os.File) (int, error) { return new(openFiles).lookFor(f, true) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if pid, err := find(file); pid != 0 || err != nil {
					b.Fatal(pid, err)
				}
			}
		})
	}
}
