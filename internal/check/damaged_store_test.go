package check_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// damagedStores have records that cannot be read, or say what cannot be.
var damagedStores = []damagedDatabase{
	{rule: "SC002", name: "a migration that nobody knows", build: func(t *testing.T) *office {
		return newOffice(t, 29).damage(t, "NewerMigration")
	}},
	{rule: "SC003", name: "a branch of a session that is gone", deep: true, build: func(t *testing.T) *office {
		o := newOffice(t, 18)
		branch := o.Root(agenttest.SessionRow{Title: "Fix the build (branched)", BranchParent: o.root.ID})
		branch.User("Fix the build")
		branch.Assistant("root", agenttest.Message{Content: "Again?"})
		return o.damage(t, "DropSessionRow", o.root.ID)
	}, also: "SC705"},
	{rule: "SC004", name: "a backup that holds more", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		other := o.Root(agenttest.SessionRow{Title: "Older"})
		other.User("hello")
		return o.setAside(t).damage(t, "DeleteSession", other.ID)
	}},
	{rule: "SC005", name: "a column with more items than the table", deep: true, build: func(t *testing.T) *office {
		o := newOffice(t, 18)
		return o.damage(t, "LegacyColumnFuller", o.root.ID, 2)
	}, also: "SC101"},
	{rule: "SC006", name: "a title that is NULL", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "NullTitle", o.root.ID)
	}},
	{rule: "SC007", name: "attributes that were cut off", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "BadJSON", o.root.ID)
	}},
	{rule: "SC008", name: "a creation time in another form", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "BadCreatedAt", o.root.ID, "03.02.2026 10:15")
	}},
	{rule: "SC009", name: "an item of an unknown kind", profile: "openai-chat", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "UnknownItemType", o.user.Row, "checkpoint")
	}},
	{rule: "SC010", name: "a message that was cut off", profile: "openai-chat", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "UndecodableMessage", o.user.Row)
	}},
	{rule: "SC011", name: "two items with one position", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "DoubledPosition", o.result.Row)
	}},
	{rule: "SC011", name: "a negative position", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "NegativePosition", o.user.Row)
	}},
	{rule: "SC012", name: "a summary without text", build: func(t *testing.T) *office {
		o := newOffice(t, 29).summarized()
		return o.damage(t, "EmptySummary", o.summary.Row)
	}},
	{rule: "SC012", name: "usage of a summary that was cut off", build: func(t *testing.T) *office {
		o := newOffice(t, 29).summarized()
		return o.damage(t, "BadUsage", o.summary.Row)
	}},
	{rule: "SC013", name: "a kept tail that begins behind the end", build: func(t *testing.T) *office {
		o := newOffice(t, 29).summarized()
		return o.damage(t, "BoundaryOutOfRange", o.summary.Row)
	}},
	{rule: "SC013", name: "a kept tail that begins in covered history", build: func(t *testing.T) *office {
		o := newOffice(t, 29).summarized()
		second := o.root.Summary(agenttest.Summary{Text: "Thanks were given."})
		return o.damage(t, "BoundaryInHistory", second.Row)
	}},
	{rule: "SC014", name: "instructions behind the end", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "StaleInstructionContext", o.root.ID)
	}},
	{rule: "SC015", name: "a message from an hour ago", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "TimeGoesBack", o.result.Row)
	}},
	{rule: "SC019", name: "totals that nothing adds up to", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "WrongTotals", o.root.ID)
	}},
	{rule: "SC019", name: "media of a session that is gone", build: func(t *testing.T) *office {
		return newOffice(t, 29).damage(t, "OrphanMedia")
	}},
}
