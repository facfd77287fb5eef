package goose_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/goose"
	"github.com/sessctl/sessctl/internal/store/goose/goosetest"
	"github.com/sessctl/sessctl/internal/store/player"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

func TestBuiltConform(t *testing.T) {
	var samples []storetest.Sample
	for _, version := range []int{1, 3, 7, 15, 16, 17} {
		samples = append(samples, storetest.Sample{Name: fmt.Sprint(version), Make: func(t *testing.T, folder string) string {
			path := filepath.Join(folder, "sessions.db")
			if err := goosetest.Build(path, version, player.PlayUntil(1, 0), player.PlayUntil(2, 30), player.PlayUntil(3, 0), player.PlayUntil(4, 11)); err != nil {
				t.Fatal(err)
			}
			return path
		}})
	}
	storetest.Run(t, goose.Kind, samples...)
}

// TestHealthy: of what goose stores where nothing goes wrong nothing is said above info.
func TestHealthy(t *testing.T) {
	found := map[string]int{}
	for seed := range uint64(campaign.Rounds(30, 1000)) {
		path := filepath.Join(t.TempDir(), "sessions.db")
		if err := goosetest.Build(path, 1+int(seed%goosetest.Newest), player.PlayUntil(seed, 0)); err != nil {
			t.Fatal(err)
		}
		for _, f := range storetest.Findings(t, path) {
			if found[f]++; !strings.HasPrefix(f, "info") {
				t.Errorf("seed %d: %s", seed, f)
			}
		}
	}
	t.Log(found)
}

// TestKilled: a kill leaves sub-sessions that no call names, and nothing else. A killed
// runtime is not resumed here, so that its last message is the user's.
func TestKilled(t *testing.T) {
	found := map[string]int{}
	for seed := range uint64(campaign.Rounds(60, 2000)) {
		path := filepath.Join(t.TempDir(), "sessions.db")
		if err := goosetest.Build(path, goosetest.Newest, player.PlayUntil(seed, 1+seed*7919)); err != nil {
			t.Fatal(err)
		}
		for _, f := range storetest.Findings(t, path) {
			if found[f]++; !strings.HasPrefix(f, "info") {
				t.Errorf("seed %d: %s", seed, f)
			}
		}
	}
	t.Log(found)
}

// TestLater: tables that a newer goose changed, or that lost the table which tells what
// goose wrote them, are read, and not repaired.
func TestLater(t *testing.T) {
	for statement, generation := range map[string]string{
		"insert into schema_version (version) values (18)": "18",
		"drop table schema_version":                        "0",
	} {
		path := filepath.Join(t.TempDir(), "sessions.db")
		if err := goosetest.Build(path, goosetest.Newest, player.PlayUntil(1, 0)); err != nil {
			t.Fatal(err)
		}
		storetest.Change(t, path, statement)
		facts, _ := storetest.Opened(t, path)
		if !slices.ContainsFunc(facts.Faults, func(f session.Fault) bool { return f.Kind == session.SchemaUnknown }) || facts.ReadOnly == "" ||
			facts.Generation != generation {
			t.Errorf("%s: got %+v", statement, facts)
		}
	}
}

// TestSecrets: what goose keeps for extensions and recipes is in no tree, plan or receipt.
func TestSecrets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	if err := goosetest.Build(path, 16, player.PlayUntil(2, 0), player.PlayUntil(8, 0)); err != nil {
		t.Fatal(err)
	}
	storetest.Change(t, path, `delete from messages where id in (select min(id) from messages where content_json like '%"toolResponse"%' group by session_id)`,
		"update sessions set parent_session_id = null where parent_session_id is not null")
	if n := len(storetest.Query(t, path, "select id from sessions where recipe_json || extension_data like '%"+goosetest.Secret+"%'")); n < 2 {
		t.Fatalf("%d sessions have secrets", n)
	}
	var said strings.Builder
	_, sessions := storetest.Opened(t, path)
	for _, s := range sessions {
		said.Write(s.Raw)
		for i := range s.Items {
			said.Write(s.Items[i].Body.Raw)
		}
		s.Items, s.Children = nil, nil
		fmt.Fprintf(&said, "%+v", s)
	}
	_, receipt, err := repairtest.Repair(path)
	if err != nil || receipt == nil {
		t.Fatalf("nothing was repaired: %v", err)
	}
	text, err := os.ReadFile(receipt.Path())
	if err != nil {
		t.Fatal(err)
	}
	if all := said.String() + string(text); strings.Contains(all, goosetest.Secret) || !strings.Contains(all, "toolRequest") {
		t.Error("a secret is in what is read of the store, or nothing was read")
	}
}
