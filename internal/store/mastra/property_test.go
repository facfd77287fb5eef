package mastra_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/player"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// The rows of a kind, one of which is damaged.
const (
	anyRow  = "(select id from mastra_messages order by rowid limit 1 offset %[1]d)"
	callRow = `(select id from mastra_messages where content like '%%"tool-invocation"%%' order by rowid limit 1 offset %[1]d)`
	rootRow = "coalesce((select id from mastra_threads where length(id) < 40 limit 1), 'none')"
)

// damages are what can be wrong with a database, each at one random row of a kind.
var damages = []string{
	"delete from mastra_messages where id = " + anyRow,
	"delete from mastra_threads where rowid = %[1]d",
	"insert or ignore into mastra_messages select 'again-%[1]d' || id, thread_id, content, role, type, createdAt, resourceId from mastra_messages where id = " + anyRow,
	"insert or ignore into mastra_messages select 'child-%[1]d' || id, coalesce((select max(id) from mastra_threads), 'none'), content, role, type, createdAt, resourceId from mastra_messages where id = " + anyRow,
	"update mastra_messages set resourceId = null where id = " + anyRow,
	"update mastra_messages set resourceId = 'user-bob' where id = " + anyRow,
	"update mastra_messages set thread_id = " + rootRow + " where id = " + anyRow,
	"update mastra_messages set thread_id = " + rootRow + ", resourceId = 'user-ada' where id = " + anyRow,
	"update mastra_messages set content = substr(content, 1, length(content) / 2) where id = " + anyRow,
	"update mastra_messages set content = 'null' where id = " + anyRow,
	"update mastra_messages set content = 'just words' where id = " + anyRow,
	"update mastra_messages set role = 'agent' where id = " + anyRow,
	"update mastra_messages set role = 'user' where id = " + callRow,
	"update mastra_messages set createdAt = '2026-11-22T09:00:00.100Z' where id = " + anyRow,
	"update mastra_messages set createdAt = 'yesterday' where id = " + anyRow,
	`update mastra_messages set content = replace(content, '"state":"result"', '"state":"call"') where id = ` + callRow,
	`update mastra_messages set content = replace(content, '"state":"result"', '"state":"partial-call"') where id = ` + callRow,
	`update mastra_messages set content = replace(content, '"toolCallId":"call_', '"toolCallId":"call_1_1') where id = ` + callRow,
	`update mastra_messages set content = replace(content, '"toolCallId":"', '"toolCallId":"same","odd":"') where id = ` + callRow,
	`update mastra_messages set content = replace(content, 'subAgentThreadId":"', 'subAgentThreadId":"gone') where id = ` + callRow,
	`update mastra_messages set content = replace(content, '"args":{', '"args":"torn","odd":{') where id = ` + callRow,
	"update mastra_messages set role = 'function' where id = " + callRow,
	"update mastra_threads set resourceId = '' where rowid = %[1]d",
	"update mastra_threads set createdAt = 'yesterday' where rowid = %[1]d",
	"insert or ignore into mastra_threads select 'clone%[1]d', resourceId, title, metadata, createdAt, updatedAt from mastra_threads where id = " + rootRow +
		"; insert or ignore into mastra_messages select 'clone%[1]d' || id, 'clone%[1]d', content, role, type, createdAt, resourceId from mastra_messages where thread_id = " + rootRow,
	`update mastra_messages set content = '{"format":2,"parts":[]}' where id = ` + anyRow,
	`update mastra_messages set content = '{"format":3,"parts":[]}' where id = ` + anyRow,
}

// damaged builds a file of programs whose runtime may have been killed, and damages it.
func damaged(t *rapid.T, path string) {
	seed, kill := rapid.Uint64Range(1, 1e6).Draw(t, "seed"), rapid.Uint64Range(0, 400).Draw(t, "kill")
	of := rapid.SampledFrom(releases).Draw(t, "release")
	of.leaks = rapid.Bool().Draw(t, "leaks")
	if err := build(path, of, player.PlayUntil(seed, kill), player.Play(player.RandomProgram(seed+1, 1), seed+1)); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, kill))
	var statements []string
	for range rapid.IntRange(0, 3).Draw(t, "damages") {
		statements = append(statements, fmt.Sprintf(rapid.SampledFrom(damages).Draw(t, "damage"), rng.IntN(12)))
	}
	storetest.Change(t, path, statements...)
}

// says is what a row says, without what a repair may change: ids of calls, what ends a call
// that had no end, and an object around arguments that are none.
func says(content string) string {
	var doc struct {
		Parts []struct {
			Type, Text string
			Tool       *struct {
				State, ToolName string
				Args, Result    json.RawMessage
			} `json:"toolInvocation"`
		}
	}
	if json.Unmarshal([]byte(content), &doc) != nil {
		return content
	}
	var text strings.Builder
	for _, p := range doc.Parts {
		if fmt.Fprint(&text, p.Type, p.Text); p.Tool != nil {
			var wrapped struct {
				Text json.RawMessage `json:"INVALID_JSON"`
			}
			args := p.Tool.Args
			if json.Unmarshal(args, &wrapped) == nil && wrapped.Text != nil {
				var text string
				_ = json.Unmarshal(wrapped.Text, &text) // a repair wrote it
				args = json.RawMessage(text)
			}
			fmt.Fprintf(&text, "%s%s", p.Tool.ToolName, args)
		}
	}
	return text.String()
}

// TestNothingIsLost: every row that was stored is, and says the same; or the receipt has it as it
// was. A new one is none: results stand in the rows of their calls.
func TestNothingIsLost(t *testing.T) {
	const query = "select id || char(0) || role || char(0) || content from mastra_messages"
	repairtest.NothingIsLost(t, func(t *rapid.T, path string) func(*repair.Receipt) {
		damaged(t, path)
		before := storetest.Query(t, path, query)
		return func(receipt *repair.Receipt) {
			now := map[string][2]string{}
			for _, line := range storetest.Query(t, path, query) {
				f := strings.SplitN(line, "\x00", 3)
				now[f[0]] = [2]string{f[1], f[2]}
			}
			var kept strings.Builder
			for _, b := range receipt.Batches {
				for _, k := range b.Kept {
					kept.WriteString(k.Text)
				}
			}
			for _, line := range before {
				f := strings.SplitN(line, "\x00", 3)
				is, there := now[f[0]]
				delete(now, f[0])
				switch {
				case !there && !strings.Contains(kept.String(), `"`+f[0]+`"`):
					t.Fatalf("%s is gone", line)
				case there && (is[0] != f[1] && (f[1] == "user" || is[0] != "assistant") || says(is[1]) != says(f[2])):
					t.Fatalf("%s says something else: %s", line, is)
				}
			}
			for id := range now {
				t.Fatalf("%s is new", id)
			}
		}
	})
}
