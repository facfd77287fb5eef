//go:build unix

package postgres_test

import (
	"bufio"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sessctl/sessctl/cmd"
)

// TestWatchASever: what changes is told, a session that somebody writes to is in use, and an idle server
// is not read.
func TestWatchAServer(t *testing.T) {
	event := func(id, author, content string) string {
		return "insert into events values ('" + id + "', 'a', 'u', 's', 'i', '" + author + "', '{}', null, now() - interval '1 hour', '" + content + "');" +
			"update sessions set update_time = now()"
	}
	url := database(t, adkTables, "insert into sessions values ('a', 'u', 's', '{}', now(), now())",
		event("e1", "user", `{"role": "user", "parts": [{"text": "hello"}]}`))
	out, in := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- cmd.Main([]string{"watch", url}, strings.NewReader(""), in, io.Discard, func(string) string { return "" })
		_ = in.Close()
	}()
	lines := make(chan string, 100)
	go func() {
		for text := bufio.NewScanner(out); text.Scan(); {
			lines <- text.Text()
		}
		close(lines)
	}()
	expect := func(word string) {
		t.Helper()
		select {
		case line := <-lines:
			if !strings.Contains(line, word) {
				t.Errorf("%q, want %q", line, word)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("nothing says %q", word)
		}
	}
	expect("watching")
	execute(t, url, event("e2", "root", `{"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "ls", "args": {}}}]}`),
		event("e3", "user", `{"role": "user", "parts": [{"text": "and?"}]}`))
	expect("new   error SC101")
	execute(t, url, "delete from events where id <> 'e1'; update sessions set update_time = now()")
	expect("gone  error SC101")
	_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
	select {
	case code := <-ended:
		if code != 130 {
			t.Errorf("exit code %d", code)
		}
	case <-time.After(5 * time.Second):
		t.Error("it does not end")
	}
}
