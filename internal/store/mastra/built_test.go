package mastra_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/mastra"
	"github.com/sessctl/sessctl/internal/store/player"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

func built(t *testing.T, of release, programs ...[]player.Write) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mastra.db")
	if err := build(path, of, programs...); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBuiltConform(t *testing.T) {
	var samples []storetest.Sample
	for n, of := range releases {
		samples = append(samples, storetest.Sample{Name: fmt.Sprint(n), Make: func(t *testing.T, folder string) string {
			path := filepath.Join(folder, "mastra.db")
			if err := build(path, of, player.PlayUntil(1, 0), player.PlayUntil(2, 30), player.PlayUntil(3, 0), player.PlayUntil(4, 11)); err != nil {
				t.Fatal(err)
			}
			return path
		}})
	}
	storetest.Run(t, mastra.Kind, samples...)
}

// TestHealthy: of what Mastra stores where nothing goes wrong, or where it is killed, nothing is
// said above info.
func TestHealthy(t *testing.T) {
	found := map[string]int{}
	for seed := range uint64(campaign.Rounds(30, 1000)) {
		path := built(t, releases[seed%3], player.PlayUntil(seed, 0), player.PlayUntil(seed+1, seed*7919))
		for _, f := range storetest.Findings(t, path) {
			rule, _, _ := strings.Cut(f[strings.Index(f, " ")+1:], " ")
			if found[rule]++; !strings.HasPrefix(f, "info") {
				t.Errorf("seed %d: %s", seed, f)
			}
		}
	}
	t.Log(found)
}

// TestLeaks: what a release that leaks stored is, after a repair, what one that does not would have
// stored.
func TestLeaks(t *testing.T) {
	leaks := 0
	for seed := range uint64(campaign.Rounds(30, 1000)) {
		leaking := releases[seed%2]
		leaking.leaks = true
		path := built(t, leaking, player.PlayUntil(seed, 0))
		if !slices.ContainsFunc(storetest.Findings(t, path), func(f string) bool { return strings.HasPrefix(f, "error SC702") }) {
			continue
		}
		leaks++
		got, _ := repairtest.Twice(t, path, rows)
		if diff := cmp.Diff(rows(t, built(t, releases[seed%2], player.PlayUntil(seed, 0))), got); diff != "" {
			t.Errorf("seed %d: -healthy +repaired:\n%s", seed, diff)
		}
	}
	if leaks == 0 {
		t.Error("nothing leaked")
	}
}

// rows are the messages of each thread in their order.
func rows(t storetest.Tester, path string) []string {
	t.Helper()
	return storetest.Query(t, path, "select thread_id || ' ' || resourceId || ' ' || role || ' ' || content from mastra_messages order by thread_id, createdAt, rowid")
}
