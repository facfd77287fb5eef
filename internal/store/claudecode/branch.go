package claudecode

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/filelog"
)

// node is a line of the chain, or one that cannot be read. The chain runs through lines that
// are no messages: what the runtime puts into requests by itself (attachment), and its notes
// (system, progress). There may be a million of them, so that a node has no pointers, and
// what few have is in the chain.
type node struct {
	offset         int64
	length, number int32

	uuid, parent filelog.Name
	message      filelog.Name // the id of the message that the line is a block of
	source       filelog.Name // of a result: the line of its call
	from, to     int32        // its calls, or its results, in the chain's tools
	side         int32        // the sub-agent whose line it is, from 1, 0 for none
	rank         int32        // its place in the next request
	agent        filelog.Name // the sub-agent that the line names
	session      filelog.Name // the session that the line names, 0 for that of the file
	home         int32        // the sub-agent or session whose stray it is, from 1, 0 for none
	kind         kind
	sidechain    bool
	boundary     bool
	summary      bool
	replaced     bool // a later line has the same identifier
	open         bool // the file ends within it
	active       bool // the next request is made of it
	cut          bool // but for a gap behind it
	blank        bool // all that it says is blank texts
	thinks       bool // and this: reasoning
	listed       bool // in a list
	unsent       bool // blank, and left out of the next request
	reminds      bool // a text of the vendor that is sent as a text of the user
	failed       bool // an answer that the provider refused, which is never sent
	copied       bool // a stray: its own file has it, too
	again        bool // a block beside the chain whose calls its message makes already: sent once
	mend, crlf   bool // see filelog.Span
}

// chain is what is known of a file: its lines in their order, and which of them the next
// request is made of.
type chain struct {
	*filelog.Names
	nodes   []node
	tools   []filelog.Name         // the calls and results of all lines
	at      map[filelog.Name]int32 // the lines by their identifiers; the last line that has one
	leaf    filelog.Name           // what the last line of the type last-prompt names
	ownLeaf filelog.Name           // what the last of them names that is of the file's session
	title   string
	version string   // of Claude Code: the one that wrote the newest line
	folders []string // in which the session's lines were written, as they came first
	folder  string   // the newest of them
	newest  time.Time
	wrong   map[int]string                  // why a line cannot be read
	kept    map[int][]string                // what a compaction sends again, by its line
	prompts map[filelog.Name]session.Digest // of calls that start a sub-agent
	said    map[int]session.Digest          // of first lines of sub-agents in the file
	started []outcome
	logical map[int]filelog.Name    // the last line before a compaction, by its line
	runs    []*filelog.Run          // of lines that cannot be read, in which there are records
	twice   map[*filelog.Run]string // an identifier of theirs that another line has, which says something else
	faults  []session.Fault

	away   map[filelog.Name]bool // lines that stand in another file only
	within []bool                // which lines the chain that is being looked at has
	path   []int                 // those of the last activation, from the first line to the leaf
	joins  map[int]join          // lines whose branch has lost what is before it
}

// lineSpan is where the text of a line lies.
func (n *node) lineSpan() filelog.Span {
	return filelog.Span{Offset: n.offset, Length: int(n.length), Mend: n.mend, CRLF: n.crlf}
}

// toolsOf are the calls that an assistant's line makes, or those whose results a user's line has.
func (c *chain) toolsOf(n *node, by kind) []filelog.Name {
	if n.kind != by {
		return nil
	}
	return c.tools[n.from:n.to]
}

func newChain(known *filelog.Names) *chain {
	return &chain{
		Names: known, at: map[filelog.Name]int32{}, wrong: map[int]string{}, kept: map[int][]string{}, prompts: map[filelog.Name]session.Digest{},
		said: map[int]session.Digest{}, away: map[filelog.Name]bool{}, logical: map[int]filelog.Name{}, twice: map[*filelog.Run]string{},
	}
}

// readChain reads all lines of a file once, which is that of a session (own) or of a sub-agent ("").
// Its names are those of other files, too.
func readChain(ctx context.Context, log *filelog.Log, known *filelog.Names, own string) (*chain, error) {
	c, empty := newChain(known), true
	var l line
	var said message
	var why string
	is := func(text []byte) bool {
		l, said, why = parseLine(text)
		return why == "" && l.Type != "" && (l.UUID != "" || l.Session != "" || l.Leaf != "" || l.Snapshot != "")
	}
	for at, err := range log.Records(ctx, is) {
		if err != nil {
			return c, err
		}
		empty = false
		n := node{offset: at.Offset, length: int32(at.Length), number: int32(at.Number), open: at.Open, mend: at.Mend, crlf: at.CRLF}
		if at.Err != nil {
			why = at.Err.Error()
		}
		if why == "" && own != "" && l.Session != own {
			n.session = c.Name(l.Session)
		}
		if r := at.Run; r != nil && (len(c.runs) == 0 || c.runs[len(c.runs)-1] != r) {
			c.runs = append(c.runs, r)
		}
		switch {
		case why != "":
			c.wrong[len(c.nodes)] = why
		case l.UUID == "" || l.Type == "file-history-snapshot": // whose identifier may be a message's
			if c.noteLine(&l); n.session == 0 {
				if l.Type == lastPrompt {
					c.ownLeaf = c.leaf
				}
				continue
			}
			n.kind = unsaid // it goes where the turns of that session go
		default:
			c.noteLine(&l)
			c.fillNode(&n, &l, &said)
			if before, twice := c.at[n.uuid]; twice {
				c.nodes[before].replaced = true
				twin, err := log.Window().Line(c.nodes[before].lineSpan())
				for _, r := range []*filelog.Run{at.Run, c.runOf(int(before))} {
					if r != nil && (err != nil || !bytes.Equal(twin, at.Text)) {
						c.twice[r] = c.Text(n.uuid)
					}
				}
			}
			c.at[n.uuid] = int32(len(c.nodes))
		}
		c.nodes = append(c.nodes, n)
	}
	if c.tellRuns(); empty {
		c.faults = append(c.faults, session.Fault{Kind: session.TornLine, Item: -1, Detail: "the transcript is empty: what was said in it is not stored"})
	}
	return c, nil
}

// noteLine keeps what lines of all types say of the session.
func (c *chain) noteLine(l *line) {
	c.version = cmp.Or(l.Version, c.version)
	if l.Folder != "" && l.Folder != c.folder && !l.Sidechain {
		if c.folder = l.Folder; !slices.Contains(c.folders, l.Folder) {
			c.folders = append(c.folders, l.Folder)
		}
	}
	switch l.Type {
	case lastPrompt:
		c.leaf = c.Name(l.Leaf)
	case "custom-title":
		c.title = l.Title
	case "ai-title":
		c.title = cmp.Or(c.title, l.Named)
	case "summary": // of the branch that ends at a line, which may be another file's
		if _, ours := c.at[c.Name(l.Leaf)]; ours {
			_ = jsonscan.Exact.Unmarshal(l.About, &c.title)
		}
	}
}

// fillNode sets what a line says of its place, and adds its calls and results.
func (c *chain) fillNode(n *node, l *line, said *message) {
	n.kind, n.sidechain, n.summary = kindOf(l.Type), l.Sidechain, l.Summary
	n.uuid, n.parent, n.source, n.agent = c.Name(l.UUID), c.Name(l.Parent), c.Name(l.Source), c.Name(l.Agent)
	n.boundary = n.kind == system && l.Subtype == boundary
	if at, _ := time.Parse(time.RFC3339Nano, l.Time); at.After(c.newest) {
		c.newest = at
	}
	if n.kind == assistant {
		n.message = c.Name(said.ID)
	}
	if n.boundary {
		c.logical[len(c.nodes)] = c.Name(l.Logical)
	}
	if n.boundary && len(l.Compact) > 0 {
		var p preserved
		if jsonscan.Exact.Unmarshal(l.Compact, &p) == nil {
			c.kept[len(c.nodes)] = p.Messages.UUIDs
		}
	}
	parts, _ := parseBlocks(said.Content)
	n.blank, n.listed = len(parts) > 0 && allBlank(parts), said.Content.Kind() == '['
	n.thinks = len(parts) > 0 && !slices.ContainsFunc(parts, func(p block) bool { return !p.isReasoning() })
	n.reminds, n.failed = l.Rendered == "user", l.APIError
	if n.sidechain && n.parent == 0 && len(parts) > 0 {
		c.said[len(c.nodes)] = session.DigestOf(parts[0].Text)
	}
	n.from = int32(len(c.tools))
	for i := range parts {
		switch p := &parts[i]; {
		case p.Type == "tool_use" && n.kind == assistant:
			call := c.Name(p.ID)
			if d := session.DelegationFor(p.Name, string(p.Input)); d != nil {
				c.prompts[call] = d.Task
			}
			c.tools = append(c.tools, call)
		case p.Type == "tool_result" && n.kind == user:
			c.tools = append(c.tools, c.Name(p.CallID))
		}
	}
	if n.to = int32(len(c.tools)); n.to == n.from+1 && n.kind == user && l.Outcome.Kind() == '{' {
		o := outcome{call: c.tools[n.from]}
		if jsonscan.Exact.Unmarshal(l.Outcome, &o) == nil && o.Agent != "" {
			c.started = append(c.started, o)
		}
	}
}

// activateChain finds out which lines of the chain the next request is made of, and their
// order in it. only chooses the lines that the chain has.
//
// What Claude Code 2.1.197 and 2.1.330 do was seen in the requests of resumed sessions. The
// leaf is the newest line below the one that the last prompt names. From there it goes from
// parent to parent; where one does not exist, to the line before. It adds the other blocks
// of the messages found, and the results of their calls that hang beside the chain.
// What 2.0 does not send before a gap is cut.
func (c *chain) activateChain(only func(*node) bool) {
	var list []int
	c.within = make([]bool, len(c.nodes))
	for i := range c.nodes {
		if n := &c.nodes[i]; n.uuid != 0 && !n.replaced && n.home == 0 && only(n) {
			list, c.within[i] = append(list, i), true
		}
	}
	if len(list) == 0 {
		return
	}
	path := c.walkChain(list, c.findLeaf(list))
	c.path = path
	for rank, i := range path {
		c.nodes[i].active, c.nodes[i].rank = true, int32(rank)<<2
	}
	c.addBlocks(list)
	c.addResults(list, path)
	c.findUnsent(list)
	for i := range c.faults {
		if f := &c.faults[i]; f.Hides {
			f.Detail = c.countSent(list) + ": " + f.Detail
		}
	}
}

// countSent says how many messages the next request is made of.
func (c *chain) countSent(list []int) string {
	all, sent := map[[2]int]bool{}, map[[2]int]bool{} // by the message, or else by the line
	for _, i := range list {
		n, m := &c.nodes[i], [2]int{int(c.nodes[i].message)}
		if n.message == 0 {
			m[1] = i
		}
		if n.kind == user || n.kind == assistant {
			all[m] = true
			if n.active && !n.cut {
				sent[m] = true
			}
		}
	}
	return fmt.Sprintf("%d of %d messages would be sent", len(sent), len(all))
}

// checkCallsOffBranch tells of results beside the branch that is sent whose call no line makes.
func (c *chain) checkCallsOffBranch() {
	made := map[filelog.Name]bool{}
	for i := range c.nodes {
		for _, call := range c.toolsOf(&c.nodes[i], assistant) {
			made[call] = true
		}
	}
	for i := range c.nodes {
		n := &c.nodes[i]
		for _, call := range c.toolsOf(n, user) {
			if !n.active && !n.replaced && c.within[i] && !made[call] {
				c.addFault("line %s answers the call %s, which no line of the file makes; it is not on the branch that is sent, so nothing of it is sent", c.Text(n.uuid), c.Text(call))
			}
		}
	}
}

// findLine finds the line of the chain with an identifier.
func (c *chain) findLine(uuid filelog.Name) (int, bool) {
	i, ok := c.at[uuid]
	return int(i), ok && c.within[i]
}

// findLeaf finds the line that the next request ends with.
func (c *chain) findLeaf(list []int) int {
	last := -1
	for _, i := range list {
		if c.nodes[i].kind == user || c.nodes[i].kind == assistant || last < 0 {
			last = i
		}
	}
	from, known := c.findLine(c.aboveStrays(c.leaf))
	if !known {
		if c.leaf != 0 {
			c.addFault("the last prompt names the line %s, which does not exist; the conversation goes on from its newest line", c.Text(c.leaf))
		}
		return last
	}
	below := make([]bool, len(c.nodes))
	below[from] = true
	leaf := from
	for _, i := range list {
		if up, ok := c.findLine(c.aboveStrays(c.nodes[i].parent)); ok && i > from && below[up] {
			below[i], leaf = true, i
		}
	}
	return leaf
}

// walkChain are the lines from the first one of the request to the leaf. Behind a summary come
// the messages that the compaction kept.
func (c *chain) walkChain(list []int, leaf int) (path []int) {
	seen := make([]bool, len(c.nodes))
	var kept []string
	gap, old := -1, ResumedBy(c.version) == &generations[0].resumes
	for i := leaf; i >= 0; {
		n := &c.nodes[i]
		if seen[i] {
			c.addFault("the parents of line %s lead in a circle", c.Text(n.uuid))
			break
		}
		seen[i], path = true, append(path, i)
		if n.boundary {
			kept = c.kept[i]
			c.checkHistory(list, i)
			break
		}
		if lost, ok := c.joins[i]; ok {
			above := c.Text(lost.below)
			c.addFault("%s", lost.detail)
			f := &c.faults[len(c.faults)-1]
			f.Ref.Pointer, f.Default, f.Hides = c.Text(n.uuid), &above, true
			f.Remedy = "name the last line before what was lost as the parent of the first one that is sent, so that both are sent"
			if i, ok = c.findLine(lost.below); !ok || seen[i] {
				break
			}
			if gap < 0 {
				gap = len(path)
			}
			continue
		}
		parent := c.aboveStrays(n.parent)
		if parent == 0 {
			break
		}
		up, ok := c.findLine(parent)
		if !ok && c.away[parent] {
			up = c.lineBefore(list, i)
		} else if !ok {
			c.addFault("line %s names the parent %s, which does not exist; Claude Code 2.1 goes on with the line before it, and older versions send nothing that stands before it", c.Text(n.uuid), c.Text(n.parent))
			if old && gap < 0 {
				gap = len(path)
			}
			if up = c.lineBefore(list, i); up >= 0 && seen[up] {
				up = -1
			}
			if up >= 0 {
				f := &c.faults[len(c.faults)-1]
				above := c.Text(c.nodes[up].uuid)
				f.Ref.Pointer, f.Default, f.Hides = c.Text(n.uuid), &above, old
			}
		}
		i = up
	}
	for _, i := range path[max(gap, 0):] {
		c.nodes[i].cut = gap >= 0
	}
	slices.Reverse(path)
	return c.insertKept(path, kept, seen)
}

// checkHistory tells what is missing before a compaction, of which nothing is sent.
func (c *chain) checkHistory(list []int, compaction int) {
	seen, answered := make([]bool, len(c.nodes)), map[filelog.Name]bool{}
	for _, i := range list {
		for _, call := range c.toolsOf(&c.nodes[i], user) {
			answered[call] = answered[call] || i < compaction
		}
	}
	const unsent = "; it stands before a compaction, so nothing of it is sent"
	for i, up := compaction, c.logical[compaction]; up != 0; {
		above, ok := c.findLine(up)
		if !ok {
			c.addFault("line %s names the line %s before it, which does not exist"+unsent, c.Text(c.nodes[i].uuid), c.Text(up))
			above = c.lineBefore(list, i)
		}
		if above < 0 || seen[above] {
			return
		}
		n := &c.nodes[above]
		for _, call := range c.toolsOf(n, assistant) {
			if !answered[call] {
				c.addFault("line %s makes the call %s, which has no result there"+unsent, c.Text(n.uuid), c.Text(call))
			}
		}
		i, seen[above] = above, true
		if up = n.parent; n.boundary {
			up = c.logical[above]
		}
	}
}

// lineBefore is the line of the chain before another one in the file, -1 for none.
func (c *chain) lineBefore(list []int, i int) int {
	at, _ := slices.BinarySearch(list, i)
	if at == 0 {
		return -1
	}
	return list[at-1]
}

// insertKept puts the messages that a compaction kept behind its summary.
func (c *chain) insertKept(path []int, kept []string, seen []bool) []int {
	at := slices.IndexFunc(path, func(i int) bool { return c.nodes[i].summary }) + 1
	var again []int
	for _, uuid := range kept {
		if i, ok := c.findLine(c.Name(uuid)); ok && !seen[i] {
			again, seen[i] = append(again, i), true
		}
	}
	return slices.Insert(path, at, again...)
}

// addBlocks adds the blocks of active messages that stand beside the chain. A call that its
// message makes already is sent once.
func (c *chain) addBlocks(list []int) {
	type made struct{ message, call filelog.Name }
	last, sent := map[filelog.Name]int32{}, map[made]bool{} // the rank of the last active block of a message
	cut := map[filelog.Name]bool{}                          // if that is cut
	repeats := func(n *node) bool {
		calls := c.toolsOf(n, assistant)
		again := len(calls) > 0
		for _, call := range calls {
			again = again && sent[made{n.message, call}]
			sent[made{n.message, call}] = true
		}
		return again
	}
	for _, i := range list {
		if n := &c.nodes[i]; n.active && n.message != 0 {
			if n.rank >= last[n.message] {
				last[n.message], cut[n.message] = n.rank, n.cut
			}
			repeats(n)
		}
	}
	for _, i := range list {
		n := &c.nodes[i]
		if rank, sent := last[n.message]; sent && n.message != 0 && !n.active {
			n.active, n.rank, n.again, n.cut = true, rank+1, repeats(n), cut[n.message]
		}
	}
}

// addResults adds the results of active calls that stand beside the chain, behind the
// message that made the call. Those of one message are in the order of their lines.
func (c *chain) addResults(list, path []int) {
	made := map[filelog.Name]filelog.Name{} // the message that makes a call
	whole := map[filelog.Name]int32{}       // its rank
	for _, i := range list {
		if n := &c.nodes[i]; n.active {
			whole[n.message] = max(whole[n.message], n.rank)
			for _, call := range c.toolsOf(n, assistant) {
				made[call] = n.message
			}
		}
	}
	answers, asked := map[filelog.Name][]int{}, filelog.Name(0) // the results on the chain directly behind a message
	for _, i := range path {
		switch n := &c.nodes[i]; {
		case n.kind == assistant:
			asked = n.message
		case len(c.toolsOf(n, user)) > 0 && made[c.toolsOf(n, user)[0]] == asked:
			answers[asked] = append(answers[asked], i)
		case n.kind != unsaid:
			asked = 0
		}
	}
	for _, i := range list {
		n := &c.nodes[i]
		results := c.toolsOf(n, user)
		if n.active || len(results) == 0 {
			continue
		}
		source, known := c.findLine(n.source)
		message, sent := made[results[0]]
		if known { // which tells calls with one id apart
			message = c.nodes[source].message
		}
		if known && sent && c.nodes[source].active {
			n.active, n.rank, n.cut = true, whole[message]+2, c.nodes[source].cut
			for _, before := range answers[message] {
				if before < i {
					n.rank = max(n.rank, c.nodes[before].rank+1)
				}
			}
		}
		// One whose call and parent are gone hangs below the line before it, like all lines
		// without a parent: nothing says that it is of another branch.
		_, hangs := c.findLine(c.aboveStrays(n.parent))
		if before := c.lineBefore(list, i); !known && !sent && !hangs && n.parent != 0 && before >= 0 && c.nodes[before].active {
			n.active, n.rank = true, c.nodes[before].rank
		}
	}
}

func (c *chain) addFault(format string, args ...any) {
	c.faults = append(c.faults, session.Fault{Kind: session.BrokenChain, Item: -1, Field: "parentUuid", Detail: fmt.Sprintf(format, args...)})
}
