package openaiagents_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/openaiagents"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

const corpus = storetest.Corpus("../../../../shared/corpus/openai-agents")

// verdicts are what is right about each recorded session, as the README has it: those that are not here
// are clean. A session without messages is told of, too.
var verdicts = map[string]map[string][]string{
	"plain": {
		"killed-call":         {"warning SC101 call_d2"},
		"orphan-output":       {"error SC103 call_e1"},
		"duplicate-output":    {"warning SC106 call_f1"},
		"conflicting-outputs": {"warning SC107 call_g1"},
		"late-output":         {"info SC104 call_h1"},
		"orphan-in-middle":    {"warning SC101 call_i1"},
		"lone-reasoning":      {"error SC507 "},
		"broken-arguments":    {"warning SC205 call_k1"},
		"undecodable-row":     {"error SC010 "},
		"no-session-row":      {"warning SC018 "},
	},
	"custom-tables": {"killed": {"warning SC101 call_m2"}},
	"advanced": {
		"killed-on-branch":        {"warning SC101 call_o3"},
		"killed-shared-by-branch": {"warning SC101 call_p1"},
		"upgraded-from-plain":     {"info SC030 "},
		"clean-chat-2":            {"error SC003 ", "info SC307 "},
	},
}

func TestVerdicts(t *testing.T) {
	for _, name := range corpus.Names(t) {
		facts, sessions := storetest.Opened(t, corpus.Copy(t, name))
		if len(facts.Faults) > 0 {
			t.Errorf("%s: %v", name, facts.Faults)
		}
		got := map[string][]string{}
		for id, s := range sessions {
			for _, f := range check.RunTree(facts, &session.Tree{Sessions: []*session.Session{s}}, catalogue.UsualRules(), rules.Judge{}) {
				got[id] = append(got[id], fmt.Sprint(f.Severity, " ", f.Rule.ID, " ", f.Call))
			}
			slices.Sort(got[id])
		}
		if diff := cmp.Diff(verdicts[name], got); diff != "" {
			t.Errorf("%s: -right +found:\n%s", name, diff)
		}
	}
}

func TestRecordedConform(t *testing.T) {
	corpus.Run(t, openaiagents.Kind, "plain", "custom-tables", "advanced")
}

// TestRecordedRepairs repairs what is recorded, twice, and takes it back: a result on a branch is on each
// that has the call, directly behind it, and nothing else changes its place.
func TestRecordedRepairs(t *testing.T) {
	const (
		order  = "select group_concat(coalesce(json_extract(message_data, '$.call_id'), json_extract(message_data, '$.id'), json_extract(message_data, '$.content')), ' ') from (select * from agent_messages where session_id = '%s' order by id)"
		branch = "select group_concat(message_id, ' ') from (select * from message_structure where session_id = '%s' and branch_id = '%s' order by sequence_number)"
	)
	for name, queries := range map[string][][2]string{
		"plain": {
			{fmt.Sprintf(order, "orphan-in-middle"), "look rs_i0 call_i1 call_i1 msg_i2 next call_i3 call_i3 msg_i4"},
			{fmt.Sprintf(order, "conflicting-outputs"), "look call_g1 call_g1 msg_g2"},
			{fmt.Sprintf(order, "killed-call"), "first msg_d0 look call_d1 call_d2 call_d1 call_d2"},
			{"select json_extract(message_data, '$.output') from agent_messages where session_id = 'conflicting-outputs' and message_data like '%output\"%'", "another"},
			{"select created_at || updated_at from agent_sessions where session_id = 'no-session-row'", "2026-11-22 13:38:332026-11-22 13:38:33"},
		},
		"custom-tables": {{"select count(*) from chat_rows where session_id = 'killed'", "3"}},
		"advanced": {
			{fmt.Sprintf(branch, "killed-on-branch", "main"), "13 14 15 16"},
			{fmt.Sprintf(branch, "killed-on-branch", "alt"), "13 14 17 18 38 19 20"},
			{fmt.Sprintf(branch, "killed-shared-by-branch", "main"), "21 22 39 23 24 25"},
			{fmt.Sprintf(branch, "killed-shared-by-branch", "alt"), "21 22 39 23 26 27"},
			{"select count(*) from message_structure where session_id = 'clean-chat-2'", "0"},
			{"select count(*) from agent_messages where session_id = 'upgraded-from-plain'", "4"},
			{"select group_concat(message_type || user_turn_number) from message_structure where message_id = 39", "function_call_output1,function_call_output1"},
		},
	} {
		var asked, want []string
		for _, q := range queries {
			asked, want = append(asked, q[0]), append(want, q[1])
		}
		_, got := repairtest.Twice(t, corpus.Copy(t, name), storetest.Dump, asked...)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

// TestHoles: what one branch lacks of a pair that another has comes from there.
func TestHoles(t *testing.T) {
	for name, damage := range map[string]string{
		"the result": "delete from message_structure where session_id = 'clean-branches' and branch_id = 'alt' and message_id = 3",
		"the call":   "delete from message_structure where session_id = 'clean-branches' and branch_id = 'main' and message_id = 2",
	} {
		path := corpus.Copy(t, "advanced")
		storetest.Change(t, path, damage)
		const order = "select group_concat(message_id, ' ') from (select * from message_structure where session_id = 'clean-branches' order by branch_id, sequence_number)"
		if _, got := repairtest.Twice(t, path, storetest.Dump, order); got[0] != "1 2 3 4 9 10 11 12 1 2 3 4 5 6 7 8" {
			t.Errorf("%s: the branches are %s", name, got[0])
		}
	}
}
