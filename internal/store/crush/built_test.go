package crush_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/crush"
	"github.com/sessctl/sessctl/internal/store/crush/crushtest"
	"github.com/sessctl/sessctl/internal/store/player"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

func TestBuiltConform(t *testing.T) {
	var samples []storetest.Sample
	for _, generation := range crushtest.Generations {
		samples = append(samples, storetest.Sample{Name: fmt.Sprint(generation), Make: func(t *testing.T, folder string) string {
			path := filepath.Join(folder, "crush.db")
			if err := crushtest.Build(path, generation, player.PlayUntil(1, 0), player.PlayUntil(2, 30), player.PlayUntil(3, 0), player.PlayUntil(4, 11)); err != nil {
				t.Fatal(err)
			}
			return path
		}})
	}
	storetest.Run(t, crush.Kind, samples...)
}

// TestHealthy: of what Crush stores where nothing goes wrong nothing is said above info.
func TestHealthy(t *testing.T) {
	for seed := range uint64(campaign.Rounds(30, 1000)) {
		path := filepath.Join(t.TempDir(), "crush.db")
		if err := crushtest.Build(path, crushtest.Generations[seed%7], player.PlayUntil(seed, 0)); err != nil {
			t.Fatal(err)
		}
		for _, f := range storetest.Findings(t, path) {
			if !strings.HasPrefix(f, "info") && !strings.Contains(f, "SC309") { // the provider may refuse the last requests
				t.Errorf("seed %d: %s", seed, f)
			}
		}
	}
}

// ofAKill is what a kill can leave behind: SC305 and SC205 are about the same call.
var ofAKill = regexp.MustCompile(`^info|SC101|SC407|SC205|SC716|SC305`)

func TestKilled(t *testing.T) {
	found := map[string]int{}
	for seed := range uint64(campaign.Rounds(60, 2000)) {
		path := filepath.Join(t.TempDir(), "crush.db")
		if err := crushtest.Build(path, crushtest.Newest, player.PlayUntil(seed, 1+seed*7919)); err != nil {
			t.Fatal(err)
		}
		for _, f := range storetest.Findings(t, path) {
			found[f[:strings.LastIndex(f, " ")]]++
			if !ofAKill.MatchString(f) {
				t.Errorf("seed %d: %s", seed, f)
			}
		}
	}
	t.Log(found)
}

// TestLater: tables that a newer Crush changed, or that lost the table which tells what
// Crush wrote them, are read, and not repaired.
func TestLater(t *testing.T) {
	for statement, generation := range map[string]string{
		"insert into goose_db_version (version_id, is_applied) values (20270101000000, 1)": "20270101000000",
		"drop table goose_db_version": "",
	} {
		path := filepath.Join(t.TempDir(), "crush.db")
		if err := crushtest.Build(path, crushtest.Newest, player.PlayUntil(1, 0)); err != nil {
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
