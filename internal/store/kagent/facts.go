package kagent

import (
	"context"
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/adk"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// facts is what is known of a store before its sessions are read. What reads its
// events is ADK, in Python or Go, for nearly all agents. An open task is no sign of a
// writer: it stays open where a client went away (K2).
func (r *reader) facts(ctx context.Context, db *sqlite.DB) (session.Store, error) {
	release, all := r.release()
	facts := session.Store{
		Kind: kindName, Title: kindTitle, Generation: release, Versions: "with the tables of " + all,
		Requests: session.Requests{Adapts: adk.Adaptations},
		Reader:   session.Reader{BranchModel: "path", ForeignText: true, GathersResults: true, SilentLabels: true},
		Children: session.Children{
			Agents: r.agents, ReusesChildren: true,
			SharedChildren: sharedChildren, // the documented default (c1)
		},
	}
	later, err := eventlog.Examine(ctx, db, known, tableEvents)
	if err != nil {
		return facts, err
	}
	if later.Found != "" {
		facts.Faults, facts.ReadOnly = append(facts.Faults, later.Fault(session.Ref{Table: tableSessions, Key: "*"})), later.ReadOnly()
	}
	for _, l := range r.lost {
		facts.Faults = append(facts.Faults, l.Fault(tableTasks))
	}
	for _, stray := range []func(context.Context, *sqlite.DB) ([]session.Fault, error){r.strayTasks, r.tasksOfOthers} {
		faults, err := stray(ctx, db)
		if err != nil {
			return facts, err
		}
		facts.Faults = append(facts.Faults, faults...)
	}
	facts.Faults = append(facts.Faults, r.unowned()...)
	return facts, nil
}

// sharedChildren is what keeps calls apart, and from when on (c1: kagent-dev/kagent
// PR #2153, and commit c9d6f88 for Python).
const sharedChildren = "`isolateSessions: true` on the tool gives each call a session of its own (Go runtime from v0.10.0-rc2 on; " +
	"Python on main since 2026-08-21 only, earlier releases take the setting and ignore it)"

// strayTasks are the tasks of sessions that do not exist (K8): one fault for each of
// these.
func (r *reader) strayTasks(ctx context.Context, db *sqlite.DB) (faults []session.Fault, err error) {
	if !r.has(tableTasks, "id", "session_id", "data") {
		return nil, nil
	}
	missing := map[string]bool{}
	err = pairs(ctx, db, `select distinct session_id, '' from task not indexed
		where session_id is null or session_id not in (select id from session not indexed)`,
		func(id, _ string) { missing[id] = true })
	if err != nil {
		return nil, err
	}
	for _, id := range sorted(missing) {
		list := r.tasks[id]
		if len(list) == 0 {
			continue
		}
		of := fmt.Sprintf("of session %.60q, which does not exist", id)
		if id == "" {
			of = "of no session"
		}
		faults = append(faults, session.Fault{
			Kind: session.OrphanRecord, Item: -1, Ref: session.Ref{Session: id, Table: tableTasks, Key: list[0].run.ID}, Count: len(list),
			Detail: fmt.Sprintf("%s has %s, from task %.60q on, %s", tableTasks, counted(len(list), "row"), list[0].run.ID, of),
		})
	}
	return faults, nil
}

// tasksOfOthers are the tasks of a user who has no session with their id, though others
// have one (K4): one fault for each user and id.
func (r *reader) tasksOfOthers(ctx context.Context, db *sqlite.DB) (faults []session.Fault, err error) {
	if !r.has(tableTasks, "id", "session_id", "data", "user_id") {
		return nil, nil
	}
	err = pairs(ctx, db, `select distinct session_id, user_id from task t where user_id <> '' and session_id in (select id from session)
		and not exists (select 1 from session s where s.id = t.session_id and s.user_id = t.user_id) order by 1, 2`,
		func(id, user string) {
			list := slices.DeleteFunc(slices.Clone(r.tasks[id]), func(t task) bool { return t.owner != user })
			if len(list) == 0 {
				return
			}
			faults = append(faults, session.Fault{
				Kind: session.OrphanRecord, Item: -1, Ref: session.Ref{Session: user + "/" + id, Table: tableTasks, Key: list[0].run.ID}, Count: len(list),
				Detail: fmt.Sprintf("%s has %s, from task %.60q on, of user %.60q, who has no session %.60q", tableTasks, counted(len(list), "row"), list[0].run.ID, user, id),
			})
		})
	return faults, err
}

// unowned tells of tasks that nobody is shown: those without a user, where tasks have
// one (K7), and those in A2A's older shape, where the newer is written already (K11).
func (r *reader) unowned() []session.Fault {
	var nobodys, older, newer []string
	for _, id := range sorted(r.tasks) {
		for i := range r.tasks[id] {
			t := &r.tasks[id][i]
			switch {
			case t.deleted:
			case t.version == "":
				older = append(older, t.run.ID)
			default:
				newer = append(newer, t.run.ID)
			}
			if !t.deleted && t.owner == "" {
				nobodys = append(nobodys, t.run.ID)
			}
		}
	}
	var faults []session.Fault
	if r.has(tableTasks, "user_id") && len(nobodys) > 0 {
		faults = append(faults, session.Fault{
			Kind: session.OrphanRecord, Item: -1, Ref: session.Ref{Table: tableTasks, Key: nobodys[0]}, Field: "user_id", Count: len(nobodys),
			Detail: fmt.Sprintf("%s, the first of them %.60q, have no user: kagent shows them to nobody since 0.10", counted(len(nobodys), "task"), nobodys[0]),
		})
	}
	if len(older) > 0 && len(newer) > 0 {
		faults = append(faults, session.Fault{
			Kind: session.MixedDialects, Item: -1, Ref: session.Ref{Table: tableTasks, Key: older[0]}, Field: "protocol_version", Count: len(older),
			Detail: fmt.Sprintf("%d of %d tasks are in the shape that A2A had before 1.0; what wrote the others does not read these",
				len(older), len(older)+len(newer)),
		})
	}
	return faults
}
