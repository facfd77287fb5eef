//go:build unix

package cmd_test

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/schematest"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// watching is a `sessctl watch` that runs.
type watching struct {
	t     *testing.T
	lines chan string
	seen  []string
}

// startWatch starts one. When the test ends it is interrupted, and has to end at once.
func startWatch(t *testing.T, args ...string) *watching {
	t.Helper()
	campaign.ShowsNoRace(t)
	c := exec.Command("sessctl", append([]string{"watch"}, args...)...)
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	w := &watching{t: t, lines: make(chan string, 1000)}
	var read sync.WaitGroup
	read.Go(func() {
		for in := bufio.NewScanner(out); in.Scan(); {
			w.lines <- in.Text()
		}
		close(w.lines)
	})
	t.Cleanup(func() {
		start := time.Now()
		_ = c.Process.Signal(os.Interrupt)
		read.Wait()
		err := c.Wait()
		ended, _ := errors.AsType[*exec.ExitError](err)
		if ended == nil || ended.ExitCode() != 130 || time.Since(start) > 5*time.Second {
			t.Errorf("it ended with %v after %v:\n%s", err, time.Since(start), said.String())
		}
		for line := range w.lines {
			t.Errorf("not expected: %s", line)
		}
		schematest.RequireValid(t, []byte(strings.Join(w.seen, "\n")))
	})
	return w
}

// expect waits for lines that match, in any order, and takes no others.
func (w *watching) expect(patterns ...string) {
	w.t.Helper()
	for late := time.After(20 * time.Second); len(patterns) > 0; {
		select {
		case line, open := <-w.lines:
			w.seen = append(w.seen, line)
			fits := func(i int) bool { return regexp.MustCompile(patterns[i]).MatchString(line) }
			i := 0
			for i < len(patterns) && !fits(i) {
				i++
			}
			if i == len(patterns) || !open {
				w.t.Fatalf("not expected: %q; still to come: %q; all:\n%s", line, patterns, strings.Join(w.seen, "\n"))
			}
			patterns = append(patterns[:i:i], patterns[i+1:]...)
		case <-late:
			w.t.Fatalf("nothing says %q; all:\n%s", patterns, strings.Join(w.seen, "\n"))
		}
	}
}

// rest demands that nothing is told for a while.
func (w *watching) rest() {
	w.t.Helper()
	select {
	case line := <-w.lines:
		w.t.Fatalf("not expected: %s; all:\n%s", line, strings.Join(w.seen, "\n"))
	case <-time.After(1500 * time.Millisecond):
	}
}

// agentStore is a docker agent database with a session that leaked.
func agentStore(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "session.db")
	db, err := agenttest.Create(path, 18)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"leaky", "clean"} {
		if _, err := stores[name](db); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func change(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
}

// The last answer to a delegation is taken out and put back.
const (
	stowResult = "create table kept as select * from session_items where message_json like '%\"tool_call_id\":\"toolu_r1\"%'"
	dropResult = "delete from session_items where id in (select max(id) from kept)"
	bringBack  = "insert into session_items select * from kept where id = (select max(id) from kept)"
)

func TestWatchTellsWhatIsNewAndGone(t *testing.T) {
	path := agentStore(t)
	change(t, path, stowResult)
	w := startWatch(t, path)
	w.expect(`watching .*: docker agent, 2 sessions\. 1 error`, `new   error SC701  .*are stored twice`)
	change(t, path, dropResult)
	w.expect(`new   error SC716`)
	change(t, path, bringBack)
	w.expect(`gone  error SC716`)
	change(t, path, "vacuum")
	w.rest()
	// A change of the same number of rows, in the session that changed last.
	change(t, path, "update session_items set message_json = '{' where id = (select max(id) from kept)")
	w.expect(`new   error SC010`, `new   error SC716`)
}

// A file may be deleted, made again, replaced and locked: the findings are those of what is there, and
// what cannot be read is told once.
func TestWatchFindsStoresThatComeLater(t *testing.T) {
	path := agentStore(t)
	folder := t.TempDir()
	if err := os.CopyFS(filepath.Join(folder, "one"), os.DirFS(filepath.Dir(path))); err != nil {
		t.Fatal(err)
	}
	w := startWatch(t, filepath.Join(folder, "*", "*.db"), "--every", "1s")
	w.expect(`watching .*one/session\.db: docker agent, 2 sessions`, `new .*SC701.*in .*one/session\.db`)
	if err := os.CopyFS(filepath.Join(folder, "two"), os.DirFS(filepath.Dir(path))); err != nil {
		t.Fatal(err)
	}
	w.expect(`watching .*two/session\.db: docker agent, 2 sessions`, `new .*SC701.*in .*two/session\.db`)
	w.rest()
	change(t, filepath.Join(folder, "two", "session.db"), stowResult, dropResult)
	w.expect(`new .*SC716.*in .*two/session\.db`)
}

func TestWatchOutlivesItsFile(t *testing.T) {
	path := agentStore(t)
	w := startWatch(t, path)
	w.expect(`watching`, `new   error SC701`)
	other := filepath.Join(t.TempDir(), "other.db")
	if err := os.Rename(path, other); err != nil {
		t.Fatal(err)
	}
	w.expect(`cannot read .*there is no file`)
	time.Sleep(3 * time.Second) // it is tried again, and not told
	w.rest()
	change(t, other, "delete from session_items where message_json like '%toolu_w1%' and session_id in (select id from sessions where parent_id is null)")
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	w.expect(`can be read again`, `gone  error SC701`, `new   .*`)
	if err := os.WriteFile(path+".new", []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	w.expect(`cannot read`)
}

// A session in use is said to be, and its open end is no finding until its runtime has ended.
func TestWatchKnowsWhoWrites(t *testing.T) {
	path := agentStore(t)
	change(t, path, "pragma journal_mode = wal", "delete from session_items", "delete from sessions",
		"insert into sessions (id, messages, created_at, title) values ('11111111-0000-4000-8000-000000000001', '[]', '2026-02-03T10:00:00Z', 'x')")
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close()
	w := startWatch(t, path, "--metrics", address)
	w.expect(`watching`)
	stop := held(t, path,
		`insert into session_items (session_id, position, item_type, agent_name, message_json) values ('11111111-0000-4000-8000-000000000001', 0, 'message', '', '{"role":"user","content":"go"}')`,
		`insert into session_items (session_id, position, item_type, agent_name, message_json) values ('11111111-0000-4000-8000-000000000001', 1, 'message', 'root',
			'{"role":"assistant","content":"","tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"shell","arguments":"{}"}}]}')`)
	w.expect(`is in use by `)
	w.rest()
	before := checksOf(t, address)
	w.rest()
	if after := checksOf(t, address); after > before+1 { // who has it open is looked at now and then
		t.Errorf("%v checks of a store that is open and does not change", after-before)
	}
	stop()
	w.expect(`is no longer in use`, `new   error SC101`)
}

// checksOf is how many checks the metrics tell of.
func checksOf(t *testing.T, address string) (n float64) {
	t.Helper()
	answer, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(regexp.MustCompile(`(?m)^sessctl_checks_total\{.*\} (.*)$`).FindStringSubmatch(string(text))[1], &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Claude Code appends to a transcript, and puts a new file in its place.
func TestWatchReadsTranscripts(t *testing.T) {
	home := t.TempDir()
	folder := filepath.Join(home, "projects", "-srv")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	line := func(n int, parent, kind, message string) string {
		return strings.NewReplacer("N", string(rune('0'+n)), "PARENT", parent, "KIND", kind, "MESSAGE", message).Replace(
			`{"parentUuid":PARENT,"isSidechain":false,"userType":"external","cwd":"/srv","sessionId":"5e551017-0000-4000-8000-00000000000S","version":"2.1.197","gitBranch":"","type":"KIND","message":MESSAGE,"uuid":"00000000-0000-4000-8000-00000000000N","timestamp":"2026-02-03T10:00:0N.000Z"}` + "\n")
	}
	uuid := func(n int) string { return `"00000000-0000-4000-8000-00000000000` + string(rune('0'+n)) + `"` }
	user := line(1, "null", "user", `{"role":"user","content":"hello"}`)
	call := line(2, uuid(1), "assistant", `{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-4-8","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}],"stop_reason":"tool_use"}`)
	result := line(3, uuid(2), "user", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"a"}]}`)
	answer := line(4, uuid(3), "assistant", `{"id":"msg_2","type":"message","role":"assistant","model":"claude-opus-4-8","content":[{"type":"text","text":"done"}],"stop_reason":"end_turn"}`)
	file := func(session string) string {
		return filepath.Join(folder, "5e551017-0000-4000-8000-00000000000"+session+".jsonl")
	}
	write := func(session string, lines ...string) {
		t.Helper()
		text := strings.ReplaceAll(strings.Join(lines, ""), "0000S", "0000"+session)
		if err := os.WriteFile(file(session)+".tmp", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file(session)+".tmp", file(session)); err != nil {
			t.Fatal(err)
		}
	}
	write("1", user, call, result, answer)
	w := startWatch(t, home, "--format", "ndjson")
	w.expect(`"type":"begin","schema":"sessctl.watch/1"`, `"type":"watching".*"resumes":1`)
	write("2", user, call)
	w.expect(`"type":"found".*"rule":"SC102"`)
	out, err := os.OpenFile(file("2"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	if _, err := out.WriteString(strings.ReplaceAll(result+answer, "0000S", "00002")); err != nil {
		t.Fatal(err)
	}
	w.expect(`"type":"gone".*"rule":"SC102"`)
	write("1", user, call) // as Claude Code does when it takes messages back
	w.expect(`"type":"found".*"rule":"SC102".*000001"`)
	if err := os.Remove(file("1")); err != nil {
		t.Fatal(err)
	}
	w.expect(`"type":"gone".*"rule":"SC102"`)
	for _, line := range w.seen {
		if !json.Valid([]byte(line)) {
			t.Errorf("no JSON: %s", line)
		}
	}
}

// Where the system tells nothing, stores are looked at.
func TestWatchPolls(t *testing.T) {
	path := agentStore(t)
	change(t, path, stowResult)
	w := startWatch(t, path, "--poll", "200ms")
	w.expect(`watching`, `new   error SC701`)
	change(t, path, dropResult)
	w.expect(`new   error SC716`)
}

// A store that cannot be read by anybody is told once, when it can be again, too.
func TestWatchTellsOfRights(t *testing.T) {
	if syscall.Geteuid() == 0 {
		t.Skip("root may read all files")
	}
	path := agentStore(t)
	w := startWatch(t, path)
	w.expect(`watching`, `new   error SC701`)
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	w.expect(`cannot read`)
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	w.expect(`can be read again`)
}

// TestWatchWritesNothing: the folder of a store is as it was, also where a log is beside it.
func TestWatchWritesNothing(t *testing.T) {
	path := agentStore(t)
	change(t, path, "pragma journal_mode = wal")
	held(t, path, touch)()
	before := contents(t, filepath.Dir(path))
	w := startWatch(t, path, "--every", "100ms", "--poll", "100ms")
	w.expect(`watching`, `new   error SC701`)
	w.rest()
	unchanged(t, before, filepath.Dir(path))
}

// TestWatchEndsWhereACheckDoes: after any changes, what was told and is not gone is what a check finds.
func TestWatchEndsWhereACheckDoes(t *testing.T) {
	sources := map[string]string{ // a table whose rows are changed, and the column of their texts
		"adk/random-trees.db": "events content", "crush/agent-two.db": "messages parts", "mastra/aborted-kid.db": "mastra_messages content",
		"docker-agent/leaky/nested.db": "session_items message_json",
	}
	for source, of := range sources {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			content, err := os.ReadFile(filepath.Join("../../shared/corpus", source))
			if err != nil {
				t.Skip("the shared corpus is not beside this checkout (../shared/corpus)")
			}
			path := filepath.Join(t.TempDir(), "store.db")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			table, text, _ := strings.Cut(of, " ")
			w := startWatch(t, path, "--format", "ndjson", "--severity", "info")
			open := map[string]int{}
			follow := func() {
				for {
					select {
					case line := <-w.lines:
						var e struct{ Type, Fingerprint string }
						if err := json.Unmarshal([]byte(line), &e); err != nil {
							t.Fatal(err)
						}
						open[e.Fingerprint] += map[string]int{"found": 1, "gone": -1}[e.Type]
					case <-time.After(1500 * time.Millisecond):
						return
					}
				}
			}
			follow()
			for _, statement := range []string{
				"delete from TABLE where rowid = (select max(rowid) from TABLE)",
				"create table stowed as select * from TABLE where rowid % 3 = 0",
				"delete from TABLE where rowid % 3 = 0",
				"update TABLE set TEXT = '{' where rowid = (select min(rowid) from TABLE)",
				"insert into TABLE select * from stowed",
				"vacuum",
			} {
				change(t, path, strings.NewReplacer("TABLE", table, "TEXT", text).Replace(statement))
				follow()
				out, _ := exec.Command("sessctl", "check", path, "--format", "json").Output()
				var found struct {
					Findings []struct{ Fingerprint, Rule string }
				}
				if err := json.Unmarshal(out, &found); err != nil {
					t.Fatal(err)
				}
				want := map[string]int{}
				for _, f := range found.Findings {
					want[f.Fingerprint]++
				}
				maps.DeleteFunc(open, func(_ string, n int) bool { return n == 0 })
				if diff := cmp.Diff(want, open); diff != "" {
					t.Fatalf("after %s (-check +watch):\n%s", statement, diff)
				}
			}
		})
	}
}
