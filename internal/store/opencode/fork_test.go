package opencode_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/store/storetest"
)

// fork copies a session as opencode 1.18.33 did when it was asked to fork corpus databases: new
// ids, the times of the messages and all of the parts as they are, the sub-session that a call names
// with the rest, and no link to the session that it was copied from.
func fork(t *testing.T, path, of, suffix string) {
	t.Helper()
	id := func(column string) string { return fmt.Sprintf("%s || '%s'", column, suffix) }
	storetest.Change(t, path,
		"create table copied as select * from session where id = "+of,
		"update copied set id = "+id("id")+", parent_id = null, slug = slug || '-"+suffix+"', title = title || ' (fork #1)', time_created = time_created + 1000, time_updated = time_updated + 1000",
		"insert into session select * from copied", "drop table copied",
		"insert into message (id, session_id, time_created, time_updated, data) select "+id("id")+", "+id("session_id")+", time_created, time_updated + 1000, case when data like '%\"parentID\"%' then json_set(data, '$.parentID', "+id("json_extract(data, '$.parentID')")+") else data end from message where session_id = "+of,
		"insert into part (id, message_id, session_id, time_created, time_updated, data) select "+id("id")+", "+id("message_id")+", "+id("session_id")+", time_created + 1000, time_updated + 1000, data from part where session_id = "+of)
}

// TestFork: forks whose calls name the sub-session of the original are sessions of their own, and
// nothing is wrong with them, also where the original was reverted since. A sub-session that two
// conversations really share is found, whatever the ids of their calls.
func TestFork(t *testing.T) {
	const (
		root = "(select id from session where parent_id is null order by time_created limit 1)"
		call = "(select id from part where data like '%\"tool\":\"task\"%' and session_id = " + root + ")"
	)
	for name, tt := range map[string]struct {
		database string
		change   []string
		want     []string
	}{
		"two forks":                 {"task", nil, nil},
		"of two sub-sessions":       {"task-parallel", nil, nil},
		"the original was reverted": {"task", []string{"delete from part where id = " + call}, []string{"info SC301 "}},
		"the fork asked anew, and the server gave the id again": {"task", []string{
			"update message set time_created = time_created + 60000 where session_id = " + root + " || 'A' and id in (select message_id from part where data like '%\"tool\":\"task\"%')",
		}, []string{"error SC727 "}},
		"damage in the original": {"killed-child", nil, []string{
			"info SC407 ", "info SC407 ", "info SC407 ", "info SC407 ", "warning SC101 call_kc_0_0", "warning SC101 call_kc_0_0", "warning SC101 call_kc_0_0", "warning SC101 call_kcc_0_0",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			path := corpus.Copy(t, tt.database)
			fork(t, path, root, "A")
			fork(t, path, root, "B")
			storetest.Change(t, path, tt.change...)
			if found := storetest.Findings(t, path); !slices.Equal(found, tt.want) {
				t.Errorf("found %q, want %q", found, tt.want)
			}
			var heads []string
			_, sessions := storetest.Opened(t, path)
			for id, s := range sessions {
				if s.Parent == "" {
					heads = append(heads, strings.TrimPrefix(id, "ses_"))
				}
			}
			if len(heads) != 3 {
				t.Errorf("sessions of their own: %q", heads)
			}
		})
	}
}
