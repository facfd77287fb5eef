package claudecode_test

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/store/builder"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// mirrorOf is a database with the lines of a folder of Claude Code, as the example of the Agent SDK
// stores them, in another order than they were written in.
func mirrorOf(t *testing.T, folder string) string {
	t.Helper()
	at := filepath.Join(t.TempDir(), "mirror.db")
	db, err := builder.Open(at)
	if err != nil {
		t.Fatal(err)
	}
	db.Exec(`create table transcripts (project_key text not null, session_id text not null, subpath text not null default '',
		seq integer, entry text not null, mtime bigint not null, primary key (project_key, session_id, subpath, seq))`)
	seq := 0
	err = filepath.WalkDir(filepath.Join(folder, "projects"), func(file string, _ fs.DirEntry, err error) error {
		stem, isLog := strings.CutSuffix(file, ".jsonl")
		if err != nil || !isLog {
			return err
		}
		key, err := filepath.Rel(filepath.Join(folder, "projects"), stem)
		parts := strings.SplitN(filepath.ToSlash(key), "/", 3)
		lines := linesOf(t, file)
		if note, err := os.ReadFile(stem + ".meta.json"); err == nil {
			lines = append(lines, `{"type": "agent_metadata", `+strings.TrimPrefix(string(note), "{"))
		}
		for i := range slices.Backward(lines) {
			if json.Valid([]byte(lines[i])) {
				db.Exec("insert into transcripts values (?, ?, ?, ?, ?, 1790000000000)", parts[0], parts[1], strings.Join(parts[2:], ""), seq+i, lines[i])
			}
		}
		seq += len(lines)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return at
}

func linesOf(t *testing.T, file string) (lines []string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	scan := bufio.NewScanner(f)
	scan.Buffer(nil, 64<<20)
	for scan.Scan() {
		lines = append(lines, scan.Text())
	}
	return lines
}

// TestMirror: the rows of the Agent SDK's table are read as the lines of the files are, and nothing
// of them stays on the disk.
func TestMirror(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for seed := range uint64(6) {
		home, _ := built(t, t.TempDir(), seed, 0.8)
		sameAsFiles(t, home)
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}

// TestMirrorOfTheCorpus: so are those that Claude Code wrote.
func TestMirrorOfTheCorpus(t *testing.T) {
	for _, name := range []string{"kill-child", "children-parallel", "damaged-orphan-result", "compact", "nested", "branch"} {
		t.Run(name, func(t *testing.T) { sameAsFiles(t, recorded(t, name, t.TempDir())) })
	}
}

func sameAsFiles(t *testing.T, home string) {
	t.Helper()
	mirror := mirrorOf(t, home)
	if diff := cmp.Diff(storetest.Findings(t, home), storetest.Findings(t, mirror)); diff != "" {
		t.Error(diff)
	}
	_, files := storetest.Opened(t, home)
	_, rows := storetest.Opened(t, mirror)
	for id, s := range files {
		if rows[id] == nil || len(rows[id].Items) != len(s.Items) || rows[id].Parent != s.Parent || rows[id].Agent != s.Agent {
			t.Errorf("session %s: %+v", id, rows[id])
		}
	}
	if len(rows) != len(files) {
		t.Errorf("%d sessions, of %d", len(rows), len(files))
	}
}

// TestMirrorWithStrangeKeys: a key that would lead out of the folder, or that no file can have, is told, and
// the others are read.
func TestMirrorWithStrangeKeys(t *testing.T) {
	home, _ := built(t, t.TempDir(), 1, 1)
	mirror := mirrorOf(t, home)
	_, sessions := storetest.Opened(t, mirror)
	for name, insert := range map[string]string{
		"out of the folder":      `select '../../..', session_id, subpath, seq, entry, mtime from transcripts`,
		"too long for a folder":  `select printf('%.300c', 'p'), session_id, subpath, seq, entry, mtime from transcripts`,
		"too long for a file":    `select project_key, printf('%.300c', 's'), subpath, seq, entry, mtime from transcripts`,
		"too long with its note": `select project_key, session_id, printf('subagents/agent-%.243c', 'a'), seq, '{"type":"agent_metadata"}', mtime from transcripts`,
		"a NUL":                  `select project_key, char(0), subpath, seq, entry, mtime from transcripts`,
		"the name of a file":     `select project_key, session_id || '.jsonl', 'subagents/agent-a', seq, entry, mtime from transcripts`,
	} {
		t.Run(name, func(t *testing.T) {
			path := mirrorOf(t, home)
			storetest.Change(t, path, "insert or ignore into transcripts "+insert)
			facts, got := storetest.Opened(t, path)
			if !strings.Contains(facts.Incomplete, "no names of files") || len(got) != len(sessions) {
				t.Errorf("%d of %d sessions, incomplete: %q", len(got), len(sessions), facts.Incomplete)
			}
		})
	}
}
