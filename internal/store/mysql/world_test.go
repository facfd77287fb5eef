//go:build unix

package mysql_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/store/table"
)

// proxy forwards connections to the server. Of each statement of a client before says whether it
// goes on to the server, and after whether its answer comes back.
type proxy struct {
	before, after func(statement string) bool
}

// through is a name of a database by way of a proxy.
func (p *proxy) through(t testing.TB, at string) string {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "proxy")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", socketOf(folder))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close(); _ = os.RemoveAll(folder) })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serve(client)
		}
	}()
	return strings.Replace(at, server.folder, folder, 1)
}

func (p *proxy) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	to, err := net.Dial("unix", socketOf(server.folder))
	if err != nil {
		return
	}
	defer func() { _ = to.Close() }()
	var mute atomic.Bool
	go func() {
		answer := make([]byte, 1<<16)
		for {
			n, err := to.Read(answer)
			if err != nil || mute.Load() {
				break
			}
			if _, err := client.Write(answer[:n]); err != nil {
				break
			}
		}
		_ = client.Close()
	}()
	head := make([]byte, 4) // three bytes of length and the number of the packet
	for {
		if _, err := io.ReadFull(client, head); err != nil {
			return
		}
		message := make([]byte, binary.LittleEndian.Uint32([]byte{head[0], head[1], head[2], 0}))
		if _, err := io.ReadFull(client, message); err != nil {
			return
		}
		lost := false
		if len(message) > 0 && head[3] == 0 && message[0] == 3 { // a statement
			statement := string(message[1:])
			if p.before != nil && !p.before(statement) {
				return
			}
			lost = p.after != nil && !p.after(statement)
		}
		mute.Store(lost)
		if _, err := to.Write(append(append([]byte{}, head...), message...)); err != nil {
			return
		}
		if lost {
			time.Sleep(100 * time.Millisecond) // the server has done it by then
			return
		}
	}
}

// repairAll are the arguments of a repair of all that can be repaired.
func repairAll(at string) []string {
	return []string{"repair", at, "--yes", "--assume-dead", "--fail-on", "never", "--live-window", "0"}
}

// TestAConnectionLostDuringTheCommit: before the server has the commit nothing is saved, and after
// it all is; sessctl finds out which.
func TestAConnectionLostDuringTheCommit(t *testing.T) {
	for _, saved := range []bool{false, true} {
		t.Run(fmt.Sprint("saved ", saved), func(t *testing.T) {
			at := untied(t, "adk-python-v1")
			t.Chdir(t.TempDir())
			before := rowsOf(t, at)
			var commits atomic.Int64
			lose := func(statement string) bool { return statement != "commit" || commits.Add(1) != 1 }
			p := &proxy{before: lose}
			if saved {
				p = &proxy{after: lose}
			}
			through := p.through(t, at)
			out, errors, code := sessctl(t, repairAll(through)...)
			if saved && (code != 0 || !strings.Contains(out, "Undo with")) || !saved && (code == 0 || !strings.Contains(flat(errors), "Nothing of that change was saved")) {
				t.Fatalf("exit code %d\n%s%s", code, out, errors)
			}
			if now := rowsOf(t, at); (now != before) != saved {
				t.Errorf("saved: %v", !saved)
			}
			if saved {
				if out, errors, code := sessctl(t, "undo", through, "--yes"); code != 0 || rowsOf(t, at) != before {
					t.Errorf("undo: exit code %d\n%s%s", code, out, errors)
				}
			}
		})
	}
}

// TestAServerKilledDuringTheCommit: the server starts again, and a repair that was told that it is
// saved is, one that was not is not.
func TestAServerKilledDuringTheCommit(t *testing.T) {
	at := untied(t, "adk-python-v1")
	before := rowsOf(t, at)
	for _, saved := range []bool{false, true} {
		t.Chdir(t.TempDir())
		var commits atomic.Int64
		kill := func(statement string) bool {
			if statement == "commit" && commits.Add(1) == 1 {
				if saved {
					time.Sleep(50 * time.Millisecond)
				}
				end(syscall.SIGKILL)
				go func() {
					if err := serve(); err != nil {
						panic(err)
					}
				}()
				return false
			}
			return true
		}
		p := &proxy{before: kill}
		through := p.through(t, at)
		out, errors, code := sessctl(t, repairAll(through)...)
		time.Sleep(time.Second)
		now := rowsOf(t, at)
		if told := code == 0 && strings.Contains(out, "Undo with"); told != (now != before) {
			t.Fatalf("saved: %v; exit code %d\n%s%s", now != before, code, out, errors)
		}
		if now != before {
			if out, errors, code := sessctl(t, "undo", through, "--yes"); code != 0 || rowsOf(t, at) != before {
				t.Errorf("undo: exit code %d\n%s%s", code, out, errors)
			}
		}
	}
}

// TestAKilledRepair: at whichever statement a repair is killed, an undo gives every row back, or
// there is nothing to give back.
func TestAKilledRepair(t *testing.T) {
	at := untied(t, "spring-ai-session-0.8")
	before := rowsOf(t, at)
	for n := int64(1); ; n += 7 {
		folder := t.TempDir()
		var seen atomic.Int64
		var cmd *exec.Cmd
		p := &proxy{before: func(string) bool {
			if seen.Add(1) == n {
				_ = cmd.Process.Kill()
				return false
			}
			return true
		}}
		cmd = exec.Command(os.Args[0], repairAll(p.through(t, at))...)
		cmd.Dir, cmd.Env = folder, append(os.Environ(), asProgram+"=1")
		out, _ := cmd.CombinedOutput()
		done := seen.Swap(n) < n // what comes is the undo
		for range 100 {          // the server takes a moment to notice
			if execute(t, at, "select count(*) from information_schema.innodb_trx") == "0" {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if receipts, _ := filepath.Glob(filepath.Join(folder, "*.receipt.json")); len(receipts) > 0 {
			t.Chdir(folder)
			if out, errors, code := sessctl(t, "undo", receipts[0], "--yes"); code != 0 && !strings.Contains(flat(out+errors), "othing") {
				t.Errorf("killed at statement %d: exit code %d\n%s%s", n, code, out, errors)
			}
		}
		if rowsOf(t, at) != before {
			t.Fatalf("killed at statement %d: other rows\n%s", n, out)
		}
		if done {
			if n < 20 {
				t.Fatalf("%d statements\n%s", n, out)
			}
			return
		}
	}
}

// TestARepairLeavesALockedSession: a session that another client has locked is left and named, the
// others are repaired.
func TestARepairLeavesALockedSession(t *testing.T) {
	at := untied(t, "adk-go-2.2.0")
	t.Chdir(t.TempDir())
	conn := dialTarget(t, at)
	ctx := context.Background()
	for _, statement := range []string{"start transaction", "select * from sessions where app_name = 'shop' and user_id = 'u' and id = 'interrupted' for update"} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	out, errors, code := sessctl(t, "repair", at, "--yes", "--fail-on", "never", "--live-window", "0")
	if code != 1 || !strings.Contains(flat(out), "Session interrupted could not be repaired") || !strings.Contains(out, "Undo with") {
		t.Errorf("exit code %d\n%s%s", code, out, errors)
	}
	if left, repaired := check(t, at, "interrupted"), check(t, at, "stale"); !strings.Contains(left, "SC101") || strings.Contains(repaired, "SC101") {
		t.Errorf("%s\n%s", left, repaired)
	}
	t.Log(out, errors)
}

// TestNumbers: a runtime that adds an event while a repair renumbers others has its own number, which
// it has before it commits.
func TestNumbers(t *testing.T) {
	at := untied(t, "spring-ai-session-0.8")
	t.Chdir(t.TempDir())
	conn := dialTarget(t, at)
	add := "insert into AI_SESSION_EVENT (id, session_id, timestamp, message_type, message_content, metadata) values ('%s', 'clean', now(6), 'USER', 'and', '{}')"
	for _, statement := range []string{"start transaction", fmt.Sprintf(add, "early")} {
		if _, err := conn.ExecContext(context.Background(), statement); err != nil {
			t.Fatal(err)
		}
	}
	out, errors, code := sessctl(t, "repair", at, "--session", "race", "--yes", "--fail-on", "never", "--live-window", "0")
	if code != 0 || !strings.Contains(out, "Undo with") {
		t.Fatalf("exit code %d\n%s%s", code, out, errors)
	}
	for _, statement := range []string{fmt.Sprintf(add, "late"), "commit"} {
		if _, err := conn.ExecContext(context.Background(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if left := execute(t, at, "select group_concat(id) from AI_SESSION_EVENT where id like 'sessctl%'"); left != "" {
		t.Errorf("rows that took numbers are left: %s", left)
	}
}

// TestALiveSessionIsLeft: a session with an event of the last minute is somebody's, as long as other
// clients may be there.
func TestALiveSessionIsLeft(t *testing.T) {
	at := untied(t, "adk-go-2.2.0")
	t.Chdir(t.TempDir())
	execute(t, at, "update events set timestamp = timestamp + interval (select timestampdiff(second, max(timestamp), utc_timestamp(6)) from (select * from events where session_id = 'stale') x) second where session_id = 'stale'")
	_ = dialTarget(t, at)
	out, errors, code := sessctl(t, "repair", at, "--yes", "--fail-on", "never")
	if !strings.Contains(flat(out+errors), "stale") || !strings.Contains(out, "Undo with") || !strings.Contains(check(t, at, "stale"), "SC101") || strings.Contains(check(t, at, "interrupted"), "SC101") {
		t.Errorf("exit code %d\n%s%s", code, out, errors)
	}
}

// check is what a check says of one session.
func check(t *testing.T, at, session string) string {
	out, _, _ := sessctl(t, "check", at, "--session", session, "--assume-dead")
	return out
}

// TestTriggers: a change that a trigger makes besides is no part of a repair.
func TestTriggers(t *testing.T) {
	at := untied(t, "adk-python-v1")
	t.Chdir(t.TempDir())
	execute(t, at, "create table shadow (n int auto_increment primary key, id varchar(200))", "create trigger watch after insert on events for each row insert into shadow (id) values (new.id)")
	before := rowsOf(t, at)
	out, errors, code := sessctl(t, repairAll(at)...)
	if code != 4 || !strings.Contains(flat(out+errors), "changed with it, by a trigger") || !strings.Contains(out, "watch") || rowsOf(t, at) != before {
		t.Errorf("exit code %d\n%s%s", code, out, errors)
	}
	execute(t, at, "drop trigger watch", "create trigger quiet before insert on events for each row set @last = new.id")
	if out, errors, code := sessctl(t, repairAll(at)...); code != 0 || !strings.Contains(out, "quiet") {
		t.Errorf("exit code %d\n%s%s", code, out, errors)
	}
	if out, errors, code := sessctl(t, "undo", at, "--yes"); code != 0 || rowsOf(t, at) != before {
		t.Errorf("undo: exit code %d\n%s%s", code, out, errors)
	}
}

// TestTheServersClock: a column that the server sets to the time of a change stays as it is.
func TestTheServersClock(t *testing.T) {
	at := untied(t, "adk-python-v0")
	execute(t, at, "alter table sessions modify update_time datetime(6) not null default current_timestamp(6) on update current_timestamp(6)",
		"alter table events modify timestamp timestamp(6) not null default current_timestamp(6) on update current_timestamp(6)")
	repairedAndBack(t, at)
}

// TestWithoutAForeignKey: where none leads to the sessions, as adk-js makes its tables, a runtime
// that adds an event waits for the repair, and the other way round.
func TestWithoutAForeignKey(t *testing.T) {
	at := untied(t, "adk-python-v1")
	execute(t, at, "alter table events drop foreign key "+execute(t, at, "select constraint_name from information_schema.referential_constraints where constraint_schema = database()"))
	repairedAndBack(t, at)
	conn := dialTarget(t, at)
	ctx := context.Background()
	for _, statement := range []string{"start transaction", "insert into events select 'late', app_name, user_id, session_id, invocation_id, timestamp, event_data from events where session_id = 'orphan' limit 1"} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(t.TempDir())
	out, errors, code := sessctl(t, "repair", at, "--yes", "--live-window", "0")
	if code != 5 || !strings.Contains(flat(out+errors), "locked") {
		t.Errorf("exit code %d\n%s%s", code, out, errors)
	}
}

// TestNobodyAddsToALockedSession: while a repair has a session, a runtime's event waits, whether a
// foreign key leads there or not, and whatever other tables the database has.
func TestNobodyAddsToALockedSession(t *testing.T) {
	for _, linked := range []bool{true, false} {
		at := untied(t, "adk-python-v1")
		execute(t, at, "create table notes (id int primary key)", "create table lines_of (id int primary key, note int, foreign key (note) references notes (id))")
		if !linked {
			execute(t, at, "alter table events drop foreign key "+execute(t, at, "select constraint_name from information_schema.referential_constraints where constraint_schema = database() and table_name = 'events'"))
		}
		e := edit(t, at)
		key := []string{"app_name", "user_id", "id"}
		if err := e.Lock(t.Context(), table.Selection{Table: "sessions", Columns: key, Key: key, Keys: [][]table.Value{{"app", "u", "orphan"}}}, "events"); err != nil {
			t.Fatal(err)
		}
		conn := dialTarget(t, at)
		if _, err := conn.ExecContext(t.Context(), "set innodb_lock_wait_timeout = 1"); err != nil {
			t.Fatal(err)
		}
		for _, session := range []string{"orphan", "clean"} {
			_, err := conn.ExecContext(t.Context(), "insert into events values ('late"+session+"', 'app', 'u', ?, 'i', now(6), '{}')", session)
			if waits := session == "orphan" || !linked; (err != nil) != waits {
				t.Errorf("linked %t: an event of %s: %v", linked, session, err)
			}
		}
		if err := e.Rollback(); err != nil {
			t.Error(err)
		}
	}
}
