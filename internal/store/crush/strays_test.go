package crush_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/crush/crushtest"
	"github.com/sessctl/sessctl/internal/store/player"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// family is a program whose agent asks sub-agents, several of them at once.
func family(children int) player.Program {
	work := func(n int) player.Program {
		return player.Program{{Prompt: fmt.Sprint("part ", n), Steps: []player.Step{
			{Text: "I look.", Calls: []player.Call{{Tool: "ls", Args: `{"path":"."}`, Result: fmt.Sprint("files of ", n)}}}, {Text: fmt.Sprint("It is ", n)},
		}}}
	}
	ask := player.Step{Text: "I ask."}
	for n := range children {
		ask.Calls = append(ask.Calls, player.Call{Tool: "agent", Args: fmt.Sprintf(`{"prompt":"part %d"}`, n), Child: work(n)})
	}
	return player.Program{{Prompt: "go", Steps: []player.Step{{Text: "First.", Calls: []player.Call{{Tool: "ls", Args: `{}`, Result: "a"}}}, ask, {Text: "Done."}}}, {Prompt: "more", Steps: []player.Step{{Text: "Yes."}}}}
}

// TestReusedIDs: a call of a sub-agent is answered by the first result behind it, unless another
// call has taken its id before: servers count calls from 1 in every answer.
func TestReusedIDs(t *testing.T) {
	const own = "session_id = (select id from sessions where parent_session_id is null)"
	renamed := func(from, to string) string {
		return fmt.Sprintf(`update messages set parts = replace(parts, '"call_5_%s"', '"call_5_%s"') where %s`, from, to, own)
	}
	leak := "update messages set session_id = (select id from sessions where parent_session_id is null) where role <> 'user' and session_id like '%$$%'"
	program := family(1)
	program[1].Steps = append([]player.Step{{Text: "I look.", Calls: []player.Call{{Tool: "ls", Args: "{}", Result: "b"}}}}, program[1].Steps...)
	for name, tt := range map[string]struct {
		changes []string
		strays  bool
	}{
		"an earlier call has the id": {[]string{renamed("1", "2"), leak}, true},
		"a later call has the id, and only that is answered": {[]string{
			`delete from messages where role = 'tool' and parts like '%"call_5_2"%' or parts like '%"Done."%'`, renamed("4", "2"),
		}, false},
		"a later call has the id": {[]string{renamed("4", "2"), leak}, true},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "crush.db")
			if err := crushtest.Build(path, crushtest.Newest, player.Play(program, 5)); err != nil {
				t.Fatal(err)
			}
			storetest.Change(t, path, tt.changes...)
			if found := storetest.Findings(t, path); slices.ContainsFunc(found, func(f string) bool { return strings.Contains(f, "SC702") }) != tt.strays {
				t.Errorf("found %q", found)
			}
		})
	}
}

// TestAClockThatIsSetBack: what the caller stored after a result is its own, though an older time puts
// it before that.
func TestAClockThatIsSetBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "crush.db")
	if err := crushtest.Build(path, crushtest.Newest, player.Play(family(1), 5)); err != nil {
		t.Fatal(err)
	}
	storetest.Change(t, path, `update messages set created_at = (select created_at + 1 from messages where parts like '%"Done."%') where role = 'tool' and parts like '%"It is 0"%'`)
	const caller = "select id || ' ' || session_id from messages where parts like '%Done.%'"
	own := storetest.Query(t, path, caller)
	if _, _, err := repairtest.Repair(path); err != nil {
		t.Fatal(err)
	}
	if now := storetest.Query(t, path, caller); !slices.Equal(now, own) {
		t.Errorf("%q was %q; found %q", now, own, storetest.Findings(t, path))
	}
}

// TestAnAddedResultTellsNothing: where a result of one of two sub-agents is made up, a message after it may be
// of either, as before.
func TestAnAddedResultTellsNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "crush.db")
	if err := crushtest.Build(path, crushtest.Generations[6], player.PlayUntil(15155, 155), player.Play(player.RandomProgram(15156, 1), 15156)); err != nil {
		t.Fatal(err)
	}
	storetest.Change(t, path,
		`update messages set parts = '[{"type":"text","data":{"text":" "}},{"type":"finish","data":{"reason":"stop","time":0}}]' where rowid = 11`,
		"update messages set session_id = (select parent_session_id from sessions s where s.id = session_id) where rowid = 13")
	before := storetest.Findings(t, path)
	if _, receipt, err := repairtest.Repair(path); err != nil || receipt == nil {
		t.Fatalf("%v; found %q", err, before)
	}
	const home = "select session_id from messages where id in (select id from messages where parts like '%thought 824552%')"
	if at := storetest.Query(t, path, home); !slices.Equal(at, []string{"7264ea89-ea06-408c-abb1-469f64a48819"}) {
		t.Errorf("the message is in %q", at)
	}
	if plan, _, err := repairtest.Plan(path); err != nil || !plan.IsEmpty() {
		t.Errorf("a second repair: %v%s", err, repairtest.Told(plan))
	}
}

// conversations are the messages of each session in their order.
func conversations(t *testing.T, path string) []string {
	t.Helper()
	return storetest.Query(t, path, "select session_id || ': ' || group_concat(id, ' ') from (select * from messages order by session_id, created_at, rowid) group by session_id order by 1")
}

// TestEverySubset: any messages of a sub-agent that are stored in its caller's session are found
// and go back, or are left with a reason; no result is made up, and none is taken away.
func TestEverySubset(t *testing.T) {
	done, left, stride := 0, map[string]int{}, campaign.Stride(11, 1)
	for children := 1; children <= 2; children++ {
		model := filepath.Join(t.TempDir(), "model.db")
		if err := crushtest.Build(model, crushtest.Newest, player.Play(family(children), 5)); err != nil {
			t.Fatal(err)
		}
		want, homes := conversations(t, model), map[string]string{}
		for _, line := range storetest.Query(t, model, "select id || ' ' || session_id from messages") {
			id, at, _ := strings.Cut(line, " ")
			homes[id] = at
		}
		rows := storetest.Query(t, model, "select id from messages where session_id like '%$$%' order by rowid")
		for set := 1; set < 1<<len(rows); set += stride {
			path := filepath.Join(t.TempDir(), "crush.db")
			if err := crushtest.Build(path, crushtest.Newest, player.Play(family(children), 5)); err != nil {
				t.Fatal(err)
			}
			var moved []string
			for i, id := range rows {
				if set>>i&1 == 1 {
					moved = append(moved, "'"+id+"'")
				}
			}
			storetest.Change(t, path, "update messages set session_id = (select id from sessions where parent_session_id is null) where id in ("+strings.Join(moved, ",")+")")
			if set%3 == 0 { // the runtime stored them there, and counted them there
				storetest.Change(t, path, "update sessions set message_count = (select count(*) from messages where session_id = sessions.id)")
			}
			before := storetest.Dump(t, path)
			plan, receipt, err := repairtest.Repair(path)
			if err != nil {
				t.Fatalf("%d children, %b: %v%s", children, set, err, repairtest.Told(plan))
			}
			done++
			for _, line := range storetest.Query(t, path, "select id || ' ' || session_id from messages") {
				id, at, _ := strings.Cut(line, " ")
				if at != homes[id] && strings.Contains(at, "$$") {
					t.Errorf("%d children, %b: %s went into the wrong session", children, set, id)
				}
			}
			if !slices.Equal(conversations(t, path), want) {
				why := ""
				for _, f := range plan.Findings {
					if f.Rule.ID == "SC702" {
						why = f.Message
					}
				}
				if why == "" {
					t.Errorf("%d children, %b: not as before, and nothing is said%s", children, set, repairtest.Told(plan))
				}
				left[why]++
			} else if found := storetest.Findings(t, path); slices.Contains(found, "info SC019 ") {
				t.Errorf("%d children, %b: found %q", children, set, found)
			}
			if receipt == nil {
				continue
			}
			if receipt.Ledger.Synthetic+receipt.Ledger.Quarantined > 0 {
				t.Errorf("%d children, %b: %+v%s", children, set, receipt.Ledger, repairtest.Told(plan))
			}
			repairtest.Idle(t, path, repairtest.Told(plan))
			if _, err := repairtest.Undo(path, receipt.Path()); err != nil || !slices.Equal(storetest.Dump(t, path), before) {
				t.Errorf("%d children, %b: the undo: %v", children, set, err)
			}
		}
	}
	t.Logf("%d subsets, left: %v", done, left)
}

// seedsTo are so many seeds and ten more.
func seedsTo(n int) (seeds []uint64) {
	for seed := range uint64(10 + n) {
		seeds = append(seeds, 10+seed)
	}
	return seeds
}

// TestUndecided: where the steps of two sub-agents overlap, so that either could have made them,
// they stay where they are with a reason, and nothing goes into the wrong session.
func TestUndecided(t *testing.T) {
	left, home := 0, 0
	// 133: what is proved goes home, and its place among the rest, which is not, stays.
	for _, seed := range append([]uint64{133}, seedsTo(campaign.Rounds(20, 300))...) {
		path := filepath.Join(t.TempDir(), "crush.db")
		if err := crushtest.Build(path, crushtest.Newest, player.Play(family(2), seed)); err != nil {
			t.Fatal(err)
		}
		want := conversations(t, path)
		storetest.Change(t, path,
			`update messages set session_id = (select id from sessions where parent_session_id is null) where session_id like '%$$%' and parts not like '%It is%' and role <> 'user'`,
			"update sessions set message_count = (select count(*) from messages where session_id = sessions.id)")
		plan, _, err := repairtest.Repair(path)
		if err != nil {
			t.Fatalf("%d: %v%s", seed, err, repairtest.Told(plan))
		}
		if slices.Equal(conversations(t, path), want) {
			home++
			continue
		}
		left++
		if found := storetest.Findings(t, path); !slices.Contains(found, "error SC702 ") {
			t.Errorf("%d: found %q", seed, found)
		}
		for n, line := range conversations(t, path) {
			for _, id := range strings.Fields(line)[1:] {
				if strings.Contains(strings.Fields(line)[0], "$$") && !strings.Contains(want[n], id) {
					t.Errorf("%d: %s went into the wrong session", seed, id)
				}
			}
		}
	}
	if left == 0 || home == 0 {
		t.Errorf("%d are left, and %d are repaired", left, home)
	}
}
