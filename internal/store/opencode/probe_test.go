package opencode_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// rowDamages are what happens to one row, of each table; %s is its id, in quotes.
func rowDamages(t *testing.T, path string) (list []string) {
	t.Helper()
	add := func(table string, statements ...string) {
		for _, id := range storetest.Query(t, path, "select quote(id) from "+table+" order by id") {
			for _, s := range statements {
				list = append(list, strings.ReplaceAll(strings.ReplaceAll(s, "TABLE", table), "@", id))
			}
			if table == "session" {
				continue
			}
			for _, member := range storetest.Query(t, path, "select fullkey from "+table+", json_tree(data) where "+table+".id = "+id+" and key is not null") {
				list = append(list, fmt.Sprintf("update or ignore %s set data = json_remove(data, '%s') where id = %s", table, member, id))
				for _, value := range []string{"null", "[]", "{}", "7", "true", `"x"`, `[1,{"a":null}]`} {
					list = append(list, fmt.Sprintf("update or ignore %s set data = json_set(data, '%s', json('%s')) where id = %s", table, member, value, id))
				}
			}
		}
	}
	odd := func(columns ...string) (list []string) {
		for _, c := range columns {
			for _, v := range []string{"null", "''", "0", "-1", "9223372036854775807", "1.5", "'x'", "x'00ff'", "'2026-01-01'"} {
				list = append(list, "update or ignore TABLE set "+c+" = "+v+" where id = @")
			}
		}
		return list
	}
	twin := func(column string) string {
		return "update or ignore TABLE set " + column + " = (select " + column + " from TABLE t where t.id <> @ order by id limit 1) where id = @"
	}
	add("message", slices.Concat([]string{"delete from TABLE where id = @", "update or ignore TABLE set session_id = 'ses_gone' where id = @", twin("session_id"), twin("data"), twin("time_created"), "update or ignore TABLE set id = id || x'00' where id = @"},
		odd("session_id", "time_created", "time_updated", "data", "id"))...)
	add("part", slices.Concat([]string{"delete from TABLE where id = @", "update or ignore TABLE set message_id = 'msg_gone' where id = @", twin("message_id"), twin("data"), twin("session_id"),
		"update or ignore TABLE set message_id = (select message_id from TABLE where session_id <> (select session_id from TABLE where id = @) limit 1) where id = @"},
		odd("message_id", "session_id", "time_created", "time_updated", "data", "id"))...)
	add("session", slices.Concat([]string{"delete from TABLE where id = @", twin("parent_id"), twin("title"), "update or ignore TABLE set parent_id = id where id = @", "update TABLE set parent_id = (select id from TABLE where id <> @) where id = @",
		`update or ignore TABLE set revert = json_object('messageID', (select max(id) from message where session_id = @)) where id = @`},
		odd("parent_id", "title", "time_created", "time_updated", "revert", "model", "id"))...)
	return list
}

// TestOneRow damages one row of a recorded database, in any way that a column or a member of
// its data can be wrong: a repair ends in order, a second one has nothing to do, and an undo
// gives back every row of every table.
func TestOneRow(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	names := []string{
		"aborted-child", "bad-arguments", "compaction", "fork", "killed-arguments", "killed-child", "killed-nested", "killed-stream", "provider-error",
		"revert-pending", "task", "task-parallel", "tools", "v2-killed-tool",
	}
	all, outcomes := map[string][]string{}, map[string]int{}
	for range campaign.Rounds(60, 1500) {
		name := names[rng.IntN(len(names))]
		if all[name] == nil {
			all[name] = rowDamages(t, corpus.Copy(t, name))
		}
		outcomes[probe(t, name, all[name][rng.IntN(len(all[name]))])]++
	}
	t.Log(outcomes)
}

// probe says what becomes of one damage.
func probe(t *testing.T, name, damage string) (outcome string) {
	t.Helper()
	path := corpus.Copy(t, name)
	at := name + ": " + damage
	storetest.Change(t, path, "pragma foreign_keys = off", damage)
	before := storetest.Dump(t, path)
	for _, allow := range [][]string{nil, {"unknown-form"}} {
		plan, receipt, err := repairtest.Repair(path, allow...)
		switch {
		case err != nil:
			t.Errorf("%s\n%v%s", at, err, repairtest.Told(plan))
			outcome += " failed"
		case receipt == nil:
			outcome += " nothing"
		default:
			outcome += " repaired"
			if again, r, err := repairtest.Repair(path, allow...); err != nil || r != nil {
				t.Errorf("%s\na second repair has work after%s\n%v%s", at, repairtest.Told(plan), err, repairtest.Told(again))
			} else if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
				t.Errorf("%s\nundo: %v%s", at, err, repairtest.Told(plan))
			}
			_ = os.Remove(receipt.Path())
			_ = os.Remove(path + ".backup")
		}
		if after := storetest.Dump(t, path); !slices.Equal(before, after) {
			t.Errorf("%s\nis not as before%s %s", at, repairtest.Told(plan), cmp.Diff(before, after))
			return outcome
		}
	}
	return outcome
}
