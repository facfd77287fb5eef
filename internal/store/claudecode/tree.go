package claudecode

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/filelog"
	"github.com/sessctl/sessctl/internal/store/forest"
)

const (
	agentPrefix = "agent-"
	subagents   = "subagents"
)

// agent is a sub-agent with a file of its own, as 2.1 has them.
type agent struct {
	id    string // of its session: the name of its file
	name  string // of its file, below the folder
	chain *chain
	log   *filelog.Log
	wrong error // why it cannot be read
	meta  meta
	main  *trunk // of another session that lines of the transcript belong to: it is no sub-agent
}

// meta is what the file beside that of a sub-agent says of it.
type meta struct {
	Type       string `json:"agentType"`
	Title      string `json:"description"`
	Call       string `json:"toolUseId"`
	Parent     string `json:"parentAgentId"`
	Background string `json:"requestShape"`
}

// trunk is a transcript while it is being read.
type trunk struct {
	*claude
	transcript
	chain  *chain
	log    *filelog.Log
	agents []agent
	reader
	makers   map[filelog.Name]string // the first sub-agent with a file that made a call
	sessions []*session.Session
}

// readTrees reads transcripts and what their sub-agents wrote. Those that hold turns of each other are
// one tree; there is none for one without a message. With each, which may be nil, no items are read:
// it is handed the lines of the items of every session.
func (c *claude) readTrees(ctx context.Context, group []transcript, each func(transcript, *part)) (list []*session.Tree, err error) {
	trunks, names := make([]*trunk, len(group)), filelog.NewNames()
	children, background := map[string]string{}, map[string]bool{}
	defer func() {
		for _, t := range trunks {
			err = errors.Join(err, t.closeFiles())
		}
	}()
	for i, of := range group {
		t := &trunk{claude: c, transcript: of, makers: map[filelog.Name]string{}}
		t.reader = reader{children: children, background: background, used: map[string]int{}, texts: c.opts.Texts}
		if trunks[i] = t; each != nil {
			t.each = func(p *part) { each(of, p) }
		}
		if err := t.openFiles(ctx, names); err != nil {
			return nil, err
		}
		t.linkAgents()
	}
	for _, t := range trunks {
		if err := t.findStrays(trunks); err != nil {
			return nil, err
		}
	}
	for _, t := range trunks {
		if err := t.makeSessions(ctx); err != nil {
			return nil, err
		}
	}
	for _, joined := range joinTrunks(trunks) {
		if tree := treeOf(joined); tree != nil {
			list = append(list, tree)
		}
	}
	return list, nil
}

// joinTrunks joins the transcripts that hold turns of each other, together.
func joinTrunks(trunks []*trunk) [][]*trunk {
	return groupLinked(trunks, func(t *trunk) (with []*trunk) {
		for _, a := range t.agents {
			if a.main != nil {
				with = append(with, a.main)
			}
		}
		return with
	})
}

// treeOf is the tree of such transcripts, nil for one without a message.
func treeOf(trunks []*trunk) *session.Tree {
	var heads []forest.Head
	for _, t := range trunks {
		for _, s := range t.sessions {
			heads = append(heads, forest.HeadOf(s))
		}
	}
	if len(heads) == 1 && len(heads[0].Session.Items) == 0 && len(heads[0].Session.Faults) == 0 {
		return nil
	}
	return joinTrees(forest.GroupHeads(heads))
}

// joinTrees joins one tree of all sessions of some.
func joinTrees(list []*session.Tree) *session.Tree {
	whole := &session.Tree{}
	for _, t := range list {
		whole.Sessions = append(whole.Sessions, t.Sessions...)
	}
	return whole
}

// openFiles reads the lines of the transcript and of its sub-agents. What is appended meanwhile is
// left for the next reading: the sub-agents of all calls that are read have their files.
func (t *trunk) openFiles(ctx context.Context, known *filelog.Names) (err error) {
	if t.log = t.piped; t.piped == nil {
		if t.log, err = t.file(t.name); err != nil {
			return err
		}
		if t.agents, err = t.listAgents(t.transcript); err != nil {
			return err
		}
	}
	t.chain, err = readChain(ctx, t.log, known, t.sessionName())
	listed := t.agents
	t.agents = nil
	for _, a := range listed {
		if a.log, a.wrong = t.file(a.name); errors.Is(a.wrong, filelog.ErrNew) {
			continue
		}
		if a.wrong != nil {
			a.log = filelog.Over(strings.NewReader("")) // the others are read
		}
		if err == nil {
			a.chain, err = readChain(ctx, a.log, known, "")
		}
		if a.wrong != nil && err == nil {
			a.chain.faults = nil
		}
		t.agents = append(t.agents, a)
	}
	return err
}

// agentFolder is where those sub-agents are that a session asked.
func (t transcript) agentFolder() string {
	return path.Join(strings.TrimSuffix(t.name, ending), subagents)
}

// listAgents lists the sub-agents with files, and what is said of them beside. The runtime does not
// mind where that is missing or broken.
func (c *claude) listAgents(t transcript) (list []agent, err error) {
	folder, err := c.root.OpenRoot(t.agentFolder())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Close() }()
	entries, err := fs.ReadDir(folder.FS(), ".")
	for _, e := range entries {
		if id, isLog := strings.CutSuffix(e.Name(), ending); isLog && strings.HasPrefix(id, agentPrefix) {
			a := agent{id: id + t.copied, name: path.Join(t.agentFolder(), e.Name())}
			if text, err := filelog.Read(folder, id+".meta.json", mostNote); err == nil {
				_ = jsonscan.Exact.Unmarshal(text, &a.meta)
			}
			list = append(list, a)
		}
	}
	return list, err
}

// closeFiles closes the files.
func (t *trunk) closeFiles() (err error) {
	if t.log != nil {
		err = t.log.Close()
	}
	for i := range t.agents {
		if log := t.agents[i].log; log != nil && t.agents[i].main == nil {
			err = errors.Join(err, log.Close())
		}
	}
	return err
}

// linkAgents finds out which call started which sub-agent: the file beside its own says so, or
// the result.
func (t *trunk) linkAgents() {
	chains := []*chain{t.chain}
	known := map[string]bool{}
	for i := range t.agents {
		a := &t.agents[i]
		chains, known[a.id] = append(chains, a.chain), true
		for n := range a.chain.nodes {
			for _, call := range a.chain.toolsOf(&a.chain.nodes[n], assistant) {
				if t.makers[call] == "" {
					t.makers[call] = a.id
				}
			}
		}
		if a.meta.Call != "" {
			t.children[a.meta.Call] = a.id
			t.background[a.meta.Call] = a.meta.Background == "background"
		}
	}
	for _, c := range chains {
		for _, s := range c.started {
			call := t.chain.Text(s.call)
			t.background[call] = t.background[call] || s.Status == "async_launched"
			if id := agentPrefix + s.Agent + t.copied; t.children[call] == "" && known[id] {
				t.children[call] = id
			}
		}
	}
}

// makeSessions makes the session of the transcript, those of sub-agents whose lines it holds, which
// up to 2.0 had no files of their own, and those of sub-agents with files.
func (t *trunk) makeSessions(ctx context.Context) error {
	sides := t.separateSides()
	mine := func(n *node) bool { return n.side == 0 }
	if err := t.activateMain(); err != nil {
		return err
	}
	if err := t.findForeign(ctx); err != nil {
		return err
	}
	t.chain.checkCallsOffBranch()
	t.checkAgents()
	s := t.beginSession(t.chain, t.transcript.id)
	if f := t.findMisplaced(s); f != nil {
		s.Faults = append(s.Faults, *f)
	}
	r := t.reader
	r.chain, r.log, r.id, r.source, r.agents = t.chain, t.log, t.transcript.id, t.name, t.agents
	t.matchSides(sides, r.children) // the calls have to know them
	if err := r.readItems(s, mine); err != nil {
		return err
	}
	for _, side := range sides {
		t.chain.faults = nil
		of := func(n *node) bool { return n.side == side.number }
		t.chain.leaf = 0
		t.chain.activateChain(of)
		child := t.beginSession(t.chain, side.id)
		child.Parent, child.Delegated, child.Title = s.ID, true, ""
		if err := r.readItems(child, of); err != nil {
			return err
		}
	}
	for i := range t.agents {
		if a := &t.agents[i]; a.main == nil {
			if err := t.makeAgentSession(a); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkAgents tells of sub-agents that answered a call and have no file: nothing of it is needed to
// go on. Some versions wrote it beside the transcript, and a fork leaves it with the original.
func (t *trunk) checkAgents() {
	if t.piped != nil {
		return
	}
	known := map[string]bool{}
	for i := range t.agents {
		known[t.agents[i].id] = true
	}
	for _, s := range t.chain.started {
		id, file := agentPrefix+s.Agent+t.copied, agentPrefix+s.Agent+ending
		if known[id] || !filepath.IsLocal(file) || strings.ContainsAny(file, `*?[\/`) {
			continue
		}
		known[id] = true
		beside, _ := fs.Glob(t.root.FS(), path.Join(path.Dir(t.name), file))
		original, _ := fs.Glob(t.root.FS(), path.Join(path.Dir(t.name), "*", subagents, file))
		if len(beside)+len(original) == 0 {
			t.chain.addFault("call %s was answered by the sub-agent %s, whose file %s does not exist; what it did is not stored, and no request needs it", t.chain.Text(s.call), s.Agent, file)
		}
	}
}

// makeAgentSession makes the session of a sub-agent with a file of its own.
func (t *trunk) makeAgentSession(a *agent) error {
	a.chain.activateChain(func(*node) bool { return true })
	s := t.beginSession(a.chain, a.id)
	s.Agent, s.Title, s.Delegated = a.meta.Type, a.meta.Title, true
	s.Parent = t.parentOf(a)
	r := t.reader
	r.chain, r.log, r.id, r.source, r.agents = a.chain, a.log, a.id, a.name, t.agents
	if a.wrong != nil {
		s.Faults = append(s.Faults, unreadFile(s, a.name, problem.Reason(a.wrong)))
	}
	return r.readItems(s, func(*node) bool { return true })
}

// parentOf is the session whose call started a sub-agent.
func (t *trunk) parentOf(a *agent) string {
	if maker := t.makers[t.chain.Name(a.meta.Call)]; a.meta.Call != "" && maker != "" && maker != a.id {
		return maker
	}
	parent := agentPrefix + a.meta.Parent + t.copied
	if slices.ContainsFunc(t.agents, func(other agent) bool { return other.id == parent && other.id != a.id }) {
		return parent
	}
	return t.transcript.id
}

// beginSession begins one, without items.
func (t *trunk) beginSession(c *chain, id string) *session.Session {
	s := &session.Session{ID: id, Title: c.title, Writer: t.live.writerOf(t.transcript.id), Version: t.chain.version, Resumption: ResumedBy(t.chain.version)}
	for _, f := range c.faults {
		line := f.Ref.Pointer
		f.Ref = s.Ref()
		f.Ref.Pointer = line
		f.Harmless = f.Kind == session.TornLine && s.Writer == session.WriterLive
		s.Faults = append(s.Faults, f)
	}
	t.sessions = append(t.sessions, s)
	return s
}

// finishSession sets what follows from the items: the times, and of a sub-agent's session what it
// was asked, which is its first message.
func finishSession(s *session.Session) {
	for i := range s.Items {
		it := &s.Items[i]
		s.SpreadTimes(it.Time)
		if s.Delegated && s.Task == 0 && it.Role == session.User {
			s.Task = it.Text
		}
	}
}

// side is a sub-agent whose lines are in the file of the session that asked it.
type side struct {
	number int32 // from 1
	id     string
	root   int
}

// separateSides parts the lines of sub-agents from those of the session. Lines that a file of
// their own belong to are no sub-agent's here: they were written to the wrong file.
func (t *trunk) separateSides() (list []side) {
	for i := range t.chain.nodes {
		n := &t.chain.nodes[i]
		if !n.sidechain || n.home != 0 {
			continue
		}
		if up, ok := t.chain.at[n.parent]; ok && int(up) < i && t.chain.nodes[up].side > 0 {
			n.side = t.chain.nodes[up].side
			continue
		}
		n.side = int32(len(list)) + 1
		list = append(list, side{n.side, t.chain.Text(n.uuid) + "@" + t.transcript.id, i}) // a fork has the same lines
	}
	return list
}

// matchSides finds the calls of sub-agents: each is the first whose prompt the sub-agent's first
// line repeats, and that started no other. Lines of several that ran at once are mixed.
func (t *trunk) matchSides(sides []side, children map[string]string) {
	calls := map[session.Digest][]string{} // by prompt
	for i := range t.chain.nodes {
		n := &t.chain.nodes[i]
		for _, call := range t.chain.toolsOf(n, assistant) {
			if asked := t.chain.prompts[call]; n.side == 0 && asked != 0 {
				calls[asked] = append(calls[asked], t.chain.Text(call))
			}
		}
	}
	for _, s := range sides {
		said := t.chain.said[s.root]
		for list := calls[said]; len(list) > 0; list = calls[said] {
			calls[said] = list[1:]
			if children[list[0]] == "" {
				children[list[0]] = s.id
				break
			}
		}
	}
}
