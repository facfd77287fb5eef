package opencode_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// TestStalled: prompts whose ids come before that of an answer, since the clock in ids began anew,
// are asked by no opencode before 1.18.18 (anomalyco/opencode#30809).
func TestStalled(t *testing.T) {
	const from = "../../../../shared/cases/reports/oc-id-wrap/opencode.db"
	text, err := os.ReadFile(from)
	if err != nil {
		t.Skip("the reports are not here")
	}
	const last = `(SELECT id FROM message ORDER BY time_created DESC LIMIT 1)`
	const off = "PRAGMA foreign_keys = OFF"
	for _, tt := range []struct {
		name, want string
		change     []string
	}{
		{name: "as it was reported", want: "warning SC310 "},
		{name: "two are left", want: "warning SC310 ", change: []string{`DELETE FROM part WHERE message_id = ` + last, `DELETE FROM message WHERE id = ` + last}},
		{name: "their ids come later", want: "info SC310 ", change: []string{off, `UPDATE part SET message_id = 'msg_ffff' || substr(message_id, 9) WHERE message_id LIKE 'msg_000%'`, `UPDATE message SET id = 'msg_ffff' || substr(id, 9) WHERE id LIKE 'msg_000%'`}},
		{name: "the last one was answered", change: []string{
			off, `INSERT INTO message SELECT 'msg_0009', session_id, time_created + 900000, time_updated, replace(data, 'msg_fffa03721001a24X5VSs9NgRL9', ` + last + `) FROM message WHERE data LIKE '%assistant%'`,
			`INSERT INTO part SELECT 'prt_0009' || substr(id, 9), 'msg_0009', session_id, time_created, time_updated, data FROM part WHERE message_id LIKE 'msg_fffa07%'`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := t.TempDir() + "/opencode.db"
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			storetest.Change(t, path, tt.change...)
			found := storetest.Findings(t, path)
			got := ""
			if n := slices.IndexFunc(found, func(f string) bool { return strings.Contains(f, "SC310") }); n >= 0 {
				got = found[n]
			}
			if got != tt.want {
				t.Errorf("found %q, want %q", found, tt.want)
			}
		})
	}
}

// TestDraftRefusals: the new core keeps the error of a request in its row. What it would send in
// place of its rows is not repaired.
func TestDraftRefusals(t *testing.T) {
	const last = " where seq = (select max(seq) from session_message)"
	refused := func(kind, said string) string {
		return `update session_message set data = json_set(json_remove(data, '$.finish'), '$.content', json('[]'), '$.error', json_object('type', '` + kind + `', 'message', '` + said + `'))` + last
	}
	const again = "insert into session_message select replace(id, 'msg_', 'msg_x'), session_id, type, seq + 10, time_created, time_updated, data from session_message" + last
	for name, tt := range map[string]struct {
		change []string
		want   bool
	}{
		"refused twice":    {[]string{refused("unknown", "error 400 Bad Request: the moon is in the way"), again}, true},
		"with a state":     {[]string{refused("provider.invalid", "the moon is in the way"), "update session_message set data = json_set(data, '$.error.status', 400)" + last, again}, true},
		"a person stopped": {[]string{refused("aborted", "error 400 Bad Request: the moon is in the way"), again}, false},
		"nothing of a 400": {[]string{refused("unknown", "the moon is in the way"), again}, false},
		"answered since":   {[]string{refused("unknown", "error 400 Bad Request: the moon is in the way"), again, again, "update session_message set data = json_remove(json_set(data, '$.content', json('[{\"type\":\"text\",\"text\":\"x\"}]')), '$.error')" + last}, false},
	} {
		t.Run(name, func(t *testing.T) {
			path := corpus.Copy(t, "v2-clean")
			storetest.Change(t, path, tt.change...)
			if found := storetest.Findings(t, path); slices.Contains(found, "error SC309 ") != tt.want {
				t.Errorf("found %q", found)
			}
		})
	}
	path := corpus.Copy(t, "v2-clean")
	storetest.Change(t, path, "update session_message set data = json_set(data, '$.model.id', 'claude-opus-4-5') where type = 'assistant'",
		`update session_message set data = json_set(data, '$.files', json('[{"mime":"image/svg+xml","uri":"data:image/svg+xml;base64,PHN2Zz4="}]')) where type = 'user'`)
	if plan, receipt, err := repairtest.Repair(path, "lossy"); err != nil || receipt != nil || len(plan.Refused) != 1 || !strings.Contains(plan.Refused[0].Why, "does not change the rows of the new core") {
		t.Errorf("%v %+v", err, plan)
	}
}
