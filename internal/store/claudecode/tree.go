package claudecode

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

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

// tree reads a transcript and what its sub-agents wrote; nil for one without a message.
// each, which may be nil, is handed what the files hold of every session.
func (c *claude) tree(ctx context.Context, t transcript, body bool, each func(*part)) (tree *session.Tree, err error) {
	r := trunk{claude: c, transcript: t, makers: map[filelog.Name]string{}}
	defer func() { err = errors.Join(err, r.end()) }()
	if err := r.open(ctx); err != nil {
		return nil, err
	}
	r.reader = reader{children: map[string]string{}, background: map[string]bool{}, used: map[string]int{}, body: body, each: each}
	r.link()
	if err := r.findStrays(); err != nil {
		return nil, err
	}
	if err := r.makeSessions(ctx); err != nil {
		return nil, err
	}
	for i := range r.agents {
		if err := r.agent(&r.agents[i]); err != nil {
			return nil, err
		}
	}
	if len(r.sessions) == 1 && len(r.sessions[0].Items) == 0 && len(r.sessions[0].Faults) == 0 {
		return nil, nil
	}
	heads := make([]forest.Head, len(r.sessions))
	for i, s := range r.sessions {
		heads[i] = forest.HeadOf(s)
	}
	return forest.Group(heads)[0], nil
}

// open reads the lines of the transcript and of its sub-agents. What is appended meanwhile is
// left for the next reading: the sub-agents of all calls that are read have their files.
func (t *trunk) open(ctx context.Context) (err error) {
	known := filelog.NewNames()
	if t.log = t.piped; t.piped == nil {
		if t.log, err = t.file(t.name); err != nil {
			return err
		}
		if t.agents, err = t.claude.agents(t.transcript); err != nil {
			return err
		}
	}
	t.chain, err = readChain(ctx, t.log, known)
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
			a.chain, err = readChain(ctx, a.log, known)
		}
		if a.wrong != nil && err == nil {
			a.chain.faults = nil
		}
		t.agents = append(t.agents, a)
	}
	return err
}

// folder is where those sub-agents are that a session asked.
func (t transcript) folder() string { return path.Join(strings.TrimSuffix(t.name, ending), subagents) }

// agents are the sub-agents with files, and what is said of them beside. The runtime does not
// mind where that is missing or broken.
func (c *claude) agents(t transcript) (list []agent, err error) {
	folder, err := c.root.OpenRoot(t.folder())
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
			a := agent{id: id + t.copied, name: path.Join(t.folder(), e.Name())}
			if text, err := filelog.Read(folder, id+".meta.json", mostNote); err == nil {
				_ = jsonscan.Exact.Unmarshal(text, &a.meta)
			}
			list = append(list, a)
		}
	}
	return list, err
}

// end closes the files.
func (t *trunk) end() (err error) {
	if t.log != nil {
		err = t.log.Close()
	}
	for i := range t.agents {
		if log := t.agents[i].log; log != nil {
			err = errors.Join(err, log.Close())
		}
	}
	return err
}

// link finds out which call started which sub-agent: the file beside its own says so, or
// the result.
func (t *trunk) link() {
	chains := []*chain{t.chain}
	known := map[string]bool{}
	for i := range t.agents {
		a := &t.agents[i]
		chains, known[a.id] = append(chains, a.chain), true
		for n := range a.chain.nodes {
			for _, call := range a.chain.of(&a.chain.nodes[n], assistant) {
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

// makeSessions makes the session of the transcript, and those of sub-agents whose lines it holds:
// up to 2.0 they had no files of their own.
func (t *trunk) makeSessions(ctx context.Context) error {
	sides := t.sides()
	mine := func(n *node) bool { return n.side == 0 }
	if err := t.activateMain(); err != nil {
		return err
	}
	if err := t.findForeign(ctx); err != nil {
		return err
	}
	t.chain.checkCallsOffBranch()
	t.checkAgents()
	s := t.session(t.chain, t.transcript.id)
	if f := t.findMisplaced(s); f != nil {
		s.Faults = append(s.Faults, *f)
	}
	r := t.reader
	r.chain, r.log, r.id, r.source, r.agents = t.chain, t.log, t.transcript.id, t.name, t.agents
	t.match(sides, r.children) // the calls have to know them
	if err := r.items(s, mine); err != nil {
		return err
	}
	for _, side := range sides {
		t.chain.faults = nil
		of := func(n *node) bool { return n.side == side.number }
		t.chain.leaf = 0
		t.chain.activate(of)
		child := t.session(t.chain, side.id)
		child.Parent, child.Delegated, child.Title = s.ID, true, ""
		if err := r.items(child, of); err != nil {
			return err
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
			t.chain.fault("call %s was answered by the sub-agent %s, whose file %s does not exist; what it did is not stored, and no request needs it", t.chain.Text(s.call), s.Agent, file)
		}
	}
}

// agent makes the session of a sub-agent with a file of its own.
func (t *trunk) agent(a *agent) error {
	a.chain.activate(func(*node) bool { return true })
	s := t.session(a.chain, a.id)
	s.Agent, s.Title, s.Delegated = a.meta.Type, a.meta.Title, true
	s.Parent = t.parentOf(a)
	r := t.reader
	r.chain, r.log, r.id, r.source, r.agents = a.chain, a.log, a.id, a.name, t.agents
	if a.wrong != nil {
		s.Faults = append(s.Faults, unreadFile(s, a.name, problem.Reason(a.wrong)))
	}
	return r.items(s, func(*node) bool { return true })
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

// session begins one, without items.
func (t *trunk) session(c *chain, id string) *session.Session {
	s := &session.Session{ID: id, Title: c.title, Writer: t.live.of(t.transcript.id), Version: t.chain.version, Resumption: ResumedBy(t.chain.version)}
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

// finish sets what follows from the items: the times, and of a sub-agent's session what it
// was asked, which is its first message.
func finish(s *session.Session) {
	for i := range s.Items {
		it := &s.Items[i]
		spread(s, it.Time)
		if s.Delegated && s.Task == 0 && it.Role == session.User {
			s.Task = it.Text
		}
	}
}

// spread lets the times of a session reach to another one.
func spread(s *session.Session, at time.Time) {
	if !at.IsZero() && (s.Created.IsZero() || at.Before(s.Created)) {
		s.Created = at
	}
	if at.After(s.Updated) {
		s.Updated = at
	}
}

// side is a sub-agent whose lines are in the file of the session that asked it.
type side struct {
	number int32 // from 1
	id     string
	root   int
}

// sides parts the lines of sub-agents from those of the session. Lines that a file of
// their own belong to are no sub-agent's here: they were written to the wrong file.
func (t *trunk) sides() (list []side) {
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

// match finds the calls of sub-agents: each is the first whose prompt the sub-agent's first
// line repeats, and that started no other. Lines of several that ran at once are mixed.
func (t *trunk) match(sides []side, children map[string]string) {
	calls := map[session.Digest][]string{} // by prompt
	for i := range t.chain.nodes {
		n := &t.chain.nodes[i]
		for _, call := range t.chain.of(n, assistant) {
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
