package crush_test

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
	"github.com/sessctl/sessctl/internal/store/crush/crushtest"
	"github.com/sessctl/sessctl/internal/store/player"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// damages are what can be wrong with a database, each at one random row of a kind.
var damages = []string{
	"delete from messages where id = (select id from messages where role = 'tool' order by id limit 1 offset %d)",
	"delete from messages where id = (select id from messages where role = 'assistant' order by id limit 1 offset %d)",
	"delete from messages where id = (select id from messages order by id limit 1 offset %d)",
	"insert or ignore into messages (id, session_id, role, parts, model, created_at, updated_at) select id || '-again', session_id, role, parts, model, created_at, updated_at from messages where role = 'tool' order by id limit 1 offset %d",
	"insert or ignore into messages (id, session_id, role, parts, model, created_at, updated_at) select id || '-later', session_id, role, replace(parts, 'result', 'another'), model, created_at + 9, updated_at from messages where role = 'tool' order by id limit 1 offset %d",
	"update messages set created_at = created_at + 3 where id = (select id from messages where role = 'tool' order by id limit 1 offset %d)",
	"update messages set created_at = created_at - 3 where id = (select id from messages where role = 'tool' order by id limit 1 offset %d)",
	"update messages set parts = substr(parts, 1, length(parts) / 2) where id = (select id from messages order by id limit 1 offset %d)",
	`update messages set parts = replace(parts, '"input":"{', '"input":"') where id = (select id from messages where role = 'assistant' order by id limit 1 offset %d)`,
	"update messages set session_id = (select parent_session_id from sessions s where s.id = session_id) where id = (select m.id from messages m join sessions s on s.id = m.session_id where parent_session_id is not null order by m.id limit 1 offset %d)",
	"update sessions set parent_session_id = 'gone' where id = (select id from sessions where parent_session_id is not null order by id limit 1 offset %d)",
	"update sessions set summary_message_id = 'gone' where id = (select id from sessions order by id limit 1 offset %d)",
	"update sessions set message_count = message_count + 3 where id = (select id from sessions order by id limit 1 offset %d)",
	`update messages set parts = '[{"type":"text","data":{"text":" "}},{"type":"finish","data":{"reason":"stop","time":0}}]' where id = (select id from messages where role = 'user' order by id limit 1 offset %d)`,
}

// damaged builds a store of a program whose runtime may have been killed, and damages it.
func damaged(t *rapid.T, path string) {
	seed, kill := rapid.Uint64Range(1, 1e6).Draw(t, "seed"), rapid.Uint64Range(0, 400).Draw(t, "kill")
	other := player.Play(player.RandomProgram(seed+1, 1), seed+1)
	if err := crushtest.Build(path, crushtest.Generations[rapid.SampledFrom([]int{1, 4, 6, 6}).Draw(t, "generation")], player.PlayUntil(seed, kill), other); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, kill))
	var statements []string
	for range rapid.IntRange(0, 3).Draw(t, "damages") {
		s := rapid.SampledFrom(damages).Draw(t, "damage")
		statements = append(statements, fmt.Sprintf(s, rng.IntN(12)))
	}
	storetest.Change(t, path, statements...)
}

var ofRow = regexp.MustCompile(`^message '([^']*)'`)

// byID are the stored messages.
func byID(lines []string) map[string]string {
	rows := map[string]string{}
	for _, line := range lines {
		if m := ofRow.FindStringSubmatch(line); m != nil {
			rows[m[1]] = line
		}
	}
	return rows
}

// nothingIsLost: every message that was stored is, and says the same; or the receipt has
// it as it was. A new one is a result that says who wrote it, or a sub-session's answer.
func nothingIsLost(t *rapid.T, before, after []string, receipt *repair.Receipt) {
	kept := map[string]string{}
	for _, b := range receipt.Batches {
		for _, k := range b.Kept {
			id, _, _ := strings.Cut(strings.TrimPrefix(k.Row, "messages/"), "#")
			kept[id] += k.Text
		}
	}
	was, is := byID(before), byID(after)
	parts := func(line string) string {
		_, said, _ := strings.Cut(line, "'[")
		said, _, _ = strings.Cut(said, "''")
		return said
	}
	for id, line := range was {
		now, there := is[id]
		if there && parts(now) == parts(line) {
			continue
		}
		if !strings.Contains(kept[id], id) {
			t.Fatalf("%s\nis gone or says something else:\n%s\nand the receipt has %q", line, now, kept[id])
		}
	}
	for id, line := range is {
		if was[id] == "" && !strings.Contains(line, `tool'[{"type":"tool_result"`) {
			t.Fatalf("%s is new", line)
		}
	}
}

func TestNothingIsLost(t *testing.T) {
	repairtest.NothingIsLost(t, func(t *rapid.T, path string) func(*repair.Receipt) {
		damaged(t, path)
		before, count := stored(t, path), storetest.Query(t, path, counted)
		return func(receipt *repair.Receipt) {
			nothingIsLost(t, before, stored(t, path), receipt)
			for _, b := range receipt.Batches {
				for _, s := range b.Sessions {
					if n := slices.IndexFunc(count, func(line string) bool { return strings.HasPrefix(line, s.ID+" ") }); n >= 0 {
						count[n] = s.ID + " 0"
					}
				}
			}
			if now := storetest.Query(t, path, counted); !slices.Equal(now, count) {
				t.Fatalf("messages are counted %v, want %v", now, count)
			}
		}
	})
}

// counted is by how many message_count is wrong, of every session.
const counted = "select id || ' ' || (message_count - (select count(*) from messages where session_id = s.id)) from sessions s order by id"
