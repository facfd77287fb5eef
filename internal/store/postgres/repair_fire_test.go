//go:build unix

package postgres_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// crash kills the server with all of its processes, as a loss of power does, and starts it
// again.
func crash() error {
	pid := server.process.Process.Pid
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return err
	}
	for _, one := range append([]string{strconv.Itoa(pid)}, strings.Fields(string(children))...) {
		n, _ := strconv.Atoi(one)
		_ = syscall.Kill(n, syscall.SIGKILL)
	}
	_ = server.process.Wait()
	for _, one := range strings.Fields(string(children)) { // on a busy machine one may still hold the memory of the server
		for range 200 {
			if stat, err := os.ReadFile("/proc/" + one + "/stat"); err != nil || strings.Contains(string(stat), ") Z ") {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	return serve(&server.process, server.folder, filepath.Join(server.folder, "data"))
}

// TestAServerKilledDuringTheCommit: when it runs again it is asked what became of the commit,
// and what it says is true.
func TestAServerKilledDuringTheCommit(t *testing.T) {
	if _, err := os.Stat(fmt.Sprintf("/proc/%d/task/%d/children", os.Getpid(), os.Getpid())); err != nil {
		t.Skip("nothing tells here which processes a server has")
	}
	for _, at := range []string{"before it", "with it", "after it"} {
		t.Run(at, func(t *testing.T) {
			url, _ := load(t, "adk-go-2.2.0")
			t.Chdir(t.TempDir())
			before := rowsOf(t, url)
			var once sync.Once
			crashed := make(chan error, 1)
			die := func(wait time.Duration) {
				once.Do(func() { time.Sleep(wait); crashed <- crash() })
			}
			p := &proxy{}
			switch at {
			case "before it":
				p.before = func(_ int, request string) bool {
					if request == "commit" {
						die(0)
						return false
					}
					return true
				}
			case "with it":
				p.before = func(_ int, request string) bool {
					if request == "commit" {
						go die(0)
					}
					return true
				}
			default:
				p.after = func(_ int, request string) bool {
					if request == "commit" {
						go die(50 * time.Millisecond)
						return false
					}
					return true
				}
			}
			name := p.through(t, url)
			out, errors, code := sessctl(t, "repair", name, "--yes", "--assume-dead", "--fail-on", "never")
			if err := <-crashed; err != nil {
				t.Fatal(err)
			}
			receipts, _ := filepath.Glob("*.receipt.json")
			changed := rowsOf(t, url) != before
			t.Logf("exit code %d, changed: %t", code, changed)
			if (code != 0 || !changed) && (code != 5 || changed) || changed != (len(receipts) == 1) || at == "before it" && changed || at == "after it" && !changed {
				t.Fatalf("exit code %d, changed: %t, receipts %q\n%s%s", code, changed, receipts, out, errors)
			}
			if !changed {
				return
			}
			if out, errors, code := sessctl(t, "undo", name, "--yes"); code != 0 {
				t.Fatalf("undo: exit code %d\n%s%s", code, out, errors)
			}
			if rowsOf(t, url) != before {
				t.Error("an undo leaves other rows")
			}
		})
	}
}

// copies makes n copies of every session of a database, with other ids.
func copies(t testing.TB, url string, n int, tables ...string) {
	t.Helper()
	for _, table := range tables { // "TABLE COLUMN,COLUMN…": the columns with ids, or "COLUMN=" for one that is left out
		name, columns, _ := strings.Cut(table, " ")
		var ids []string
		for _, column := range strings.Split(columns, ",") {
			if given, ok := strings.CutSuffix(column, "="); ok {
				ids = append(ids, fmt.Sprintf("'%s', nextval(pg_get_serial_sequence('%s', '%s'))", given, name, given))
				continue
			}
			ids = append(ids, fmt.Sprintf("'%s', %s || '-' || n", column, column))
		}
		execute(t, url, fmt.Sprintf(`insert into %s overriding system value select (jsonb_populate_record(t, jsonb_build_object(%s))).* from %s t, generate_series(1, %d) n`,
			name, strings.Join(ids, ", "), name, n))
	}
}

// TestTwoRepairsAtOnce: each session is repaired once, whoever comes first.
func TestTwoRepairsAtOnce(t *testing.T) {
	url, _ := load(t, "adk-go-2.2.0")
	copies(t, url, 60, "sessions id", "events id,session_id")
	before := rowsOf(t, url)
	folders, ends := [2]string{t.TempDir(), t.TempDir()}, [2]*exec.Cmd{}
	var outs [2]bytes.Buffer
	for i, folder := range folders {
		ends[i] = exec.Command(os.Args[0], "repair", url, "--yes", "--fail-on", "never", "--format", "json")
		ends[i].Dir, ends[i].Env = folder, append(os.Environ(), asProgram+"=1", "HOME="+folder)
		ends[i].Stdout, ends[i].Stderr = &outs[i], &outs[i]
		if err := ends[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	did := 0
	for i, one := range ends {
		_ = one.Wait()
		code := one.ProcessState.ExitCode()
		if did += strings.Count(outs[i].String(), `"applied": true`); code != 0 && code != 1 && code != 5 {
			t.Errorf("exit code %d\n%.3000s", code, outs[i].String())
		}
		t.Logf("exit code %d", code)
	}
	idle(t, url)
	t.Chdir(t.TempDir())
	if out, errors, code := sessctl(t, "repair", url, "--yes", "--fail-on", "never"); code != 0 || strings.Contains(out, "Undo with") {
		t.Errorf("a third one has work: exit code %d\n%s%s", code, out, errors)
	}
	for _, folder := range folders {
		if receipts, _ := filepath.Glob(filepath.Join(folder, "*.receipt.json")); len(receipts) == 1 {
			if out, errors, code := sessctl(t, "undo", receipts[0]); code != 0 {
				t.Errorf("undo: exit code %d\n%s%s", code, out, errors)
			}
		}
	}
	if rowsOf(t, url) != before {
		t.Error("the undos leave other rows")
	}
}

// TestWritersOfEveryRuntime: programs that write as the runtimes do, with their statements and
// checks, lose nothing while sessions are repaired and a repair is undone.
func TestWritersOfEveryRuntime(t *testing.T) {
	const content = `'{"role": "user", "parts": [{"text": "x"}]}'`
	adk := func(insert string) string {
		return `do $$ declare s sessions; begin
select * into s from sessions order by id offset %[1]d %% 5 limit 1;
perform from sessions where id = s.id and app_name = s.app_name and user_id = s.user_id and update_time is distinct from s.update_time; if found then raise 'stale session'; end if;
` + insert + `;
update sessions set state = s.state, create_time = s.create_time, update_time = s.update_time where id = s.id and app_name = s.app_name and user_id = s.user_id;
end $$`
	}
	for name, runtime := range map[string]struct {
		copies []string
		write  string // one event, the %[1]dth
		count  string
	}{
		"adk-go-2.2.0": {
			[]string{"sessions id", "events id,session_id"},
			adk("insert into events (id, app_name, user_id, session_id, timestamp, actions, content) values ('w%[1]d', s.app_name, s.user_id, s.id, clock_timestamp(), '{}', " + content + ")"),
			"select count(*) from events where id like 'w%'",
		},
		"adk-python-v1": {
			[]string{"sessions id", "events id,session_id"},
			adk(`insert into events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data) values ('w%[1]d', s.app_name, s.user_id, s.id, 'i', clock_timestamp(), jsonb_build_object('author', 'user', 'content', ` + content + `::jsonb))`),
			"select count(*) from events where id like 'w%'",
		},
		"kagent-0.10.0-rc3": {
			[]string{"session id", "event id,session_id"},
			`with one as (select id, user_id from session where deleted_at is null order by id offset %[1]d %% 5 limit 1),
added as (insert into event (id, user_id, session_id, data, created_at, updated_at)
  select 'w%[1]d', user_id, id, '{"kind": "message", "messageId": "w%[1]d", "role": "user", "parts": [{"kind": "text", "text": "x"}]}', now(), now() from one)
update session set updated_at = now() from one where session.id = one.id and session.user_id = one.user_id`,
			"select count(*) from event where id like 'w%'",
		},
		"spring-ai-session-0.8": {
			[]string{"ai_session id", "ai_session_event id,session_id,seq="},
			`do $$ declare one text; begin select id into one from ai_session order by id offset %[1]d %% 5 limit 1;
insert into ai_session_event (id, session_id, timestamp, message_type, message_content) values ('w%[1]d', one, localtimestamp, 'USER', 'x');
update ai_session set event_version = event_version + 1 where id = one; end $$`,
			"select count(*) from ai_session_event where id like 'w%'",
		},
	} {
		t.Run(name, func(t *testing.T) {
			url, _ := load(t, name)
			copies(t, url, 20, runtime.copies...)
			t.Chdir(t.TempDir())
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			written, longest, failed := 0, time.Duration(0), make(chan error)
			go func() {
				conn, err := pgconn.Connect(context.Background(), url)
				for ctx.Err() == nil && err == nil {
					begun := time.Now()
					if _, err = conn.Exec(context.Background(), fmt.Sprintf(runtime.write, written)).ReadAll(); err == nil {
						written++
					}
					longest = max(longest, time.Since(begun))
					time.Sleep(5 * time.Millisecond)
				}
				failed <- err
			}()
			out, errors, code := sessctl(t, "repair", url, "--yes", "--live-window", "0", "--allow", "reorder", "--fail-on", "never")
			if code > 1 || !strings.Contains(out, "Undo with") {
				t.Errorf("exit code %d\n%s%s", code, out, errors)
			}
			out, errors, undone := sessctl(t, "undo", url, "--yes")
			if undone != 0 && (undone != 5 || !strings.Contains(flat(errors), "was changed after the repair")) {
				t.Errorf("undo: exit code %d\n%s%s", undone, out, errors)
			}
			stop()
			if err := <-failed; err != nil {
				t.Fatal(err)
			}
			if stored := execute(t, url, runtime.count); stored != strconv.Itoa(written) {
				t.Errorf("%d events written, %s stored", written, stored)
			}
			t.Logf("%d events, the longest write took %v; exit codes: repair %d, undo %d", written, longest, code, undone)
		})
	}
}

// TestALiveSessionIsLeft: one that was written to a moment ago, by the server's clock, is
// neither reported as broken nor repaired, unless no program is connected.
func TestALiveSessionIsLeft(t *testing.T) {
	url, _ := load(t, "adk-go-2.2.0")
	t.Chdir(t.TempDir())
	execute(t, url, `update events set timestamp = now() - interval '5 seconds' where session_id = 'stale' and timestamp = (select max(timestamp) from events where session_id = 'stale')`)
	words := []string{"repair", url, "--yes", "--fail-on", "never"}
	advice := func() string {
		out, _, _ := sessctl(t, "why", url, "stale")
		return flat(out)
	}
	runtime, err := pgconn.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	out, errors, code := sessctl(t, append(words, "--session", "stale", "--assume-dead")...)
	if code != 0 || !strings.Contains(flat(out), "Session stale will not be repaired: it was written to a moment ago (--live-window)") || strings.Contains(out, "Undo with") {
		t.Errorf("exit code %d\n%s%s", code, out, errors)
	}
	if out := advice(); !strings.Contains(out, "a repair leaves it for now (--live-window)") {
		t.Errorf("why: %s", out)
	}
	if out, errors, code := sessctl(t, append(words, "--live-window", "1s", "--dry-run", "--session", "stale")...); strings.Contains(flat(out), "will not be repaired") {
		t.Errorf("behind the window: exit code %d\n%s%s", code, out, errors)
	}
	if err := runtime.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	idle(t, url)
	if out := advice(); strings.Contains(out, "--live-window") || !strings.Contains(out, "sessctl repair") {
		t.Errorf("why, when nobody is connected: %s", out)
	}
	if out, errors, code := sessctl(t, append(words, "--session", "stale")...); code != 0 || !strings.Contains(out, "Undo with") {
		t.Errorf("when nobody is connected: exit code %d\n%s%s", code, out, errors)
	}
}

// TestAKilledUndoOfADatabase: an undo goes batch by batch, and the next one goes on where it
// was killed.
func TestAKilledUndoOfADatabase(t *testing.T) {
	url, _ := load(t, "adk-go-2.2.0")
	execute(t, url, "delete from sessions where id not in ('stale', 'interrupted', 'interrup', 'nul-result')")
	copies(t, url, 110, "sessions id", "events id,session_id")
	last := execute(t, url, "select id from sessions order by ctid desc limit 1") // of the batch that is undone first
	t.Chdir(t.TempDir())
	before := rowsOf(t, url)
	var commits atomic.Int32 // counted by the goroutines of the proxy
	var undoing atomic.Bool
	victim := make(chan *os.Process, 1)
	p := &proxy{before: func(_ int, request string) bool {
		if request != "commit" {
			return true
		}
		if commits.Add(1) > 1 && undoing.Swap(false) { // the second of the undo
			_ = (<-victim).Kill()
			return false
		}
		return true
	}}
	name := p.through(t, url)
	if out, errors, code := sessctl(t, "repair", name, "--yes", "--fail-on", "never"); code != 0 || commits.Load() < 2 {
		t.Fatalf("exit code %d, %d batches\n%.2000s%s", code, commits.Load(), out, errors)
	}
	repaired := rowsOf(t, url)
	idle(t, url)
	commits.Store(0)
	cmd := exec.Command(os.Args[0], "undo", name, "--yes")
	cmd.Env = append(os.Environ(), asProgram+"=1", "HOME="+t.TempDir())
	undoing.Store(true)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	victim <- cmd.Process
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
		t.Fatalf("it was not killed: %v", err)
	}
	idle(t, url)
	if now := rowsOf(t, url); now == before || now == repaired {
		t.Fatal("it was not killed between two batches")
	}
	receipts, _ := filepath.Glob("*.receipt.json")
	text, err := os.ReadFile(receipts[0])
	if err != nil || !bytes.Contains(text, []byte(`{"record":"undone","batch":`)) {
		t.Fatalf("no batch is noted: %v", err)
	}
	// What is undone may go on: the receipt says that its part is done.
	execute(t, url, `insert into events (id, app_name, user_id, session_id, timestamp, actions) select 'new', app_name, user_id, id, now(), '{}' from sessions where id = '`+last+`'`)
	out, errors, code := sessctl(t, "undo", name, "--yes")
	if code != 0 || !strings.Contains(out, "Undone") {
		t.Fatalf("exit code %d\n%s%s", code, out, errors)
	}
	execute(t, url, "delete from events where id = 'new'")
	if rowsOf(t, url) != before {
		t.Error("the undos leave other rows")
	}
}
