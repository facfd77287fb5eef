// Package pgtest starts a PostgreSQL server for tests: one for each test process, in a
// temporary folder, on a Unix socket only.
package pgtest

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
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Must turns the skipping of tests into failures where it is set.
const Must = "SESSCTL_MUST_POSTGRES"

// Locked is the role that needs a password; no other does.
const Locked = "locked"

// server is the one of this process.
var server struct {
	once    sync.Once
	folder  string
	process *exec.Cmd
	err     error
	number  int
	mu      sync.Mutex
}

var errAbsent = errors.New("no PostgreSQL server here; install the package postgresql")

// Run runs the tests of a package and stops the server if they started it: TestMain calls
// it.
func Run(m *testing.M) int {
	defer stop()
	return m.Run()
}

// Folder is where the socket of the server is, which starts with the first call.
func Folder(t testing.TB) string {
	t.Helper()
	server.once.Do(func() { server.err = start() })
	switch {
	case errors.Is(server.err, errAbsent) && os.Getenv(Must) == "":
		t.Skip(server.err)
	case server.err != nil:
		t.Fatal(server.err)
	}
	return server.folder
}

// Database makes a database, runs statements in it, and is its name for sessctl. It is
// there until the tests end.
func Database(t testing.TB, statements ...string) string {
	t.Helper()
	folder := Folder(t)
	server.mu.Lock()
	server.number++
	name := fmt.Sprintf("test%d", server.number)
	server.mu.Unlock()
	Exec(t, URL(folder, "postgres", "postgres"), "create database "+name)
	url := URL(folder, "postgres", name)
	Exec(t, url, statements...)
	return url
}

// URL names a database of the server in a folder, for a role: "postgres" may do all.
func URL(folder, role, database string) string {
	return "postgres://" + role + "@/" + database + "?host=" + folder
}

// As names a database of Database for another role.
func As(url, role string) string { return strings.Replace(url, "postgres@", role+"@", 1) }

// Exec runs statements in a database, each on its own or several with semicolons.
func Exec(t testing.TB, url string, statements ...string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgconn.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement).ReadAll(); err != nil {
			t.Fatalf("%v\n%.500s", err, statement)
		}
	}
}

// Programs is the folder with the programs of a server, "" when there is none.
func Programs() string {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	folders, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	slices.SortFunc(folders, func(a, b string) int { return len(a) - len(b) + strings.Compare(a, b) })
	if len(folders) == 0 {
		return ""
	}
	return filepath.Dir(folders[len(folders)-1])
}

// start makes a cluster. The path of a socket has 107 bytes at most, so that the folder
// is not one of a test.
func start() error {
	programs := Programs()
	if programs == "" {
		return errAbsent
	}
	folder, err := os.MkdirTemp("/tmp", "pgtest")
	if err != nil {
		return err
	}
	server.folder = folder
	if err := os.Chmod(folder, 0o755); err != nil {
		return err
	}
	if os.Getuid() == 0 {
		if err := os.Chown(folder, nobody, nobody); err != nil {
			return err
		}
	}
	data := filepath.Join(folder, "data")
	made := command(filepath.Join(programs, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "--no-sync", "--locale=C.UTF-8", "-E", "UTF8")
	if out, err := made.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(data, "pg_hba.conf"), []byte("local all "+Locked+" scram-sha-256\nlocal all all trust\n"), 0o600); err != nil {
		return err
	}
	server.process = command(filepath.Join(programs, "postgres"), "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off",
		"-c", "full_page_writes=off", "-c", "shared_buffers=32MB", "-c", "logging_collector=off")
	if server.process.Stderr, err = os.Create(folder + "/server.log"); err != nil {
		return err
	}
	if err := server.process.Start(); err != nil {
		return err
	}
	return wait(folder)
}

// nobody is the user of that name: a server refuses to run as root.
const nobody = 65534

func command(program string, args ...string) *exec.Cmd {
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
	for range 300 {
		var conn *pgconn.PgConn
		if conn, err = pgconn.Connect(context.Background(), URL(folder, "postgres", "postgres")); err == nil {
			return conn.Close(context.Background())
		}
		time.Sleep(100 * time.Millisecond)
	}
	log, _ := os.ReadFile(folder + "/server.log")
	return fmt.Errorf("the server does not answer: %w\n%s", err, log)
}

func stop() {
	if server.process != nil && server.process.Process != nil {
		_ = server.process.Process.Signal(os.Interrupt)
		_ = server.process.Wait()
	}
	if server.folder != "" {
		_ = os.RemoveAll(server.folder)
	}
}
