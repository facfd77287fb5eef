package cmd_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/sessctl/sessctl/internal/campaign"
)

// reader is somebody at a terminal of 24 lines, who types each text when the one before
// it is on the screen, and again when nothing happens.
type reader struct {
	env  []string // besides what every run gets
	talk [][2]string
	in   *os.File // instead of the terminal
}

func (r reader) runs(t *testing.T, home string, args ...string) (shown string, code int) {
	t.Helper()
	person, program := pseudoTerminal(t)
	size := [4]uint16{24, 80}
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, program.Fd(), syscall.TIOCSWINSZ, uintptr(unsafe.Pointer(&size))); errno != 0 {
		t.Fatal(errno)
	}
	chunks := make(chan []byte)
	go func() {
		defer close(chunks)
		for {
			buffer := make([]byte, 4096)
			n, err := person.Read(buffer)
			if err != nil { // the program's end is closed
				return
			}
			chunks <- buffer[:n]
		}
	}()
	var all bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		seen, typed := 0, ""
		for {
			select {
			case chunk, more := <-chunks:
				if !more {
					return
				}
				all.Write(chunk)
			// Ctrl-C makes the terminal drop what it has not shown yet, a prompt too, and what
			// was typed just then.
			case <-time.After(2 * time.Second):
				_, _ = person.WriteString(typed)
			}
			if len(r.talk) > 0 && bytes.Contains(all.Bytes()[seen:], []byte(r.talk[0][0])) {
				seen, typed = all.Len(), r.talk[0][1]
				_, _ = person.WriteString(typed)
				r.talk = r.talk[1:]
			}
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "sessctl", args...)
	c.Dir, c.Stdin, c.Stdout, c.Stderr = home, program, program, program
	if r.in != nil {
		c.Stdin = r.in
	}
	c.Env = append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm", "NO_COLOR=1"}, r.env...)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1}
	_ = c.Run() // the exit code tells
	_ = program.Close()
	<-done
	return strings.ReplaceAll(all.String(), "\r\n", "\n"), c.ProcessState.ExitCode()
}

// writeBroken writes a stream of sessions that each lack the result of a call.
func writeBroken(t *testing.T, path string, sessions int) {
	t.Helper()
	var b strings.Builder
	b.WriteString(`{"type":"header","format":"sessctl.canonical/1","kind":"my-runtime","writer":"dead"}` + "\n")
	for i := range sessions {
		id := fmt.Sprintf("%08d-0001-4000-8000-000000000000", i)
		fmt.Fprintf(&b, `{"type":"session","id":%q,"title":"Run %d","created":"2026-02-%02dT10:00:00Z"}`+"\n", id, i, i%28+1)
		fmt.Fprintf(&b, `{"type":"item","session":%q,"kind":"message","role":"user","text":%q}`+"\n", id, strings.Repeat("Go.\n", 30))
		fmt.Fprintf(&b, `{"type":"item","session":%q,"kind":"message","role":"assistant","agent":"root","calls":[{"id":"toolu_%d","name":"shell","args":"{}"}]}`+"\n", id, i)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// What is longer than the screen goes through a pager, at a terminal only; neither the
// exit code nor what was written says whether it did.
func TestLongOutputGoesThroughAPager(t *testing.T) {
	campaign.ShowsNoRace(t)
	home := t.TempDir()
	writeBroken(t, filepath.Join(home, "long.ndjson"), 40)
	writeBroken(t, filepath.Join(home, "short.ndjson"), 1)
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	const marks = `SESSCTL_PAGER=sed 's/^/|/'`
	tests := []struct {
		name  string
		env   []string
		in    *os.File
		args  []string
		code  int
		paged bool
	}{
		{name: "check", env: []string{marks}, args: []string{"check", "long.ndjson"}, code: 1, paged: true},
		{name: "view", env: []string{marks}, args: []string{"view", "--full", "long.ndjson", "00000001"}, paged: true},
		{name: "ls", env: []string{marks}, args: []string{"ls", "long.ndjson"}, paged: true},
		{name: "diff", env: []string{marks}, args: []string{"diff", "long.ndjson", "short.ndjson"}, code: 1, paged: true},
		{name: "explain", env: []string{marks}, args: []string{"explain"}, paged: true},
		{name: "PAGER", env: []string{`PAGER=sed 's/^/|/'`}, args: []string{"ls", "long.ndjson"}, paged: true},
		{name: "the own variable goes first", env: []string{marks, "PAGER=false"}, args: []string{"ls", "long.ndjson"}, paged: true},
		{name: "what fits on the screen", env: []string{marks}, args: []string{"ls", "short.ndjson"}},
		{name: "another command", env: []string{marks}, args: []string{"repair", "long.ndjson", "--dry-run"}, code: 1},
		{name: "another format", env: []string{marks}, args: []string{"check", "long.ndjson", "--format", "ndjson"}, code: 1},
		{name: "CI", env: []string{marks, "CI=true"}, args: []string{"check", "long.ndjson"}, code: 1},
		{name: "a dumb terminal", env: []string{marks, "TERM=dumb"}, args: []string{"check", "long.ndjson"}, code: 1},
		{name: "--no-pager", env: []string{marks}, args: []string{"check", "long.ndjson", "--no-pager"}, code: 1},
		{name: "the setting", env: []string{marks, "SESSCTL_NO_PAGER=true"}, args: []string{"check", "long.ndjson"}, code: 1},
		{name: "standard input is no terminal", env: []string{marks}, in: null, args: []string{"check", "long.ndjson"}, code: 1},
		{name: "an empty variable", env: []string{"SESSCTL_PAGER=", "PAGER=sed 's/^/|/'"}, args: []string{"ls", "long.ndjson"}},
		{name: "cat", env: []string{"PAGER=cat"}, args: []string{"ls", "long.ndjson"}},
		{name: "no such program", env: []string{"PAGER=no-such-pager"}, args: []string{"check", "long.ndjson"}, code: 1},
		{name: "no such program in a shell", env: []string{"PAGER=no-such-pager --quiet"}, args: []string{"check", "long.ndjson"}, code: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			shown, code := reader{env: tt.env, in: tt.in}.runs(t, home, tt.args...)
			if code != tt.code {
				t.Errorf("code %d, want %d", code, tt.code)
			}
			if paged := strings.HasPrefix(shown, "|"); paged != tt.paged {
				t.Errorf("in the pager: %v, want %v:\n%s", paged, tt.paged, shown)
			}
			if len(shown) < 100 {
				t.Errorf("something is missing:\n%s", shown)
			}
		})
	}
}

// A pager that is quit at once changes nothing: all was done before it started.
func TestQuittingThePagerChangesNothing(t *testing.T) {
	campaign.ShowsNoRace(t)
	home := t.TempDir()
	writeBroken(t, filepath.Join(home, "long.ndjson"), 2000) // more than a pipe holds
	shown, code := reader{env: []string{"PAGER=head -n 1"}}.runs(t, home, "check", "long.ndjson", "--max-findings", "0",
		"--report", "json=paged.json", "--write-baseline", "known.json", "--fail-on", "never")
	shown = shown[strings.LastIndex(shown, "\x1b[K")+1:] // without the progress of a slow machine
	if code != 0 || strings.TrimPrefix(shown, "[K") != "long.ndjson\n" {
		t.Errorf("code %d:\n%s", code, shown)
	}
	for name, want := range map[string]string{"paged.json": `"rule": "SC101"`, "known.json": `"fingerprint"`} {
		written, err := os.ReadFile(filepath.Join(home, name))
		if err != nil || strings.Count(string(written), want) != 2000 {
			t.Errorf("%s has %d findings, %v", name, strings.Count(string(written), want), err)
		}
	}
}

// In less, as git starts it: colours stay, Ctrl-C does not end it, and errors are where
// they belong.
func TestLessAsThePager(t *testing.T) {
	campaign.ShowsNoRace(t)
	if _, err := exec.LookPath("less"); err != nil {
		t.Skip("there is no less")
	}
	home := t.TempDir()
	writeBroken(t, filepath.Join(home, "long.ndjson"), 40)
	const ctrlC, end = "\x03", "Next:"
	shown, code := reader{
		env:  []string{"NO_COLOR=", "CLICOLOR_FORCE=1"},
		talk: [][2]string{{":", ctrlC}, {":", ctrlC}, {":", "G"}, {end, "q"}},
	}.runs(t, home, "check", "missing.db", "long.ndjson")
	if code != 3 || !strings.Contains(shown, "\x1b[1;91m") && !strings.Contains(shown, "\x1b[1;31m") {
		t.Errorf("code %d, or no colour:\n%q", code, shown)
	}
	if at := strings.Index(shown, "missing.db"); at < 0 || at > strings.Index(shown, "long.ndjson") {
		t.Errorf("the error is not in its place:\n%s", shown)
	}
	shown, code = reader{env: []string{`PAGER=echo "LESS=$LESS LV=$LV"; cat`}}.runs(t, home, "ls", "long.ndjson")
	if code != 0 || !strings.HasPrefix(shown, "LESS=FRX LV=-c\nlong.ndjson") {
		t.Errorf("code %d:\n%s", code, shown)
	}
}
