//go:build unix

package mysql_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	program "github.com/sessctl/sessctl/cmd"
)

// asProgram, in the environment, makes of this test program a sessctl that can be killed.
const asProgram = "SESSCTL_TEST_AS_PROGRAM"

// server is the one of this process.
var server struct {
	once    sync.Once
	folder  string
	process *exec.Cmd
	err     error
	number  atomic.Int64
}

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(program.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)) //nolint:forbidigo // a process ends so
	}
	os.Exit(runTests(m)) //nolint:forbidigo // so does a test process
}

// runTests runs the tests of the package and stops the server if they started it.
func runTests(m *testing.M) int {
	home, err := os.MkdirTemp("/tmp", "mytest") // the path of a socket has 107 bytes at most
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(home) }()
	_ = os.Setenv("HOME", home) // so that no option file of a person is read
	server.folder = home
	defer stop()
	return m.Run()
}

const daemon = "/usr/sbin/mariadbd"

// socket is that of the server, which starts with the first call.
func socket(t testing.TB) string {
	t.Helper()
	if _, err := os.Stat(daemon); err != nil {
		t.Skip("this test needs a server of MariaDB: install the package mariadb-server")
	}
	if server.once.Do(func() { server.err = install() }); server.err != nil {
		t.Fatal(server.err)
	}
	return socketOf(server.folder)
}

func socketOf(folder string) string { return filepath.Join(folder, "s") }

// install makes the files of a server and starts it.
func install() error {
	data := filepath.Join(server.folder, "data")
	args := []string{"--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db", "--datadir=" + data}
	if os.Getuid() == 0 {
		args = append(args, "--user=root")
	}
	if out, err := exec.Command("mariadb-install-db", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("mariadb-install-db: %w\n%s", err, out)
	}
	return serve()
}

// serve starts the server.
func serve() error {
	folder := server.folder
	args := []string{
		"--no-defaults", "--datadir=" + filepath.Join(folder, "data"), "--socket=" + socketOf(folder), "--skip-networking", "--pid-file=" + filepath.Join(folder, "pid"),
		"--innodb-buffer-pool-size=64M", "--innodb-log-file-size=16M", "--character-set-server=utf8mb4", "--collation-server=utf8mb4_general_ci",
		"--innodb-flush-log-at-trx-commit=2",
	}
	if os.Getuid() == 0 {
		args = append(args, "--user=root")
	}
	cmd := exec.Command(daemon, args...)
	log, err := os.Create(filepath.Join(folder, "server.log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return err
	}
	server.process = cmd
	db, err := sql.Open("mysql", dsn(folder, "root", "mysql"))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	for range 600 {
		if err = db.Ping(); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("the server does not answer: %w", err)
}

// stop ends the server.
func stop() { end(syscall.SIGTERM) }

func end(signal syscall.Signal) {
	if p := server.process; p != nil {
		_ = p.Process.Signal(signal)
		_ = p.Wait()
		server.process = nil
	}
}

func dsn(folder, role, database string) string {
	return role + "@unix(" + socketOf(folder) + ")/" + database + "?multiStatements=true&interpolateParams=true"
}

// urlOf names a database of the server for a role.
func urlOf(role, database string) string {
	return "mysql://" + url.User(role).String() + "@/" + database + "?socket=" + socketOf(server.folder)
}

// database makes a database that tells upper from lower case, as the corpus does, runs statements
// in it, and is its name for sessctl as root.
func database(t testing.TB, statements ...string) string {
	t.Helper()
	socket(t)
	name := fmt.Sprintf("test%d", server.number.Add(1))
	execute(t, urlOf("root", "mysql"), "create database "+name+" collate utf8mb4_bin")
	t.Cleanup(func() { execute(t, urlOf("root", "mysql"), "drop database if exists "+name) })
	at := urlOf("root", name)
	execute(t, at, statements...)
	return at
}

func databaseOf(at string) string {
	u, err := url.Parse(at)
	if err != nil {
		panic(err)
	}
	return strings.TrimPrefix(u.Path, "/")
}

// waitUntilGone waits until the server has noticed that a client has closed its connection, who else is
// another client.
func waitUntilGone(number int64) {
	watcher, err := sql.Open("mysql", dsn(server.folder, "root", "mysql"))
	if err != nil {
		return
	}
	defer func() { _ = watcher.Close() }()
	for range 500 {
		var there int
		if err := watcher.QueryRow("select count(*) from information_schema.processlist where id = ?", number).Scan(&there); err != nil || there == 0 {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// asRole names a database for another role.
func asRole(at, role string) string { return strings.Replace(at, "root@", role+"@", 1) }

// dialTarget opens a connection with a database.
func dialTarget(t testing.TB, at string) *sql.Conn {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("mysql", dsn(server.folder, u.User.Username(), databaseOf(at)))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxIdleConns(0) // one that is closed is no client any more
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(); _ = db.Close() })
	return conn
}

// execute runs statements in a database, in the modes of standard SQL, and is the first value of
// the last one, "" for none.
func execute(t testing.TB, at string, statements ...string) (value string) {
	t.Helper()
	conn := dialTarget(t, at)
	ctx := context.Background()
	var number int64
	if err := conn.QueryRowContext(ctx, "select connection_id()").Scan(&number); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = conn.Close()
		waitUntilGone(number)
	}()
	if _, err := conn.ExecContext(ctx, "set sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,NO_AUTO_VALUE_ON_ZERO', group_concat_max_len = 10000000"); err != nil {
		t.Fatal(err)
	}
	for _, statement := range statements {
		rows, err := conn.QueryContext(ctx, statement)
		if err != nil {
			t.Fatalf("%v\n%.500s", err, statement)
		}
		value = ""
		if columns, _ := rows.Columns(); len(columns) > 0 && rows.Next() {
			var first sql.NullString
			if err := rows.Scan(&first); err != nil {
				t.Fatal(err)
			}
			value = first.String
		}
		for rows.NextResultSet() { // each of several statements runs
		}
		if err := rows.Err(); err != nil {
			t.Fatalf("%v\n%.500s", err, statement)
		}
		_ = rows.Close()
	}
	return value
}

// sessctl runs a command, without standard input.
func sessctl(t testing.TB, args ...string) (out, errors string, code int) {
	t.Helper()
	var stdout, stderr strings.Builder
	home := t.TempDir()
	env := func(name string) string { return map[string]string{"HOME": home, "XDG_CONFIG_HOME": home}[name] }
	code = program.Main(args, strings.NewReader(""), &stdout, &stderr, env)
	return stdout.String(), stderr.String(), code
}

// flat is a text without the breaks of its lines.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }
