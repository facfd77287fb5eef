package repair_test

import (
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/claudecode/claudetest"
	"github.com/sessctl/sessctl/internal/store/crush/crushtest"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/goose/goosetest"
	"github.com/sessctl/sessctl/internal/store/opencode/opencodetest"
	"github.com/sessctl/sessctl/internal/store/player"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// killable is a store that a repair can be killed at.
type killable struct {
	make func(t *testing.T, path string)
	dump func(t tester, path string) string
	// files: it is a folder, of which one file is replaced after another.
	files bool
}

// claudeStore has two sessions that were killed themselves, with their sub-agents.
func claudeStore(t *testing.T, path string) {
	t.Helper()
	claudeSessions(t, path, map[uint64]int{2: 3, 3: 2})
}

// claudeDump are the files of the folder.
func claudeDump(t tester, path string) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), ".sessctl-tmp-") {
			return err
		}
		text, err := os.ReadFile(name)
		all = append(all, strings.TrimPrefix(name, path)+"\n"+string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "\n")
}

// streamStore is a stream of a store with leaks.
func streamStore(t *testing.T, path string) {
	t.Helper()
	database := filepath.Join(t.TempDir(), "session.db")
	leakyStore(t, database)
	opened, err := registry.Open(t.Context(), database, "", nil, store.Options{})
	must(t, err)
	defer func() { must(t, opened.Close()) }()
	must(t, os.WriteFile(path, []byte(exportStream(t, opened.Store)), 0o600))
}

func streamDump(t tester, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return string(text)
}

// crushStore has two sessions that were killed themselves.
func crushStore(t *testing.T, path string) {
	t.Helper()
	a, b := player.Play(player.RandomProgram(2, 2), 2), player.Play(player.RandomProgram(3, 2), 3)
	if err := crushtest.Build(path, crushtest.Newest, a[:len(a)-4], b[:len(b)/2]); err != nil {
		t.Fatal(err)
	}
}

// gooseStore has two sessions that lost results: one in the middle of a second, of which
// the rows behind are stored anew.
func gooseStore(t *testing.T, path string) {
	t.Helper()
	if err := goosetest.Build(path, goosetest.Newest, player.Play(player.RandomProgram(2, 2), 2), player.Play(player.RandomProgram(3, 2), 3)); err != nil {
		t.Fatal(err)
	}
	storetest.Change(t, path, `delete from messages where id in (select min(id) from messages where content_json like '%"toolResponse"%' group by session_id)`)
}

func gooseDump(t tester, path string) string { return strings.Join(storetest.Dump(t, path), "\n") }

// crushDump leaves out the times that triggers set by the clock.
func crushDump(t tester, path string) string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	return fmt.Sprintf("%q %q",
		rowsOf(t, db, "select rowid, id, parent_session_id, title, message_count, summary_message_id, created_at from sessions order by rowid"),
		rowsOf(t, db, "select rowid, id, session_id, role, parts, model, created_at, finished_at from messages order by rowid"))
}

// opencodeStore has two sessions that were killed themselves.
func opencodeStore(t *testing.T, path string) {
	t.Helper()
	a, b := player.Play(player.RandomProgram(2, 2), 2), player.Play(player.RandomProgram(3, 2), 3)
	if err := opencodetest.Build(path, a[:len(a)-4], b[:len(b)/2]); err != nil {
		t.Fatal(err)
	}
}

func opencodeDump(t tester, path string) string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	return fmt.Sprintf("%q %q %q", rowsOf(t, db, "select rowid, * from session order by rowid"),
		rowsOf(t, db, "select rowid, * from message order by rowid"), rowsOf(t, db, "select rowid, * from part order by rowid"))
}

// mastraStore has leaks, a thread without a row, and a message without an owner, as recorded.
func mastraStore(t *testing.T, path string) {
	t.Helper()
	must(t, os.Rename(storetest.Corpus("../../../shared/corpus/mastra").Copy(t, "leak-generate-1.21.0"), path))
	storetest.Change(t, path, "delete from mastra_threads where id = (select max(id) from mastra_threads)", "update mastra_messages set resourceId = null where role = 'user'")
}

func mastraDump(t tester, path string) string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	return fmt.Sprintf("%q %q", rowsOf(t, db, "select rowid, * from mastra_threads order by rowid"), rowsOf(t, db, "select rowid, * from mastra_messages order by rowid"))
}

// killables are stores of the kinds that are changed in different ways.
func killables() map[string]killable {
	leaky := func(options ...agenttest.Option) func(*testing.T, string) {
		return func(t *testing.T, path string) { t.Helper(); leakyStore(t, path, options...) }
	}
	return map[string]killable{
		"wal": {make: leaky(), dump: agentDump}, "rollback journal": {make: leaky(agenttest.RollbackJournal()), dump: agentDump},
		"crush": {make: crushStore, dump: crushDump}, "goose": {make: gooseStore, dump: gooseDump}, "opencode": {make: opencodeStore, dump: opencodeDump}, "mastra": {make: mastraStore, dump: mastraDump},
		"stream":      {make: streamStore, dump: streamDump},
		"claude code": {make: claudeStore, dump: claudeDump, files: true},
	}
}

// claudeSessions writes sessions by the seeds of their programs, each of which lost one of its
// last lines.
func claudeSessions(t *testing.T, path string, seeds map[uint64]int) {
	t.Helper()
	for seed, kept := range seeds {
		writes := player.Play(player.RandomProgram(seed, 2), seed)
		paths, err := claudetest.Build(path, "2.1.330", seed, writes[:len(writes)-4])
		if err != nil {
			t.Fatal(err)
		}
		agents, _ := filepath.Glob(filepath.Join(strings.TrimSuffix(paths[0], ".jsonl"), "subagents", "*.jsonl"))
		for _, name := range append(paths[:1:1], agents...) { // nobody named the parent of a line
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.SplitAfter(string(text), "\n")
			if n := len(lines) - kept; n > 2 {
				lines = slices.Delete(lines, n/2, n/2+1)
			}
			if err := os.WriteFile(name, []byte(strings.Join(lines, "")), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}
