package bench

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// spec is how large a database is that writeBig writes.
type spec struct {
	Seed     uint64
	Roots    int
	Items    float64 // mean number of items of a session
	Children float64 // share of the sessions that are sub-sessions
	Resumed  float64 // share of the roots that go on after other sessions were written
}

// published is the database of the published measurements: 4,000 roots, about
// 240,000 items and one gigabyte.
var published = spec{Seed: 1, Roots: 4000, Items: 50.5, Children: 0.15, Resumed: 0.1}

// bigGeneration is the last one with everything that costs a reader time: items
// and the messages column.
const bigGeneration = 18

// batchSize is how many sessions one transaction holds.
const batchSize = 200

// writeBig writes a database without damage: conversations of a coding agent with
// texts of realistic sizes, most of them source code. Sessions that are resumed
// make row order differ from the order in the session. The file is checkpointed
// and closed.
func writeBig(path string, s spec) error {
	db, err := agenttest.Create(path, bigGeneration, agenttest.Seed(s.Seed), agenttest.StepBy(7*time.Second))
	if err != nil {
		return err
	}
	w := &bigWriter{db: db, spec: s, rng: rand.New(rand.NewPCG(s.Seed, 0xb16)), text: newSource(s.Seed)}
	for from := 0; from < s.Roots; from += batchSize {
		db.Batch(func() {
			for range min(batchSize, s.Roots-from) {
				w.root()
			}
			w.resume(from+batchSize >= s.Roots)
			db.Sync()
		})
	}
	return db.Close()
}

// bigWriter writes the sessions of a big database.
type bigWriter struct {
	db     *agenttest.DB
	spec   spec
	rng    *rand.Rand
	text   *source
	lastID int
	later  []unfinished
}

// unfinished is a session that is to be resumed.
type unfinished struct {
	session *agenttest.Session
	items   int // still to write
}

// root writes a session that a user started, or its first half.
func (w *bigWriter) root() {
	w.db.Wait(time.Duration(w.rng.IntN(3600)) * time.Second)
	s := w.db.Root(agenttest.SessionRow{Title: w.text.title(w.rng), ToolsApproved: true, WorkingDir: "/home/dev/src/project"})
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
func (w *bigWriter) turns(s *agenttest.Session, n int) {
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
func (w *bigWriter) step(s *agenttest.Session, agent string, delegate bool) int {
	if delegate {
		return w.delegation(s)
	}
	calls := make([]agenttest.ToolCall, 1+w.rng.IntN(3)/2)
	for i := range calls {
		args := map[string]string{"path": w.text.title(w.rng), "content": w.text.cut(w.size(500))}
		if w.rng.IntN(3) > 0 {
			args = map[string]string{"cmd": "go test ./... -run " + w.text.title(w.rng)}
		}
		given, _ := json.Marshal(args) // texts never fail
		calls[i] = agenttest.CallTool(w.callID(), "shell", string(given))
	}
	m := agenttest.Message{ToolCalls: calls, Usage: w.usage()}
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
func (w *bigWriter) delegation(s *agenttest.Session) int {
	task := w.text.cut(300)
	call := agenttest.Transfer(w.callID(), "worker", task, "a short report")
	s.Assistant("root", agenttest.Message{Content: w.text.title(w.rng), ToolCalls: []agenttest.ToolCall{call}, Usage: w.usage()})
	child := s.Child(agenttest.SessionRow{Title: "Transferred task", ToolsApproved: true})
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
func (w *bigWriter) answer(s *agenttest.Session, agent, text string) {
	usage := w.usage()
	s.Assistant(agent, agenttest.Message{Content: text, Usage: usage})
	s.Tokens(usage)
}

func (w *bigWriter) callID() string {
	w.lastID++
	return fmt.Sprintf("toolu_%020x", uint64(w.lastID)*0x9e3779b97f4a7c15)
}

func (w *bigWriter) usage() *agenttest.Usage {
	return &agenttest.Usage{InputTokens: w.rng.Int64N(2000), OutputTokens: w.rng.Int64N(3000), CachedInputTokens: w.rng.Int64N(150_000)}
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

// source is a long text that looks like Go source code. Messages are cut out of
// it, which costs nothing; its quotes, tabs and line ends make the JSON as hard
// to read as real ones (about 60 backslashes in a kilobyte).
type source struct {
	text string
	at   int
}

// sourceDensity is the size of a piece of the source in memory for each byte
// that it takes in JSON.
const sourceDensity = 0.9

const sourceSize = 1 << 21

// shapes are those of the source's lines; %s is a name.
var shapes = []string{
	"func (%s *%s) %s() error {\n",
	"\tif err := %s.%s(ctx, \"%s\"); err != nil {\n\t\treturn fmt.Errorf(\"%s: %%w\", err)\n\t}\n",
	"\tfor i, %s := range %s.%s {\n",
	"\t\t%s[\"%s\"] = append(%s, \"%s\")\n",
	"\t\tcase %s < %s && %s > 0:\n",
	"// %s returns the %s of the %s that the caller asked for, or nil.\n",
	"// A %s without a %s is not an error: the %s may come later, see %s and %s.\n",
	"\tlog.Printf(\"%s: read %%d bytes of %s\\n\", n)\n",
	"\treturn %s.%s, nil\n}\n\n",
	"\t{name: \"%s\", want: \"%s\"},\n",
	"ok  \tgithub.com/example/project/internal/%s\t0.%s12s\n",
	"internal/%s/%s.go:41: %s is not used in this package\n",
}

var names = []string{
	"reader", "writer", "session", "item", "cursor", "index", "table", "row", "key", "value", "state", "config",
	"request", "answer", "stream", "buffer", "window", "frame", "branch", "viewer", "digest", "ledger", "plan", "edit",
}

// newSource draws the text.
func newSource(seed uint64) *source {
	rng := rand.New(rand.NewPCG(seed, 0x50c))
	var b strings.Builder
	for b.Len() < sourceSize {
		line := shapes[rng.IntN(len(shapes))]
		values := make([]any, strings.Count(line, "%s"))
		for i := range values {
			values[i] = names[rng.IntN(len(names))]
		}
		fmt.Fprintf(&b, line, values...)
	}
	return &source{text: b.String()}
}

// cut returns the next n bytes of the text, which starts again at its end.
func (s *source) cut(n int) string {
	if s.at+n > len(s.text) {
		s.at = s.at + n - len(s.text) // not 0: the second round must differ from the first
		s.at %= 997
	}
	piece := s.text[s.at : s.at+n]
	s.at += n
	if strings.TrimSpace(piece) == "" { // a blank text would be a defect
		return strings.Repeat("-", n)
	}
	return piece
}

// title draws a few names.
func (s *source) title(rng *rand.Rand) string {
	return fmt.Sprintf("%s_%s_%d", names[rng.IntN(len(names))], names[rng.IntN(len(names))], rng.IntN(1000))
}

// TestBigIsLikeMeasured writes a small database of the benchmark's kind.
func TestBigIsLikeMeasured(t *testing.T) {
	small := published
	small.Roots = 120
	path := filepath.Join(t.TempDir(), "big.db")
	if err := writeBig(path, small); err != nil {
		t.Fatal(err)
	}
	file, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	number := func(statement string) (n float64) {
		t.Helper()
		if err := file.QueryRow(statement).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	const size = "(SELECT LENGTH(CAST(message_json AS BLOB)) n FROM session_items WHERE item_type = 'message')"
	between := []struct {
		what      string
		statement string
		low, high float64
	}{
		{"items of a session", "SELECT 1.0 * COUNT(*) / COUNT(DISTINCT session_id) FROM session_items", 35, 70},
		{"share of sub-sessions", "SELECT AVG(parent_id IS NOT NULL) FROM sessions", 0.10, 0.20},
		{"median message", "SELECT n FROM " + size + " ORDER BY n LIMIT 1 OFFSET (SELECT COUNT(*) / 2 FROM " + size + ")", 600, 1100},
		{"mean message", "SELECT AVG(n) FROM " + size, 1200, 2300},
		{"backslashes in a kilobyte", `SELECT 1000.0 * SUM(LENGTH(message_json) - LENGTH(REPLACE(message_json, '\', ''))) / SUM(LENGTH(message_json)) FROM session_items`, 45, 85},
		{"messages column against items", "SELECT (SELECT SUM(LENGTH(messages)) FROM sessions) / SUM(1.0 * n) FROM " + size, 1, 1.4},
		{"resumed roots", `SELECT COUNT(*) FROM sessions s WHERE (SELECT MAX(position) FROM session_items WHERE session_id = s.id) + 1 <
			(SELECT MAX(id) - MIN(id) + 1 - (SELECT COUNT(*) FROM session_items c JOIN sessions k ON c.session_id = k.id WHERE k.parent_id = s.id)
			FROM session_items WHERE session_id = s.id)`, 5, 25},
		{"foreign keys broken", "SELECT COUNT(*) FROM pragma_foreign_key_check", 0, 0},
		{"calls without a result in the session", `SELECT COUNT(*) FROM session_items c, json_each(c.message_json, '$.tool_calls') call WHERE NOT EXISTS
			(SELECT 1 FROM session_items r WHERE r.session_id = c.session_id AND r.position > c.position AND r.message_json->>'tool_call_id' = call.value->>'id')`, 0, 0},
		{"positions with a gap", "SELECT COUNT(*) FROM (SELECT 1 FROM session_items GROUP BY session_id HAVING MAX(position) + 1 != COUNT(DISTINCT position) OR COUNT(*) != COUNT(DISTINCT position))", 0, 0},
	}
	for _, b := range between {
		if got := number(b.statement); got < b.low || got > b.high || math.IsNaN(got) {
			t.Errorf("%s: %g, want between %g and %g", b.what, got, b.low, b.high)
		}
	}
}

func TestBigIsDeterministic(t *testing.T) {
	var dumps []string
	for range 2 {
		path := filepath.Join(t.TempDir(), "big.db")
		if err := writeBig(path, spec{Seed: 5, Roots: 12, Items: 20, Children: 0.3, Resumed: 0.5}); err != nil {
			t.Fatal(err)
		}
		dumps = append(dumps, strings.Join(storetest.Dump(t, path), "\n"))
	}
	if dumps[0] != dumps[1] {
		t.Error(cmp.Diff(dumps[0], dumps[1]))
	}
}
