//go:build unix

package postgres_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	difference "github.com/google/go-cmp/cmp"
)

// TestParts: what is left out on the server is what is left out of a file with the same rows.
func TestParts(t *testing.T) {
	for _, name := range recorded {
		t.Run(name, func(t *testing.T) {
			url, _ := load(t, name)
			orphan(t, url)
			file := twin(t, url)
			check := []string{"check", "--format", "json", "--severity", "info", "--fail-on", "never", "STORE"}
			for _, part := range [][]string{
				{"--app", "shop"}, {"--app", "Shop", "--user", "u"}, {"--user", "u"}, {"--user", "nobody"},
				{"--since", "2020-01-01"}, {"--since", "3000-01-01"}, {"--shard", "1/3"}, {"--shard", "2/3"}, {"--shard", "3/3", "--since", "1d"},
			} {
				alike(t, url, file, slices.Concat(check, part)...)
			}
			for _, id := range sessions(t, file) {
				alike(t, url, file, slices.Concat(check, []string{"--session", id})...)
				alike(t, url, file, "export", "--session", id, "STORE")
			}
			alike(t, url, file, slices.Concat(check, []string{"--session", "no such session"})...)
		})
	}
}

// orphan leaves an event without its session, where a foreign key does not forbid it.
func orphan(t *testing.T, url string) {
	t.Helper()
	if execute(t, url, "select 1 from pg_class where relname = 'event' and relkind = 'r'") == "1" {
		execute(t, url, "insert into event select 'stray', user_id, 'gone', created_at, updated_at, deleted_at, data from event limit 1")
	}
}

// TestJobs: parts that are read side by side come to what one reading does.
func TestJobs(t *testing.T) {
	for _, name := range recorded {
		t.Run(name, func(t *testing.T) {
			url, _ := load(t, name)
			orphan(t, url)
			for _, args := range [][]string{
				{"check", "--format", "json", "--severity", "info"}, {"check", "--format", "sarif"}, {"check", "--full"},
				{"check", "--format", "json", "--shard", "2/2"}, {"check", "--format", "json", "--user", "u"}, {"check", "--format", "json", "--deep"},
			} {
				one, _, code := sessctl(t, append(args, url)...)
				several, errors, codes := sessctl(t, append(args, url, "--jobs", "3")...)
				plain := func(text string) string { return variable.ReplaceAllString(text, "…") }
				if diff := difference.Diff(plain(one), plain(several)); diff != "" || code != codes {
					t.Errorf("sessctl %s: exit codes %d and %d %s\n%s", strings.Join(args, " "), code, codes, errors, diff)
				}
			}
		})
	}
}

// fleet is a database of many sessions, of which every twentieth is of the application "one".
func fleet(t *testing.T) string {
	t.Helper()
	url := database(t, adkTables)
	execute(t, url, `insert into sessions select case s % 20 when 0 then 'one' else 'other' end, 'u', 's' || s, '{}', '2026-01-01Z', '2026-01-01Z'::timestamptz + s * interval '1 day' from generate_series(0, 199) s`,
		`insert into events (id, app_name, user_id, session_id, invocation_id, author, actions, timestamp, content)
select s || '-' || e, case s % 20 when 0 then 'one' else 'other' end, 'u', 's' || s, 'i', 'user', '{}', '2026-01-01Z'::timestamptz + s * interval '1 day' + e * interval '1 second',
  jsonb_build_object('role', 'user', 'parts', jsonb_build_array(jsonb_build_object('text', repeat(md5(s || ' ' || e), 4))))
from generate_series(0, 199) s, generate_series(0, 49) e`)
	return url
}

// TestPartsStayOnTheServer: a check of few sessions of many does not have the rows of the
// others sent.
func TestPartsStayOnTheServer(t *testing.T) {
	url := fleet(t)
	sentFor := func(args ...string) int64 {
		folder, sent := stopping(t, 0)
		out, errors, code := sessctl(t, slices.Concat([]string{args[0], strings.Replace(url, serverFolder(t), folder, 1)}, args[1:])...)
		if code != 0 {
			t.Fatalf("%s: exit code %d\n%s%s", args, code, out, errors)
		}
		return sent.Load()
	}
	whole := sentFor("check")
	for _, args := range [][]string{
		{"check", "--app", "one"}, {"check", "--session", "s7"}, {"check", "--since", "2026-07-14"}, {"check", "--shard", "2/16"},
		{"view", "s7"}, {"export", "--session", "s7"},
	} {
		if part := sentFor(args...); part > whole/8 {
			t.Errorf("%s: %d bytes of the %d of a whole check", args, part, whole)
		}
	}
}

// TestMaxMemory: a check that needs more memory than it may take says how to take less.
func TestMaxMemory(t *testing.T) {
	url := fleet(t)
	out, errors, code := sessctl(t, "check", "--max-memory", "1", url)
	if code != 3 || !strings.Contains(flat(errors), "takes more than the 1 MB of --max-memory") || !strings.Contains(errors, "--shard") {
		t.Errorf("exit code %d\n%s%s", code, out, errors)
	}
	if out, errors, code := sessctl(t, "check", "--max-memory", "100000", url); code != 0 {
		t.Errorf("exit code %d\n%s%s", code, out, errors)
	}
}

// TestDamagedParts: damage ends a reading of some rows, and the whole table is read instead.
func TestDamagedParts(t *testing.T) {
	url := fleet(t)
	page := fileOf(t, url, "'events'")
	execute(t, url, "checkpoint")
	f, err := os.OpenFile(page, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(strings.Repeat("x", 200)), 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	restart(t)
	for _, part := range []string{"--app=one", "--shard=2/3", "--since=2026-01-02", "--jobs=2"} {
		out, errors, code := sessctl(t, "check", "--format", "json", part, url)
		if code != 3 || !strings.Contains(out+errors, "1 page of events cannot be read") || strings.Contains(out, `"sessions": 0`) {
			t.Errorf("%s: exit code %d\n%s%s", part, code, out, errors)
		}
	}
}
