package recording_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// compared plays a program, and holds what the store has against the stream.
func compared(t *rapid.T, dir string, write writer, p agenttest.Program, style agenttest.EventStyle) (*replay.Comparison, agenttest.Written) {
	path, truth := written(t, dir, write, p)
	trees := record(t, truth.Events(style), recording.Auto).Trees
	if len(trees) != 1 {
		t.Fatalf("%d trees, want one", len(trees))
	}
	return replay.Compare(trees[0], stored(t, path, truth.Root.ID), &session.Runtime{NoOutput: "(no output)"}), truth
}

// TestTheStreamNamesExactlyWhatLeaked: of a leaky database, the leaked rows are
// those that the writer knows of, each with a twin of its own that says the same
// where there is one; which of several that say the same nobody can tell. Besides,
// only what the leak cost differs.
func TestTheStreamNamesExactlyWhatLeaked(t *testing.T) {
	campaign.Checks(t, 60, 2000)
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		p := agenttest.Random(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(3, 30).Draw(t, "size"))
		c, truth := compared(t, dir, agenttest.WriteLeaky, p, styles(allForms...).Draw(t, "style"))
		want := []string{}
		for _, l := range truth.Leaks {
			want = append(want, fmt.Sprintf("row %d%s", l.Row, hasTwin(c, strconv.FormatInt(l.Row, 10), l.Twin != 0)))
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, leakedRows(c)); diff != "" {
			if sameResults(c.Recorded) {
				t.Skip("two sessions have the same result for the same call id: which of two equal rows is whose cannot be told")
			}
			t.Fatalf("leaked rows, want (-), got (+):\n%s", diff)
		}
		taken := map[string]bool{}
		for _, r := range truth.Taken {
			taken[strconv.FormatInt(r.Row, 10)] = true
		}
		for _, d := range c.Differences {
			if !neverCompleted(c.Recorded, &d) && (d.Stored == nil || d.StoredItem < 0 || !taken[d.Stored.Items[d.StoredItem].Key]) {
				t.Fatalf("a leaky store differs: %s", describeDifference(&d))
			}
		}
	})
}

// TestAHealthyStoreAgreesWithItsStream: nothing leaked, and nothing differs but
// that the events alone tell of children that never completed.
func TestAHealthyStoreAgreesWithItsStream(t *testing.T) {
	t.Run("one call at a time", func(t *testing.T) {
		healthyStores(t, agenttest.Shapes{}, allForms)
	})
	t.Run("skills and background agents", func(t *testing.T) {
		healthyStores(t, agenttest.Shapes{Skills: true, Background: true}, allForms[1:])
	})
	t.Run("several calls at a time", func(t *testing.T) {
		healthyStores(t, every, allForms[2:])
	})
}

func healthyStores(t *testing.T, shapes agenttest.Shapes, forms []agenttest.EventForm) {
	campaign.Checks(t, 40, 2000)
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		p := agenttest.RandomWith(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 25).Draw(t, "size"), shapes)
		p.KeepsFailed = rapid.Bool().Draw(t, "failed children are kept")
		c, _ := compared(t, dir, agenttest.WriteFixed, p, styles(forms...).Draw(t, "style"))
		if diff := cmp.Diff([]string{}, leakedRows(c)); diff != "" {
			t.Fatalf("nothing leaked, got (+):\n%s", diff)
		}
		for _, d := range c.Differences {
			if !neverCompleted(c.Recorded, &d) {
				t.Fatalf("a healthy store differs: %s", describeDifference(&d))
			}
		}
	})
}

// sameResults reports whether two sessions of a recording have results that say the
// same about the same call id, as agents that fail do in programs whose ids repeat.
func sameResults(recorded *session.Tree) bool {
	holder := map[string]string{}
	for _, s := range recorded.Sessions {
		for _, it := range s.Items {
			if it.Role != session.Tool {
				continue
			}
			it.Own().Agent, it.Flags = "", 0
			words := sayItem(&it)
			if other, known := holder[words]; known && other != s.ID {
				return true
			}
			holder[words] = s.ID
		}
	}
	return false
}

// hasTwin says whether a leaked row has a twin, and nothing where several items of
// the recording say the same, whoever said it: of these nobody can tell which is
// whose.
func hasTwin(c *replay.Comparison, row string, has bool) string {
	words := func(it session.Item) string {
		it.Own().Agent, it.Flags = "", 0
		return sayItem(&it)
	}
	var said string
	for _, rs := range c.Trace.Sessions {
		for _, it := range rs.Session.Items {
			if it.Key == row {
				said = words(it)
			}
		}
	}
	alike := 0
	for _, s := range c.Recorded.Sessions {
		for _, it := range s.Items {
			if words(it) == said {
				alike++
			}
		}
	}
	if alike > 1 {
		return ""
	}
	return fmt.Sprintf(", twin %t", has)
}

// leakedRows lists the leaked rows of a trace, and whether they have twins. They
// are the steps that are skipped, and none is undecidable.
func leakedRows(c *replay.Comparison) []string {
	rows := []string{}
	twins := map[replay.TreeItem]bool{}
	for _, rs := range c.Trace.Sessions {
		skipped := 0
		for i := range rs.Steps {
			if rs.Steps[i].Action == replay.Skip {
				skipped++
			}
		}
		for _, d := range rs.Delegations {
			for _, l := range d.Leaked {
				it := &rs.Session.Items[l.Item]
				row := fmt.Sprintf("row %s%s", it.Key, hasTwin(c, it.Key, l.Twin != nil))
				if l.Twin != nil && (twins[*l.Twin] || l.Twin.Session.Items[l.Twin.Item].Meaning != it.Meaning) {
					row += ", which says something else or is another's"
				}
				if l.Twin != nil {
					twins[*l.Twin] = true
				}
				if l.Undecidable || rs.Steps[l.Item].Frame == nil {
					row += ", undecidable or without a frame"
				}
				rows = append(rows, row)
				skipped--
			}
		}
		if skipped != 0 {
			rows = append(rows, fmt.Sprintf("%d more skipped items than leaked ones in %s", skipped, rs.Session.ID))
		}
	}
	slices.Sort(rows)
	return rows
}

// neverCompleted reports whether a difference is that the store lacks an item of
// a child that no item of the recording refers to.
func neverCompleted(recorded *session.Tree, d *replay.Difference) bool {
	if d.Kind != replay.Lost || d.Recorded == nil {
		return false
	}
	for s := d.Recorded; s != nil && s != recorded.Root(); s = recorded.Session(s.Parent) {
		if !referred(recorded, s.ID) {
			return true
		}
	}
	return false
}

func referred(tree *session.Tree, id string) bool {
	for _, s := range tree.Sessions {
		if slices.ContainsFunc(s.Items, func(it session.Item) bool { return it.Kind == session.SubSession && it.Child() == id }) {
			return true
		}
	}
	return false
}

func describeDifference(d *replay.Difference) string {
	var b strings.Builder
	b.WriteString([...]string{"lost", "foreign", "altered", "misplaced"}[d.Kind])
	if len(d.What) > 0 {
		b.WriteString(" (" + strings.Join(d.What, ", ") + ")")
	}
	if d.Recorded != nil && d.RecordedItem >= 0 {
		fmt.Fprintf(&b, "\nrecorded in %s: %s", d.Recorded.ID, sayItem(&d.Recorded.Items[d.RecordedItem]))
	}
	if d.Stored != nil && d.StoredItem >= 0 {
		fmt.Fprintf(&b, "\nstored in %s: row %s, %s", d.Stored.ID, d.Stored.Items[d.StoredItem].Key, sayItem(&d.Stored.Items[d.StoredItem]))
	}
	return b.String()
}
