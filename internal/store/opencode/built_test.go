package opencode_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/opencode"
	"github.com/sessctl/sessctl/internal/store/opencode/opencodetest"
	"github.com/sessctl/sessctl/internal/store/player"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// build writes a database in a folder.
func build(t *testing.T, folder string, programs ...[]player.Write) string {
	t.Helper()
	path := filepath.Join(folder, "opencode.db")
	if err := opencodetest.Build(path, programs...); err != nil {
		t.Fatal(err)
	}
	return path
}

// second are the statements that make a database one of opencode 2: its tables, what it
// took over, and one session of its own.
var second = []string{
	"create table session_v2 as select id, project_id, parent_id, slug, directory, title, version, revert, model, time_created, time_updated, null as fork_session_id, null as time_suspended from session",
	"create table kv (key text primary key, value text)",
	`insert into kv values ('migration.v1-v2', '{"phase":"done"}')`,
	"insert into session_v2 (id, title, time_created, time_updated) values ('ses_new', 'New', 1795355718928, 1795355718928)",
	`insert into session_message (id, session_id, type, seq, time_created, time_updated, data) values ('msg_a', 'ses_new', 'user', 2, 1795355718928, 1795355718928, '{"time":{"created":1},"text":"Go on"}'),
		('msg_b', 'ses_new', 'assistant', 3, 1795355718929, 1795355718929, '{"agent":"build","time":{"created":1,"completed":2},"content":[{"type":"text","text":"Done."}]}')`,
}

func TestBuiltConform(t *testing.T) {
	sample := func(name string, statements ...string) storetest.Sample {
		return storetest.Sample{Name: name, Make: func(t *testing.T, folder string) string {
			path := build(t, folder, player.PlayUntil(1, 0), player.PlayUntil(2, 30), player.PlayUntil(3, 0), player.PlayUntil(4, 11))
			storetest.Change(t, path, statements...)
			return path
		}}
	}
	storetest.Run(t, opencode.Kind, sample("opencode 1"), sample("opencode 2", second...),
		sample("opencode 2 alone", append(slices.Clone(second), "drop table part", "drop table message", "drop table session")...),
		sample("opencode 2 beside opencode 1", append(slices.Clone(second), "delete from session_v2 where id <> 'ses_new'", "delete from kv")...))
}

// TestHealthy: of what opencode stores where nothing goes wrong nothing is said above info.
func TestHealthy(t *testing.T) {
	for seed := range uint64(campaign.Rounds(30, 1000)) {
		for _, f := range storetest.Findings(t, build(t, t.TempDir(), player.PlayUntil(seed, 0))) {
			if !strings.HasPrefix(f, "info") && !strings.Contains(f, "SC309") { // the provider may refuse the last requests
				t.Errorf("seed %d: %s", seed, f)
			}
		}
	}
}

// ofAKill is what a kill can leave behind.
var ofAKill = regexp.MustCompile(`^info|SC101|SC407|SC716|SC401|SC402`)

func TestKilled(t *testing.T) {
	found := map[string]int{}
	for seed := range uint64(campaign.Rounds(60, 2000)) {
		for _, f := range storetest.Findings(t, build(t, t.TempDir(), player.PlayUntil(seed, 1+seed*7919))) {
			found[f[:strings.LastIndex(f, " ")]]++
			if !ofAKill.MatchString(f) {
				t.Errorf("seed %d: %s", seed, f)
			}
		}
	}
	t.Log(found)
}

// TestSecond: what the setting of opencode 2 says decides whether sessions of opencode 1
// are read, and how many are hidden is said.
func TestSecond(t *testing.T) {
	root := opencodetest.ID(player.PlayUntil(1, 0)[0].Session)
	for name, tt := range map[string]struct {
		statements []string
		lost, old  bool
	}{
		"all taken over": {nil, false, false},
		"one left":       {[]string{"delete from session_v2 where id = '" + root + "'"}, true, false},
		"not upgraded":   {[]string{"delete from session_v2 where id <> 'ses_new'", "delete from kv"}, false, true},
	} {
		path := build(t, t.TempDir(), player.PlayUntil(1, 0))
		storetest.Change(t, path, append(slices.Clone(second), tt.statements...)...)
		facts, sessions := storetest.Opened(t, path)
		if s := sessions["ses_new"]; s == nil || len(s.Items) != 2 {
			t.Errorf("%s: the session of opencode 2 is %+v", name, s)
		}
		if s := sessions[root]; tt.old != (s != nil && len(s.Items) > 0) {
			t.Errorf("%s: the session of opencode 1 is %+v", name, s)
		}
		if facts.ReadOnly == "" || tt.old != (len(facts.Faults) == 0) || !tt.old && (facts.Faults[0].Kind != session.Housekeeping || facts.Faults[0].Lost != tt.lost) {
			t.Errorf("%s: got %q and %+v", name, facts.ReadOnly, facts.Faults)
		}
	}
}

// TestLater: tables that a newer opencode changed, or that lost the table which tells what
// wrote them, are read, and not repaired.
func TestLater(t *testing.T) {
	for _, statement := range []string{
		"insert into migration values ('20270101000000_later', 1)", "drop table migration", "alter table message add column agent_id text default ''; update message set agent_id = 'main'",
	} {
		path := build(t, t.TempDir(), player.PlayUntil(1, 0))
		storetest.Change(t, path, strings.Split(statement, "; ")...)
		facts, sessions := storetest.Opened(t, path)
		if len(sessions) == 0 || facts.ReadOnly == "" || !slices.ContainsFunc(facts.Faults, func(f session.Fault) bool { return f.Kind == session.SchemaUnknown }) {
			t.Errorf("%s: got %+v", statement, facts)
		}
	}
}

// TestJournals: the journal of migrations tells the generation, whatever an older one beside
// it has; where only that one is left, the tables are those that are known.
func TestJournals(t *testing.T) {
	const older = "create table __drizzle_migrations (id integer primary key, hash text not null, created_at numeric); insert into __drizzle_migrations (hash, created_at) values ('from later', 9999999999999)"
	for statements, generation := range map[string]string{older: "20260622202450", older + "; drop table migration": ""} {
		path := build(t, t.TempDir(), player.PlayUntil(1, 0))
		storetest.Change(t, path, strings.Split(statements, "; ")...)
		if facts, sessions := storetest.Opened(t, path); facts.Generation != generation || facts.ReadOnly != "" || len(facts.Faults) > 0 || len(sessions) == 0 {
			t.Errorf("%s: got %+v", statements, facts)
		}
	}
}

// TestPrograms: databases of programs with the same tables are named as theirs.
func TestPrograms(t *testing.T) {
	for file, title := range map[string]string{"opencode.db": "opencode", "opencode-dev.db": "opencode", "kilo.db": "Kilo Code", "mimocode.db": "MiMo Code", "other.db": "opencode"} {
		path := filepath.Join(t.TempDir(), file)
		if err := opencodetest.Build(path, player.PlayUntil(1, 0)); err != nil {
			t.Fatal(err)
		}
		if facts, _ := storetest.Opened(t, path); facts.Title != title || facts.Sanitiser.By != "All versions of "+title || facts.Kind != "opencode" {
			t.Errorf("%s is of %s", file, facts.Title)
		}
	}
}
