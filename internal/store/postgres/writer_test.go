//go:build unix

package postgres_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestWriterDuringChecks: a runtime that writes all the time loses nothing to checks, and
// waits for none: a lock timeout far below the time of a check never ends one of its writes.
func TestWriterDuringChecks(t *testing.T) {
	url, _ := load(t, "adk-go-2.2.0")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	type work struct {
		written int
		longest time.Duration
		err     error
	}
	done := make(chan work)
	go func() {
		var w work
		conn, err := pgconn.Connect(context.Background(), url+"&lock_timeout=20ms")
		if err != nil {
			done <- work{err: err}
			return
		}
		defer func() { _ = conn.Close(context.Background()) }()
		for ctx.Err() == nil && w.err == nil {
			begun := time.Now()
			_, w.err = conn.Exec(context.Background(), fmt.Sprintf(`begin;
insert into events (id, app_name, user_id, session_id, timestamp, actions, content) values ('w%d', 'shop', 'u', 'tool', now(), '{}', '{"role": "user", "parts": [{"text": "x"}]}');
update sessions set update_time = now() where id = 'tool' and user_id = 'u'; commit`, w.written)).ReadAll()
			if w.err == nil {
				w.written++
			}
			w.longest = max(w.longest, time.Since(begun))
			time.Sleep(time.Millisecond)
		}
		done <- w
	}()
	for range 2 {
		for _, args := range [][]string{{"check", "--format", "json", url}, {"view", url, "tool", "--all"}, {"export", url}} {
			if out, errors, code := sessctl(t, args...); code > 1 {
				t.Errorf("%v: exit code %d\n%.300s%s", args[0], code, out, errors)
			}
		}
	}
	stop()
	w := <-done
	if stored := execute(t, url, "set search_path = public; select count(*) from events where id like 'w%'"); w.err != nil || w.written == 0 || stored != fmt.Sprint(w.written) {
		t.Errorf("%v: %d events written, %s stored", w.err, w.written, stored)
	}
	t.Logf("%d events, the longest write took %v", w.written, w.longest)
}
