//go:build unix

package postgres_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/store/postgres"
	"github.com/sessctl/sessctl/internal/store/table"
)

// many fills the tables of adk-go 2 with sessions of 50 events, written side by side by 200
// at a time, so that the rows of one lie scattered.
func many(b *testing.B, sessions int) (url string) {
	b.Helper()
	schema, err := os.ReadFile(filepath.Join(corpus, "adk-go-2.2.0.sql"))
	if err != nil {
		b.Skip("the shared corpus is not beside this checkout (../shared/corpus/postgres)")
	}
	url = database(b, string(schema))
	execute(b, url, "truncate sessions, events, app_states, user_states", fmt.Sprintf(`insert into sessions (app_name, user_id, id, state, create_time, update_time)
select 'app', 'u' || n %% 100, 's' || n, '{}', '2026-01-01Z'::timestamptz, '2026-01-01Z'::timestamptz + n * interval '1 minute' from generate_series(0, %d) n`, sessions-1),
		fmt.Sprintf(`insert into events (id, app_name, user_id, session_id, invocation_id, author, actions, timestamp, content, usage_metadata, partial, turn_complete)
select md5(s || ' ' || e), 'app', 'u' || s %% 100, 's' || s, 'i' || e / 4, case e %% 4 when 0 then 'user' else 'root' end,
  '{"stateDelta":{},"artifactDelta":{}}', '2026-01-01Z'::timestamptz + s * interval '1 minute' + e * interval '1 second',
  case (e + e / 49 * 2) %% 4 when 0 then jsonb_build_object('role', 'user', 'parts', jsonb_build_array(jsonb_build_object('text', text)))
    when 1 then jsonb_build_object('role', 'model', 'parts', jsonb_build_array(jsonb_build_object('functionCall', jsonb_build_object('id', 'c' || s || '-' || e, 'name', 'shell', 'args', jsonb_build_object('command', left(text, 200))))))
    when 2 then jsonb_build_object('role', 'user', 'parts', jsonb_build_array(jsonb_build_object('functionResponse', jsonb_build_object('id', 'c' || s || '-' || e - 1, 'name', 'shell', 'response', jsonb_build_object('output', text || text)))))
    else jsonb_build_object('role', 'model', 'parts', jsonb_build_array(jsonb_build_object('text', text))) end,
  '{"promptTokenCount": 100}', false, e %% 4 = 3
from (select g * 200 + k s, e, repeat(md5(k || ' ' || e) || ' ', 4 + (k * 7 + e) %% 24) text
  from generate_series(0, %d / 200 - 1) g, generate_series(0, 49) e, generate_series(0, 199) k order by g, e, k) rows`, sessions), "vacuum analyze")
	return url
}

// serverTime is the CPU time of all processes of the server that have ended, in seconds.
func serverTime(b *testing.B) float64 {
	b.Helper()
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(server.process.Process.Pid) + "/stat")
	if err != nil {
		b.Skip(err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	user, _ := strconv.ParseFloat(fields[13], 64) // cutime and cstime, in hundredths
	system, _ := strconv.ParseFloat(fields[14], 64)
	return (user + system) / 100
}

func ownTime(b *testing.B) float64 {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return float64(used.Utime.Sec+used.Stime.Sec) + float64(used.Utime.Usec+used.Stime.Usec)/1e6
}

// eventColumns are those that a check reads.
var eventColumns = []string{"id", "app_name", "user_id", "session_id", "invocation_id", "author", "actions", "long_running_tool_ids_json", "routes_json", "output_json", "node_info_json", "requested_input_json", "branch", "isolation_scope", "timestamp", "content", "grounding_metadata", "custom_metadata", "usage_metadata", "citation_metadata", "partial", "turn_complete", "error_code", "error_message", "interrupted"}

// BenchmarkReading is what reading every event costs the server and the client: with one
// SELECT, and as a check does it, the keys first and then the rows of 1,000 places at a time.
func BenchmarkReading(b *testing.B) {
	for _, sessions := range []int{1000, 4000, 20000} {
		url := many(b, sessions)
		for _, way := range []struct {
			name string
			read func(db *postgres.DB) error
		}{
			{"select", func(db *postgres.DB) error { return scan(b, db, eventColumns, nil) }},
			{"keys", func(db *postgres.DB) error { return scan(b, db, eventColumns[:4], nil) }},
			{"keys first", func(db *postgres.DB) error {
				number, bySession := map[string]int{}, make([][]table.Place, sessions)
				err := scan(b, db, []string{"app_name", "user_id", "session_id", "timestamp", "id"}, func(at table.Place, row []table.Value) {
					n, known := number[row[2].(string)]
					if !known {
						n = len(number)
						number[strings.Clone(row[2].(string))] = n
					}
					bySession[n] = append(bySession[n], at)
				})
				var places []table.Place
				for n := range sessions {
					if err != nil {
						return err
					}
					if places = append(places, bySession[n]...); len(places) >= 1000 || n == sessions-1 {
						_, err = db.Rows(b.Context(), "events", eventColumns, places, func(int, []table.Value) error { return nil })
						places = places[:0]
					}
				}
				return err
			}},
		} {
			b.Run(fmt.Sprint(sessions, " sessions/", way.name), func(b *testing.B) {
				measured(b, url, func() { reading(b, url, way.read) })
			})
		}
		for _, args := range [][]string{{"check"}, {"check", "--shard", "2/8"}, {"check", "--user", "u7"}, {"check", "--session", "s77"}, {"check", "--since", "2026-01-02"}, {"check", "--jobs", "2"}, {"view", "s77"}} {
			b.Run(fmt.Sprint(sessions, " sessions/", strings.Join(args, " ")), func(b *testing.B) {
				measured(b, url, func() { running(b, slices.Insert(slices.Clone(args), 1, url)...) })
			})
		}
		dropDatabase(b, url)
	}
}

// BenchmarkStores is what a check of each kind of store costs beside one SELECT of its events:
// some 1,000,000 in three databases, which are healthy sessions of the corpus many times over.
func BenchmarkStores(b *testing.B) {
	for _, store := range []struct{ dump, sessions, events, copy string }{
		{"adk-go-2.2.0", "id in ('tool', 'seqpar', 'nested', 'transfer')", "events", `insert into sessions select app_name, user_id, id || '-' || n, state, create_time, update_time from sessions, generate_series(1, %[1]d) n;
insert into events select (jsonb_populate_record(e, jsonb_build_object('id', e.id || '-' || n, 'session_id', e.session_id || '-' || n))).* from generate_series(1, %[1]d) n, events e`},
		{"kagent-0.10.0-rc3", "id like '__-healthy'", "event", `insert into session select (jsonb_populate_record(s, jsonb_build_object('id', s.id || '-' || n))).* from session s, generate_series(1, %[1]d) n;
insert into event select (jsonb_populate_record(e, jsonb_build_object('id', e.id || '-' || n, 'session_id', e.session_id || '-' || n))).* from generate_series(1, %[1]d) n, event e`},
		{"spring-ai-session-0.8", "id in ('clean', 'tools', 'branches')", "ai_session_event", `insert into ai_session select (jsonb_populate_record(s, jsonb_build_object('id', s.id || '-' || n))).* from ai_session s, generate_series(1, %[1]d) n;
insert into ai_session_event select (jsonb_populate_record(e, jsonb_build_object('id', e.id || '-' || n, 'session_id', e.session_id || '-' || n, 'seq', e.seq + n * 1000))).* from generate_series(1, %[1]d) n, ai_session_event e`},
	} {
		script, err := os.ReadFile(filepath.Join(corpus, store.dump+".sql"))
		if err != nil {
			b.Skip("the shared corpus is not beside this checkout (../shared/corpus/postgres)")
		}
		url := database(b, string(script))
		owners, key := map[string]string{"events": "sessions", "event": "session", "ai_session_event": "ai_session"}[store.events], "session_id"
		execute(b, url, fmt.Sprintf("delete from %s where not (%s)", store.events, strings.Replace(store.sessions, "id", key, 1)), fmt.Sprintf("delete from %s where not (%s)", owners, store.sessions))
		few, err := strconv.Atoi(execute(b, url, "select count(*) from "+store.events))
		if err != nil || few == 0 {
			b.Fatal(store.dump, few, err)
		}
		execute(b, url, fmt.Sprintf(store.copy, 333_333/few), "vacuum analyze")
		columns := strings.Split(execute(b, url, "select string_agg(attname, ',' order by attnum) from pg_attribute where attnum > 0 and not attisdropped and attrelid = '"+store.events+"'::regclass"), ",")
		b.Run(store.dump+"/select", func(b *testing.B) {
			measured(b, url, func() {
				reading(b, url, func(db *postgres.DB) error {
					_, err := db.Scan(b.Context(), table.Selection{Table: store.events, Columns: columns}, func(table.Place, []table.Value) error { return nil })
					return err
				})
			})
		})
		for _, args := range [][]string{{"check"}, {"check", "--shard", "2/8"}} {
			b.Run(store.dump+"/"+strings.Join(args, " "), func(b *testing.B) {
				measured(b, url, func() { running(b, append(args, url)...) })
			})
		}
		dropDatabase(b, url)
	}
}

// idle waits until nobody is connected to a database any more: a server notices that a
// client has gone only after a while.
func idle(b testing.TB, url string) {
	b.Helper()
	for range 500 {
		if execute(b, urlOf(server.folder, "postgres", "postgres"), "select count(*) from pg_stat_activity where datname = '"+databaseOf(url)+"'") == "0" {
			time.Sleep(200 * time.Millisecond) // until the server counts a process that has ended
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.Fatal("somebody stays connected to ", url)
}

// measured reports what the server and this process take for some work.
func measured(b *testing.B, url string, work func()) {
	b.Helper()
	idle(b, url)
	server, own := serverTime(b), ownTime(b)
	for b.Loop() {
		work()
	}
	idle(b, url)
	b.ReportMetric((serverTime(b)-server)/float64(b.N), "server-s/op")
	b.ReportMetric((ownTime(b)-own)/float64(b.N), "client-s/op")
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	b.ReportMetric(float64(memory.Sys)/1e6, "MB")
}

func running(b *testing.B, args ...string) {
	b.Helper()
	if args[0] == "check" {
		args = append(args, "--format", "ndjson", "--fail-on", "never")
	}
	if _, errors, code := sessctl(b, args...); code != 0 {
		b.Fatal(args, code, errors)
	}
}

func reading(b *testing.B, url string, read func(db *postgres.DB) error) {
	b.Helper()
	name, _, err := postgres.RegisterName(url)
	if err != nil {
		b.Fatal(err)
	}
	db, err := postgres.Open(b.Context(), name)
	if err != nil {
		b.Fatal(err)
	}
	if err := read(db); err != nil {
		b.Fatal(err)
	}
	_ = db.Close()
}

func scan(b *testing.B, db *postgres.DB, columns []string, each func(at table.Place, row []table.Value)) error {
	b.Helper()
	_, err := db.Scan(b.Context(), table.Selection{Table: "events", Columns: columns}, func(at table.Place, row []table.Value) error {
		if each != nil {
			each(at, row)
		}
		return nil
	})
	return err
}
