//go:build unix

package postgres_test

import (
	"bytes"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sessctl/sessctl/internal/store/postgres"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/store/table"
)

// stopping is a folder with a socket that leads to the server, and ends the first readings
// of events as a replica does that has to make room for a change. It counts the bytes that
// the server sends.
func stopping(t *testing.T, readings int64) (folder string, sent *atomic.Int64) {
	t.Helper()
	folder, err := makeFolder()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	listener, err := net.Listen("unix", filepath.Join(folder, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	var stopped atomic.Int64
	sent = &atomic.Int64{}
	serve := func(client net.Conn) {
		defer func() { _ = client.Close() }()
		server, err := net.Dial("unix", filepath.Join(serverFolder(t), ".s.PGSQL.5432"))
		if err != nil {
			return
		}
		defer func() { _ = server.Close() }()
		go func() { _, _ = io.Copy(io.MultiWriter(client, counter{sent}), server) }()
		buf := make([]byte, 1<<16)
		for {
			n, err := client.Read(buf)
			if err != nil {
				return
			}
			if bytes.Contains(buf[:n], []byte(`from only "public"."events"`)) && stopped.Add(1) <= readings {
				refusal := pgproto3.ErrorResponse{Severity: "FATAL", Code: "40001", Message: "terminating connection due to conflict with recovery"}
				message, _ := refusal.Encode(nil)
				_, _ = client.Write(message)
				return
			}
			if _, err := server.Write(buf[:n]); err != nil {
				return
			}
		}
	}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(client)
		}
	}()
	return folder, sent
}

// counter counts what is written to it.
type counter struct{ bytes *atomic.Int64 }

func (c counter) Write(text []byte) (int, error) {
	c.bytes.Add(int64(len(text)))
	return len(text), nil
}

// TestStoppedReading: a reading begins again that a replica stopped, but not for ever, and
// what is printed is printed once.
func TestStoppedReading(t *testing.T) {
	url, _ := load(t, "adk-go-2.2.0")
	for _, words := range [][]string{
		{"check", "STORE"}, {"ls", "STORE"}, {"view", "STORE", "tool"}, {"view", "STORE", "tool", "--all"}, {"why", "STORE", "stale"},
		{"export", "STORE"}, {"export", "STORE", "--session", "tool"}, {"diff", url, "STORE"}, {"check", "STORE", "--jobs", "2"},
	} {
		run := func(readings int64) (string, string, int) {
			folder, _ := stopping(t, readings)
			store := strings.Replace(url, serverFolder(t), folder, 1)
			args := slices.Clone(words)
			args[slices.Index(args, "STORE")] = store
			name, _, err := postgres.RegisterName(store)
			if err != nil {
				t.Fatal(err)
			}
			out, errors, code := sessctl(t, args...)
			return strings.ReplaceAll(variable.ReplaceAllString(out, "…"), name, "STORE"), errors, code
		}
		want, _, code := run(0)
		for _, readings := range []int64{1, 2, 100} {
			out, errors, got := run(readings)
			switch {
			case readings == 100 && (got != 5 || !strings.Contains(flat(out+errors), "stopped the reading") || strings.Contains(out, "Close the program")):
				t.Errorf("%s: exit code %d\n%s%s", words, got, out, errors)
			case readings < 100 && (got != code || flat(out) != flat(want) || !strings.Contains(flat(errors), "it is read once more")):
				t.Errorf("%s, stopped %d times: exit code %d and not %d\n%s\n%s%s", words, readings, got, code, want, out, errors)
			}
		}
	}
}

// TestConflict: a real replica says what TestStoppedReading has a proxy say.
func TestConflict(t *testing.T) {
	url, _ := load(t, "adk-go-2.2.0")
	execute(t, url, "create table filler as select n, repeat('x', 1000) t from generate_series(1, 20000) n")
	standby := startStandby(t)
	replica := strings.Replace(url, serverFolder(t), standby, 1)
	execute(t, urlOf(standby, "postgres", "postgres"), "alter system set max_standby_streaming_delay = 0", "select pg_reload_conf()")
	name, _, err := postgres.RegisterName(replica)
	if err != nil {
		t.Fatal(err)
	}
	db, err := postgres.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	begun := false
	_, err = db.Scan(t.Context(), table.Selection{Table: "filler", Columns: []string{"t"}}, func(table.Place, []table.Value) error {
		if !begun {
			begun = true
			written := execute(t, url, "delete from filler", "vacuum filler", "create table flushed ()", "select pg_current_wal_flush_lsn()")
			for range 300 {
				if execute(t, urlOf(standby, "postgres", "postgres"), "select pg_last_wal_receive_lsn() >= '"+written+"'") == "t" {
					break
				}
				time.Sleep(100 * time.Millisecond)
			}
			time.Sleep(2 * time.Second) // until the replica has got round to it
		}
		return nil
	})
	if !registry.IsStopped(err) {
		t.Errorf("the replica answers %v", err)
	}
}
