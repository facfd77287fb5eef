package kagent_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// TestLaterVersions splits the session of a collapsed batch in databases as releases may
// write them that do not exist yet: where what a repair writes is known.
func TestLaterVersions(t *testing.T) {
	for name, tc := range map[string]struct {
		statements []string
		says       string // SC002; "" where it has nothing to say
		repaired   bool
	}{
		"tables of other things": {[]string{"create table notes(id text, session_id text)", "create table goose_db_version(version_id integer)"}, "", true},
		"a column that nothing uses": {
			[]string{"alter table event add column mood text", "alter table session add column pinned boolean default false", "alter table task add column cost real"},
			`info Its tables are not those of a release that sessctl knows. Sessions and events were read; not read: ` +
				`column "pinned" of session, column "mood" of event, column "cost" of task. A repair is safe`, true,
		},
		"an order of events": {
			[]string{"alter table event add column sequence integer", "update event set sequence = rowid"},
			`warning Its tables are not those of a release that sessctl knows. Sessions and events were read; not read: column "sequence" of event. ` +
				"You can check, view and export it. It is not repaired: sessctl does not know what column \"sequence\" of event means for its rows", false,
		},
		"an owner of tasks": {[]string{"alter table task add column owner_id text", "update task set owner_id = 'x'"}, `column "owner_id" of task means`, false},
		"a column less":     {[]string{"drop index idx_event_deleted_at", "alter table event drop column deleted_at"}, "table event lacks deleted_at", false},
	} {
		t.Run(name, func(t *testing.T) {
			path, _ := build(t, kagenttest.Script("collapsed-11"), kagenttest.Form{Generation: kagenttest.V05, Dialect: kagenttest.Python, Times: kagenttest.GORM})
			run(t, path, tc.statements...)
			before := storetest.Dump(t, path)
			plan, receipt, err := repairtest.Repair(path, "split", "guesses")
			if (receipt != nil) != tc.repaired || (err == nil) != tc.repaired {
				t.Fatalf("repaired: %t (%v)", receipt != nil, err)
			}
			said := ""
			for _, f := range plan.Findings {
				if f.Rule.ID == "SC002" {
					said += f.Severity.String() + " " + f.Message
				}
			}
			if !strings.Contains(said, tc.says) || (said == "") != (tc.says == "") {
				t.Errorf("SC002: %s\nwant %s", said, tc.says)
			}
			if receipt != nil {
				if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(before, storetest.Dump(t, path)); diff != "" {
				t.Errorf("the store is not as it was: %s", diff)
			}
		})
	}
}

// TestBaselineOfOneZero: the tables of kagent 1.0 are recognized, alone and beside older
// ones, and nothing of such a database is read.
func TestBaselineOfOneZero(t *testing.T) {
	baseline := []string{
		"create table agent_history(id text primary key, user_id text, context_id text, parent_history_id text, parent_history_sequence integer)",
		"create table agent_instance_task(history_id text, id text, state text, data blob, position integer)",
		"create table agent_instance_task_event(sequence integer primary key, history_id text, task_id text, data blob, message_id text)",
	}
	older, _ := build(t, kagenttest.Script("isolated"), kagenttest.Forms["python"])
	alone := changed(t, "drop table event", "drop table session", "drop table task")
	for _, path := range []string{older, alone} {
		run(t, path, baseline...)
		for _, kind := range []string{"", "kagent"} {
			_, err := registry.Open(t.Context(), path, kind, nil, store.Options{})
			if problem.ClassOf(err) != problem.Unreadable || !strings.Contains(err.Error(), "has the tables of kagent 1.0") {
				t.Errorf("it is opened, or refused for something else: %v", err)
			}
		}
	}
}

// TestBeforeTheBaseline: the instances of agents that kagent's main had beside the older
// tables are passed over.
func TestBeforeTheBaseline(t *testing.T) {
	path, _ := build(t, kagenttest.Script("isolated"), kagenttest.Forms["python"])
	run(t, path, "create table agent_instance(id text)", "create table agent_instance_task(instance_id text, id text, data blob)")
	if facts, _ := read(t, path); facts.Generation == "1.0" || len(facts.Faults) > 0 {
		t.Errorf("generation %q, %v", facts.Generation, facts.Faults)
	}
}
