package claudecode_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/claudecode/claudetest"
	"github.com/sessctl/sessctl/internal/store/player"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// appended is what a process adds to a file of a folder.
type appended struct{ Name, Text string }

// written lists what a random program appends to the files of a folder, write by write.
func written(t *testing.T, home string, seed uint64) (list []appended) {
	t.Helper()
	had, writes := map[string]int{}, player.Play(player.RandomProgram(seed, 4+int(seed%3)), seed)
	for n := range writes {
		folder := filepath.Join(t.TempDir(), "home")
		if _, err := claudetest.Build(folder, claudetest.Versions[seed%3], seed, writes[:n+1]); err != nil {
			t.Fatal(err)
		}
		for name, text := range snapshot(t, folder) {
			if more := text[had[name]:]; more != "" && strings.Contains(filepath.Base(name), ".json") && !strings.HasSuffix(name, ")") {
				list = append(list, appended{filepath.Join(home, name), more})
				had[name] = len(text)
			}
		}
	}
	return list
}

// Names of variables that make a test of this package the process that writes.
const (
	script = "SESSCTL_TEST_SCRIPT" // the file with what it appends
	noted  = "SESSCTL_TEST_NOTE"   // the folder in which it notes that it has a session open
	torn   = "SESSCTL_TEST_TORN"   // whether each line is written in two pieces
)

// TestTheWriter is no test but the process that the others start: it opens a file for each
// line, as Claude Code does.
func TestTheWriter(t *testing.T) {
	if os.Getenv(script) == "" {
		t.Skip("other tests start it")
	}
	text, err := os.ReadFile(os.Getenv(script))
	if err != nil {
		t.Fatal(err)
	}
	var list []appended
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	note := filepath.Join(os.Getenv(noted), "sessions", fmt.Sprint(os.Getpid(), ".json"))
	if os.Getenv(noted) != "" {
		stat, err := os.ReadFile("/proc/self/stat")
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		id := strings.TrimSuffix(filepath.Base(list[0].Name), ".jsonl")
		text := fmt.Sprintf(`{"pid":%d,"sessionId":%q,"procStart":%q}`, os.Getpid(), id, strings.Fields(rest)[19])
		whole := note + ".new" // before it has its name: half a note says nothing of the session, and the tests wait for it
		if err := errors.Join(os.MkdirAll(filepath.Dir(note), 0o700), os.WriteFile(whole, []byte(text), 0o600), os.Rename(whole, note)); err != nil {
			t.Fatal(err)
		}
	}
	for _, a := range list {
		_ = os.MkdirAll(filepath.Dir(a.Name), 0o700)
		f, err := os.OpenFile(a.Name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		pieces := []string{a.Text}
		if os.Getenv(torn) != "" {
			pieces = []string{a.Text[:len(a.Text)/2], a.Text[len(a.Text)/2:]}
		}
		for _, piece := range pieces {
			if _, err := f.WriteString(piece); err != nil {
				t.Fatal(err)
			}
			time.Sleep(200 * time.Microsecond)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_ = os.Remove(note)
}

// writes starts a process that appends; ended reports whether it is done.
func writes(t *testing.T, list []appended, env ...string) (process *exec.Cmd, ended func() bool) {
	t.Helper()
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	process = exec.Command(os.Args[0], "-test.run=^TestTheWriter$")
	process.Env = append(append(os.Environ(), script+"="+name), env...)
	process.Stderr = os.Stderr
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- process.Wait() }()
	t.Cleanup(func() { _ = process.Process.Kill() })
	return process, func() bool {
		select {
		case err := <-done:
			if err != nil && process.ProcessState.Exited() {
				t.Errorf("the writer: %v", err)
			}
			return true
		default:
			return false
		}
	}
}

// found is what a check of a folder says, and how many items it saw. The writer is taken for
// dead where nothing is known of it.
func found(t *testing.T, home string) (list []*check.Finding, items int) {
	t.Helper()
	o, err := registry.Open(t.Context(), home, "", nil, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	o.Facts().Writer = session.WriterDead
	for tree, err := range o.Trees(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		items += tree.Items()
		list = append(list, check.RunTree(o.Facts(), tree, catalogue.UsualRules(), rules.Judge{})...)
	}
	if o.Facts().Incomplete != "" {
		t.Error(o.Facts().Incomplete)
	}
	return list, items
}

// TestCheckBesideAWriter checks a folder again and again while a process appends to its files,
// in pieces of lines. Nothing is wrong with a session that somebody is writing, and its calls
// wait for their results; killed, they have lost them.
func TestCheckBesideAWriter(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are looked for in /proc")
	}
	readings := 0
	for seed := range uint64(max(3, campaign.Rounds(4, 40))) {
		home := t.TempDir()
		list := written(t, home, seed)
		path := list[0].Name
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(list[0].Text), 0o600)); err != nil {
			t.Fatal(err)
		}
		kill := 0 // at how many items it is killed
		if seed%2 == 1 {
			kill = len(list) / 3
		}
		process, ended := writes(t, list[1:], noted+"="+home, torn+"=1")
		note := filepath.Join(home, "sessions", fmt.Sprint(process.Process.Pid, ".json"))
		for !ended() {
			if _, err := os.Stat(note); err != nil {
				continue // it has not begun, or it is about to end
			}
			findings, items := found(t, home)
			if _, err := os.Stat(note); err != nil {
				continue
			}
			readings++
			for _, f := range findings {
				if f.Severity > rules.Info && f.Rule.ID != "SC501" { // the programs think now and then
					t.Errorf("seed %d: %s %s: %s", seed, f.Severity, f.Rule.ID, f.Message)
				}
			}
			if kill > 0 && items >= kill {
				_ = process.Process.Kill()
				for !ended() {
					time.Sleep(time.Millisecond)
				}
				break
			}
		}
		lost := load(t, path).openCalls()
		findings, _ := found(t, home)
		for _, f := range findings {
			switch {
			case f.Severity <= rules.Info, f.Rule.ID == "SC020" && kill > 0:
			case (f.Rule.ID == "SC101" || f.Rule.ID == "SC716") && slices.Contains(lost, f.Call):
				lost = slices.DeleteFunc(lost, func(id string) bool { return id == f.Call })
			default:
				t.Errorf("seed %d: after the end: %s %s: %s", seed, f.Severity, f.Rule.ID, f.Message)
			}
		}
		if len(lost) > 0 {
			t.Errorf("seed %d: nothing is said of the calls %v", seed, lost)
		}
	}
	if readings < 5 {
		t.Errorf("only %d readings", readings)
	}
}

// openCalls are the calls of a transcript that have no result.
func (tr transcript) openCalls() (open []string) {
	for _, l := range tr {
		if l["isSidechain"] == true {
			continue
		}
		open = append(open, ids(l, "tool_use", "id")...)
		for _, id := range ids(l, "tool_result", "tool_use_id") {
			open = slices.DeleteFunc(open, func(other string) bool { return other == id })
		}
	}
	return open
}

// TestRepairBesideAWriter repairs a damaged folder, and takes that back, again and again while
// a process appends to its files of which nobody knows. What it writes is never lost.
func TestRepairBesideAWriter(t *testing.T) {
	made, refused := 0, 0
	for seed := range uint64(max(3, campaign.Rounds(8, 80))) {
		home := filepath.Join(t.TempDir(), "home")
		list := written(t, home, seed)
		path := list[0].Name
		if !slices.ContainsFunc(list, func(a appended) bool { return a.Name == path && strings.Contains(a.Text, `"tool_result"`) }) {
			continue // nothing that can be there twice
		}
		var damaged strings.Builder
		for i := range list {
			if list[i].Name != path {
				continue
			}
			damaged.WriteString(list[i].Text)
			if strings.Contains(list[i].Text, `"tool_result"`) {
				damaged.WriteString(renamed(list[i].Text))
				list = list[i+1:]
				break
			}
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(damaged.String()), 0o600)); err != nil {
			t.Fatal(err)
		}
		before := snapshot(t, home)
		for _, a := range list {
			name, err := filepath.Rel(home, a.Name)
			if err != nil {
				t.Fatal(err)
			}
			before[name] += a.Text
		}
		receipts := filepath.Join(t.TempDir(), "receipts")
		if err := os.WriteFile(receipts, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		_, ended := writes(t, list)
		for over, n := false, 0; !over; n++ {
			over = ended()
			_, receipt, err := repairtest.RepairInUse(home)
			switch {
			case problem.ClassOf(err) == problem.Busy:
				refused++
			case err != nil:
				t.Fatalf("seed %d: %v", seed, err)
			}
			if receipt == nil {
				continue
			}
			made++
			text, err := os.ReadFile(receipt.Path())
			if err != nil {
				t.Fatal(err)
			}
			undone := false
			if n%2 == 0 {
				_, err := repairtest.Undo(home, receipt.Path())
				if undone = err == nil; err != nil && problem.ClassOf(err) != problem.Busy {
					t.Fatalf("seed %d: undo: %v", seed, err)
				}
			}
			if !undone {
				kept, _ := os.ReadFile(receipts)
				if err := os.WriteFile(receipts, append(kept, text...), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(os.Remove(receipt.Path()), os.RemoveAll(home+".backup")); err != nil {
				t.Fatal(err)
			}
		}
		held(t, before, snapshot(t, home), receipts)
	}
	if t.Logf("%d repairs, %d refused", made, refused); made == 0 {
		t.Error("nothing was repaired")
	}
}
