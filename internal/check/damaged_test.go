package check_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

type damagedDatabase struct {
	rule  string
	name  string
	build func(t *testing.T) *office
	also  string // what the damage does besides
	deep  bool   // found with --deep only
}

// damaged makes one real database for every rule, with the damage that the rule
// is about and no other.
var damaged = []damagedDatabase{
	{rule: "SC002", name: "a migration that nobody knows", build: func(t *testing.T) *office {
		return newOffice(t, 29).damage(t, agenttest.NewerMigration())
	}},
	{rule: "SC003", name: "a branch of a session that is gone", deep: true, build: func(t *testing.T) *office {
		o := newOffice(t, 18)
		branch := o.Root(agenttest.SessionRow{Title: "Fix the build (branched)", BranchParent: o.root.ID})
		branch.User("Fix the build")
		branch.Assistant("root", agenttest.Message{Content: "Again?"})
		return o.damage(t, agenttest.DropSessionRow(o.root.ID))
	}, also: "SC705"},
	{rule: "SC004", name: "a backup that holds more", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		other := o.Root(agenttest.SessionRow{Title: "Older"})
		other.User("hello")
		return o.damage(t, agenttest.SetAsideBackup(other.ID))
	}},
	{rule: "SC005", name: "a column with more items than the table", deep: true, build: func(t *testing.T) *office {
		o := newOffice(t, 18)
		return o.damage(t, agenttest.LegacyColumnFuller(o.root.ID, 2))
	}, also: "SC101"},
	{rule: "SC006", name: "a title that is NULL", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, agenttest.NullTitle(o.root.ID))
	}},
	{rule: "SC007", name: "attributes that were cut off", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, agenttest.BadJSON(o.root.ID, "attributes"))
	}},
	{rule: "SC008", name: "a creation time in another form", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, agenttest.BadCreatedAt(o.root.ID, "03.02.2026 10:15"))
	}},
	{rule: "SC009", name: "an item of an unknown kind", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, agenttest.UnknownItemType(o.user.Row, "checkpoint"))
	}},
	{rule: "SC010", name: "a message that was cut off", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, agenttest.UndecodableMessage(o.user.Row))
	}},
	{rule: "SC011", name: "two items with one position", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, agenttest.DoubledPosition(o.result.Row))
	}},
	{rule: "SC011", name: "a negative position", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, agenttest.NegativePosition(o.user.Row))
	}},
	{rule: "SC012", name: "a summary without text", build: func(t *testing.T) *office {
		o := newOffice(t, 29).summarized()
		return o.damage(t, agenttest.EmptySummary(o.summary.Row))
	}},
	{rule: "SC012", name: "usage of a summary that was cut off", build: func(t *testing.T) *office {
		o := newOffice(t, 29).summarized()
		return o.damage(t, agenttest.BadUsage(o.summary.Row))
	}},
	{rule: "SC013", name: "a kept tail that begins behind the end", build: func(t *testing.T) *office {
		o := newOffice(t, 29).summarized()
		return o.damage(t, agenttest.BoundaryOutOfRange(o.summary.Row))
	}},
	{rule: "SC013", name: "a kept tail that begins in covered history", build: func(t *testing.T) *office {
		o := newOffice(t, 29).summarized()
		second := o.root.Summary(agenttest.Summary{Text: "Thanks were given."})
		return o.damage(t, agenttest.BoundaryInHistory(second.Row))
	}},
	{rule: "SC014", name: "instructions behind the end", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, agenttest.StaleInstructionContext(o.root.ID))
	}},
	{rule: "SC015", name: "a message from an hour ago", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, agenttest.TimeGoesBack(o.result.Row))
	}},
	{rule: "SC019", name: "totals that nothing adds up to", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, agenttest.WrongTotals(o.root.ID))
	}},
	{rule: "SC019", name: "media of a session that is gone", build: func(t *testing.T) *office {
		return newOffice(t, 29).damage(t, agenttest.OrphanMedia())
	}},
	{rule: "SC101", name: "a result that a cancelled run lost", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, agenttest.DropResult(o.result.Row))
	}},
	{rule: "SC103", name: "a result of a call that nobody made", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, agenttest.OrphanResult(o.result.Row, "z9"))
	}},
	{rule: "SC103", name: "a message that lost its calls", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, agenttest.LoseCall(o.caller.Row))
	}},
	{rule: "SC104", name: "a result behind a later message", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, agenttest.DelayResult(o.lateDone.Row, 1))
	}, also: "SC015"},
	{rule: "SC104", name: "a user who wrote in between", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, agenttest.ConcurrentUser(o.result.Row, "hurry up"))
	}},
	{rule: "SC105", name: "a result before its call", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, agenttest.EarlyResult(o.result.Row))
	}, also: "SC015"},
	{rule: "SC106", name: "a result that is stored twice", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, agenttest.DuplicateResult(o.result.Row))
	}},
	{rule: "SC107", name: "two results that differ", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, agenttest.ConflictingResult(o.result.Row, "make: done"))
	}},
	{rule: "SC112", name: "a stand-in beside the real result", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, agenttest.ConflictingResult(o.result.Row, "No result provided"))
	}},
	{rule: "SC113", name: "a kept tail that begins with a result", build: func(t *testing.T) *office {
		o := newOffice(t, 29).summarized()
		return o.damage(t, agenttest.BoundaryInsidePair(o.summary.Row))
	}},
	{rule: "SC407", name: "a message that was never finished", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		o.root.User("One more thing")
		o.root.Placeholder("root", "The thing is th", "")
		o.root.User("go on")
		return o
	}},
	{rule: "SC701", name: "a worker who leaked", build: func(t *testing.T) *office {
		return program(t, asks(agenttest.Step{Text: "doing", Calls: shell}, agenttest.Step{Text: "did it"}))
	}},
	{rule: "SC702", name: "a worker who was compacted", build: func(t *testing.T) *office {
		return program(t, asks(agenttest.Step{Text: "doing", Calls: shell, Summary: "so far"}, agenttest.Step{Text: "did it"}))
	}, also: "SC721"},
	{rule: "SC703", name: "a worker who failed", build: func(t *testing.T) *office {
		return program(t, asks(agenttest.Step{Text: "doing", Calls: shell}, agenttest.Step{End: agenttest.Failed, Error: "boom"}))
	}},
	{rule: "SC704", name: "a reference that was emptied", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, agenttest.DeleteSession(o.child.ID))
	}},
	{rule: "SC704", name: "a reference to a session that is gone", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		gone := o.root.SubSession(o.root.Child(agenttest.SessionRow{Title: "Transferred task"}))
		return o.damage(t, agenttest.DeleteSession(o.child.ID), agenttest.DanglingReference(gone.Row))
	}, also: "SC705"},
	{rule: "SC705", name: "a child that no item refers to", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, agenttest.UnreferencedChild(o.sub.Row))
	}},
	{rule: "SC706", name: "a session that is its own parent", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, agenttest.ParentCycle(o.root.ID, o.root.ID))
	}},
	{rule: "SC706", name: "a parent that is its child's child", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, agenttest.ParentCycle(o.child.ID, o.root.ID))
	}},
	{rule: "SC706", name: "a child that refers to its parent", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, agenttest.ReferenceCycle(o.child.ID, o.root.ID))
	}},
	{rule: "SC715", name: "two sessions that refer to one child", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		other := o.Root(agenttest.SessionRow{Title: "Fix the build (branched)"})
		other.User("Fix the build")
		return o.damage(t, agenttest.TwoReferrers(o.sub.Row, other.ID))
	}},
	{rule: "SC715", name: "a child that names another parent", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		other := o.Root(agenttest.SessionRow{Title: "Another"})
		other.User("hello")
		return o.damage(t, agenttest.WrongParent(o.child.ID, other.ID))
	}},
	{rule: "SC716", name: "an answer that only the child has", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, agenttest.DropResult(o.answer.Row))
	}},
	{rule: "SC717", name: "a child without items", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, agenttest.EmptyChild(o.child.ID))
	}},
	{rule: "SC719", name: "a child that was cut off", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, agenttest.StrayChildRoot(o.sub.Row))
	}},
	{rule: "SC720", name: "a result under the worker's name", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, agenttest.ResultAgentMismatch(o.answer.Row, "worker"))
	}},
	{rule: "SC721", name: "a child without its task", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, agenttest.MissingPrologue(o.child.ID))
	}},
}

func TestADamagedDatabaseHasExactlyItsFinding(t *testing.T) {
	for _, tc := range damaged {
		t.Run(tc.rule+" "+tc.name, func(t *testing.T) {
			o := tc.build(t)
			if err := o.Close(); err != nil {
				t.Fatal(err)
			}
			got := idsOf(checkFile(t, o.Path, store.Options{Deep: tc.deep}))
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

// TestEveryRuleHasADamagedDatabase: but for SC000, which needs a mistake of
// sessctl, SC001, which needs a damaged file, and SC102, which needs a process.
func TestEveryRuleHasADamagedDatabase(t *testing.T) {
	elsewhere := []string{"SC000", "SC001", "SC102"}
	for _, r := range rules.All {
		if !slices.Contains(elsewhere, r.ID) && !slices.ContainsFunc(damaged, func(d damagedDatabase) bool { return d.rule == r.ID }) {
			t.Errorf("no database shows %s", r.ID)
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
