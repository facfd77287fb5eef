//go:build unix

package postgres_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestDamage: what a damaged table has lost is told, and the rest is read.
func TestDamage(t *testing.T) {
	long := strings.Repeat("A long answer that does not fit on a page. ", 400)
	url := database(t, adkTables, "alter table events alter column content set storage external",
		"insert into sessions values ('a', 'u', 's', '{}', now(), now())")
	for i := range 40 {
		text := fmt.Sprint("message ", i)
		if i == 20 {
			text = long
		}
		execute(t, url, fmt.Sprintf(`insert into events values ('e%02d', 'a', 'u', 's', 'i', 'user', '{}', null, '2026-05-04 10:00:%02d+00',
			'{"role": "user", "parts": [{"text": %q}]}')`, i, i, text))
	}
	if out, errors, code := sessctl(t, "check", url); code != 0 {
		t.Fatalf("exit code %d before the damage\n%s%s", code, out, errors)
	}
	execute(t, url, "checkpoint")
	if err := os.Truncate(fileOf(t, url, "(select reltoastrelid from pg_class where relname = 'events')"), 0); err != nil {
		t.Fatal(err)
	}
	restart(t)
	out, errors, code := sessctl(t, "check", "--format", "json", url)
	if code != 3 || !strings.Contains(out, `"rule": "SC001"`) || !strings.Contains(out, `"items": 40`) {
		t.Errorf("a long value: exit code %d\n%s%s", code, out, errors)
	}

	page := fileOf(t, url, "'events'")
	execute(t, url, "checkpoint")
	f, err := os.OpenFile(page, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(strings.Repeat("x", 200)), 0); err != nil { // the head of the first page
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	restart(t)
	out, errors, code = sessctl(t, "check", "--format", "json", url)
	if code != 3 || !strings.Contains(out, "1 page of events cannot be read") {
		t.Errorf("a page: exit code %d\n%s%s", code, out, errors)
	}
}

// fileOf is the file of the table that an expression names.
func fileOf(t *testing.T, url, table string) string {
	t.Helper()
	return filepath.Join(serverFolder(t), "data", execute(t, url, "select pg_relation_filepath("+table+"::regclass)"))
}

// TestStandby: a replica is read as its primary server is, but nobody knows who writes.
func TestStandby(t *testing.T) {
	url, _ := load(t, "adk-go-2.2.0")
	standby := startStandby(t)
	replica := strings.Replace(url, serverFolder(t), standby, 1)
	deadline := time.Now().Add(30 * time.Second)
	for {
		out, errors, code := sessctl(t, "check", "--format", "json", replica)
		if code == 1 && strings.Contains(out, `"rule": "SC101"`) && strings.Contains(out, `"writer": "unknown"`) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("exit code %d\n%s%s", code, out, errors)
		}
		time.Sleep(200 * time.Millisecond)
	}
	for _, words := range everyCommand(t) {
		if out, errors, code := ofStore(t, words, replica); code > 2 || code == 2 && words[0] != "repair" || out+errors == "" {
			t.Errorf("%s: exit code %d\n%s%s", words, code, out, errors)
		}
	}
}

// TestPooler: a pooler that hands a connection to another client after each transaction
// refuses neither a command nor keeps a setting of it.
func TestPooler(t *testing.T) {
	url, _ := load(t, "adk-go-2.2.0")
	program := "/usr/sbin/pgbouncer"
	if _, err := os.Stat(program); err != nil {
		t.Fatal("install the package pgbouncer")
	}
	folder, err := os.MkdirTemp("/tmp", "pool")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	settings := filepath.Join(folder, "pgbouncer.ini")
	text := fmt.Sprintf("[databases]\n* = host=%s user=postgres\n[pgbouncer]\nlisten_port = 6432\nunix_socket_dir = %s\nauth_type = any\npool_mode = transaction\n"+
		"default_pool_size = 2\nlogfile = %s/log\npidfile = %s/pid\n", serverFolder(t), folder, folder, folder)
	if err := os.WriteFile(settings, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	pooler := asNobody(program, settings)
	if err := pooler.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pooler.Process.Kill(); _ = pooler.Wait() })
	deadline := time.Now().Add(30 * time.Second)
	for {
		conn, err := net.Dial("unix", filepath.Join(folder, ".s.PGSQL.6432"))
		if err == nil {
			_ = conn.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	through := strings.Replace(url, serverFolder(t), folder, 1) + "&port=6432"
	// A connection of the pool that no client has had yet counts as a writer (SC102 in place
	// of SC101), and --jobs 2 would open the second one.
	clients := []*pgconn.PgConn{dialTarget(t, through), dialTarget(t, through)}
	for _, statement := range []string{"begin", "commit"} { // both are in a transaction at a time
		for _, client := range clients {
			if _, err := client.Exec(t.Context(), statement).ReadAll(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, client := range clients {
		_ = client.Close(t.Context())
	}
	for range 3 {
		if out, errors, code := sessctl(t, "check", "--format", "json", through); code != 1 || !strings.Contains(out, `"rule": "SC101"`) {
			t.Fatalf("exit code %d\n%s%s", code, out, errors)
		}
		if out, errors, code := sessctl(t, "view", through, "tool", "--all"); code != 0 {
			t.Fatalf("exit code %d\n%s%s", code, out, errors)
		}
	}
	sameAs(t, url, through)
	psql := exec.Command(filepath.Join(serverPrograms(), "psql"), "-At", "-c", "show row_security; show jit", through)
	if out, err := psql.CombinedOutput(); err != nil || string(out) != "on\non\n" {
		t.Errorf("%v: the next client finds %q", err, out)
	}
}
