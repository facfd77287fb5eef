package sqlite

import (
	"bufio"
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The test binary runs itself for everything that needs a second process.
const (
	childVar   = "SESSCTL_SQLITE_CHILD"
	childSQL   = "sql"   // args: a driver name of a database, statements
	childFiles = "files" // opens 500 files
	childRead  = "read"  // args: a path; prints the number of rows that Open reads
)

func TestMain(m *testing.M) {
	switch os.Getenv(childVar) {
	case childSQL:
		runSQL(os.Args[1], os.Args[2:])
	case childFiles:
		for range 500 {
			_, err := os.Open(os.Args[0])
			check(err)
		}
		fmt.Println("ready")
		select {}
	case childRead:
		readCount(os.Args[1])
	default:
		os.Exit(m.Run())
	}
}

// forever before the last statement repeats it for as long as the process lives.
const forever = "forever "

// runSQL runs statements on one connection and keeps it until standard input
// ends, then exits without closing it, as a killed process would.
func runSQL(dsn string, statements []string) {
	pool, err := sql.Open("sqlite", dsn)
	check(err)
	conn, err := pool.Conn(context.Background())
	check(err)
	repeat := ""
	for _, s := range statements {
		if again, found := strings.CutPrefix(s, forever); found {
			repeat, s = again, again
		}
		_, err := conn.ExecContext(context.Background(), s)
		check(err)
	}
	fmt.Println("ready")
	if repeat != "" {
		go func() {
			for {
				_, err := conn.ExecContext(context.Background(), repeat)
				check(err)
			}
		}()
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

func readCount(path string) {
	db, err := Open(context.Background(), path, Options{})
	check(err)
	var n int
	check(db.QueryRow(context.Background(), "select count(*) from t").Scan(&n))
	check(db.Close())
	fmt.Println(n)
	os.Exit(0)
}

func check(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// process starts another process that runs statements on the database and
// then keeps it open until the test ends or stop is called.
func process(t *testing.T, path string, statements ...string) (cmd *exec.Cmd, stop func()) {
	t.Helper()
	return processWith(t, fileURI(path), statements...)
}

func processWith(t *testing.T, dsn string, statements ...string) (cmd *exec.Cmd, stop func()) {
	t.Helper()
	cmd = exec.Command(os.Args[0], append([]string{dsn}, statements...)...)
	cmd.Env = append(os.Environ(), childVar+"="+childSQL)
	stdin, err := cmd.StdinPipe()
	ok(t, err)
	stdout, err := cmd.StdoutPipe()
	ok(t, err)
	ok(t, cmd.Start())
	stop = func() {
		_ = stdin.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	t.Cleanup(stop)
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || line != "ready\n" {
		t.Fatalf("the other process says %q (%v)", line, err)
	}
	return cmd, stop
}

// killed runs statements in a process that ends without closing the database.
func killed(t *testing.T, path string, statements ...string) {
	t.Helper()
	_, stop := process(t, path, statements...)
	stop()
}

// create makes a database and closes it properly.
func create(t testing.TB, path string, statements ...string) {
	t.Helper()
	pool, err := sql.Open("sqlite", fileURI(path))
	ok(t, err)
	pool.SetMaxOpenConns(1)
	for _, s := range statements {
		_, err := pool.Exec(s)
		ok(t, err)
	}
	ok(t, pool.Close())
}

// rows are statements for a table t with n rows.
func rows(n int) []string {
	return []string{
		"create table t(id integer primary key, x text)",
		fmt.Sprintf("with recursive c(i) as (select 1 union all select i+1 from c where i < %d) "+
			"insert into t select i, 'row ' || i || hex(zeroblob(100)) from c", n),
	}
}

func walRows(n int) []string { return append([]string{"pragma journal_mode=wal"}, rows(n)...) }

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, path string) *DB {
	t.Helper()
	db, err := Open(t.Context(), path, Options{})
	ok(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func count(t *testing.T, db *DB) int {
	t.Helper()
	var n int
	ok(t, db.QueryRow(t.Context(), "select count(*) from t").Scan(&n))
	return n
}

// folder describes everything that can be seen of a folder's files.
func folder(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	ok(t, err)
	var b strings.Builder
	for _, e := range entries {
		info, err := e.Info()
		ok(t, err)
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		ok(t, err)
		fmt.Fprintf(&b, "%s %d %x %s %s\n", e.Name(), info.Size(), sha256.Sum256(content), info.ModTime().Format("15:04:05.000000000"), info.Mode())
	}
	return b.String()
}

// edit changes a file's bytes.
func edit(t testing.TB, path string, change func(b []byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	ok(t, err)
	ok(t, os.WriteFile(path, change(b), 0o600))
}
