package opencode_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/opencode/opencodetest"
	"github.com/sessctl/sessctl/internal/store/player"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// damages are what can be wrong with a database, each at one random row of a kind.
var damages = []string{
	`update part set data = json_set(json_remove(data, '$.state.output', '$.state.error', '$.state.time.end'), '$.state.status', 'running') where id = (select id from part where json_valid(data) and data like '%%"type":"tool"%%' order by id limit 1 offset %d)`,
	`update part set data = json_set(data, '$.callID', (select json_extract(p.data, '$.callID') from part p where p.message_id = part.message_id and json_valid(p.data) and p.data like '%%"type":"tool"%%' order by id limit 1)) where id = (select id from part where json_valid(data) and data like '%%"type":"tool"%%' order by id limit 1 offset %d)`,
	"update part set data = substr(data, 1, length(data) / 2) where id = (select id from part order by id limit 1 offset %d)",
	"update message set data = substr(data, 1, length(data) / 2) where id = (select id from message order by id limit 1 offset %d)",
	"update part set data = '[]' where id = (select id from part order by id limit 1 offset %d)",
	`update message set data = '{"role":["user"]}' where id = (select id from message order by id limit 1 offset %d)`,
	"delete from part where id = (select id from part order by id limit 1 offset %d)",
	"delete from message where id = (select id from message order by id desc limit 1 offset %d)",
	"update message set session_id = (select parent_id from session s where s.id = session_id) where id = (select m.id from message m join session s on s.id = m.session_id where parent_id is not null order by m.id limit 1 offset %d)",
	"update session set parent_id = 'ses_gone' where id = (select id from session where parent_id is not null order by id limit 1 offset %d)",
	"update session set parent_id = id where id = (select id from session order by id limit 1 offset %d)",
	`update session set revert = json_object('messageID', (select id from message where session_id = session.id order by id desc limit 1)) where id = (select id from session order by id limit 1 offset %d)`,
	`update part set data = json_set(data, '$.text', '') where id = (select id from part where json_valid(data) and data like '%%"type":"text"%%' order by id limit 1 offset %d)`,
	"update message set data = json_remove(data, '$.time.completed') where id = (select id from message where json_valid(data) order by id limit 1 offset %d)",
	"update message set data = json_set(data, '$.parentID', 'msg_gone') where id = (select id from message where json_valid(data) and data like '%%\"assistant\"%%' order by id limit 1 offset %d)",
	"update message set time_created = time_created + 4000 where id = (select id from message order by id limit 1 offset %d)",
	`update part set data = json_remove(data, '$.state.metadata') where id = (select id from part where json_valid(data) and data like '%%"tool":"task"%%' order by id limit 1 offset %d)`,
}

// damaged builds a store of a program whose runtime may have been killed, and damages it.
// It gives back the sessions that messages were in.
func damaged(t *rapid.T, path string) map[string]string {
	seed, kill := rapid.Uint64Range(1, 1e6).Draw(t, "seed"), rapid.Uint64Range(0, 400).Draw(t, "kill")
	if err := opencodetest.Build(path, player.PlayUntil(seed, kill), player.PlayUntil(seed+1, 0)); err != nil {
		t.Fatal(err)
	}
	homes := map[string]string{}
	for _, line := range storetest.Query(t, path, "select id || ' ' || session_id from message") {
		id, home, _ := strings.Cut(line, " ")
		homes[id] = home
	}
	rng := rand.New(rand.NewPCG(seed, kill))
	var statements []string
	for range rapid.IntRange(0, 3).Draw(t, "damages") {
		s := rapid.SampledFrom(damages).Draw(t, "damage")
		statements = append(statements, fmt.Sprintf(s, rng.IntN(12)))
	}
	storetest.Change(t, path, statements...)
	return homes
}

var ofRow = regexp.MustCompile(`^(message|part) '([^']*)'(?:'msg_[^']*')?'([^']*)'`)

// byID are the stored messages and parts.
func byID(lines []string) map[string]string {
	rows := map[string]string{}
	for _, line := range lines {
		if m := ofRow.FindStringSubmatch(line); m != nil {
			rows[m[2]] = line
		}
	}
	return rows
}

// edits are what a repair changes in a row: its session, the id of a call, how far it came,
// and the end of a text or of a message.
var edits = regexp.MustCompile(`'ses_[0-9a-f]{26}'|"callID":"[^"]*"|"state":\{.*|,"end":\d+|,"completed":\d+|,"error":\{"name":"MessageAbortedError".*|\}|'\d+ \d+$`)

// nothingIsLost: every row that was stored is, and says the same but for what a repair
// changes there; or the receipt has it as it was. Nothing is new, and what another session
// has now went home.
func nothingIsLost(t *rapid.T, homes map[string]string, before, after []string, receipt *repair.Receipt) {
	var kept strings.Builder
	for _, b := range receipt.Batches {
		for _, k := range b.Kept {
			kept.WriteString(k.Text)
		}
	}
	was, is := byID(before), byID(after)
	said := func(line string) string { return edits.ReplaceAllString(line, "") }
	for id, line := range was {
		if now, there := is[id]; there && said(now) != said(line) || !there && !strings.Contains(kept.String(), id) {
			t.Fatalf("%s\nis gone or says something else:\n%s\nand the receipt has %q", line, now, kept.String())
		}
	}
	for id, line := range is {
		if was[id] == "" {
			t.Fatalf("%s is new", line)
		}
		if old, now := ofRow.FindStringSubmatch(was[id])[3], ofRow.FindStringSubmatch(line)[3]; strings.HasPrefix(line, "message") && now != old && now != homes[id] {
			t.Fatalf("%s\nis in session %s, and was stored in %s", line, now, homes[id])
		}
		if input := regexp.MustCompile(`"input":(\{[^}]*\})`).FindString(was[id]); input != "" && !strings.Contains(line, input) {
			t.Fatalf("%s\nhas lost its arguments:\n%s", was[id], line)
		}
		if output := regexp.MustCompile(`"output":"[^"]*",`).FindString(was[id]); output != "" && !strings.Contains(line, output) {
			t.Fatalf("%s\nhas lost its output:\n%s", was[id], line)
		}
	}
}

func TestNothingIsLost(t *testing.T) {
	repairtest.NothingIsLost(t, func(t *rapid.T, path string) func(*repair.Receipt) {
		homes := damaged(t, path)
		before := stored(t, path)
		return func(receipt *repair.Receipt) { nothingIsLost(t, homes, before, stored(t, path), receipt) }
	})
}
