package goose_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/goose/goosetest"
	"github.com/sessctl/sessctl/internal/store/player"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// family is a program whose agent asks sub-agents, several of them at once.
func family(children int) player.Program {
	work := func(n int) player.Program {
		return player.Program{{Prompt: fmt.Sprint("part ", n), Steps: []player.Step{
			{Text: "I look.", Calls: []player.Call{{Tool: "shell", Args: `{"command":"ls"}`, Result: fmt.Sprint("files of ", n)}}}, {Text: fmt.Sprint("It is ", n)},
		}}}
	}
	ask := player.Step{Text: "I ask."}
	for n := range children {
		ask.Calls = append(ask.Calls, player.Call{Tool: "agent", Args: fmt.Sprintf(`{"prompt":"part %d"}`, n), Child: work(n)})
	}
	return player.Program{{Prompt: "go", Steps: []player.Step{{Text: "First.", Calls: []player.Call{{Tool: "shell", Args: `{}`, Result: "a"}}}, ask, {Text: "Done."}}}, {Prompt: "more", Steps: []player.Step{{Text: "Yes."}}}}
}

// conversations are the messages of each session in their order.
func conversations(t *testing.T, path string) []string {
	t.Helper()
	return storetest.Query(t, path, "select session_id || ': ' || group_concat(message_id, ' ') from (select * from messages order by session_id, created_timestamp, id) group by session_id order by 1")
}

// leaked are the ways in which messages of a sub-agent came into its caller's session.
var leaked = map[string]string{
	"moved":  "update messages set session_id = (select parent_session_id from sessions where id = session_id) where id in (%s)",
	"copied": "insert into messages (message_id, session_id, role, content_json, created_timestamp, timestamp, metadata_json) select message_id, (select parent_session_id from sessions where id = session_id), role, content_json, created_timestamp, timestamp, metadata_json from messages where id in (%s)",
}

// TestEverySubset: any messages of a sub-agent that are stored in its caller's session, too or
// alone, are found and go, or are left with a reason; no result is made up, and none is taken
// away but a copy.
func TestEverySubset(t *testing.T) {
	samples := map[string]func(t *testing.T) string{}
	for children := 1; children <= 2; children++ {
		samples[fmt.Sprint(children, " built")] = func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "sessions.db")
			if err := goosetest.Build(path, goosetest.Newest, player.Play(family(children), 5)); err != nil {
				t.Fatal(err)
			}
			return path
		}
	}
	for _, name := range []string{"delegate", "delegate-two"} {
		samples[name] = func(t *testing.T) string { return corpus.Copy(t, name) }
	}
	for name, sample := range samples {
		for way := range leaked {
			t.Run(name+" "+way, func(t *testing.T) { trySubsets(t, sample, way) })
		}
	}
}

func trySubsets(t *testing.T, sample func(t *testing.T) string, way string) {
	model := sample(t)
	want := conversations(t, model)
	rows := storetest.Query(t, model, "select messages.id from messages join sessions on sessions.id = session_id where session_type = 'sub_agent' order by messages.id")
	done, left := 0, map[string]int{}
	stride := 1<<len(rows)/min(1<<len(rows), campaign.Rounds(10, 5000)) | 1
	for set := 1; set < 1<<len(rows); set += stride {
		var moved []string
		for i, id := range rows {
			if set>>i&1 == 1 {
				moved = append(moved, id)
			}
		}
		path := storetest.Copy(t, model, t.TempDir())
		storetest.Change(t, path, fmt.Sprintf(leaked[way], strings.Join(moved, ",")))
		name, before := strings.Join(moved, ","), storetest.Dump(t, path)
		plan, receipt, err := repairtest.Repair(path)
		if err != nil {
			t.Fatalf("%s: %v%s", name, err, repairtest.Told(plan))
		}
		done++
		if !slices.Equal(conversations(t, path), want) {
			why := ""
			for _, f := range plan.Findings {
				if f.Rule.ID == "SC702" {
					why = f.Message
				}
			}
			if why == "" {
				t.Errorf("%s: not as before, and nothing is said%s", name, repairtest.Told(plan))
			}
			left[why]++
		}
		if receipt == nil {
			continue
		}
		if n := receipt.Ledger.Synthetic + receipt.Ledger.Quarantined; n > 0 && way == "moved" || receipt.Ledger.Synthetic > 0 {
			t.Errorf("%s: %+v%s", name, receipt.Ledger, repairtest.Told(plan))
		}
		repairtest.Idle(t, path, repairtest.Told(plan))
		if _, err := repairtest.Undo(path, receipt.Path()); err != nil || !slices.Equal(before, storetest.Dump(t, path)) {
			t.Errorf("%s: the undo: %v", name, err)
		}
	}
	t.Logf("%d subsets, left: %v", done, left)
}
