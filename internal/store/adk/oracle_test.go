package adk_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
	"github.com/sessctl/sessctl/internal/store/builder"
)

// asked is a session as the oracle is asked about it.
type asked struct {
	Events []json.RawMessage `json:"events"`
	Views  []asker           `json:"views"`
	Next   string            `json:"next"`
}

type asker struct {
	Agent  string `json:"agent"`
	Branch string `json:"branch"`
	Scope  string `json:"scope"`
}

// damaged is a random session of adk-js with up to three damages.
func damaged(seed uint64) adktest.Session {
	s := adktest.J1.Random(seed, 6)
	rng := rand.New(rand.NewPCG(seed, 7))
	damages := maps.Clone(adktest.Damages)
	maps.Copy(damages, rearranged)
	names := slices.Sorted(maps.Keys(damages))
	for _, n := range rng.Perm(len(names))[:rng.IntN(4)] {
		damages[names[n]](rng, &s)
	}
	return s
}

// rearranged are damages that only a builder of requests tells from other ones.
var rearranged = map[string]func(rng *rand.Rand, s *adktest.Session){
	"events change places": func(rng *rand.Rand, s *adktest.Session) {
		i, k := rng.IntN(len(s.Events)), rng.IntN(len(s.Events))
		s.Events[i].Time, s.Events[k].Time = s.Events[k].Time, s.Events[i].Time
	},
	"an answer stands in another event": func(rng *rand.Rand, s *adktest.Session) {
		var from []int
		for i := range s.Events {
			if slices.ContainsFunc(s.Events[i].Parts, func(p adktest.Part) bool { return p.Response != nil }) {
				from = append(from, i)
			}
		}
		if len(from) > 0 {
			i, k := from[rng.IntN(len(from))], rng.IntN(len(s.Events))
			n := slices.IndexFunc(s.Events[i].Parts, func(p adktest.Part) bool { return p.Response != nil })
			part := s.Events[i].Parts[n]
			s.Events[i].Parts = slices.Delete(slices.Clone(s.Events[i].Parts), n, n+1)
			s.Events[k].Parts = append(slices.Clone(s.Events[k].Parts), part)
		}
	},
	"an empty text comes first": func(rng *rand.Rand, s *adktest.Session) {
		e := &s.Events[rng.IntN(len(s.Events))]
		e.Parts = append([]adktest.Part{adktest.Text("")}, e.Parts...)
	},
	"a text stands beside the rest": func(rng *rand.Rand, s *adktest.Session) {
		e := &s.Events[rng.IntN(len(s.Events))]
		e.Parts = append([]adktest.Part{adktest.Text("beside")}, e.Parts...)
	},
}

var update = flag.Bool("update", false, "write what the oracle says into testdata")

// oracleSaid has two lines for each seed: digests of the requests that adk-js 2.0.0 built of
// its session with a prompt that follows, and without one.
const oracleSaid = "testdata/oracle.txt"

// TestTheOracle holds the requests of random damaged sessions against those that ADK for
// JavaScript builds itself of the same rows, for every agent that speaks in them. In the long
// form that is asked, where npm is; else what it said is recorded.
func TestTheOracle(t *testing.T) {
	text, err := os.ReadFile(oracleSaid)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(text)), "\n")
	questions, ours := oursOf(t, campaign.Rounds(2000, len(want)/2))
	for n := range ours {
		if got := digestsOf(ours[n]); got != want[n] {
			t.Errorf("seed %d: its requests are not as they were recorded, which SESSCTL_LONG=1 shows", n/2)
		}
	}
	if _, err := exec.LookPath("npm"); err != nil || !campaign.Long() {
		return
	}
	theirs, said := askOracle(t, questions), make([]string, len(ours))
	for n := range ours {
		var list []string
		for v := range theirs[n] {
			list = append(list, contentsIn(theirs[n][v]))
			if diff := cmp.Diff(strings.Split(list[v], "\n"), strings.Split(ours[n][v], "\n")); diff != "" {
				t.Errorf("seed %d, %+v, next %q (-want +got):\n%s", n/2, questions[n].Views[v], questions[n].Next, diff)
			}
		}
		said[n] = digestsOf(list)
	}
	if *update {
		if err := os.WriteFile(oracleSaid, []byte(strings.Join(said, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("%s is not what the oracle says (-recorded +said):\n%s", oracleSaid, diff)
	}
}

// digestsOf are the first digits of the digests of requests.
func digestsOf(requests []string) string {
	var list []string
	for _, r := range requests {
		list = append(list, fmt.Sprintf("%.3x", sha256.Sum256([]byte(r))))
	}
	return strings.Join(list, " ")
}

// oursOf are sessions, with the requests that this reader makes of them for each agent.
func oursOf(t *testing.T, count int) (questions []asked, requests [][]string) {
	t.Helper()
	path, sessions := filepath.Join(t.TempDir(), "js.db"), make([]adktest.Session, count)
	for seed := range sessions {
		sessions[seed] = damaged(uint64(seed))
	}
	if err := adktest.Create(path, adktest.J1, sessions...); err != nil {
		t.Fatal(err)
	}
	trees, facts := treesOf(t, path)
	byID, events := map[string]*session.Tree{}, eventsIn(t, path)
	for _, tree := range trees {
		byID[tree.Root().ID] = tree
	}
	for _, s := range sessions {
		tree := byID[s.ID]
		if tree == nil {
			t.Fatalf("session %s is not read", s.ID)
		}
		for _, next := range []string{"next", ""} {
			q, list := asked{Events: events[s.ID], Next: next}, []string(nil)
			pass := rules.NewPass(facts, tree, rules.Judge{AsIs: next == ""}, nil)
			for _, v := range pass.ViewersOf(tree.Root()) {
				who := asker{}
				for i := range v.Items {
					if it := &v.Items[i]; it.Agent() != "" && it.OnWire() {
						who = asker{it.Agent(), it.Branch(), it.Scope()}
						break
					}
				}
				q.Views, list = append(q.Views, who), append(list, requestOf(facts, v, next))
			}
			questions, requests = append(questions, q), append(requests, list)
		}
	}
	return questions, requests
}

// eventsIn are the documents of each session as adk-js reads them: it asks for the newest
// first and turns them round, so that those of one time come the last written first.
func eventsIn(t *testing.T, path string) map[string][]json.RawMessage {
	t.Helper()
	db, err := builder.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var all string
	db.Scan([]any{&all}, `select json_group_array(json_object('session', session_id, 'event', json(event_data))) from
		(select * from events order by session_id, timestamp, rowid desc)`)
	var rows []struct {
		Session string
		Event   json.RawMessage
	}
	if err := errors.Join(db.Err(), json.Unmarshal([]byte(all), &rows)); err != nil {
		t.Fatal(err)
	}
	events := map[string][]json.RawMessage{}
	for _, r := range rows {
		events[r.Session] = append(events[r.Session], r.Event)
	}
	return events
}

// requestOf is the request of a subject, a line for each part of its messages, or that there
// is none.
func requestOf(facts *session.Store, s *rules.Subject, next string) string {
	var lines []string
	if s.StopReason() != "" {
		return stopped(s.StopReason())
	}
	if last := s.LastSummary(); last >= 0 {
		lines = append(lines, "user "+facts.Retells.Summary+s.Items[last].Body.Text)
	}
	profile := rules.FindProfile("gemini")
	numbers := s.NumberMessages(profile)
	for n, m := range s.ArrangedMessages() {
		if numbers[n] < 0 {
			continue
		}
		role := map[session.Role]string{session.User: "user", session.Tool: "user", session.Assistant: "model"}[s.Items[m.Items[0]].Role]
		for _, i := range m.Items {
			if text := s.Items[i].Body.Text; text != "" {
				lines = append(lines, role+" "+text)
			}
			for _, c := range s.Items[i].Calls {
				lines = append(lines, role+" call "+c.Name+" "+c.Args)
			}
		}
		for _, at := range m.Results {
			lines = append(lines, role+" result "+s.ResultAt(at).Name+" "+s.ResultAt(at).Text)
		}
	}
	if next != "" {
		lines = append(lines, "user "+next)
	}
	return strings.Join(lines, "\n")
}

// stopped are the words of an error before the ids in it, which have no order.
func stopped(text string) string { return "error " + strings.Fields(text)[0] }

// contentsIn are the contents that the oracle printed, in the same form.
func contentsIn(printed json.RawMessage) string {
	var contents []struct {
		Role  string
		Parts []struct {
			Text         string
			FunctionCall *struct {
				Name string
				Args json.RawMessage
			}
			FunctionResponse *struct {
				Name     string
				Response json.RawMessage
			}
		}
	}
	if json.Unmarshal(printed, &contents) != nil {
		var failed struct{ Error string }
		if err := json.Unmarshal(printed, &failed); err != nil {
			return err.Error()
		}
		return stopped(failed.Error)
	}
	var lines []string
	for _, c := range contents {
		var texts, calls, results []string
		for _, p := range c.Parts {
			switch {
			case p.FunctionCall != nil:
				calls = append(calls, c.Role+" call "+p.FunctionCall.Name+" "+string(p.FunctionCall.Args))
			case p.FunctionResponse != nil:
				results = append(results, c.Role+" result "+p.FunctionResponse.Name+" "+string(p.FunctionResponse.Response))
			case strings.TrimSpace(p.Text) != "" && !strings.HasSuffix(p.Text, " said:  "): // SC401 tells of a blank one
				texts = append(texts, p.Text)
			}
		}
		if text := joined(texts); text != "" {
			lines = append(lines, c.Role+" "+text)
		}
		lines = append(append(lines, calls...), results...)
	}
	return strings.Join(lines, "\n")
}

// joined are the texts of a message as one, "" for a preamble without anything.
func joined(texts []string) string {
	if len(texts) == 0 || texts[0] != "For context:" {
		return strings.Join(texts, "")
	}
	said, lines := regexp.MustCompile(`^\[\w+\] said: `), []string(nil)
	for _, text := range texts {
		if prefix := said.FindString(text); prefix != "" && len(lines) > 0 && strings.HasPrefix(lines[len(lines)-1], prefix) {
			lines[len(lines)-1] += strings.TrimPrefix(text, prefix)
		} else {
			lines = append(lines, text)
		}
	}
	if len(lines) == 1 {
		return ""
	}
	return strings.Join(lines, "\n")
}

// askOracle is the request that the oracle builds for each view of each session.
func askOracle(t *testing.T, questions []asked) (answers [][]json.RawMessage) {
	t.Helper()
	var in, out bytes.Buffer
	for _, q := range questions {
		line, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("../../tools/adkoracle")); err != nil {
		t.Fatal(err)
	}
	run := func(in io.Reader, name string, args ...string) {
		cmd := exec.CommandContext(t.Context(), name, args...)
		out.Reset()
		cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = folder, in, &out, os.Stderr
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
	}
	run(nil, "npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts")
	run(&in, "node", "oracle.js")
	lines := bufio.NewScanner(&out)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var list []json.RawMessage
		if err := json.Unmarshal(lines.Bytes(), &list); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, list)
	}
	return answers
}
