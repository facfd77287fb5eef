package agenttest

import (
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBigIsLikeMeasured writes a small database of the benchmark's kind.
func TestBigIsLikeMeasured(t *testing.T) {
	spec := Benchmark
	spec.Roots = 120
	path := filepath.Join(t.TempDir(), "big.db")
	if err := Big(path, spec); err != nil {
		t.Fatal(err)
	}
	file := reopen(t, path)
	number := func(statement string) float64 {
		t.Helper()
		n, err := strconv.ParseFloat(strings.TrimSuffix(query(t, file, statement), "|\n"), 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	const size = "(SELECT LENGTH(CAST(message_json AS BLOB)) n FROM session_items WHERE item_type = 'message')"
	between := []struct {
		what      string
		statement string
		low, high float64
	}{
		{"items of a session", "SELECT 1.0 * COUNT(*) / COUNT(DISTINCT session_id) FROM session_items", 35, 70},
		{"share of sub-sessions", "SELECT AVG(parent_id IS NOT NULL) FROM sessions", 0.10, 0.20},
		{"median message", "SELECT n FROM " + size + " ORDER BY n LIMIT 1 OFFSET (SELECT COUNT(*) / 2 FROM " + size + ")", 600, 1100},
		{"mean message", "SELECT AVG(n) FROM " + size, 1200, 2300},
		{"backslashes in a kilobyte", `SELECT 1000.0 * SUM(LENGTH(message_json) - LENGTH(REPLACE(message_json, '\', ''))) / SUM(LENGTH(message_json)) FROM session_items`, 45, 85},
		{"messages column against items", "SELECT (SELECT SUM(LENGTH(messages)) FROM sessions) / SUM(1.0 * n) FROM " + size, 1, 1.4},
		{"resumed roots", `SELECT COUNT(*) FROM sessions s WHERE (SELECT MAX(position) FROM session_items WHERE session_id = s.id) + 1 <
			(SELECT MAX(id) - MIN(id) + 1 - (SELECT COUNT(*) FROM session_items c JOIN sessions k ON c.session_id = k.id WHERE k.parent_id = s.id)
			FROM session_items WHERE session_id = s.id)`, 5, 25},
		{"foreign keys broken", "SELECT COUNT(*) FROM pragma_foreign_key_check", 0, 0},
		{"calls without a result in the session", `SELECT COUNT(*) FROM session_items c, json_each(c.message_json, '$.tool_calls') call WHERE NOT EXISTS
			(SELECT 1 FROM session_items r WHERE r.session_id = c.session_id AND r.position > c.position AND r.message_json->>'tool_call_id' = call.value->>'id')`, 0, 0},
		{"positions with a gap", "SELECT COUNT(*) FROM (SELECT 1 FROM session_items GROUP BY session_id HAVING MAX(position) + 1 != COUNT(DISTINCT position) OR COUNT(*) != COUNT(DISTINCT position))", 0, 0},
	}
	for _, b := range between {
		if got := number(b.statement); got < b.low || got > b.high || math.IsNaN(got) {
			t.Errorf("%s: %g, want between %g and %g", b.what, got, b.low, b.high)
		}
	}
}

func TestBigIsDeterministic(t *testing.T) {
	var dumps []string
	for range 2 {
		path := filepath.Join(t.TempDir(), "big.db")
		if err := Big(path, Spec{Seed: 5, Roots: 12, Items: 20, Children: 0.3, Resumed: 0.5}); err != nil {
			t.Fatal(err)
		}
		dumps = append(dumps, rawDump(t, path))
	}
	if dumps[0] != dumps[1] {
		t.Error(cmp.Diff(dumps[0], dumps[1]))
	}
}
