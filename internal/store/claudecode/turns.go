package claudecode

import (
	"bytes"
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/filelog"
)

// isTurn reports whether a line is a stray of another session, and not of a sub-agent.
func (n *node) isTurn() bool { return n.home != 0 && n.session != 0 }

// findTurns marks the lines of other sessions that were written to this file
// (anthropics/claude-code#30802): such a line names its session (sessionId), whose file has its
// parent and not the line itself; with it goes what hangs below it and is of that session, and the
// session's lines without an identifier. What that file has, too, is a copy, as a fork makes it, and a
// file with no line of its own is one of that session by another name.
func (t *trunk) findTurns(all []*trunk) {
	c, others, homes := t.chain, map[filelog.Name]*trunk{}, map[filelog.Name]int32{}
	for _, o := range all {
		if o != t && path.Dir(o.name) == path.Dir(t.name) {
			others[c.Name(o.sessionName())] = o
		}
	}
	own := func(n node) bool { return n.uuid != 0 && n.session == 0 }
	if len(others) == 0 || !slices.ContainsFunc(c.nodes, own) {
		return
	}
	for i := range c.nodes {
		n := &c.nodes[i]
		o := others[n.session]
		if o == nil || n.uuid == 0 || n.sidechain || n.agent != 0 {
			continue
		}
		up, here := c.at[n.parent]
		above, there := o.chain.at[n.parent]
		if _, copied := o.chain.at[n.uuid]; copied || (!here || c.nodes[up].home == 0 || c.nodes[up].session != n.session) &&
			(here || !there || o.chain.nodes[above].session != 0) {
			continue
		}
		if homes[n.session] == 0 {
			t.agents = append(t.agents, agent{id: o.transcript.id, name: o.name, chain: o.chain, log: o.log, main: o})
			homes[n.session] = int32(len(t.agents))
		}
		n.home = homes[n.session]
	}
	if len(homes) > 0 {
		c.leaf = c.ownLeaf
	}
	for i := range c.nodes {
		if n := &c.nodes[i]; n.uuid == 0 && n.kind == unsaid {
			n.home = homes[n.session]
		}
	}
}

// sessionName is how the lines of a transcript call its session; "" for one on standard input, whose lines
// may say anything.
func (t transcript) sessionName() string {
	if t.name == "" {
		return ""
	}
	return strings.TrimSuffix(path.Base(t.name), ending)
}

// bringTurns moves the lines of a turn of this session from another file into this one: behind what
// they hang below, and at the end of the file where nothing follows that. No byte of them changes.
func (f *rewrite) bringTurns(from *rewrite, lines []int, named map[filelog.Name]filelog.Name) error {
	slices.Sort(lines)
	places := make([]int, len(lines))
	at, waiting := start, 0 // lines without an identifier that come before the first with one
	for k, i := range lines {
		if n := &from.nodes[i]; n.uuid == 0 {
			if places[k] = at; at == start {
				waiting++
			}
			continue
		}
		n := &from.nodes[i]
		if err := f.checkStray(n); err != nil {
			return err
		}
		above, here := f.at[named[n.uuid]]
		before, brought := f.brought[named[n.uuid]]
		switch at = before; {
		case here && int(above) == len(f.nodes)-1:
			at = -1
		case here:
			at = int(above)
		case !brought:
			return problem.New(problem.RolledBack, "", "the file of its session lacks the parent of line %s", f.Text(n.uuid))
		}
		f.brought[n.uuid], places[k] = at, at
		for ; waiting > 0; waiting-- {
			places[waiting-1] = at
		}
	}
	for k, i := range lines {
		f.behind[places[k]] = append(f.behind[places[k]], from.storedLine(i))
		from.removeLine(i)
	}
	return nil
}

// groupTranscripts are transcripts of which some may hold turns of others, together, by their names.
func (c *claude) groupTranscripts(ctx context.Context, list []transcript) [][]transcript {
	if len(list) < 2 || c.facts.Brief || c.piped != nil { //nolint:mnd // one is by itself
		return groupLinked(list, func(transcript) []transcript { return nil })
	}
	at := map[string]transcript{}
	for _, t := range list {
		at[t.name] = t
	}
	groups := groupLinked(list, func(t transcript) (with []transcript) {
		for _, name := range c.otherFiles(ctx, t) {
			if other, known := at[name]; known {
				with = append(with, other)
			}
		}
		return with
	})
	for _, g := range groups {
		slices.SortFunc(g, func(a, b transcript) int { return cmp.Compare(a.name, b.name) })
	}
	return groups
}

// otherFiles are the transcripts beside a transcript that have the names of other sessions that its
// lines name. They need not be there. The bytes are searched, and no line is decoded: this is a second
// reading of each transcript.
func (c *claude) otherFiles(ctx context.Context, t transcript) (names []string) {
	if c.others != nil {
		if found, known := c.others.Load(t); known {
			return found.([]string)
		}
		defer func() { c.others.Store(t, names) }()
	}
	log, err := c.file(t.name)
	if err != nil {
		return nil
	}
	defer func() { _ = log.Close() }()
	key, own := []byte(`sessionId":`), []byte(`"`+t.sessionName()+`"`)
	from, buf := log.Window().From, make([]byte, 1<<18)
	for at := int64(0); ctx.Err() == nil; at += int64(len(buf) - longestID) { // a name may go over the end of a piece
		n, err := from.ReadAt(buf, at)
		for text := buf[:n]; ; {
			next := bytes.Index(text, key)
			if next < 0 {
				break
			}
			if text = text[next+len(key):]; bytes.HasPrefix(text, own) {
				continue
			}
			id, _, whole := bytes.Cut(bytes.TrimLeft(text[:min(len(text), longestID)], ` "`), []byte(`"`))
			if name := path.Join(path.Dir(t.name), string(id)+ending); whole && name != t.name && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		if err != nil || n < len(buf) {
			break
		}
	}
	return names
}

// longestID is more bytes than the name of a session has, with the key before it.
const longestID = 256

// addHomes adds the transcripts that turns in those that are read belong to.
func (c *claude) addHomes(ctx context.Context, all []transcript) {
	if len(c.list) == len(all) || c.facts.Brief {
		return
	}
	for _, t := range slices.Clone(c.list) {
		names := c.otherFiles(ctx, t)
		for _, other := range all {
			if slices.Contains(names, other.name) && !slices.Contains(c.list, other) {
				c.list = append(c.list, other)
			}
		}
	}
}

// groupLinked parts a list into those that belong together, which with tells, by the first of each.
func groupLinked[T comparable](list []T, with func(T) []T) (groups [][]T) {
	group := make([]int, len(list)) // the first that each belongs to
	for i := range group {
		group[i] = i
	}
	for i, one := range list {
		for _, other := range with(one) {
			if j := slices.Index(list, other); j >= 0 {
				into, from := min(group[i], group[j]), max(group[i], group[j])
				for k := range group {
					if group[k] == from {
						group[k] = into
					}
				}
			}
		}
	}
	at := map[int]int{}
	for i, of := range group {
		if of == i {
			at[i], groups = len(groups), append(groups, nil)
		}
		groups[at[of]] = append(groups[at[of]], list[i])
	}
	return groups
}
