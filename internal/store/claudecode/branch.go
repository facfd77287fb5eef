package claudecode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sessctl/sessctl/internal/lines"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/filelog"
)

// node is a line of the chain, or one that cannot be read. The chain runs through lines that
// are no messages: what the runtime puts into requests by itself (attachment), and its notes
// (system, progress).
type node struct {
	filelog.Span
	number int64

	uuid, parent string
	kind         string // the type, "" of a line that cannot be read
	message      string // the id of the message that the line is a block of
	source       string // of a result: the line of its call
	calls        []string
	prompts      []session.Digest // of calls that start a sub-agent
	said         session.Digest   // of a message's text, where a sub-agent may begin with it
	results      []string
	agent        string // of a result: the sub-agent that gave it
	background   bool   // of a result: the sub-agent goes on
	sidechain    bool
	boundary     bool
	summary      bool
	replaced     bool // a later line has the same identifier
	kept         []string
	time         time.Time
	wrong        string // why it cannot be read
	open         bool   // the file ends within it
	side         int    // the sub-agent whose line it is, from 1, 0 for none

	active bool // the next request is made of it
	rank   int  // its place in the next request
}

// chain is what is known of a file: its lines in their order, and which of them the next
// request is made of.
type chain struct {
	nodes  []node
	at     map[string]int // by the identifier; the last line that has it
	leaf   string         // what the last line of the type last-prompt names
	title  string
	faults []session.Fault

	within []bool // which lines the chain that is being looked at has
}

// readChain reads all lines of a file once.
func readChain(ctx context.Context, log *filelog.Log) (*chain, error) {
	c := &chain{at: map[string]int{}}
	err := log.Lines(ctx, func(at filelog.Line) error {
		n := node{Span: at.Span, number: at.Number, open: at.Open}
		if errors.Is(at.Err, lines.ErrTooLong) {
			n.wrong = at.Err.Error()
			c.nodes = append(c.nodes, n)
			return nil
		}
		l, said, wrong := parse(at.Text)
		if wrong != "" {
			n.wrong = wrong
			c.nodes = append(c.nodes, n)
			return nil
		}
		c.note(&l)
		if l.UUID == "" || l.Type == "file-history-snapshot" { // whose identifier may be a message's
			return nil
		}
		n.fill(&l, &said)
		if before, twice := c.at[l.UUID]; twice {
			c.nodes[before].replaced = true
		}
		c.at[l.UUID] = len(c.nodes)
		c.nodes = append(c.nodes, n)
		return nil
	})
	return c, err
}

// note keeps what lines of all types say of the session.
func (c *chain) note(l *line) {
	switch l.Type {
	case typeLastPrompt:
		c.leaf = l.Leaf
	case "custom-title":
		c.title = l.Title
	case "ai-title":
		c.title = cmp.Or(c.title, l.Named)
	case "summary": // of the branch that ends at a line, which may be another file's
		if _, ours := c.at[l.Leaf]; ours {
			_ = exact.Unmarshal(l.About, &c.title)
		}
	}
}

func (n *node) fill(l *line, said *message) {
	n.uuid, n.parent, n.kind, n.source, n.sidechain, n.summary = l.UUID, l.Parent, l.Type, l.Source, l.Sidechain, l.Summary
	n.boundary = l.Type == typeSystem && l.Subtype == boundary
	n.time, _ = time.Parse(time.RFC3339Nano, l.Time)
	if l.Type == typeAssistant {
		n.message = said.ID
	}
	if n.boundary && len(l.Compact) > 0 {
		var p preserved
		if exact.Unmarshal(l.Compact, &p) == nil {
			n.kept = p.Messages.UUIDs
		}
	}
	parts, _ := blocks(said.Content)
	if n.sidechain && len(parts) > 0 {
		n.said = session.DigestOf(parts[0].Text)
	}
	for i := range parts {
		switch p := &parts[i]; {
		case p.Type == "tool_use" && l.Type == typeAssistant:
			n.calls = append(n.calls, p.ID)
			n.prompts = append(n.prompts, promptOf(p))
		case p.Type == "tool_result" && l.Type == typeUser:
			n.results = append(n.results, p.CallID)
		}
	}
	if len(n.results) == 1 && l.Outcome.Kind() == '{' {
		var o outcome
		if exact.Unmarshal(l.Outcome, &o) == nil {
			n.agent, n.background = o.Agent, o.Status == "async_launched"
		}
	}
}

// promptOf is what a call asks of a sub-agent, 0 where it starts none.
func promptOf(p *block) session.Digest {
	var asked struct {
		Prompt string `json:"prompt"`
	}
	if !delegates(p.Name) || exact.Unmarshal(p.Input, &asked) != nil {
		return 0
	}
	return session.DigestOf(asked.Prompt)
}

// delegates reports whether a tool starts a sub-agent; it had another name up to 2.0.
func delegates(tool string) bool { return tool == "Task" || tool == "Agent" }

// activate finds out which lines of the chain the next request is made of, and their
// order in it. only chooses the lines that the chain has.
//
// What Claude Code 2.1.197 and 2.1.330 do was seen in the requests of resumed sessions. The
// leaf is the newest line below the one that the last prompt names. From there it goes from
// parent to parent; where one does not exist, to the line before. It adds the other blocks
// of the messages found, and the results of their calls that hang beside the chain.
func (c *chain) activate(only func(*node) bool) {
	var list []int
	c.within = make([]bool, len(c.nodes))
	for i := range c.nodes {
		if n := &c.nodes[i]; n.uuid != "" && !n.replaced && only(n) {
			list, c.within[i] = append(list, i), true
		}
	}
	if len(list) == 0 {
		return
	}
	path := c.walk(list, c.findLeaf(list))
	for rank, i := range path {
		c.nodes[i].active, c.nodes[i].rank = true, rank<<2
	}
	c.addBlocks(list)
	c.addResults(list, path)
}

// find is the line of the chain with an identifier.
func (c *chain) find(uuid string) (i int, ok bool) {
	i, ok = c.at[uuid]
	return i, ok && c.within[i]
}

// findLeaf is the line that the next request ends with.
func (c *chain) findLeaf(list []int) int {
	last := -1
	for _, i := range list {
		if c.nodes[i].kind == typeUser || c.nodes[i].kind == typeAssistant || last < 0 {
			last = i
		}
	}
	from, known := c.find(c.leaf)
	if !known {
		if c.leaf != "" {
			c.fault("the last prompt names the line %s, which does not exist; the conversation goes on from its newest line", c.leaf)
		}
		return last
	}
	below := make([]bool, len(c.nodes))
	below[from] = true
	leaf := from
	for _, i := range list {
		if up, ok := c.find(c.nodes[i].parent); ok && i > from && below[up] {
			below[i], leaf = true, i
		}
	}
	return leaf
}

// walk are the lines from the first one of the request to the leaf. Behind a summary come
// the messages that the compaction kept.
func (c *chain) walk(list []int, leaf int) (path []int) {
	seen := make([]bool, len(c.nodes))
	var kept []string
	for i := leaf; i >= 0; {
		n := &c.nodes[i]
		if seen[i] {
			c.fault("the parents of line %s lead in a circle", n.uuid)
			break
		}
		seen[i], path = true, append(path, i)
		if n.boundary {
			kept = n.kept
			break
		}
		if n.parent == "" {
			break
		}
		up, ok := c.find(n.parent)
		if !ok {
			c.fault("line %s names the parent %s, which does not exist; Claude Code 2.1 goes on with the line before it, and older versions send nothing that stands before it", n.uuid, n.parent)
			if up = c.before(list, i); up >= 0 && seen[up] {
				up = -1
			}
			if up >= 0 {
				f := &c.faults[len(c.faults)-1]
				f.Ref.Pointer, f.Default = n.uuid, &c.nodes[up].uuid
			}
		}
		i = up
	}
	slices.Reverse(path)
	return c.keep(path, kept, seen)
}

// before is the line of the chain before another one in the file, -1 for none.
func (c *chain) before(list []int, i int) int {
	at, _ := slices.BinarySearch(list, i)
	if at == 0 {
		return -1
	}
	return list[at-1]
}

// keep puts the messages that a compaction kept behind its summary.
func (c *chain) keep(path []int, kept []string, seen []bool) []int {
	at := slices.IndexFunc(path, func(i int) bool { return c.nodes[i].summary }) + 1
	var again []int
	for _, uuid := range kept {
		if i, ok := c.find(uuid); ok && !seen[i] {
			again, seen[i] = append(again, i), true
		}
	}
	return slices.Insert(path, at, again...)
}

// addBlocks adds the blocks of active messages that stand beside the chain.
func (c *chain) addBlocks(list []int) {
	last := map[string]int{} // the rank of the last active block of a message
	for _, i := range list {
		if n := &c.nodes[i]; n.active && n.message != "" {
			last[n.message] = max(last[n.message], n.rank)
		}
	}
	for _, i := range list {
		n := &c.nodes[i]
		if rank, sent := last[n.message]; sent && n.message != "" && !n.active {
			n.active, n.rank = true, rank+1
		}
	}
}

// addResults adds the results of active calls that stand beside the chain, behind the
// message that made the call. Those of one message are in the order of their lines.
func (c *chain) addResults(list, path []int) {
	made := map[string]string{} // the message that makes a call
	whole := map[string]int{}   // its rank
	for _, i := range list {
		if n := &c.nodes[i]; n.active {
			whole[n.message] = max(whole[n.message], n.rank)
			for _, call := range n.calls {
				made[call] = n.message
			}
		}
	}
	answers, asked := map[string][]int{}, "" // the results on the chain directly behind a message
	for _, i := range path {
		switch n := &c.nodes[i]; {
		case n.kind == typeAssistant:
			asked = n.message
		case len(n.results) > 0 && made[n.results[0]] == asked:
			answers[asked] = append(answers[asked], i)
		case !n.unsaid():
			asked = ""
		}
	}
	for _, i := range list {
		n := &c.nodes[i]
		if n.active || len(n.results) == 0 {
			continue
		}
		source, known := c.find(n.source)
		message, sent := made[n.results[0]]
		if known && sent && c.nodes[source].active {
			n.active, n.rank = true, whole[message]+2
			for _, before := range answers[message] {
				if before < i {
					n.rank = max(n.rank, c.nodes[before].rank+1)
				}
			}
		}
		// One whose call and parent are gone hangs below the line before it, like all lines
		// without a parent: nothing says that it is of another branch.
		_, hangs := c.find(n.parent)
		if before := c.before(list, i); !known && !sent && !hangs && n.parent != "" && before >= 0 && c.nodes[before].active {
			n.active, n.rank = true, c.nodes[before].rank
		}
	}
}

func (c *chain) fault(format string, args ...any) {
	c.faults = append(c.faults, session.Fault{Kind: session.BrokenChain, Item: -1, Field: "parentUuid", Detail: fmt.Sprintf(format, args...)})
}
