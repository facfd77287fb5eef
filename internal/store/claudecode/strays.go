package claudecode

import (
	"maps"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/store/filelog"
)

// findStrays marks the lines of sub-agents with a file of their own that stand in the file of
// who asked them, and takes them out of its chain: what the next request would be without
// them is what a repair makes of it.
//
// A line of 2.1 names its sub-agent (agentId), and no line of a session of its own does. An
// identifier in both files proves less, since copies of healthy lines have the same: such a
// line is a stray if it says that it is a sub-agent's (isSidechain), or stands behind the call.
func (t *trunk) findStrays() error {
	named, holds, calls := map[filelog.Name]int32{}, map[filelog.Name]int32{}, map[filelog.Name]int{}
	for k := range t.agents {
		a := &t.agents[k]
		if a.wrong != nil {
			continue
		}
		named[t.chain.Name(strings.TrimPrefix(strings.TrimSuffix(a.id, t.copied), agentPrefix))] = int32(k) + 1
		for uuid := range a.chain.at {
			holds[uuid] = int32(k) + 1
		}
	}
	if len(named) == 0 {
		return nil
	}
	for i := range t.chain.nodes {
		n := &t.chain.nodes[i]
		for _, call := range t.chain.of(n, assistant) {
			calls[call] = i
		}
		if n.home = named[n.agent]; n.home == 0 && holds[n.uuid] != 0 {
			made, known := calls[t.chain.Name(t.agents[holds[n.uuid]-1].meta.Call)]
			if n.sidechain || known && made < i {
				n.home = holds[n.uuid]
			}
		}
	}
	for k := range t.agents {
		a := &t.agents[k]
		for i := range a.chain.nodes { // those of one that it asked itself
			n := &a.chain.nodes[i]
			if home := named[n.agent]; home > 0 && home != int32(k)+1 && t.parentOf(&t.agents[home-1]) == a.id {
				n.home = home
			}
		}
		if err := t.passOver(a.chain, a.log); err != nil {
			return err
		}
	}
	return t.passOver(t.chain, t.log)
}

// passOver finds out which strays of a file have a copy in their own, and what stands above
// them in the conversation: the lines below them hang below that.
func (t *trunk) passOver(c *chain, log *filelog.Log) error {
	lines, last := log.Window(), filelog.Name(0)
	for i := range c.nodes {
		n := &c.nodes[i]
		if n.home == 0 {
			if n.uuid != 0 && !n.sidechain || c != t.chain && n.uuid != 0 {
				last = n.uuid
			}
			continue
		}
		home := &t.agents[n.home-1]
		if at, twice := home.chain.at[n.uuid]; twice {
			stray, err := lines.Line(n.span())
			if err != nil {
				return err
			}
			own, err := home.log.Window().Line(home.chain.nodes[at].span())
			if err != nil {
				return err
			}
			n.copied = alike(stray, own)
		} else {
			home.chain.away[n.uuid] = true
		}
		if up, ok := c.at[n.parent]; !ok {
			n.parent = last
		} else if above := &c.nodes[up]; above.home != 0 {
			n.parent = above.parent
		} else if above.sidechain && c == t.chain {
			n.parent = last
		}
	}
	return nil
}

// above is the line that a line hangs below, or is named as one: what is above strays.
func (c *chain) above(uuid filelog.Name) filelog.Name {
	if i, ok := c.at[uuid]; ok && c.nodes[i].home != 0 {
		return c.nodes[i].parent
	}
	return uuid
}

// alike reports whether two lines say the same, whatever they hang below.
func alike(a, b []byte) bool {
	parts := func(text []byte) map[string]string {
		var values map[string]jsontext.Value
		if jsonscan.Exact.Unmarshal(text, &values) != nil {
			return nil
		}
		said := map[string]string{}
		for name, v := range values {
			switch name {
			case fieldParent, fieldSidechain, "sessionId", "agentId":
				continue
			}
			v = v.Clone()
			_ = v.Canonicalize() // else it has to be the same to the byte
			said[name] = string(v)
		}
		return said
	}
	one := parts(a)
	return one != nil && maps.Equal(one, parts(b))
}
