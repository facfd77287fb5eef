package cmd_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// Two databases that one statement tells apart.
func TestDiffNames(t *testing.T) {
	long := strings.Repeat("a", 80)
	const root = "(select id from sessions where parent_id is null order by id limit 1)"
	tests := []struct{ name, before, after, want string }{
		{"position numbers of the same order", "", "update session_items set position = position * 2", "the same order with other position numbers"},
		{
			"records of no session", "", "insert into session_items(session_id, position, item_type, message_json) values ('nobody', 0, 'message', '{}')",
			"equal; records that belong to no session: 0 before, 1 after.",
		},
		{
			"another id of a root session", "", "update session_items set session_id = 'renamed' where session_id = " + root +
				"; update sessions set parent_id = 'renamed' where parent_id = " + root + "; update sessions set id = 'renamed' where id = " + root,
			"all messages moved to renamed",
		},
		{
			"where long values begin to differ", "update sessions set title = '" + long + "1'", "update sessions set title = '" + long + "2'",
			`title "…aaaaaa1" → "…aaaaaa2"`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			paths := []string{filepath.Join(dir, "a.db"), filepath.Join(dir, "b.db")}
			for i, statement := range []string{tt.before, tt.after} {
				buildDB(t, paths[i], func(db *agenttest.DB) error {
					if _, err := agenttest.WriteFixed(db, agenttest.Random(3, 20)); err != nil {
						return err
					}
					_, err := db.SQL.Exec("pragma foreign_keys = off; " + statement)
					return err
				})
			}
			code, out, stderr := run(t, "diff", paths[0], paths[1])
			if code != 1 || !strings.Contains(out, tt.want) {
				t.Errorf("code %d, want %q in\n%s%s", code, tt.want, out, stderr)
			}
		})
	}
}
