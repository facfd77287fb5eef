package kagent

import (
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/adk"
)

// facts is what is known of a store before its sessions are read. What reads its
// events is ADK, in Python or Go, for nearly all agents. An open task is no sign of a
// writer: it stays open where a client went away (K2).
func (r *reader) facts(later *store.Later) session.Store {
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
	if later.Found != "" {
		facts.Faults, facts.ReadOnly = append(facts.Faults, later.Fault(session.Ref{Table: tableSessions, Key: "*"})), later.ReadOnly()
	}
	facts.Faults = slices.Concat(facts.Faults, r.lost, r.strayTasks(), r.tasksOfOthers(), r.unowned())
	return facts
}

// sharedChildren is what keeps calls apart, and from when on (c1: kagent-dev/kagent
// PR #2153, and commit c9d6f88 for Python).
const sharedChildren = "`isolateSessions: true` on the tool gives each call a session of its own (Go runtime from v0.10.0-rc2 on; " +
	"Python on main since 2026-08-21 only, earlier releases take the setting and ignore it)"

// strayTasks are the tasks of sessions that do not exist (K8): one fault for each of
// these.
func (r *reader) strayTasks() (faults []session.Fault) {
	for _, id := range sorted(r.tasks) {
		if !r.counted || r.users[id] != nil {
			continue
		}
		list := r.tasks[id]
		of := fmt.Sprintf("of session %.60q, which does not exist", id)
		if id == "" {
			of = "of no session"
		}
		faults = append(faults, session.Fault{
			Kind: session.OrphanRecord, Item: -1, Ref: session.Ref{Session: id, Table: tableTasks, Key: list[0].run.ID}, Count: len(list),
			Detail: fmt.Sprintf("%s has %s, from task %.60q on, %s", tableTasks, counted(len(list), "row"), list[0].run.ID, of),
		})
	}
	return faults
}

// tasksOfOthers are the tasks of a user who has no session with their id, though others
// have one (K4): one fault for each user and id.
func (r *reader) tasksOfOthers() (faults []session.Fault) {
	for _, id := range sorted(r.tasks) {
		others := map[string][]task{}
		for _, t := range r.tasks[id] {
			if t.owner != "" && r.counted && r.users[id] != nil && !slices.Contains(r.users[id], t.owner) {
				others[t.owner] = append(others[t.owner], t)
			}
		}
		for _, user := range sorted(others) {
			list := others[user]
			faults = append(faults, session.Fault{
				Kind: session.OrphanRecord, Item: -1, Ref: session.Ref{Session: user + "/" + id, Table: tableTasks, Key: list[0].run.ID}, Count: len(list),
				Detail: fmt.Sprintf("%s has %s, from task %.60q on, of user %.60q, who has no session %.60q", tableTasks, counted(len(list), "row"), list[0].run.ID, user, id),
			})
		}
	}
	return faults
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
	if r.Has(tableTasks, "user_id") && len(nobodys) > 0 {
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
