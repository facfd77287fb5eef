package delegation

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// ListReferrers lists the items that refer to each session of the tree. References
// that lead back up are left out: they are SC706.
func ListReferrers(p *rules.Pass) map[string][]session.Place {
	if len(p.Subjects) < 2 {
		return nil
	}
	refs := map[string][]session.Place{}
	for _, s := range p.Subjects {
		for i := range s.Items {
			if it := &s.Items[i]; it.Kind == session.SubSession && it.Child() != "" && !leadsUp(p, s.Session, it.Child()) {
				refs[it.Child()] = append(refs[it.Child()], s.ItemPlace(i))
			}
		}
	}
	return refs
}

// links is how the sessions of a tree hang together.
type links struct {
	byID  map[string]*session.Session
	above map[*session.Session]*session.Session
	loops []loop
	up    map[link]bool // of loops
}

func newLinks(tree *session.Tree) *links {
	l := &links{byID: map[string]*session.Session{}, above: map[*session.Session]*session.Session{}, up: map[link]bool{}}
	for _, s := range tree.Sessions {
		l.byID[s.ID] = s
		for _, child := range s.Children {
			l.above[child] = s
		}
	}
	return l
}

// treeLinks is how the tree hangs together, made when a rule first asks.
func treeLinks(p *rules.Pass) *links {
	return rules.ComputeOnce(&p.Known, func() *links {
		all := newLinks(p.Tree)
		all.loops = findLoops(p, all)
		for _, l := range all.loops {
			all.up[link{l.from.Session, l.to}] = true
		}
		return all
	})
}

// leadsUp reports whether a reference of the session to id closes a loop: SC706.
func leadsUp(p *rules.Pass, s *session.Session, id string) bool {
	links := treeLinks(p)
	return links.up[link{s, links.byID[id]}]
}

// inLoop reports whether following the recorded parents leads from the session
// back to it. Only trees with such a fault have loops.
func inLoop(p *rules.Pass, s *session.Session) bool {
	if !slices.ContainsFunc(p.Tree.Sessions, func(s *session.Session) bool {
		return slices.ContainsFunc(s.Faults, func(f session.Fault) bool { return f.Kind == session.ParentCycle })
	}) {
		return false
	}
	at := s
	for range p.Tree.Sessions {
		if at = p.Tree.Session(at.Parent); at == nil || at == s {
			break
		}
	}
	return at == s
}

// Spawn is a delegation with the child that it started.
type Spawn struct {
	*replay.Delegation
	From, To *rules.Subject
}

// ListSpawns lists the delegations of the tree whose child is stored, in the order of the
// sessions and items. A child that several of them share comes with each: SC707 is
// about those. A call that leads back up starts no child: SC706.
func ListSpawns(p *rules.Pass) []Spawn {
	var list []Spawn
	for _, s := range p.Subjects {
		for _, d := range s.Replay.Delegations {
			if d.Child != nil && !leadsUp(p, s.Session, d.Child.ID) {
				list = append(list, Spawn{d, s, p.SubjectOf(d.Child)})
			}
		}
	}
	return list
}

// OwnSpawns are those whose child no other delegation has but copies of it in forks.
func OwnSpawns(p *rules.Pass) []Spawn {
	all, count := originalSpawns(ListSpawns(p)), map[*rules.Subject]int{}
	for _, s := range all {
		count[s.To]++
	}
	return slices.DeleteFunc(all, func(s Spawn) bool { return count[s.To] > 1 })
}

// originalSpawns are those that are no copies in a fork of the conversation that started the child.
// Forks keep the ids of calls and the times of messages (goose, opencode), and a child the session
// that started it: where its call is gone, the first of the copies stands for it.
func originalSpawns(list []Spawn) []Spawn {
	of := map[*rules.Subject][]Spawn{}
	for _, s := range list {
		of[s.To] = append(of[s.To], s)
	}
	isCopy := func(s Spawn) bool {
		call, at, before := s.Call(), s.From.Items[s.Item].Time, true
		return s.From.ID != s.To.Parent && slices.ContainsFunc(of[s.To], func(o Spawn) bool {
			before = before && o.Delegation != s.Delegation
			made := o.Call()
			return o.From != s.From && made.ID == call.ID && made.Name == call.Name && made.Delegation.Task == call.Delegation.Task &&
				o.From.Items[o.Item].Time.Equal(at) && (s.To.Parent != "" && o.From.ID == s.To.Parent || before && !at.IsZero())
		})
	}
	return slices.DeleteFunc(slices.Clone(list), isCopy)
}

// namesChild reports whether an item has a call by which the store names a session.
func namesChild(it *session.Item, id string) bool {
	return slices.ContainsFunc(it.Calls, func(c session.Call) bool { return c.Delegation != nil && c.Delegation.Child == id })
}

// namedIn reports whether a session has such a call.
func namedIn(s *session.Session, id string) bool {
	return slices.ContainsFunc(s.Items, func(it session.Item) bool { return namesChild(&it, id) })
}

// reference is how one session names another one as its child: by items that refer to
// it, and by calls that the store keeps the child's id with.
type reference struct {
	from  *rules.Subject
	to    *session.Session
	items []int
	call  *session.Call // the first call, nil where items alone refer to it
}

// loop is a reference that leads back up.
type loop struct {
	reference
	path []*session.Session // from the session that it names down to the one that names it
}

// link is that one session names another.
type link struct{ from, to *session.Session }

// findLoops finds the references that close a loop: those to a session from which the
// one that names it can be reached by the tree's own links and by the references that
// came before, in the order of the sessions and items.
func findLoops(p *rules.Pass, links *links) []loop {
	refs := treeReferences(p, links)
	if len(refs) == 0 {
		return nil
	}
	below := map[*session.Session][]*session.Session{}
	for _, s := range p.Tree.Sessions {
		below[s] = slices.Clone(s.Children)
	}
	ring := ringedSessions(below, refs)
	var list []loop
	for _, r := range refs {
		if ring[r.from.Session] && ring[r.to] {
			if path := wayDown(below, r.to, r.from.Session); path != nil {
				if l := (loop{r, path}); !isCopy(links, &l) {
					list = append(list, l)
				}
				continue
			}
		}
		below[r.from.Session] = append(below[r.from.Session], r.to)
	}
	return list
}

// treeReferences are those to sessions of the tree, each session's once for each that it
// names. The tree's own links are left out, and so is what is only likely.
func treeReferences(p *rules.Pass, links *links) []reference {
	var list []reference
	for _, s := range p.Subjects {
		at := map[*session.Session]int{}
		add := func(item int, id string, call *session.Call) {
			to := links.byID[id]
			if to == nil || links.above[to] == s.Session {
				return
			}
			n, known := at[to]
			if !known {
				n, list = len(list), append(list, reference{from: s, to: to})
				at[to] = n
			}
			r := &list[n]
			r.items, r.call = append(r.items, item), cmp.Or(r.call, call)
		}
		for i := range s.Items {
			if it := &s.Items[i]; it.Kind == session.SubSession {
				add(i, it.Child(), nil)
			}
		}
		for _, d := range s.Replay.Delegations {
			if what := d.Call().Delegation; !what.Likely {
				add(d.Item, what.Child, d.Call())
			}
		}
	}
	return list
}

// ringedSessions are the sessions that are left when those that nothing leads to are taken away,
// again and again. Loops are among them only, so that hardly any store has such.
func ringedSessions(below map[*session.Session][]*session.Session, refs []reference) map[*session.Session]bool {
	next, leading := map[*session.Session][]*session.Session{}, map[*session.Session]int{}
	lead := func(from, to *session.Session) {
		next[from] = append(next[from], to)
		leading[to]++
	}
	for s, children := range below {
		for _, child := range children {
			lead(s, child)
		}
	}
	for _, r := range refs {
		lead(r.from.Session, r.to)
	}
	left := map[*session.Session]bool{}
	var free []*session.Session
	for s := range below {
		if left[s] = leading[s] > 0; !left[s] {
			free = append(free, s)
		}
	}
	for len(free) > 0 {
		s := free[len(free)-1]
		free = free[:len(free)-1]
		for _, to := range next[s] {
			if leading[to]--; leading[to] == 0 {
				left[to] = false
				free = append(free, to)
			}
		}
	}
	return left
}

// wayDown is the shortest way from one session to another, both included; nil where
// there is none.
func wayDown(below map[*session.Session][]*session.Session, from, to *session.Session) []*session.Session {
	above := map[*session.Session]*session.Session{from: nil}
	for queue := []*session.Session{from}; len(queue) > 0; queue = queue[1:] {
		s := queue[0]
		if s == to {
			var path []*session.Session
			for ; s != nil; s = above[s] {
				path = append(path, s)
			}
			slices.Reverse(path)
			return path
		}
		for _, child := range below[s] {
			if _, met := above[child]; !met {
				above[child] = s
				queue = append(queue, child)
			}
		}
	}
	return nil
}

// isCopy reports whether the call that closes a loop is one of a session above, which
// began this one with a copy of what it said (SC804).
func isCopy(links *links, l *loop) bool {
	if l.call == nil {
		return false
	}
	said := l.from.Items[l.items[0]].Meaning
	for s := links.above[l.from.Session]; s != nil; s = links.above[s] {
		if slices.ContainsFunc(s.Items, func(it session.Item) bool { return len(it.Calls) > 0 && it.Meaning == said }) {
			return true
		}
	}
	return false
}

// pathText writes a loop as "P → C → P", up to so many sessions that a person can read.
func (l *loop) pathText() string {
	const most = 8
	var ids []string
	for _, s := range l.path {
		if len(ids) == most {
			ids = append(ids, "…")
			break
		}
		ids = append(ids, rules.ShortID(s.ID))
	}
	return strings.Join(append(ids, ids[0]), " → ")
}

// share is a session that several calls of one conversation have as their child.
type share struct {
	child  *rules.Subject
	spawns []Spawn // two or more, in the order of the sessions and items
}

// sharing is who shares what in a tree.
type sharing struct {
	callers []Spawn // the calls whose child some other call may have as well
	calls   map[*rules.Subject]int
	shares  []share
	of      map[string][]int // the shares of a child, by its id
}

// treeSharing is who shares what, made when a rule first asks.
func treeSharing(p *rules.Pass) *sharing {
	return rules.ComputeOnce(&p.Known, func() *sharing { return findSharing(p) })
}

// sharedSessions are the sessions that several calls share, once for each conversation
// that has more than one of the calls.
func sharedSessions(p *rules.Pass) []share { return treeSharing(p).shares }

// sharingCalls are the calls whose child some other call may have as well: those that
// name it, and those of a batch behind which several items refer to one session.
func sharingCalls(p *rules.Pass) []Spawn { return treeSharing(p).callers }

func findSharing(p *rules.Pass) *sharing {
	sh := &sharing{callers: originalSpawns(findCallers(p)), calls: map[*rules.Subject]int{}, of: map[string][]int{}}
	for _, sp := range sh.callers {
		sh.calls[sp.To]++
	}
	type key struct {
		child *rules.Subject
		root  *session.Session
	}
	for _, spawns := range lists.GroupBy(sh.callers, func(sp Spawn) key { return key{sp.To, conversationRoot(p, sp.From.Session)} }) {
		if len(spawns) > 1 {
			sh.shares = append(sh.shares, share{child: spawns[0].To, spawns: spawns})
		}
	}
	for i, s := range sh.shares {
		sh.of[s.child.ID] = append(sh.of[s.child.ID], i)
	}
	return sh
}

func findCallers(p *rules.Pass) []Spawn {
	if len(p.Subjects) < 2 {
		return nil
	}
	var list []Spawn
	for _, s := range p.Subjects {
		batch, referred := -1, []*session.Session(nil)
		for _, d := range s.Replay.Delegations {
			child := d.Child
			if child == nil {
				if d.Item != batch {
					batch, referred = d.Item, sharedByBatch(p, s, d.Item)
				}
				if i := slices.IndexFunc(referred, func(c *session.Session) bool { return asksFor(d, c) }); i >= 0 {
					child = referred[i]
				}
			}
			if child != nil && !leadsUp(p, s.Session, child.ID) {
				list = append(list, Spawn{d, s, p.SubjectOf(child)})
			}
		}
	}
	return list
}

// sharedByBatch are the sessions that at least two items behind a batch of calls refer
// to: each is the child of every call of the batch that asks its agent and has no child
// of its own.
func sharedByBatch(p *rules.Pass, s *rules.Subject, item int) []*session.Session {
	var list []*session.Session
	seen := map[string]int{}
	for i, end := item+1, endOfBatch(s, item); i < end; i++ {
		it := &s.Items[i]
		if it.Kind != session.SubSession || it.Child() == "" || leadsUp(p, s.Session, it.Child()) {
			continue
		}
		seen[it.Child()]++
		if child := treeLinks(p).byID[it.Child()]; child != nil && seen[it.Child()] == 2 {
			list = append(list, child)
		}
	}
	return list
}

// asksFor reports whether a call may have started a session, by the agent that it asks.
func asksFor(d *replay.Delegation, child *session.Session) bool {
	asked, spoke := d.Call().Delegation.Agent, replay.FirstAgent(child)
	return asked == "" || spoke == "" || asked == spoke
}

// endOfBatch is the index behind the last item that can belong to the calls of an
// item: that of the next message of the session's own which brings no results.
func endOfBatch(s *rules.Subject, item int) int {
	for i := item + 1; i < len(s.Items); i++ {
		if it := &s.Items[i]; it.OnWire() && !it.IsAnswer() && s.IsOwn(i) {
			return i
		}
	}
	return len(s.Items)
}

// conversationRoot is the session at the top of the one given.
func conversationRoot(p *rules.Pass, s *session.Session) *session.Session {
	links := treeLinks(p)
	for links.above[s] != nil {
		s = links.above[s]
	}
	return s
}

// askedAgent is who was asked.
func (s *share) askedAgent() string {
	return cmp.Or(s.spawns[0].Call().Delegation.Agent, s.child.Agent, replay.FirstAgent(s.child.Session))
}

// toldBySharing reports whether SC707 tells that these items refer to one session:
// all stand in one session, and calls of it share that one.
func toldBySharing(p *rules.Pass, id string, places []session.Place) bool {
	return slices.ContainsFunc(treeSharing(p).of[id], func(n int) bool {
		return !slices.ContainsFunc(places, func(at session.Place) bool {
			return !slices.ContainsFunc(sharedSessions(p)[n].spawns, func(sp Spawn) bool { return sp.From.ID == at.Session })
		})
	})
}
