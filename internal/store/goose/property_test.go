package goose_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/goose/goosetest"
	"github.com/sessctl/sessctl/internal/store/player"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// The rows of a kind, one of which is damaged.
const (
	anyRow  = "(select id from messages order by id limit 1 offset %d)"
	callRow = `(select id from messages where role = 'assistant' and content_json like '%%"toolRequest"%%' order by id limit 1 offset %d)`
	answer  = `(select id from messages where role = 'user' and content_json like '%%"toolResponse"%%' order by id limit 1 offset %d)`
)

// damages are what can be wrong with a database, each at one random row of a kind.
var damages = []string{
	"delete from messages where id = " + answer,
	"delete from messages where id = " + callRow,
	"delete from messages where id = " + anyRow,
	"insert into messages (session_id, role, content_json, created_timestamp) select session_id, role, content_json, created_timestamp from messages where id = " + answer,
	"insert into messages (session_id, role, content_json, created_timestamp) select session_id, role, replace(content_json, 'result', 'another'), created_timestamp + 9 from messages where id = " + answer,
	"update messages set created_timestamp = created_timestamp + 3 where id = " + answer,
	"update messages set created_timestamp = created_timestamp - 3 where id = " + answer,
	"update messages set created_timestamp = created_timestamp * 1000 where id = " + anyRow,
	"update messages set content_json = substr(content_json, 1, length(content_json) / 2) where id = " + anyRow,
	"update messages set content_json = replace(content_json, 'toolResponse', 'fromLater') where id = " + answer,
	"update messages set role = 'assistant' where id = " + answer,
	"update messages set role = 'user' where id = " + callRow,
	"update messages set role = 'system' where id = " + anyRow,
	"update messages set session_id = '20261122_1' where id = " + anyRow,
	"update messages set content_json = replace(content_json, 'subagent_session_id\":\"', 'subagent_session_id\":\"gone') where id = " + answer,
	"update messages set content_json = '[{\"type\":\"text\",\"text\":\" \"}]' where id = " + anyRow,
	"update sessions set working_dir = '/' where rowid = %d",
}

// hides are damages of versions that can hide messages, and parented of those that keep
// the parents of sub-sessions.
var (
	hides    = []string{"update messages set metadata_json = '{\"agentVisible\":false}' where id = " + answer, "update messages set metadata_json = null where id = " + anyRow}
	parented = []string{"update sessions set parent_session_id = 'gone' where rowid = %d", "update sessions set parent_session_id = null where rowid = %d"}
)

// damaged builds a store of a program whose runtime may have been killed, and damages it.
func damaged(t *rapid.T, path string) {
	seed, kill := rapid.Uint64Range(1, 1e6).Draw(t, "seed"), rapid.Uint64Range(0, 400).Draw(t, "kill")
	version := rapid.SampledFrom([]int{1, 6, 9, 15, 16, 16, 17}).Draw(t, "version")
	other := player.Play(player.RandomProgram(seed+1, 1), seed+1)
	if err := goosetest.Build(path, version, player.PlayUntil(seed, kill), other); err != nil {
		t.Fatal(err)
	}
	possible := damages
	if version >= 3 {
		possible = slices.Concat(possible, hides)
	}
	if version >= 15 {
		possible = slices.Concat(possible, parented)
	}
	rng := rand.New(rand.NewPCG(seed, kill))
	var statements []string
	for range rapid.IntRange(0, 3).Draw(t, "damages") {
		statements = append(statements, fmt.Sprintf(rapid.SampledFrom(possible).Draw(t, "damage"), rng.IntN(12)))
	}
	storetest.Change(t, path, statements...)
}

// kept matches a message that a receipt keeps by its number.
var kept = regexp.MustCompile(`^messages/(\d+)`)

// counted counts the stored messages by what they say. Where they stand is not a part of
// that: a repair puts messages of sub-agents back into their sessions.
func counted(t storetest.Tester, path string) map[string]int {
	count := map[string]int{}
	for _, line := range storetest.Query(t, path, "select role || quote(content_json) from messages") {
		count[line]++
	}
	return count
}

// nothingIsLost: every message that was stored is, and says the same; or the receipt has it
// as it was. A new one is a result that says who wrote it, or that was a part of another.
func nothingIsLost(t *rapid.T, path string, before map[string]int, byID map[string]string, receipt *repair.Receipt) {
	now := counted(t, path)
	for _, b := range receipt.Batches {
		for _, k := range b.Kept {
			m := kept.FindStringSubmatch(k.Row)
			if m == nil {
				continue
			}
			if line := byID[m[1]]; line != "" && strings.Contains(k.Text, `"id":`+m[1]) {
				delete(byID, m[1])
				before[line]--
			}
		}
	}
	for line, n := range before {
		if now[line] < n {
			t.Fatalf("%s\nis gone, or says something else", line)
		}
	}
	for line, n := range now {
		if n > max(before[line], 0) && !strings.Contains(line, `[{"type":"toolResponse"`) && !strings.Contains(line, "[sessctl]") {
			if strings.Contains(line, "toolRequest") || !strings.Contains(line, "toolResponse") {
				t.Fatalf("%s\nis new", line)
			}
		}
	}
}

func TestNothingIsLost(t *testing.T) {
	repairtest.NothingIsLost(t, func(t *rapid.T, path string) func(*repair.Receipt) {
		damaged(t, path)
		count, byID := counted(t, path), map[string]string{}
		for _, line := range storetest.Query(t, path, "select id || ' ' || role || quote(content_json) from messages") {
			id, row, _ := strings.Cut(line, " ")
			byID[id] = row
		}
		return func(receipt *repair.Receipt) { nothingIsLost(t, path, count, byID, receipt) }
	})
}
