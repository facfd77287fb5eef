// Package cmd is the command line: one file a command, with its flags and how
// it is wired. What the commands do is in the packages below internal.
package cmd

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/sessctl/sessctl/internal/config"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/ui"
)

// program is one run of sessctl. What depends on flags is set before a command
// runs.
type program struct {
	args   []string // without passwords
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	getenv func(string) string
	home   string

	passwords []string // what is to be said about those of databases
	secrets   []string // what is printed in no message
	brief     int64    // how large a store has to be to be read without contents, 0 for none
	newest    int64    // how many bytes of the newest sessions are enough, 0 for all
	// bodies are the sessions whose texts will be printed, whatever else is found; nil for none.
	bodies func(*session.Session) bool
	texts  bool // nobody asks for the stored bytes of messages
	// lacks are the words that are looked for: see store.Options. progress goes on counting while the
	// store is read; it may be nil.
	lacks    func(stored []byte) uint64
	progress *ui.Progress

	config *config.Config // nil before the configuration was read
	out    *ui.Screen
	err    *ui.Screen
	pager  *ui.Pager // nil where the command has none

	compares bool // stores, of which one may be a backup of the other

	// What of a store is wanted: see store.Options. only is the id of one session, or its beginning.
	only  string
	keep  func(heads *session.Tree, newest time.Time) bool
	since time.Time
	part  shard // of the trees that are kept
}

// Main runs sessctl with the arguments behind its name and returns the exit
// code. It depends on nothing but what it is given and the files that the
// arguments name.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int {
	ends := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as it is under nohup
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	return runCommandLine(ctx, args, stdin, stdout, stderr, getenv)
}

// runCommandLine is Main until the context ends.
func runCommandLine(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int {
	given, badName := registry.WithoutPasswords(args)
	args = given.Plain
	p := &program{
		args: args, passwords: given.Notes, secrets: given.Secrets, stdin: &interruptible{ctx, stdin}, stdout: stdout, stderr: stderr,
		getenv: getenv, home: config.Home(getenv),
	}
	p.setScreens(ui.ColorAuto)
	root := newRootCommand(p)
	root.SetArgs(completeBranch(args))
	if badName != nil {
		return p.reportExitCode(root, badName)
	}
	ran, err := root.ExecuteContextC(registry.WithPassword(registry.InOneRun(ctx), func(question string) (string, error) { return p.askPassword(ctx, question) }))
	if ctx.Err() != nil && err != nil {
		err = interruptionError(err)
	}
	code := p.reportExitCode(ran, err)
	if err := p.pager.Show(ctx.Err() != nil); err != nil {
		code = max(code, exitCode(err))
	}
	return code
}

// surviveClosedPipes makes writes to a closed pipe fail until the returned function is
// called. Without it the first one to standard output ends the process, and what it has
// begun to write stays behind (os/signal, SIGPIPE).
func surviveClosedPipes() func() {
	ignored := make(chan os.Signal, 1)
	signal.Notify(ignored, syscall.SIGPIPE)
	return func() { signal.Stop(ignored) }
}

// askPassword asks for a password where somebody is there to answer.
func (p *program) askPassword(ctx context.Context, question string) (string, error) {
	in, ok := p.stdin.(*interruptible)
	if !ok || !ui.IsTerminal(in.r) || !p.err.Terminal {
		return "", nil
	}
	return ui.AskPassword(ctx, in.r.(*os.File), p.stderr, question) //nolint:revive // a terminal is a file
}

func (p *program) setScreens(mode ui.ColorMode) {
	p.out = ui.NewScreen(p.stdout, mode, p.getenv)
	p.err = ui.NewScreen(p.stderr, mode, p.getenv)
}

// interruptible is a stream whose reads end when the context does: a pipe that
// stays silent must not keep an interrupted program waiting.
type interruptible struct {
	ctx context.Context
	r   io.Reader
}

func (i *interruptible) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	buffer, done := make([]byte, len(p)), make(chan result, 1)
	go func() {
		n, err := i.r.Read(buffer)
		done <- result{n, err}
	}()
	select {
	case <-i.ctx.Done():
		return 0, i.ctx.Err()
	case r := <-done:
		return copy(p, buffer[:r.n]), r.err
	}
}
