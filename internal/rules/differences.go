package rules

import (
	"slices"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

// toldDifference is the difference that a finding of a retold rule tells, nil for none.
func (p *Pass) toldDifference(f *Finding) *replay.Difference {
	for i := range p.Compared.Differences {
		if d := &p.Compared.Differences[i]; f.Rule.Retells(f, d) {
			return d
		}
	}
	return nil
}

// keepTelling are the findings of the pass's rule that count: beside a recording, of a
// retold rule only those that tell a difference. Nothing is in doubt then, so they
// have the severity of the rule.
func (p *Pass) keepTelling(found []*Finding) []*Finding {
	if p.Compared == nil || p.Rule.Retells == nil {
		return found
	}
	return slices.DeleteFunc(found, func(f *Finding) bool {
		d := p.toldDifference(f)
		if d != nil {
			f.Severity = max(f.Severity, f.Rule.Severity)
			f.AddSentence("The recording has " + RecordedName(d.Recorded, d.RecordedItem))
		}
		return d == nil
	})
}

// differing is what there is to tell of a comparison beside what leaked.
type differing struct {
	Children []*LostChild
	others   []replay.Difference // that neither these nor retold rules tell
}

// Differences sorts what differs by who tells it, whichever rules were chosen to
// run: one cause is one finding, under the same rule every time.
func (p *Pass) Differences() *differing {
	return ComputeOnce(&p.Known, p.findDifferences)
}

func (p *Pass) findDifferences() *differing {
	told := map[*replay.Difference]bool{}
	quiet := *p
	quiet.report = func(f *Finding) { told[p.toldDifference(f)] = true }
	for _, r := range p.retold {
		quiet.Run(r)
	}
	found := &differing{Children: p.lostChildren()}
	for i := range p.Compared.Differences {
		d := &p.Compared.Differences[i]
		if !told[d] && !isUnrecorded(d) && !slices.ContainsFunc(found.Children, func(c *LostChild) bool { return c.explainsDifference(d) }) {
			found.others = append(found.others, *d)
		}
	}
	return found
}

// isUnrecorded reports whether the stored item is of a kind that recordings lack:
// records for people, as that of an error (docker agent's `--exec --json` stops
// before the first one).
func isUnrecorded(d *replay.Difference) bool {
	return d.Kind == replay.Foreign && d.Stored.Items[d.StoredItem].Kind == session.Other
}

// DifferenceRuns are the differences of a kind that no other finding tells: what is lost in
// one gap of a session together, and other items that follow each other.
func (p *Pass) DifferenceRuns(kind replay.DifferenceKind) [][]replay.Difference {
	var list [][]replay.Difference
	for _, d := range p.Differences().others {
		switch n := len(list) - 1; {
		case d.Kind != kind:
		case n >= 0 && continuesWith(&list[n][len(list[n])-1], &d):
			list[n] = append(list[n], d)
		default:
			list = append(list, []replay.Difference{d})
		}
	}
	return list
}

// continuesWith reports whether a difference goes on with another one of its kind.
func continuesWith(a, b *replay.Difference) bool {
	if a.Stored != b.Stored || a.Recorded != b.Recorded {
		return false
	}
	switch a.Kind {
	case replay.Lost:
		return b.StoredItem == a.StoredItem
	case replay.Misplaced:
		return b.StoredItem == a.StoredItem+1 && b.RecordedItem == a.RecordedItem+1
	case replay.Foreign:
		return b.StoredItem == a.StoredItem+1
	}
	return false
}

// FindRun starts the finding about a run of stored items.
func (p *Pass) FindRun(run []replay.Difference) Finding {
	f := p.FindItems(run[0].Stored, lists.MapEach(run, func(d replay.Difference) int { return d.StoredItem }))
	f.Call = SoleCall(&run[0].Stored.Items[run[0].StoredItem])
	return f
}
