//go:build unix

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// mustHave lets tests start a server, which then has to be there: they take minutes.
const mustHave = "SESSCTL_MUST_POSTGRES"

// lockedRole is the role that needs a password; no other does.
const lockedRole = "locked"

// server is the one of this process.
var server struct {
	once    sync.Once
	folder  string
	process *exec.Cmd
	err     error
	number  atomic.Int64
}

// runTests runs the tests of a package and stops the server if they started it: TestMain calls
// it.
func runTests(m *testing.M) int {
	defer stop()
	return m.Run()
}

// serverFolder is where the socket of the server is, which starts with the first call.
func serverFolder(t testing.TB) string {
	t.Helper()
	if os.Getenv(mustHave) == "" {
		t.Skip("this test needs a server of PostgreSQL; make test-db starts one")
	}
	if server.once.Do(func() { server.err = start() }); server.err != nil {
		t.Fatal(server.err)
	}
	return server.folder
}

// database makes a database, runs statements in it, and is its name for sessctl. It is
// there until the tests end.
func database(t testing.TB, statements ...string) string {
	t.Helper()
	folder := serverFolder(t)
	name := fmt.Sprintf("test%d", server.number.Add(1))
	execute(t, urlOf(folder, "postgres", "postgres"), "create database "+name)
	url := urlOf(folder, "postgres", name)
	execute(t, url, statements...)
	return url
}

func databaseOf(url string) string {
	name, _, _ := strings.Cut(url[strings.LastIndex(url, "@/")+2:], "?")
	return name
}

// dropDatabase removes a database of Database.
func dropDatabase(t testing.TB, url string) {
	t.Helper()
	execute(t, urlOf(server.folder, "postgres", "postgres"), "drop database "+databaseOf(url)+" with (force)")
}

// urlOf names a database of the server in a folder, for a role: "postgres" may do all.
func urlOf(folder, role, database string) string {
	return "postgres://" + role + "@/" + database + "?host=" + folder
}

// asRole names a database of Database for another role.
func asRole(url, role string) string { return strings.Replace(url, "postgres@", role+"@", 1) }

// execute runs statements in a database, each on its own or several with semicolons, and is
// the first value of the last result, "" for none.
func execute(t testing.TB, url string, statements ...string) (value string) {
	t.Helper()
	ctx := context.Background()
	conn := dialTarget(t, url)
	defer func() { _ = conn.Close(ctx) }()
	for _, statement := range statements {
		results, err := conn.Exec(ctx, statement).ReadAll()
		if err != nil {
			t.Fatalf("%v\n%.500s", err, statement)
		}
		if n := len(results); n > 0 && len(results[n-1].Rows) > 0 {
			value = string(results[n-1].Rows[0][0])
		}
	}
	return value
}

// dialTarget opens a connection that no check takes for a writer: a server notices that a client
// has gone only after a while.
func dialTarget(t testing.TB, url string) *pgconn.PgConn {
	t.Helper()
	config, err := pgconn.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.RuntimeParams["application_name"] = "sessctl"
	conn, err := pgconn.ConnectConfig(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// serverPrograms is the folder with the programs of a server, "" when there is none.
func serverPrograms() string {
	folders, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	slices.SortFunc(folders, func(a, b string) int { return len(a) - len(b) + strings.Compare(a, b) })
	if path, err := exec.LookPath("initdb"); err == nil && len(folders) == 0 {
		folders = []string{path}
	}
	if len(folders) == 0 {
		return ""
	}
	return filepath.Dir(folders[len(folders)-1])
}

// makeFolder makes a folder for a server. The path of a socket has 107 bytes at most, so
// that it is not one of a test.
func makeFolder() (string, error) {
	folder, err := os.MkdirTemp("/tmp", "pgtest")
	return folder, errors.Join(err, os.Chmod(folder, 0o777))
}

// start makes a cluster.
func start() error {
	folder, err := makeFolder()
	if err != nil {
		return err
	}
	server.folder = folder
	data := filepath.Join(folder, "data")
	made := asNobody(filepath.Join(serverPrograms(), "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "--no-sync", "--locale=C.UTF-8", "-E", "UTF8")
	if out, err := made.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(data, "pg_hba.conf"), []byte("local all "+lockedRole+" scram-sha-256\nlocal all all trust\nlocal replication all trust\n"), 0o600); err != nil {
		return err
	}
	return serve(&server.process, folder, data)
}

// serve starts a server. Vacuuming would write pages again that a test has damaged.
func serve(process **exec.Cmd, folder, data string) error {
	cmd := asNobody(filepath.Join(serverPrograms(), "postgres"), "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off",
		"-c", "full_page_writes=off", "-c", "shared_buffers=32MB", "-c", "wal_level=replica", "-c", "max_wal_senders=4", "-c", "autovacuum=off")
	log, err := os.Create(folder + "/server.log")
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return err
	}
	*process = cmd
	return wait(folder)
}

// nobody is the user of that name: a server refuses to run as root.
const nobody = 65534

// asNobody is a program that runs as a user who may start a server.
func asNobody(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = "/"
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	return cmd
}

// wait returns when the server answers.
func wait(folder string) error {
	var err error
	for range 600 {
		var conn *pgconn.PgConn
		if conn, err = pgconn.Connect(context.Background(), urlOf(folder, "postgres", "postgres")); err == nil {
			return conn.Close(context.Background())
		}
		time.Sleep(100 * time.Millisecond)
	}
	log, _ := os.ReadFile(folder + "/server.log")
	return fmt.Errorf("the server does not answer: %w\n%s", err, log)
}

// restart stops the server and starts it again: it has read nothing then.
func restart(t testing.TB) {
	t.Helper()
	end(server.process)
	if err := serve(&server.process, server.folder, filepath.Join(server.folder, "data")); err != nil {
		t.Fatal(err)
	}
}

// startStandby starts a replica of the server, and is the folder of its socket.
func startStandby(t testing.TB) string {
	t.Helper()
	folder, err := makeFolder()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	data := filepath.Join(folder, "data")
	copied := asNobody(filepath.Join(serverPrograms(), "pg_basebackup"), "-h", serverFolder(t), "-U", "postgres", "-D", data, "-R", "--checkpoint=fast", "--no-sync")
	if out, err := copied.CombinedOutput(); err != nil {
		t.Fatalf("pg_basebackup: %v\n%s", err, out)
	}
	var process *exec.Cmd
	t.Cleanup(func() { end(process) })
	if err := serve(&process, folder, data); err != nil {
		t.Fatal(err)
	}
	return folder
}

func end(process *exec.Cmd) {
	if process != nil && process.Process != nil {
		_ = process.Process.Signal(os.Interrupt)
		_ = process.Wait()
	}
}

func stop() {
	end(server.process)
	if server.folder != "" {
		_ = os.RemoveAll(server.folder)
	}
}
