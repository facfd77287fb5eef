package openaiagents_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/openaiagents"
	"github.com/sessctl/sessctl/internal/store/player"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

func built(t *testing.T, of form, programs ...[]player.Write) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agents.db")
	if err := build(path, of, programs...); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBuiltConform(t *testing.T) {
	var samples []storetest.Sample
	for _, of := range forms {
		samples = append(samples, storetest.Sample{Name: string(of), Make: func(t *testing.T, folder string) string {
			path := filepath.Join(folder, "agents.db")
			if err := build(path, of, player.PlayUntil(1, 0), player.PlayUntil(2, 30), player.PlayUntil(3, 0), player.PlayUntil(4, 11)); err != nil {
				t.Fatal(err)
			}
			return path
		}})
	}
	storetest.Run(t, openaiagents.Kind, samples...)
}

// TestHealthy: of what the SDK stores where nothing goes wrong, or where it is killed, nothing is said
// above info.
func TestHealthy(t *testing.T) {
	found := map[string]int{}
	for seed := range uint64(campaign.Rounds(40, 1000)) {
		path := built(t, forms[seed%4], player.PlayUntil(seed, 0), player.PlayUntil(seed+1, seed*7919))
		for _, f := range storetest.Findings(t, path) {
			rule, _, _ := strings.Cut(f[strings.Index(f, " ")+1:], " ")
			if found[rule]++; !strings.HasPrefix(f, "info") {
				t.Errorf("seed %d: %s", seed, f)
			}
		}
	}
	t.Log(found)
}

// TestOtherTables: tables of somebody else in the file change nothing, and those of kagent are not the
// SDK's.
func TestOtherTables(t *testing.T) {
	path := built(t, custom, player.PlayUntil(1, 0), player.PlayUntil(2, 0))
	storetest.Change(t, path, `update "chat rows" set session_id = (select session_id from agent_sessions)`, `update chats set session_id = (select session_id from agent_sessions)`,
		"create table session (id text primary key, name text, user_id text, created_at text, updated_at text, deleted_at text, agent_id text)",
		"create table notes (id integer primary key, session_id text, message_data text)")
	facts, sessions := storetest.Opened(t, path)
	if facts.Kind != "openai-agents" || len(sessions) != 2 {
		t.Errorf("%s with %d sessions", facts.Kind, len(sessions))
	}
	ids := []string{}
	for id := range sessions {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	if !strings.HasPrefix(ids[0], "agent_messages/") || !strings.HasPrefix(ids[1], "chat rows/") {
		t.Errorf("they are called %q", ids)
	}
}

// TestEncrypted: what nobody can read is told, and not judged.
func TestEncrypted(t *testing.T) {
	path := built(t, plain, player.PlayUntil(1, 0))
	storetest.Change(t, path, `update agent_messages set message_data = '{"__enc__":1,"v":1,"kid":"hkdf-v1","payload":"gAAAA"}' where id > 2`)
	if found := storetest.Findings(t, path); !slices.Contains(found, "info SC002 ") || slices.ContainsFunc(found, func(f string) bool { return !strings.HasPrefix(f, "info") }) {
		t.Errorf("found %q", found)
	}
	storetest.Change(t, path, `update agent_messages set message_data = '{"__enc__":1,"v":1,"kid":"hkdf-v1","payload":"gAAAA"}'`)
	if found := slices.Compact(storetest.Findings(t, path)); !slices.Equal(found, []string{"info SC002 "}) {
		t.Errorf("of encrypted messages alone: %q", found)
	}
}

// TestEncryptedResults: a call whose result is encrypted gets no other one.
func TestEncryptedResults(t *testing.T) {
	path := built(t, plain, player.Play(player.RandomProgram(3, 2), 3))
	storetest.Change(t, path, `update agent_messages set message_data = '{"__enc__":1,"v":1,"kid":"hkdf-v1","payload":"gAAAA"}' where message_data like '%_call_output"%'`)
	found := storetest.Findings(t, path)
	lacks := func(f string) bool { return strings.HasPrefix(f, "warning SC101 ") }
	if !slices.ContainsFunc(found, lacks) || slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(f, "error") }) {
		t.Errorf("found %q", found)
	}
	if plan, _, err := repairtest.Plan(path, "lossy", "guesses"); err != nil || !plan.IsEmpty() {
		t.Errorf("a plan of %q, %v", repairtest.Told(plan), err)
	}
}
