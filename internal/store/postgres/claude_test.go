//go:build unix

package postgres_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSessionStoreOfTheAgentSDK: the transcripts that Claude's Agent SDK keeps in PostgreSQL have
// the findings of the files; the table is read only.
func TestSessionStoreOfTheAgentSDK(t *testing.T) {
	folder := "../../../../shared/corpus/claude-code/damaged-orphan-result"
	files, err := filepath.Glob(filepath.Join(folder, "projects/*/*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Skip("the shared corpus is not beside this checkout (../shared/corpus/claude-code)")
	}
	script := `create table claude_session_store (project_key text not null, session_id text not null, subpath text not null default '',
		seq bigserial, entry jsonb not null, mtime bigint not null, primary key (project_key, session_id, subpath, seq));`
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			script += fmt.Sprintf("insert into claude_session_store (project_key, session_id, entry, mtime) values ('%s', '%s', $x$%s$x$, 1790000000000);\n",
				filepath.Base(filepath.Dir(file)), strings.TrimSuffix(filepath.Base(file), ".jsonl"), strings.TrimSpace(line))
		}
	}
	url := database(t, script)
	if want, got := rulesIn(t, folder), rulesIn(t, url); len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("found %q, in the files %q", got, want)
	}
	if out, errors, code := sessctl(t, "repair", url, "--yes", "--assume-dead"); code != 3 || !strings.Contains(errors, "Agent SDK") {
		t.Errorf("exit code %d\n%s%s", code, out, errors)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "sessctl-*", "projects")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}
