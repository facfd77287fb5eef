package goose_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// ofARow are small damages of one row, and ofASession of one session.
var (
	ofARow = []string{
		"delete from messages where id = %s",
		"update messages set role = case role when 'user' then 'assistant' else 'user' end where id = %s",
		"update messages set role = 'system' where id = %s",
		"update messages set created_timestamp = created_timestamp + 3 where id = %s",
		"update messages set created_timestamp = created_timestamp - 3 where id = %s",
		"update messages set created_timestamp = created_timestamp * 1000 where id = %s",
		"update messages set content_json = substr(content_json, 1, length(content_json) / 2) where id = %s",
		"update messages set content_json = '[]' where id = %s",
		"update messages set content_json = '{}' where id = %s",
		`update messages set content_json = '[{"type":"text","text":"It is 42."}]' where id = %s`,
		`update messages set content_json = '[{"type":"text","text":" "}]' where id = %s`,
		"update messages set content_json = replace(content_json, 'call_', 'cull_') where id = %s",
		"update messages set content_json = cast(replace(cast(content_json as blob), '4', x'fe') as text) where id = %s",
		"update messages set metadata_json = null where id = %s",
		`update messages set metadata_json = '{"userVisible":false,"agentVisible":true}' where id = %s`,
		`update messages set metadata_json = '{"userVisible":false,"agentVisible":false}' where id = %s`,
		`update messages set metadata_json = '{"agentVisible":false}' where id = %s`,
		"update messages set id = id + 1000 where id = %s",
		"insert into messages (message_id, session_id, role, content_json, created_timestamp, timestamp, metadata_json) select message_id, session_id, role, content_json, created_timestamp, timestamp, metadata_json from messages where id = %s",
	}
	ofASession = []string{
		"delete from sessions where id = %s",
		"delete from messages where session_id = %s",
		"update sessions set session_type = 'user' where id = %s",
		"update sessions set session_type = 'sub_agent' where id = %s",
		"update sessions set parent_session_id = null where id = %s",
		"update sessions set parent_session_id = id where id = %s",
	}
)

// smallDamages are those of each row and session of a store, and what near rows swap.
func smallDamages(t *testing.T, path string) (list []string) {
	ids := storetest.Query(t, path, "select id from messages order by id")
	sessions := storetest.Query(t, path, "select quote(id) from sessions order by id")
	for i, id := range ids {
		for _, damage := range ofARow {
			list = append(list, fmt.Sprintf(damage, id))
		}
		for _, s := range sessions {
			list = append(list, "update messages set session_id = "+s+" where id = "+id)
		}
		for _, other := range ids[i+1 : min(i+4, len(ids))] {
			for _, column := range []string{"content_json", "session_id", "role", "created_timestamp", "metadata_json"} {
				list = append(list, fmt.Sprintf("update messages set %[1]s = (select %[1]s from messages o where o.id = %[2]s + %[3]s - messages.id) where id in (%[2]s, %[3]s)", column, id, other))
			}
		}
	}
	for _, s := range sessions {
		for _, damage := range ofASession {
			list = append(list, fmt.Sprintf(damage, s))
		}
	}
	return list
}

// TestSmallDamages: whatever small is wrong with a store, what a repair plans is what is read
// then, a second one finds nothing to do, and an undo gives what was there.
func TestSmallDamages(t *testing.T) {
	stores, err := filepath.Glob("../../../../shared/corpus/goose/*.db")
	reports, _ := filepath.Glob("../../../../shared/cases/reports/*goose*/*.db")
	if stores = slices.Concat(stores, reports); err != nil || len(stores) == 0 {
		t.Skip("the shared corpus is not beside this checkout")
	}
	tried, all, stride := 0, 0, 15000/campaign.Rounds(100, 15000)
	for _, from := range stores {
		if filepath.Base(filepath.Dir(from)) == "goose-foreign-wal" {
			continue
		}
		model, folder := storetest.Copy(t, from, t.TempDir()), t.TempDir()
		storetest.Change(t, model, "select 1") // folds the log into it
		for _, damage := range smallDamages(t, model) {
			if all++; all%stride != 0 {
				continue
			}
			tried++
			path := storetest.Copy(t, model, folder)
			storetest.Change(t, path, "pragma foreign_keys = off; "+damage)
			before := storetest.Dump(t, path)
			plan, receipt, err := repairtest.Repair(path)
			if err != nil {
				t.Errorf("%s: %s: %v%s", from, damage, err, repairtest.Told(plan))
			} else if receipt != nil {
				if again, _, err := repairtest.Plan(path); err != nil || !again.IsEmpty() {
					t.Errorf("%s: %s: once more: %v%s\nbehind %s", from, damage, err, repairtest.Told(again), repairtest.Told(plan))
				}
				if _, err := repairtest.Undo(path, receipt.Path()); err != nil || !slices.Equal(before, storetest.Dump(t, path)) {
					t.Errorf("%s: %s: the undo: %v", from, damage, err)
				}
			}
			for _, suffix := range []string{"", "-wal", "-shm", ".backup", ".receipt.json"} {
				_ = os.Remove(path + suffix)
			}
		}
	}
	t.Logf("%d of %d damages were tried", tried, all)
}
