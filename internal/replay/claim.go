package replay

import (
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/session"
)

// spot is a place that two items can share: behind the same stored item, with
// something that both say.
type spot struct {
	behind int
	what   any
}

// claim finds partners for the recorded items that have none, among the stored
// items of the run at the same place, in order. keys are what two items can
// share: one of them is enough. The same place is behind the same item of those
// that count. It returns the indexes of the recorded items.
func (p *pair) claim(keys func(content) []any, counts func(content) bool) (found []int) {
	waiting := map[spot][]int{}
	for j, behind := range p.behindRows(counts) {
		if !p.free(j) {
			continue
		}
		for _, key := range keys(p.rows[j]) {
			at := spot{behind, key}
			waiting[at] = append(waiting[at], j)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	for i, behind := range p.behindEvents(counts) {
		if p.match[i] >= 0 {
			continue
		}
		for _, key := range keys(p.events[i]) {
			at := spot{behind, key}
			list := waiting[at]
			for len(list) > 0 && !p.free(list[0]) {
				list = list[1:]
			}
			waiting[at] = list
			n := slices.IndexFunc(list, func(j int) bool { return p.free(j) && !strangers(p.rows[j], p.events[i]) })
			if n < 0 {
				continue
			}
			j := list[n]
			p.match[i], p.back[j] = j, i
			found = append(found, i)
			break
		}
	}
	return found
}

// free reports whether a stored item of the run is still to be explained.
func (p *pair) free(j int) bool {
	return p.near[j] && !p.excused[j] && p.back[j] < 0 && p.leaks[j] == nil && p.rows[j].key != 0
}

// behindEvents is, for each recorded item, the stored partner of the last item
// before it that counts and stands where it should, -1 for none.
func (p *pair) behindEvents(counts func(content) bool) []int {
	list, last := make([]int, len(p.events)), -1
	for i := range p.events {
		list[i] = last
		if p.match[i] >= 0 && !p.moved[i] && counts(p.events[i]) {
			last = p.match[i]
		}
	}
	return list
}

// behindRows is the same for each stored item.
func (p *pair) behindRows(counts func(content) bool) []int {
	list, last := make([]int, len(p.rows)), -1
	for j := range p.rows {
		list[j] = last
		if i := p.back[j]; i >= 0 && !p.moved[i] && counts(p.events[i]) {
			last = j
		}
	}
	return list
}

// of are the keys of some items only.
func of(some func(content) bool, keys func(content) []any) func(content) []any {
	return func(it content) []any {
		if !some(it) {
			return nil
		}
		return keys(it)
	}
}

// strangers reports whether two items refer to different sub-sessions.
func strangers(a, b content) bool { return a.Child != b.Child && a.Child != "" && b.Child != "" }

// What two items can share:

// same is all that an item says.
func (it content) same() []any { return []any{it.key} }

// shared is a call or result of a message of a role.
type shared struct {
	role  session.Role
	agent string
	id    string
	call  string
}

// ids are the calls that a message makes or answers: those of its agent, and calls
// that are the same in full whoever makes them.
func (it content) ids() []any {
	keys := it.ownIDs()
	for i := range it.Calls {
		c := &it.Calls[i]
		keys = append(keys, shared{role: it.Role, id: c.ID, call: c.Name + arguments(c.Args)})
	}
	for i := range it.Results {
		keys = append(keys, shared{role: it.Role, id: it.Results[i].CallID})
	}
	return keys
}

// outcomes are the results of a message, whatever name it has: that of a call that
// took over a row of its child stands before the reference to it (docs/stores/docker-agent.md#which-versions-leak).
func (it content) outcomes() []any {
	var keys []any
	for i := range it.Results {
		keys = append(keys, shared{role: it.Role, id: it.Results[i].CallID, call: it.outputs[i]})
	}
	return keys
}

// ownIDs are the calls of an agent: providers give those of two agents the same
// ids.
func (it content) ownIDs() []any {
	var keys []any
	for i := range it.Calls {
		keys = append(keys, shared{role: it.Role, agent: it.Agent, id: it.Calls[i].ID})
	}
	return keys
}

// speaker is who says something, without calls and results or besides them.
type speaker struct {
	kind  session.Kind
	role  session.Role
	agent string
	plain bool
	text  string
}

// speakers are the speaker and the text, the text alone, and the speaker alone where
// the text is all.
func (it content) speakers() []any {
	var keys []any
	if it.Body.Text != "" {
		keys = append(keys, speaker{it.Kind, it.Role, it.Agent, false, it.Body.Text}, speaker{it.Kind, it.Role, "", false, it.Body.Text})
	}
	if len(it.Calls)+len(it.Results) == 0 {
		keys = append(keys, speaker{it.Kind, it.Role, it.Agent, true, ""})
	}
	return keys
}

// candidates are the stored items that can stand for a recorded one, found by
// what these have in common, so that long sessions need not be compared item by
// item.
type candidates struct {
	stored  []content
	byText  []int            // all, ordered by their texts
	answers map[string][]int // results, by the first call
	begun   map[string][]int // unfinished messages, by what they say
	lengths []int            // of the texts in begun
}

func newCandidates(stored []content) *candidates {
	c := &candidates{stored: stored, answers: map[string][]int{}, begun: map[string][]int{}}
	for j := range stored {
		c.byText = append(c.byText, j)
		text := stored[j].Body.Text
		switch {
		case len(stored[j].Results) > 0:
			id := stored[j].Results[0].CallID
			c.answers[id] = append(c.answers[id], j)
		case stored[j].cut:
			if c.begun[text] == nil && !slices.Contains(c.lengths, len(text)) {
				c.lengths = append(c.lengths, len(text))
			}
			c.begun[text] = append(c.begun[text], j)
		}
	}
	slices.SortFunc(c.byText, func(a, b int) int { return strings.Compare(stored[a].Body.Text, stored[b].Body.Text) })
	return c
}

// of yields the candidates for a recorded item, some of them twice.
func (c *candidates) of(it content, yield func(j int)) {
	if len(it.Results) > 0 {
		for _, j := range c.answers[it.Results[0].CallID] {
			yield(j)
		}
		return
	}
	text := it.Body.Text
	for _, n := range c.lengths {
		if n <= len(text) {
			for _, j := range c.begun[text[:n]] {
				yield(j)
			}
		}
	}
	if !it.cut && !it.Flags.Has(session.Blank) {
		return
	}
	if it.Flags.Has(session.Blank) {
		text = ""
	}
	from := sort.Search(len(c.byText), func(n int) bool { return c.stored[c.byText[n]].Body.Text >= text })
	for _, j := range c.byText[from:] {
		if !strings.HasPrefix(c.stored[j].Body.Text, text) {
			return
		}
		yield(j)
	}
}

// trace replays the stored tree with the recording as its witness.
func (c *comparer) trace(stored *session.Tree) *Trace {
	known := witness{}
	for _, p := range c.pairs {
		for j, l := range p.leaks {
			if l != nil || isTurn(p.rows[j]) && (p.foreign(j) || p.excused[j]) {
				known[TreeItem{p.stored, j}] = l != nil
			}
		}
	}
	trace, windows := walkAll(stored, known)
	calls, children := map[*Delegation]*Delegation{}, map[*Delegation]string{}
	for _, p := range c.pairs {
		for _, d := range c.recorded.session(p.recorded).Delegations {
			if p.storedCall(d) == nil {
				continue
			}
			calls[d] = trace.delegation(&TreeItem{p.stored, p.match[d.Item]}, d.Nth)
			if d.Child != nil {
				children[calls[d]] = c.storedID(d.Child)
			}
		}
	}
	link(stored, trace, windows, children)
	for _, p := range c.pairs {
		c.leak(p, trace, calls)
	}
	return trace
}

// storedID is the id that the store has a recorded session under, or should have.
func (c *comparer) storedID(s *session.Session) string {
	if p := c.of[s]; p.stored != nil {
		return p.stored.ID
	}
	return s.ID
}

// leak enters the leaked items of a session; calls are the stored delegations by
// the recorded ones.
func (c *comparer) leak(p *pair, trace *Trace, calls map[*Delegation]*Delegation) {
	f := &recordedFrames{p: p, calls: calls, frames: map[*route]*Frame{}, openers: map[TreeItem]int{}}
	for j, l := range p.leaks {
		if l != nil {
			f.openers[l.of.TreeItem] = j
		}
	}
	for j, l := range p.leaks {
		if l == nil {
			continue
		}
		frame, d := f.at(l.of.route), calls[l.call]
		d.Leaked = append(d.Leaked, Leaked{Item: j, Frame: frame, Twin: c.twin(l.of.TreeItem)})
		step := &trace.session(p.stored).Steps[j]
		step.Frame, step.Depth = frame, frame.Depth()
	}
}

// twin is the stored item of a child that says the same as the recorded one, nil
// when there is none.
func (c *comparer) twin(recorded TreeItem) *TreeItem {
	home := c.of[recorded.Session]
	j := home.match[recorded.Item]
	if j < 0 || home.differing(recorded.Item) != nil {
		return nil
	}
	return &TreeItem{home.stored, j}
}

// recordedFrames are the frames of the leaked items of a session.
type recordedFrames struct {
	p       *pair
	calls   map[*Delegation]*Delegation // stored delegations by the recorded ones
	openers map[TreeItem]int            // leaked items by the recorded ones
	frames  map[*route]*Frame
}

// at is the frame of what was said at the end of a route. Where no stored session
// has the call, it counts as said by the caller: there is no call to which it
// could belong.
func (f *recordedFrames) at(r *route) *Frame {
	if known := f.frames[r]; known != nil {
		return known
	}
	d, stored := r.call, f.calls[r.call]
	frame := &Frame{Item: -1, Nth: d.Nth, Caller: d.Caller(), Agent: d.Call().Delegation.Agent}
	if r.outer == nil {
		frame.Item = stored.Item
	} else {
		frame.Parent, frame.Copy = f.at(r.outer), stored
		if j, leaked := f.openers[TreeItem{d.Session, d.Item}]; leaked && d.Nth < len(f.p.rows[j].Calls) {
			frame.Item = j
		}
		if frame.Item < 0 && stored == nil {
			frame = frame.Parent
		}
	}
	f.frames[r] = frame
	return frame
}

// contradicts reports whether the child cannot be the call's: another task,
// another agent, or begun outside the time of the call.
func contradicts(d *Delegation, c *session.Session) bool {
	if differs(d, c) {
		return true
	}
	const resolution = time.Second // of stored times
	begun, called := Begun(c), d.Session.Items[d.Item].Time
	if begun.IsZero() || called.IsZero() {
		return false
	}
	if begun.Before(called.Add(-resolution)) {
		return true
	}
	if d.Result < 0 || !d.Call().Delegation.Blocking {
		return false
	}
	answered := d.Session.Items[d.Result].Time
	return !answered.IsZero() && begun.After(answered.Add(resolution))
}

// differs reports whether the child was started with another task or another
// agent than the call's, as far as both are known.
func differs(d *Delegation, c *session.Session) bool {
	asked := d.Call().Delegation
	if c.Task != 0 && asked.Task != 0 && c.Task != asked.Task {
		return true
	}
	agent := FirstAgent(c)
	return agent != "" && asked.Agent != "" && agent != asked.Agent
}

func sameTask(d *Delegation, c *session.Session) bool {
	return c.Task != 0 && c.Task == d.Call().Delegation.Task
}

func sameAnswer(d *Delegation, c *session.Session) bool {
	last, r := LastAnswer(c), d.Outcome()
	return last >= 0 && r != nil && r.Digest != 0 && r.Digest == c.Items[last].Text
}

// LastAnswer is the index of the item that a delegation's result is made of:
// the child's last item, when that is assistant text without calls which its
// writer finished and no repair rebuilt; -1 when the child did not finish, or
// was rebuilt from what leaked of it.
func LastAnswer(c *session.Session) int {
	if rebuilt(c) {
		return -1
	}
	for i := len(c.Items) - 1; i >= 0; i-- {
		it := &c.Items[i]
		if !it.OnWire() {
			continue
		}
		if it.Role == session.Assistant && len(it.Calls) == 0 && it.Text != 0 &&
			it.Flags&(session.Unfinished|session.Synthetic|session.Blank) == 0 {
			return i
		}
		return -1
	}
	return -1
}

// rebuilt reports whether a repair made the session from what had leaked of it:
// then it begins with a task that the repair wrote.
func rebuilt(s *session.Session) bool {
	return len(s.Items) > 0 && s.Items[0].Flags.Has(session.Synthetic)
}

// FirstAgent is the agent that a child was started with: its own record's, else
// that of its first item with one.
func FirstAgent(c *session.Session) string {
	if c.Agent != "" {
		return c.Agent
	}
	for i := range c.Items {
		if c.Items[i].Agent != "" {
			return c.Items[i].Agent
		}
	}
	return ""
}

// Begun is when a session began: its first item's time, else its record's.
func Begun(c *session.Session) time.Time {
	for i := range c.Items {
		if !c.Items[i].Time.IsZero() {
			return c.Items[i].Time
		}
	}
	return c.Created
}
