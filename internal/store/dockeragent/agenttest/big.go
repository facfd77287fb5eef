package agenttest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Spec is the size of a database that Big writes.
type Spec struct {
	Seed     uint64
	Roots    int
	Items    float64 // mean number of items of a session
	Children float64 // share of the sessions that are sub-sessions
	Resumed  float64 // share of the roots that go on after other sessions were written
}

// Benchmark is the database of the published measurements: 4,000 roots, about
// 240,000 items and one gigabyte.
var Benchmark = Spec{Seed: 1, Roots: 4000, Items: 50.5, Children: 0.15, Resumed: 0.1}

// bigGeneration is the last one with everything that costs a reader time: items
// and the messages column.
const bigGeneration = 18

// batchSize is how many sessions one transaction holds.
const batchSize = 200

// Big writes a database without damage: conversations of a coding agent with
// texts of realistic sizes, most of them source code. Sessions that are resumed
// make row order differ from the order in the session. The file is checkpointed
// and closed.
func Big(path string, spec Spec) error {
	db, err := Create(path, bigGeneration, Seed(spec.Seed), StepBy(7*time.Second))
	if err != nil {
		return err
	}
	w := &bigWriter{db: db, spec: spec, rng: rand.New(rand.NewPCG(spec.Seed, 0xb16)), text: newSource(spec.Seed)}
	for from := 0; from < spec.Roots; from += batchSize {
		db.Batch(func() {
			for range min(batchSize, spec.Roots-from) {
				w.root()
			}
			w.resume(from+batchSize >= spec.Roots)
			db.Sync()
		})
	}
	return db.Close()
}

// bigWriter writes the sessions of a big database.
type bigWriter struct {
	db     *DB
	spec   Spec
	rng    *rand.Rand
	text   *source
	lastID int
	later  []unfinished
}

// unfinished is a session that is to be resumed.
type unfinished struct {
	session *Session
	items   int // still to write
}

// root writes a session that a user started, or its first half.
func (w *bigWriter) root() {
	w.db.Wait(time.Duration(w.rng.IntN(3600)) * time.Second)
	s := w.db.Root(SessionRow{Title: w.text.title(w.rng), ToolsApproved: true, WorkingDir: "/home/dev/src/project"})
	items := w.length()
	if w.rng.Float64() < w.spec.Resumed && items > 4 {
		w.later = append(w.later, unfinished{s, items - items/2})
		items /= 2
	}
	w.turns(s, items)
}

// resume writes the rest of the sessions that waited, or of all.
func (w *bigWriter) resume(all bool) {
	waiting := w.later
	w.later = nil
	for i, u := range waiting {
		if !all && i%2 == 0 {
			w.later = append(w.later, u)
			continue
		}
		w.turns(u.session, u.items)
	}
}

// length draws the number of items of a session: many short ones, a few long.
func (w *bigWriter) length() int {
	const spread = 0.8
	mean := w.spec.Items
	return 1 + int(math.Exp(math.Log(mean)-spread*spread/2+spread*w.rng.NormFloat64()))
}

// turns writes about n items: what the user says, and what the agent does.
func (w *bigWriter) turns(s *Session, n int) {
	for n > 0 {
		s.User(w.text.cut(w.size(0)))
		n--
		for steps := w.rng.IntN(8); steps > 0 && n > 2; steps-- {
			n -= w.step(s, "root", w.rng.Float64() < w.delegations())
		}
		w.answer(s, "root", w.text.cut(w.size(120)))
		n--
	}
}

// delegations is the share of the root's steps that delegate, so that the share
// of the children comes out right: a step that does not makes about 2.3 items,
// and three in four items come from steps.
func (w *bigWriter) delegations() float64 {
	children := w.spec.Children / (1 - w.spec.Children) // for each root
	return children / (w.spec.Items * 0.75 / 2.3)
}

// step writes an answer with calls and their results; it returns the number of
// items of the session.
func (w *bigWriter) step(s *Session, agent string, delegate bool) int {
	if delegate {
		return w.delegation(s)
	}
	calls := make([]ToolCall, 1+w.rng.IntN(3)/2)
	for i := range calls {
		args := map[string]string{"path": w.text.title(w.rng), "content": w.text.cut(w.size(500))}
		if w.rng.IntN(3) > 0 {
			args = map[string]string{"cmd": "go test ./... -run " + w.text.title(w.rng)}
		}
		calls[i] = CallTool(w.callID(), "shell", string(encode(args)))
	}
	m := Message{ToolCalls: calls, Usage: w.usage()}
	if w.rng.IntN(2) == 0 {
		m.Content = w.text.cut(w.size(500) / 2)
	}
	s.Assistant(agent, m)
	for _, call := range calls {
		s.Result(agent, call.ID, w.text.cut(w.size(120)))
	}
	return 1 + len(calls)
}

// delegation writes a delegation with its child.
func (w *bigWriter) delegation(s *Session) int {
	task := w.text.cut(300)
	call := Transfer(w.callID(), "worker", task, "a short report")
	s.Assistant("root", Message{Content: w.text.title(w.rng), ToolCalls: []ToolCall{call}, Usage: w.usage()})
	child := s.Child(SessionRow{Title: childTitle, ToolsApproved: true})
	child.Prologue(task, "a short report")
	for n := w.length() - 3; n > 0; {
		n -= w.step(child, "worker", false)
	}
	answer := w.text.cut(w.size(120))
	w.answer(child, "worker", answer)
	s.SubSession(child)
	s.Result("root", call.ID, answer)
	return 3
}

// answer writes the last answer of a turn.
func (w *bigWriter) answer(s *Session, agent, text string) {
	usage := w.usage()
	s.Assistant(agent, Message{Content: text, Usage: usage})
	s.Tokens(usage)
}

func (w *bigWriter) callID() string {
	w.lastID++
	return fmt.Sprintf("toolu_%020x", uint64(w.lastID)*0x9e3779b97f4a7c15)
}

func (w *bigWriter) usage() *Usage {
	return &Usage{InputTokens: w.rng.Int64N(2000), OutputTokens: w.rng.Int64N(3000), CachedInputTokens: w.rng.Int64N(150_000)}
}

// sizes are the quantiles of the stored messages' sizes in bytes, as measured
// (docs/dev/performance.md).
var sizes = []struct{ quantile, bytes float64 }{
	{0, 90}, {0.01, 119}, {0.10, 193}, {0.25, 351}, {0.50, 921}, {0.75, 2492}, {0.90, 3831}, {0.99, 9775}, {0.999, 33_000}, {1, 207_000},
}

// size draws the size of a message's text so that the stored message gets a
// realistic size; overhead is what the other keys of the message take.
func (w *bigWriter) size(overhead float64) int {
	u := w.rng.Float64()
	i, _ := slices.BinarySearchFunc(sizes, u, func(s struct{ quantile, bytes float64 }, u float64) int {
		if s.quantile <= u {
			return -1
		}
		return 1
	})
	low, high := sizes[i-1], sizes[i]
	share := (u - low.quantile) / (high.quantile - low.quantile)
	bytes := low.bytes * math.Pow(high.bytes/low.bytes, share)
	return max(3, int((bytes-overhead-80)*sourceDensity))
}
