package check_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// holdVar makes the test binary hold a database open, as a runtime does.
const holdVar = "SESSCTL_CHECK_HOLD"

func TestMain(m *testing.M) {
	if path := os.Getenv(holdVar); path != "" {
		if err := hold(path); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// hold keeps a connection to the database until standard input ends.
func hold(path string) error {
	pool, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	var n int
	if err := pool.QueryRowContext(context.Background(), "SELECT count(*) FROM sessions").Scan(&n); err != nil {
		return err
	}
	fmt.Println("ready")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// TestSC102WhileTheRuntimeIsAlive has a second process hold the database: the
// last call may still be answered. When that process has ended, it is over.
func TestSC102WhileTheRuntimeIsAlive(t *testing.T) {
	o := newOffice(t, 29)
	o.root.User("Build it again")
	o.root.Assistant("root", agenttest.Message{ToolCalls: []agenttest.ToolCall{agenttest.CallTool("r9", "shell", "{}")}})
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), holdVar+"="+o.Path)
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the other process says %q (%v)", line, err)
	}
	r := checkFile(t, o.Path, store.Options{})
	if got := idsOf(r); !slices.Equal(got, []string{"SC102"}) || r.Store.Writer != session.WriterLive {
		t.Errorf("while it runs: found %v, writer %s", got, r.Store.Writer)
	}
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err != nil {
		t.Fatal(err)
	}
	r = checkFile(t, o.Path, store.Options{})
	if got := idsOf(r); !slices.Equal(got, []string{"SC101"}) || r.Store.Writer != session.WriterDead {
		t.Errorf("after its end: found %v, writer %s", got, r.Store.Writer)
	}
}
