//go:build unix

package postgres_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// BenchmarkRepairOfAFleet repairs 10,000 damaged sessions and reports the longest transaction
// that locked some of them, the most locks that one held, the WAL, and the memory.
func BenchmarkRepairOfAFleet(b *testing.B) {
	for _, store := range []struct {
		dump, rest string
		of         int // sessions are left by rest
		copies     []string
	}{
		{"adk-go-2.2.0", "delete from sessions where id not in ('stale', 'interrupted', 'interrupted-tail', 'nul-result')", 4, []string{"sessions id", "events id,session_id"}},
		{"kagent-0.10.0-rc3", "delete from session where id not in ('go-interrupted', 'py-interrupted'); delete from event where session_id not in (select id from session); delete from task", 2, []string{"session id", "event id,session_id"}},
		{"spring-ai-session-0.8", "delete from ai_session where id not in ('dangling', 'dangling-tail', 'partial')", 3, []string{"ai_session id", "ai_session_event id,session_id,seq="}},
	} {
		b.Run(store.dump, func(b *testing.B) {
			script, err := os.ReadFile(filepath.Join(corpus, store.dump+".sql"))
			if err != nil {
				b.Skip("the shared corpus is not beside this checkout (../shared/corpus/postgres)")
			}
			url := database(b, string(script))
			execute(b, url, store.rest)
			copies(b, url, 10_000/store.of-1, store.copies...)
			execute(b, url, "vacuum analyze")
			watch := dialTarget(b, url)
			var mu sync.Mutex
			var begun time.Time
			var longest time.Duration
			batches, most := 0, 0
			p := &proxy{before: func(_ int, request string) bool {
				mu.Lock()
				defer mu.Unlock()
				if request == "commit" && !begun.IsZero() {
					locks := watch.ExecParams(b.Context(), "select count(*) from pg_locks where pid <> pg_backend_pid()", nil, nil, nil, nil).Read()
					n, _ := strconv.Atoi(string(locks.Rows[0][0]))
					most, batches, longest, begun = max(most, n), batches+1, max(longest, time.Since(begun)), time.Time{}
				}
				return true
			}, parsed: func(statement string) {
				mu.Lock()
				defer mu.Unlock()
				if begun.IsZero() && len(statement) > 10 && statement[len(statement)-10:] == "for update" {
					begun = time.Now()
				}
			}}
			before := execute(b, url, "select pg_current_wal_lsn()")
			cmd := exec.Command(os.Args[0], "repair", p.through(b, url), "--yes", "--quiet", "--live-window", "0", "--fail-on", "never")
			cmd.Env, cmd.Dir = append(os.Environ(), asProgram+"=1", "HOME="+b.TempDir()), b.TempDir()
			out, err := cmd.CombinedOutput()
			if err != nil {
				b.Fatalf("%v\n%.2000s", err, out)
			}
			usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
			wal := execute(b, url, fmt.Sprintf("select pg_wal_lsn_diff(pg_current_wal_lsn(), '%s')::bigint", before))
			n, _ := strconv.ParseFloat(wal, 64)
			b.ReportMetric(longest.Seconds(), "longest-s")
			b.ReportMetric(float64(batches), "batches")
			b.ReportMetric(float64(most), "locks")
			b.ReportMetric(n/1e6, "WAL-MB")
			b.ReportMetric(float64(usage.Maxrss)/1e3, "MB")
			b.ReportMetric((cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), "cpu-s")
			_ = watch.Close(b.Context())
			dropDatabase(b, url)
		})
	}
}
