package kagenttest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Start is when the first request of a program comes.
var Start = time.Date(2026, 8, 3, 9, 30, 0, 0, time.UTC)

// world is an installation while a program is played.
type world struct {
	program Program
	form    Form
	rng     *rand.Rand
	taken   map[int64]bool // microseconds that a row has already

	sessions []*sess
	shared   map[string]string // ids of sessions by what shares them
	visits   []*visit
	rows     []row
	calls    []*Worked
}

// sess is a session in the making.
type sess struct {
	id, user, agent, name string
	delegated             bool
	created, updated      time.Time
}

// row is an event as it is stored.
type row struct {
	id       string
	session  *sess
	at       time.Time
	document string
}

func play(p Program, form Form) *world {
	w := &world{
		program: p, form: form, rng: rand.New(rand.NewPCG(0x6b61, 0x67656e74)),
		taken: map[int64]bool{}, shared: map[string]string{},
	}
	began, ended := Start, Start
	for i, c := range p.Conversations {
		switch {
		case i > 0 && c.Beside:
			began = began.Add(13 * time.Millisecond)
		case i > 0:
			began = ended.Add(time.Minute)
		}
		if end := w.converse(c, began); end.After(ended) {
			ended = end
		}
	}
	return w
}

// converse plays a conversation and returns when it ended.
func (w *world) converse(c Conversation, at time.Time) time.Time {
	user, agent, id := c.User, c.Agent, w.uuid()
	if user == "" {
		user = DefaultUser
	}
	if agent == "" {
		agent = Root
	}
	for _, turn := range c.Turns {
		v := w.serve(w.session(id, user, agent, nil), turn, nil, at)
		if v.gate != nil && turn.Approval == Approved {
			w.approve(v, v.now.Add(hesitation))
		}
		at = v.now.Add(30 * time.Second)
	}
	return at
}

// session is that of an agent for a user, a new one where there is none.
func (w *world) session(id, user, agent string, caller *visit) *sess {
	i := slices.IndexFunc(w.sessions, func(s *sess) bool { return s.id == id && s.user == user })
	if i >= 0 {
		return w.sessions[i]
	}
	s := &sess{id: id, user: user, agent: agent, delegated: caller != nil}
	w.sessions = append(w.sessions, s)
	return s
}

// began is told of a request: the session is as old as its first one and has its
// name from it.
func (s *sess) began(at time.Time, request string) {
	if s.created.IsZero() || at.Before(s.created) {
		s.created, s.name = at, title(request)
	}
}

// context is the id of the session that a caller's tool takes for a worker.
func (w *world) context(caller *visit, agent string) string {
	var sharing string
	switch w.program.Sharing {
	case PerCall:
		return w.uuid()
	case PerPod:
		sharing = caller.session.agent
	default:
		sharing = caller.task
	}
	key := sharing + " " + agent
	if w.shared[key] == "" {
		w.shared[key] = w.uuid()
	}
	return w.shared[key]
}

func (w *world) writer(agent string) Dialect {
	if d, ok := w.program.Writers[agent]; ok {
		return d
	}
	return w.form.Dialect
}

// tick is when a row is written that follows one of a time: no two rows share a
// microsecond, and some times have no fraction to speak of.
func (w *world) tick(t time.Time) time.Time {
	t = t.Add(time.Duration(40_000_000 + w.rng.IntN(120_000_000)))
	if w.rng.IntN(8) == 0 {
		t = t.Truncate(10 * time.Millisecond)
	}
	for w.taken[t.UnixMicro()] {
		t = t.Add(time.Microsecond)
	}
	w.taken[t.UnixMicro()] = true
	return t
}

func (w *world) stamp(t time.Time) string { return t.UTC().Format(string(w.form.Times)) }

// uuid is a random UUID of version 4.
func (w *world) uuid() string {
	a, b := w.rng.Uint64(), w.rng.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", a>>32, a>>16&0xffff, a&0xfff, 0x8000|b>>48&0x3fff, b&0xffffffffffff)
}

func (w *world) callID() string { return fmt.Sprintf("call_%016x", w.rng.Uint64()) }

// written is the truth about what was played.
func (w *world) written() *Written {
	truth := &Written{}
	for _, s := range w.inTime() {
		told := Session{ID: s.id, User: s.user, Agent: s.agent, Delegated: s.delegated}
		for _, v := range w.visits {
			if v.session == s {
				told.Tasks = append(told.Tasks, v.task)
			}
		}
		of := slices.DeleteFunc(slices.Clone(w.rows), func(r row) bool { return r.session != s })
		slices.SortStableFunc(of, func(a, b row) int { return a.at.Compare(b.at) })
		for _, r := range of {
			told.Events = append(told.Events, r.id)
		}
		truth.Sessions = append(truth.Sessions, told)
	}
	for _, c := range w.calls {
		truth.Calls = append(truth.Calls, *c)
	}
	return truth
}
