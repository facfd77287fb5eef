package codex_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/codex"
	"github.com/sessctl/sessctl/internal/store/filelog"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// written names the file that a process of this package's tests appends to.
const written = "SESSCTL_TEST_ROLLOUT"

// TestTheWriter is no test but the process that the others start: it has a rollout open, as Codex
// does, and appends a line for each that it reads.
func TestTheWriter(t *testing.T) {
	if os.Getenv(written) == "" {
		t.Skip("other tests start it")
	}
	f, err := os.OpenFile(os.Getenv(written), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("open")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		for _, piece := range []string{in.Text()[:len(in.Text())/2], in.Text()[len(in.Text())/2:], "\n"} {
			if _, err := f.WriteString(piece); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Microsecond)
		}
	}
	_ = f.Close()
}

// writes starts a process that has a file open; append lets it append lines, and end ends it.
func writes(t *testing.T, file string) (appendLine func(string), end func()) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("who has a file open is seen on Linux only")
	}
	process := exec.Command(os.Args[0], "-test.run=^TestTheWriter$")
	process.Env = append(os.Environ(), written+"="+file)
	in, err := process.StdinPipe()
	out, err2 := process.StdoutPipe()
	if err = errors.Join(err, err2, process.Start()); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "open\n" {
		t.Fatalf("%q %v", line, err)
	}
	ended := false
	end = func() {
		if !ended {
			ended = true
			_ = in.Close()
			_ = process.Wait()
		}
	}
	t.Cleanup(end)
	return func(line string) { _, _ = fmt.Fprintln(in, line) }, end
}

// holds lets a process have a file open until it is told to end.
func holds(t *testing.T, file string) (end func()) {
	t.Helper()
	_, end = writes(t, file)
	return end
}

// TestAppendingWriter: while a process appends, a check fails at nothing and a repair changes nothing;
// when it has ended, every line is there.
func TestAppendingWriter(t *testing.T) {
	campaign.ShowsNoRace(t)
	home, file := rollout(t, says("user", "one"), callOf("c0"))
	appendLine, end := writes(t, file)
	want := strings.Count(read(t, file), "\n")
	for n := range campaign.Rounds(40, 400) {
		for _, line := range []string{outputOf(fmt.Sprint("c", n), "x"), callOf(fmt.Sprint("c", n+1))} {
			appendLine(fmt.Sprintf(`{"timestamp":"2026-11-22T09:01:00.000Z","ordinal":%d,%s}`, want, line))
			want++
		}
		for _, found := range storetest.Findings(t, home) {
			if !strings.Contains(found, "SC102") && !strings.Contains(found, "SC020") && !strings.Contains(found, "SC103") {
				t.Errorf("round %d: %s", n, found)
			}
		}
		if plan, receipt, err := repairtest.RepairInUse(home); receipt != nil || err != nil && problem.ClassOf(err) != problem.Busy {
			t.Errorf("round %d: %v%s", n, err, repairtest.Told(plan))
		}
	}
	end()
	if lines := strings.Count(read(t, file), "\n"); lines != want {
		t.Errorf("%d lines, want %d", lines, want)
	}
	if _, receipt, err := repairtest.RepairInUse(home); err != nil || receipt == nil {
		t.Error(err)
	}
}

// FuzzRead: whatever is in a file, it is read, and the same each time.
func FuzzRead(f *testing.F) {
	for _, line := range []string{says("user", "one"), callOf("c"), outputOf("c", "x"), of("compacted", object{{"message", "s"}}), of("event_msg", object{{"type", "thread_rolled_back"}, {"num_turns", 2}})} {
		f.Add(`{"timestamp":"2026-11-22T09:00:00.000Z","ordinal":0,"type":"session_meta","payload":{"id":"t","history_base":{"thread_id":"t","end_byte_offset":9}}}` + "\n" + `{"timestamp":"x","ordinal":1,` + line + "}\n{")
	}
	f.Fuzz(func(t *testing.T, text string) {
		file := filepath.Join(t.TempDir(), "r.jsonl")
		write(t, file, text)
		stream, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = stream.Close() }()
		st, err := codex.Kind.Open(context.Background(), &store.Source{Path: file, Stream: stream}, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = st.Close() }()
		lines := 0
		for _, err := range filelog.Over(stream).Lines(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			lines++
		}
		for tree, err := range st.Trees(context.Background()) {
			if err == nil {
				err = st.Fill(context.Background(), tree)
			}
			if err != nil {
				t.Fatal(err)
			}
			for i := range tree.Root().Items {
				if tree.Root().Items[i].Body == nil || tree.Root().Items[i].Key == "" {
					t.Fatalf("item %d of %d lines", i, lines)
				}
			}
		}
	})
}
