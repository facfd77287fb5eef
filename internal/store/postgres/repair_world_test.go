//go:build unix

package postgres_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sessctl/sessctl/internal/campaign"
)

// proxy forwards connections to the server. Of each request of a client, counted from 1,
// before says whether it goes on to the server, and after whether its answer comes back.
type proxy struct {
	before func(n int, request string) bool
	after  func(n int, request string) bool
	parsed func(statement string) // is told of each one with parameters; nil for nobody

	mu sync.Mutex
	n  int
}

// through is a name of a database by way of a proxy.
func (p *proxy) through(t testing.TB, url string) string {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "proxy")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(folder, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close(); _ = os.RemoveAll(folder) })
	server := filepath.Join(serverFolder(t), ".s.PGSQL.5432")
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serve(client, server)
		}
	}()
	return strings.Replace(url, serverFolder(t), folder, 1)
}

func (p *proxy) serve(client net.Conn, path string) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("unix", path)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	var mute atomic.Bool
	go func() {
		answer := make([]byte, 1<<16)
		for {
			n, err := server.Read(answer)
			if err != nil || mute.Load() {
				break
			}
			if _, err := client.Write(answer[:n]); err != nil {
				break
			}
		}
		_ = client.Close()
	}()
	in := bufio.NewReader(client)
	head := make([]byte, 4) // the first message has no kind
	for kind := byte(0); ; {
		if _, err := io.ReadFull(in, head); err != nil {
			return
		}
		message := make([]byte, binary.BigEndian.Uint32(head)-4)
		if _, err := io.ReadFull(in, message); err != nil {
			return
		}
		n, request := 0, strings.TrimRight(string(message), "\x00")
		if kind == 'P' && p.parsed != nil {
			_, statement, _ := strings.Cut(request, "\x00") // behind its name
			p.parsed(statement)
		}
		if kind == 'Q' || kind == 'S' { // a query, or the end of one with parameters
			p.mu.Lock()
			p.n++
			n = p.n
			p.mu.Unlock()
		}
		if n > 0 && p.before != nil && !p.before(n, request) {
			return
		}
		lost := n > 0 && p.after != nil && !p.after(n, request)
		mute.Store(lost)
		whole := slices.Concat(head, message)
		if kind != 0 {
			whole = slices.Concat([]byte{kind}, whole)
		}
		if _, err := server.Write(whole); err != nil {
			return
		}
		if lost {
			time.Sleep(100 * time.Millisecond) // the server has done it by then
			return
		}
		if kind, err = in.ReadByte(); err != nil {
			return
		}
	}
}

// TestAConnectionLostDuringTheCommit: the server knows what became of it, and is asked.
func TestAConnectionLostDuringTheCommit(t *testing.T) {
	url, _ := load(t, "adk-go-2.2.0")
	t.Chdir(t.TempDir())
	before := rowsOf(t, url)
	lost := func(_ int, request string) bool { return request != "commit" }
	for _, tt := range []struct {
		name  string
		proxy *proxy
		code  int
	}{{"before the server had it", &proxy{before: lost}, 5}, {"before it answered", &proxy{after: lost}, 0}} {
		t.Run(tt.name, func(t *testing.T) {
			out, errors, code := sessctl(t, "repair", tt.proxy.through(t, url), "--yes", "--assume-dead", "--fail-on", "never")
			if code != tt.code {
				t.Fatalf("exit code %d\n%s%s", code, out, errors)
			}
			receipts, _ := filepath.Glob("*.receipt.json")
			if changed := rowsOf(t, url) != before; changed != (code == 0) || changed != (len(receipts) == 1) {
				t.Errorf("changed: %t, receipts %q", changed, receipts)
			}
		})
	}
	receipts, _ := filepath.Glob("*.receipt.json")
	for _, receipt := range receipts { // whose name of the database leads to a proxy that is gone
		text, err := os.ReadFile(receipt)
		if err != nil || !strings.Contains(string(text), `"identity":"`) {
			t.Errorf("%v: %.300s", err, text)
		}
	}
}

// TestAKilledRepairOfADatabase: it is killed before each of its requests. What is left is the
// old state, or one that the receipt takes back.
func TestAKilledRepairOfADatabase(t *testing.T) {
	url, _ := load(t, "spring-ai-session-0.8")
	before := rowsOf(t, url)
	every := int64(campaign.Stride(23, 1))
	for at := int64(1); ; at += every {
		t.Chdir(t.TempDir())
		var last atomic.Int64
		last.Store(at)
		started := make(chan bool)
		var killed *exec.Cmd
		p := &proxy{before: func(n int, _ string) bool {
			if int64(n) >= last.Load() {
				<-started
				_ = killed.Process.Kill()
				return false
			}
			return true
		}}
		name := p.through(t, url)
		var out bytes.Buffer
		killed = exec.Command(os.Args[0], "repair", name, "--yes", "--assume-dead", "--fail-on", "never")
		killed.Env = append(os.Environ(), asProgram+"=1", "HOME="+t.TempDir())
		killed.Stdout, killed.Stderr = &out, &out
		if err := killed.Start(); err != nil {
			t.Fatal(err)
		}
		close(started)
		err := killed.Wait()
		if err == nil {
			break // the last request was before
		}
		if killed.ProcessState.Exited() {
			t.Fatalf("request %d: %v\n%s", at, err, out.String())
		}
		last.Store(math.MaxInt64)
		idle(t, url)
		if receipts, _ := filepath.Glob("*.receipt.json"); len(receipts) == 1 {
			if out, errors, code := sessctl(t, "undo", name, "--yes"); code != 0 {
				t.Errorf("request %d: undo: exit code %d\n%s%s", at, code, out, errors)
			}
		}
		if rowsOf(t, url) != before {
			t.Fatalf("request %d: rows are not what they were", at)
		}
	}
}

// TestARepairLeavesALockedSession: one session that a program is writing to stops no other.
func TestARepairLeavesALockedSession(t *testing.T) {
	url, _ := load(t, "adk-go-2.2.0")
	t.Chdir(t.TempDir())
	conn, err := pgconn.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(t.Context(), "begin; select from sessions where id = 'stale' for key share").ReadAll(); err != nil {
		t.Fatal(err)
	}
	words := []string{"repair", url, "--yes", "--fail-on", "never"}
	if out, errors, code := sessctl(t, append(words, "--assume-dead")...); code != 2 || !strings.Contains(flat(errors), "--assume-dead needs --session") {
		t.Errorf("for all sessions: exit code %d\n%s%s", code, out, errors)
	}
	out, errors, code := sessctl(t, words...)
	if code != 1 || !strings.Contains(out, "Undo with") || !strings.Contains(flat(out), "Session stale could not be repaired") || !strings.Contains(flat(out), "a program is writing to it") {
		t.Errorf("exit code %d\n%s%s", code, out, errors)
	}
	if out, errors, code := sessctl(t, append(words, "--session", "stale")...); code != 5 {
		t.Errorf("that session alone: exit code %d\n%s%s", code, out, errors)
	}
	if _, err := conn.Exec(t.Context(), "rollback").ReadAll(); err != nil {
		t.Fatal(err)
	}
	if out, errors, code := sessctl(t, words...); code != 0 || !strings.Contains(out, "Undo with") {
		t.Errorf("when it is free: exit code %d\n%s%s", code, out, errors)
	}
}

// TestARepairBesideARuntime: a program that writes as adk-go does loses nothing.
func TestARepairBesideARuntime(t *testing.T) {
	url, _ := load(t, "adk-go-2.2.0")
	t.Chdir(t.TempDir())
	execute(t, url, `insert into sessions select app_name, user_id, id || '-' || n, state, create_time, update_time from sessions, generate_series(1, 60) n where id in ('stale', 'tool')`,
		`insert into events select (jsonb_populate_record(e, jsonb_build_object('session_id', session_id || '-' || n, 'id', id || '-' || n))).* from events e, generate_series(1, 60) n where session_id in ('stale', 'tool')`)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var written int
	var longest time.Duration
	failed := make(chan error)
	go func() {
		conn, err := pgconn.Connect(context.Background(), url)
		for n := 0; ctx.Err() == nil && err == nil; n++ {
			begun := time.Now()
			_, err = conn.Exec(context.Background(), fmt.Sprintf(`begin; insert into events (id, app_name, user_id, session_id, timestamp, actions, content)
select 'w%[1]d', app_name, user_id, id, now(), '{}', '{"role": "user", "parts": [{"text": "x"}]}' from sessions where id = 'tool-%[2]d';
update sessions set update_time = now() where id = 'tool-%[2]d'; commit`, n, 1+n%60)).ReadAll()
			written, longest = n+1, max(longest, time.Since(begun))
			time.Sleep(time.Millisecond)
		}
		failed <- err
	}()
	out, errors, code := sessctl(t, "repair", url, "--yes", "--fail-on", "never")
	if code > 1 || !strings.Contains(out, "Undo with") {
		t.Errorf("exit code %d\n%s%s", code, out, errors)
	}
	if out, errors, code := sessctl(t, "undo", url, "--yes"); code != 0 {
		t.Errorf("undo: exit code %d\n%s%s", code, out, errors)
	}
	stop()
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	if stored := execute(t, url, "select count(*) from events where id like 'w%'"); stored != fmt.Sprint(written) {
		t.Errorf("%d events written, %s stored", written, stored)
	}
	t.Logf("%d events, the longest write took %v", written, longest)
}

// TestWhatKeepsARepairFromADatabase: it is said before anything is changed, and why.
func TestWhatKeepsARepairFromADatabase(t *testing.T) {
	for _, tt := range []struct {
		name, statement, role string
		code                  int
		why                   string
	}{
		{"a trigger", `create table shadow (id text); create function shade() returns trigger language plpgsql as $$ begin insert into shadow values (new.id); return new; end $$;
create trigger shade after insert on events for each row execute function shade()`, "", 4, "rows of shadow changed with it"},
		{"a rule", "create rule two as on insert to events do also select 1", "", 3, "a rule rewrites what is written to its table events"},
		{"no right", "do $$ begin create role looker login; exception when duplicate_object then null; end $$; grant select on all tables in schema public to looker", "looker", 3, "the role may not change its table"},
		{"read only", "do $$ begin create role careful login superuser; exception when duplicate_object then null; end $$; alter role careful set default_transaction_read_only = on", "careful", 3, "only read"},
		{"no key", "alter table events drop constraint events_pkey", "", 3, "its table events has no primary key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url, _ := load(t, "adk-go-2.2.0")
			t.Chdir(t.TempDir())
			execute(t, url, tt.statement)
			before, owner := rowsOf(t, url), url
			if tt.role != "" {
				url = asRole(url, tt.role)
			}
			out, errors, code := sessctl(t, "repair", url, "--yes", "--assume-dead", "--fail-on", "never")
			if code != tt.code || !strings.Contains(flat(out+errors), tt.why) {
				t.Errorf("exit code %d\n%s%s", code, out, errors)
			}
			if rowsOf(t, owner) != before {
				t.Error("rows changed")
			}
		})
	}
}

// TestAReceiptIsOfOneDatabase: another one of that name is let be.
func TestAReceiptIsOfOneDatabase(t *testing.T) {
	url, _ := load(t, "adk-go-2.2.0")
	t.Chdir(t.TempDir())
	if out, errors, code := sessctl(t, "repair", url, "--yes", "--assume-dead", "--fail-on", "never"); code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, out, errors)
	}
	name := databaseOf(url)
	idle(t, url)
	execute(t, urlOf(serverFolder(t), "postgres", "postgres"), "create database copied template "+name, "drop database "+name+" with (force)", "alter database copied rename to "+name)
	out, errors, code := sessctl(t, "undo", url, "--yes")
	if code != 5 || !strings.Contains(flat(errors), "is another database than the one that was repaired") {
		t.Errorf("exit code %d\n%s%s", code, out, errors)
	}
}

// TestWhyNamesTheRepairOfADatabase: with what it takes, and it is one.
func TestWhyNamesTheRepairOfADatabase(t *testing.T) {
	url, _ := load(t, "adk-go-2.2.0")
	t.Chdir(t.TempDir())
	idle(t, url)
	out, errors, code := sessctl(t, "why", url, "tied")
	if code != 1 || !strings.Contains(flat(out), "--session tied --allow reorder") {
		t.Fatalf("exit code %d\n%s%s", code, out, errors)
	}
	if out, errors, code := sessctl(t, "repair", url, "--session", "tied", "--allow", "reorder", "--yes"); code != 0 {
		t.Errorf("exit code %d\n%s%s", code, out, errors)
	}
	if out, errors, code := sessctl(t, "why", url, "tied"); code != 0 {
		t.Errorf("afterwards: exit code %d\n%s%s", code, out, errors)
	}
}
