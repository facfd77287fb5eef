package rules

import (
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

// RecordedName is an item of the recording for people, and where it stands there:
// `a message of "root" with call r1 (shell) (line 12)`.
func RecordedName(s *session.Session, item int) string {
	return ItemName(s, item) + AtLine(&s.Items[item])
}

// ItemName is an item for people, without what it says.
func ItemName(s *session.Session, item int) string {
	it := &s.Items[item]
	var name string
	switch {
	case it.Kind == session.SubSession:
		name = "the reference to sub-session " + Short(it.Child)
	case it.Kind == session.Summary:
		name = "a summary"
	case it.Kind == session.Other:
		name = "a record that is not sent to a model"
	case it.Role == session.Tool && len(it.Results) > 0:
		name = "the result of " + List(resultIDs(it))
	case it.Agent != "":
		name = "a message of " + Quoted(it.Agent)
	case it.Role == session.User:
		name = "a message of the user"
	case it.Role == session.System:
		name = "a system message"
	default:
		name = "a message"
	}
	if len(it.Calls) > 0 {
		name += " with " + callNames(it)
	}
	return name
}

func resultIDs(it *session.Item) []string {
	var ids []string
	for i := range it.Results {
		ids = append(ids, "call "+it.Results[i].CallID)
	}
	return ids
}

func callNames(it *session.Item) string {
	var names []string
	for i := range it.Calls {
		names = append(names, "call "+CallName(&it.Calls[i]))
	}
	return Some(names)
}

// ItemNames are the items of a run, the first few by name.
func ItemNames(run []replay.Difference, name func(*replay.Difference) string) string {
	var names []string
	for i := range run {
		names = append(names, name(&run[i]))
	}
	return Some(names)
}

// AtLine is where an item of the recording stands in it, "" for one that came as a
// part of its sub-session. Of a stored item it must not be asked: a store's table may
// have any name, also that of a recording's items.
func AtLine(it *session.Item) string {
	if it.Table != recording.Table {
		return ""
	}
	return " (line " + it.Key + ")"
}

// SoleCall is the id of the only call that an item makes or answers, "" when there
// are several or none.
func SoleCall(it *session.Item) string {
	switch {
	case len(it.Calls) == 1 && len(it.Results) == 0:
		return it.Calls[0].ID
	case len(it.Results) == 1 && len(it.Calls) == 0:
		return it.Results[0].CallID
	}
	return ""
}

// LostChild is a sub-session of the recording of which the store has no message:
// it lacks the session, or has it empty.
type LostChild struct {
	Sessions  []*session.Session // of the recording: it, and those below that are lost with it
	Stored    *session.Session   // the empty one, nil when there is none
	Completed bool               // the caller's session refers to it
	Call      *replay.Delegation // the recorded call, nil when unknown
	Asked     *replay.Delegation // the stored call, nil when unknown
	Leaked    bool               // the finding about what leaked of it tells that it is lost
	Uncalled  bool               // its call and the reference to it are lost as well, which tells it
}

// explains reports whether the difference is a part of the loss: an item of the
// sub-session, or the reference to it.
func (c *LostChild) explains(d *replay.Difference) bool {
	switch {
	case d.Kind == replay.Foreign:
		return false
	case slices.Contains(c.Sessions, d.Recorded):
		return true
	}
	it := RecordedItem(d)
	return it.Kind == session.SubSession && it.Child == c.Sessions[0].ID && !c.Uncalled
}

// lostChildren are the outermost ones, by session of the recording.
func (p *Pass) lostChildren() []*LostChild {
	lost := map[*session.Session]*session.Session{}
	for _, d := range p.Compared.Differences {
		if d.Kind == replay.Lost && d.Recorded != p.Compared.Recorded.Root() && (d.Stored == nil || Speechless(d.Stored)) {
			lost[d.Recorded] = d.Stored
		}
	}
	if len(lost) == 0 {
		return nil
	}
	var list []*LostChild
	of := map[string]*LostChild{}
	recorded := p.Compared.RecordedTrace
	for _, s := range p.Compared.Recorded.Sessions { // parents come first
		stored, isLost := lost[s]
		switch outer := of[s.Parent]; {
		case !isLost:
			continue
		case outer != nil:
			outer.Sessions = append(outer.Sessions, s)
			of[s.ID] = outer
		default:
			c := &LostChild{Sessions: []*session.Session{s}, Stored: stored, Call: recorded.Callers[s]}
			p.place(c, list)
			of[s.ID], list = c, append(list, c)
		}
	}
	return list
}

// place finds the call of a lost sub-session in the store, and who else tells of
// it. Calls that others of the list have are theirs.
func (p *Pass) place(c *LostChild, others []*LostChild) {
	switch {
	case c.Stored != nil:
		c.Asked = p.Trace.Callers[c.Stored]
	case c.Call != nil:
		c.Asked = p.storedCall(c.Call, others)
	}
	if c.Call != nil {
		c.Completed = c.Call.Reference >= 0
		c.Uncalled = c.Completed && p.lacks(c.Call.Session, c.Call.Item) && p.lacks(c.Call.Session, c.Call.Reference)
	}
	c.Leaked = c.Asked != nil && p.leaksOf(c.Asked)
}

// lacks reports whether the store lacks an item of the recording.
func (p *Pass) lacks(s *session.Session, item int) bool {
	return slices.ContainsFunc(p.Compared.Differences, func(d replay.Difference) bool {
		return d.Kind == replay.Lost && d.Recorded == s && d.RecordedItem == item
	})
}

// storedCall is the first stored call without a child that is the recorded one.
func (p *Pass) storedCall(call *replay.Delegation, others []*LostChild) *replay.Delegation {
	s := p.Subject(p.Tree.Session(call.Session.ID))
	if s == nil {
		return nil
	}
	for _, d := range s.Replay.Delegations {
		same := d.Child == nil && d.Call().ID == call.Call().ID && d.Call().Delegation.Task == call.Call().Delegation.Task
		if same && !slices.ContainsFunc(others, func(c *LostChild) bool { return c.Asked == d }) {
			return d
		}
	}
	return nil
}

// leaksOf reports whether the only copies of some of a delegation's messages stand
// in a session above: SC702 and SC703 say so.
func (p *Pass) leaksOf(asked *replay.Delegation) bool {
	for _, s := range p.Subjects {
		for _, d := range s.Replay.Delegations {
			for _, l := range d.Leaked {
				if l.Twin == nil && (d == asked || within(l.Frame, asked)) {
					return true
				}
			}
		}
	}
	return false
}

func within(f *replay.Frame, d *replay.Delegation) bool {
	for ; f != nil; f = f.Parent {
		if f.Copy == d {
			return true
		}
	}
	return false
}

// Unsaved says where else there is something of a child that was never saved, besides
// what leaked of it: in the recording.
func (p *Pass) Unsaved(d *replay.Delegation) string {
	if p.Compared == nil {
		return "This is the only copy"
	}
	for _, c := range p.Differences().Children {
		if c.Asked == d {
			return fmt.Sprintf("This is the only copy in the store, and the recording has %s more of that sub-session", Count(p.lostItems(c), "item"))
		}
	}
	return "This is the only copy in the store"
}

func (p *Pass) lostItems(c *LostChild) int {
	n := 0
	for _, d := range p.Compared.Differences {
		if d.Kind == replay.Lost && slices.Contains(c.Sessions, d.Recorded) {
			n++
		}
	}
	return n
}

// tells is the difference that a finding of a retold rule tells, nil for none.
func (p *Pass) tells(f *Finding) *replay.Difference {
	for i := range p.Compared.Differences {
		if d := &p.Compared.Differences[i]; f.Rule.Retells(f, d) {
			return d
		}
	}
	return nil
}

// telling are the findings of the pass's rule that count: beside a recording, of a
// retold rule only those that tell a difference. Nothing is in doubt then, so they
// have the severity of the rule.
func (p *Pass) telling(found []*Finding) []*Finding {
	if p.Compared == nil || p.Rule.Retells == nil {
		return found
	}
	return slices.DeleteFunc(found, func(f *Finding) bool {
		d := p.tells(f)
		if d != nil {
			f.Severity = max(f.Severity, f.Rule.Severity)
			f.Then("The recording has " + RecordedName(d.Recorded, d.RecordedItem))
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
	return Once(&p.Known, p.findDifferences)
}

func (p *Pass) findDifferences() *differing {
	told := map[*replay.Difference]bool{}
	quiet := *p
	quiet.report = func(f *Finding) { told[p.tells(f)] = true }
	for _, r := range p.retold {
		quiet.Run(r)
	}
	found := &differing{Children: p.lostChildren()}
	for i := range p.Compared.Differences {
		d := &p.Compared.Differences[i]
		if !told[d] && !unrecorded(d) && !slices.ContainsFunc(found.Children, func(c *LostChild) bool { return c.explains(d) }) {
			found.others = append(found.others, *d)
		}
	}
	return found
}

// unrecorded reports whether the stored item is of a kind that recordings lack:
// records for people, as that of an error (docker agent's `--exec --json` stops
// before the first one).
func unrecorded(d *replay.Difference) bool {
	return d.Kind == replay.Foreign && d.Stored.Items[d.StoredItem].Kind == session.Other
}

// Runs are the differences of a kind that no other finding tells: what is lost in
// one gap of a session together, and other items that follow each other.
func (p *Pass) Runs(kind replay.DifferenceKind) [][]replay.Difference {
	var list [][]replay.Difference
	for _, d := range p.Differences().others {
		switch n := len(list) - 1; {
		case d.Kind != kind:
		case n >= 0 && follows(&list[n][len(list[n])-1], &d):
			list[n] = append(list[n], d)
		default:
			list = append(list, []replay.Difference{d})
		}
	}
	return list
}

// follows reports whether a difference goes on with another one of its kind.
func follows(a, b *replay.Difference) bool {
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
	f := p.Find(run[0].Stored, run[0].StoredItem)
	for _, d := range run {
		f.Items = append(f.Items, d.StoredItem)
	}
	f.Call = SoleCall(&run[0].Stored.Items[run[0].StoredItem])
	return f
}

// RecordedItem is the item of the recording that the difference is about.
func RecordedItem(d *replay.Difference) *session.Item { return &d.Recorded.Items[d.RecordedItem] }
