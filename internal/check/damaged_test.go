package check_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/store"
)

type damagedDatabase struct {
	rule  string
	name  string
	build func(t *testing.T) *office
	also  string // what the damage does besides
	deep  bool   // found with --deep only

	profile string // whom it is judged for, "" for the one that the sessions hint at
	asIs    bool   // no next message of the user
}

// damaged makes one real database for every rule, with the damage that the rule
// is about and no other.
var damaged = slices.Concat(damagedStores, damagedCalls, damagedShapes, damagedForModels, damagedTrees, damagedSpawns)

func TestADamagedDatabaseHasExactlyItsFinding(t *testing.T) {
	for _, tc := range damaged {
		t.Run(tc.rule+" "+tc.name, func(t *testing.T) {
			o := tc.build(t)
			if err := o.Close(); err != nil {
				t.Fatal(err)
			}
			got := idsOf(judgeFile(t, o.Path, store.Options{Deep: tc.deep}, judge(tc.profile, tc.asIs)))
			want := append([]string{tc.rule}, strings.Fields(tc.also)...)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("found %v, want %v", got, want)
			}
		})
	}
}

// idsOf lists the rules that found something, each once.
func idsOf(r *check.Result) []string {
	var ids []string
	for _, f := range r.Findings {
		ids = append(ids, f.Rule.ID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func TestAHealthyDatabaseHasNoFinding(t *testing.T) {
	for _, generation := range []int{14, 18, 19, 29} {
		o := newOffice(t, generation).summarized()
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
		if r := checkFile(t, o.Path, store.Options{Deep: true}); len(r.Findings) > 0 {
			t.Errorf("generation %d: found %v: %s", generation, idsOf(r), r.Findings[0].Message)
		}
	}
}

// onlyInStreams are the rules about what docker agent does not store, or not so
// that it would send it: results in messages of the user or of the assistant, tools
// that the provider ran, results with and without the name of their tool, null and
// empty lists (its decoder makes nothing of both), ids of the Responses API, what is
// no Unicode, and branches. SC505 needs what a repair wrote.
var onlyInStreams = []string{
	"SC108", "SC109", "SC110", "SC114", "SC207", "SC404", "SC405", "SC505", "SC507", "SC508", "SC606",
	"SC708",
	"SC710", "SC711", "SC712", "SC713", "SC722", "SC723", "SC724", "SC732",
}

// TestEveryRuleHasADamagedStore: but for SC000, which needs a mistake of sessctl,
// SC001, which needs a damaged file, SC102, which needs a process, SC020, SC021 and SC023, which
// need a transcript of Claude Code (its adapter's tests) as SC607 to SC609 do, SC024 to SC028 and SC030,
// which need stores of Mastra, of Copilot CLI, of Codex and of the OpenAI Agents SDK (likewise), those that need a recording, and those that run only where they are asked for, which have tests on several stores.
func TestEveryRuleHasADamagedStore(t *testing.T) {
	elsewhere := []string{"SC000", "SC001", "SC020", "SC021", "SC023", "SC024", "SC025", "SC026", "SC027", "SC028", "SC030", "SC102", "SC607", "SC608", "SC609"}
	streams := slices.Collect(maps.Values(damagedStreams(t)))
	for _, r := range catalogue.All {
		database := slices.ContainsFunc(damaged, func(d damagedDatabase) bool { return d.rule == r.ID }) ||
			slices.ContainsFunc(damagedLogs, func(d damagedLog) bool { return d.rule == r.ID })
		stream := slices.Contains(onlyInStreams, r.ID)
		switch {
		case slices.Contains(elsewhere, r.ID), r.Optional, r.Scope != 0 && r.Scope&(rules.PerTree|rules.PerStore) == 0:
		case database == stream:
			t.Errorf("%s is shown by a database: %t, and said to be shown by streams only: %t", r.ID, database, stream)
		case stream && !slices.Contains(streams, r.ID):
			t.Errorf("no stream shows %s", r.ID)
		}
	}
}

func TestSC001ATruncatedFile(t *testing.T) {
	o := newOffice(t, 29)
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(o.Path)
	if err == nil {
		err = os.Truncate(o.Path, info.Size()-4096)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := idsOf(checkFile(t, o.Path, store.Options{})); !slices.Contains(got, "SC001") {
		t.Errorf("found %v", got)
	}
}
