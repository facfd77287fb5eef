//go:build unix

package postgres_test

import (
	"strings"
	"sync"
	"testing"
)

// TestABatchReadsItsOwnSessions: under its locks, a repair reads no table as a whole.
func TestABatchReadsItsOwnSessions(t *testing.T) {
	for _, name := range []string{"adk-go-2.2.0", "kagent-0.10.0-rc3", "spring-ai-session-0.8"} {
		t.Run(name, func(t *testing.T) {
			url, _ := load(t, name)
			t.Chdir(t.TempDir())
			var mu sync.Mutex
			locked, batches, whole := false, 0, []string{}
			p := &proxy{parsed: func(statement string) {
				mu.Lock()
				defer mu.Unlock()
				if strings.HasSuffix(statement, " for update") && !locked {
					locked, batches = true, batches+1
				}
				if locked && strings.Contains(statement, "select ctid") && !strings.Contains(statement, " where ") {
					whole = append(whole, statement)
				}
			}, before: func(_ int, request string) bool {
				mu.Lock()
				defer mu.Unlock()
				locked = locked && request != "commit"
				return true
			}}
			out, errors, code := sessctl(t, "repair", p.through(t, url), "--yes", "--fail-on", "never")
			if code != 0 || !strings.Contains(out, "Undo with") || batches == 0 {
				t.Fatalf("exit code %d, %d batches\n%s%s", code, batches, out, errors)
			}
			if len(whole) > 0 {
				t.Errorf("read whole: %q", whole)
			}
		})
	}
}

// TestWhatRuntimesGoBy: a repair leaves the columns by which runtimes notice each other as a
// write of their own would. Each case reads something as a request that is under way did,
// repairs, and then runs the runtime's own statements with it.
func TestWhatRuntimesGoBy(t *testing.T) {
	const (
		times  = "select update_time from sessions where id = '$id'"
		newest = "select max(timestamp) = (" + times + ") from events where session_id = '$id'"
		// How ADK appends: it compares the time that it has read, and stores that of its event.
		adkGo = `with session as (select * from sessions where id = '$id' and update_time <= '$held'),
added as (insert into events (id, app_name, user_id, session_id, timestamp, actions, content)
	select 'late', app_name, user_id, id, clock_timestamp(), '{}', '{"role": "user", "parts": [{"text": "x"}]}' from session returning timestamp)
update sessions set update_time = added.timestamp from added where id = '$id' returning 'stored'`
		adkPython = `with session as (select * from sessions where id = '$id' and update_time <= '$held'),
added as (insert into events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data)
	select 'late', app_name, user_id, id, 'i', localtimestamp, '{"author": "user", "content": {"role": "user", "parts": [{"text": "x"}]}}' from session returning timestamp)
update sessions set update_time = added.timestamp from added where id = '$id' returning 'stored'`
		// SQLAlchemy's counter of versions.
		sequence = `update sessions set event_sequence = event_sequence + 1 where id = '$id' and event_sequence = $held returning 'stored'`
		// kagent's retention: the sessions that are idle, with all that is theirs.
		retention = `with idle as (select id, user_id from session where updated_at < (select percentile_disc(0.5) within group (order by updated_at) from session) for update skip locked),
gone as (delete from event using idle where session_id = idle.id and event.user_id = idle.user_id)
delete from session using idle where session.id = idle.id and session.user_id = idle.user_id returning session.id`
		kept = "concat_ws(' ', id, updated_at, deleted_at)"
		ids  = "select string_agg(id, ' ' order by id) from session"
		// Spring's compaction.
		compaction = `update ai_session set event_version = event_version + 1 where id = '$id' and event_version = $held returning 'stored'`
	)
	type statement struct{ sql, want string } // want "$held" is what was read before
	for name, tt := range map[string]struct {
		dump, session string
		setup, held   string
		after         []statement
	}{
		"adk-go, a result becomes the newest event": {"adk-go-2.2.0", "interrupted-tail", "", times, []statement{
			{newest, "t"}, {"select update_time > '$held' from sessions where id = '$id'", "t"}, {adkGo, ""}, {strings.Replace(adkGo, "$held", "2999-01-01", 1), "stored"},
		}},
		"adk-go, in the middle": {"adk-go-2.2.0", "interrupted", "", times, []statement{{times, "$held"}, {adkGo, "stored"}}},
		"adk-go, another session": {"adk-go-2.2.0", "interrupted", "", "select string_agg(update_time::text, ' ' order by app_name, user_id, id) from sessions where id <> '$id'", []statement{
			{"select string_agg(update_time::text, ' ' order by app_name, user_id, id) from sessions where id <> '$id'", "$held"},
		}},
		"adk-go, a time that is later already": {"adk-go-2.2.0", "interrupted-tail", "update sessions set update_time = '2999-01-01'", times, []statement{{times, "$held"}}},
		"adk-python v0":                        {"adk-python-v0", "tail", "", times, []statement{{newest, "t"}, {"select update_time > '$held' from sessions where id = '$id'", "t"}}},
		"adk-python v1, a result becomes the newest event": {"adk-python-v1", "tail", "", times, []statement{
			{newest, "t"}, {adkPython, ""}, {strings.Replace(adkPython, "$held", "2999-01-01", 1), "stored"},
		}},
		"adk-python v1, in the middle": {"adk-python-v1", "orphan", "", times, []statement{{times, "$held"}, {adkPython, "stored"}}},
		"adk-python v1, versions counted": {"adk-python-v1", "orphan", "alter table sessions add event_sequence bigint not null default 7", "select 7", []statement{
			{sequence, ""}, {"select string_agg(distinct event_sequence::text, ' ') from sessions where id <> '$id'", "7"}, {strings.Replace(sequence, "$held", "8", 1), "stored"},
		}},
		"kagent, retention": {"kagent-0.10.0-rc3", "go-interrupted", "", "begin; " + retention + "; " + ids, []statement{{"begin; " + retention + "; " + ids, "$held"}}},
		"kagent, times and deleted sessions": {"kagent-0.10.0-rc3", "go-collapsed", "", "select string_agg(" + kept + ", ', ' order by id) from session", []statement{
			{"select count(*) = array_length(string_to_array('$held', ', '), 1) from session where " + kept + " = any (string_to_array('$held', ', '))", "t"},
		}},
		"Spring AI Session, a compaction": {"spring-ai-session-0.8", "dangling", "", "select event_version from ai_session where id = '$id'", []statement{
			{compaction, ""}, {strings.Replace(compaction, "$held", "$held + 1", 1), "stored"},
		}},
		"Spring AI Session, another session": {"spring-ai-session-0.8", "dangling-tail", "", "select string_agg(event_version::text, ' ' order by id) from ai_session where id <> '$id'", []statement{
			{"select string_agg(event_version::text, ' ' order by id) from ai_session where id <> '$id'", "$held"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			url, _ := load(t, tt.dump)
			t.Chdir(t.TempDir())
			if tt.setup != "" {
				execute(t, url, tt.setup)
			}
			before := rowsOf(t, url)
			of := func(sql string) string { return strings.ReplaceAll(sql, "$id", tt.session) }
			held := execute(t, url, of(tt.held))
			idle(t, url)
			out, errors, code := sessctl(t, "repair", url, "--session", tt.session, "--allow", "split", "--yes", "--fail-on", "never")
			if code != 0 || !strings.Contains(out, "Undo with") {
				t.Fatalf("exit code %d\n%s%s", code, out, errors)
			}
			repaired := rowsOf(t, url)
			for _, s := range tt.after {
				if got := execute(t, url, strings.ReplaceAll(of(s.sql), "$held", held)); got != strings.ReplaceAll(s.want, "$held", held) {
					t.Errorf("%s\ngives %q", of(s.sql), got)
				}
			}
			if rowsOf(t, url) != repaired {
				return // a request went on
			}
			if out, errors, code := sessctl(t, "undo", url, "--yes"); code != 0 {
				t.Errorf("undo: exit code %d\n%s%s", code, out, errors)
			}
			if rowsOf(t, url) != before {
				t.Error("an undo leaves other rows")
			}
		})
	}
}
