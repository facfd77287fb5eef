package repair_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/canonical"
	"github.com/sessctl/sessctl/internal/treetest"
)

// TestNothingOfAStreamIsLost repairs streams of random teams of agents, of a
// runtime that leaks or a healthy one, whose results were damaged further.
func TestNothingOfAStreamIsLost(t *testing.T) {
	campaign.Checks(t, 300, 20000)
	repaired := 0
	rapid.Check(t, func(rt *rapid.T) {
		text := damagedStream(t, rt)
		r := repairTwice(rt, text)
		if !r.plan.IsEmpty() {
			repaired++
		}
		before, after := readStream(rt, text), readStream(rt, r.out)
		saysAll(rt, text, before, after, r)
		for id, s := range before {
			if was, is := spoken(s, after[id]), spoken(after[id], s); !slices.Equal(was, is) {
				rt.Errorf("the order in session %s changed\nbefore %q\nafter  %q\n%s", id, was, is, text)
			}
		}
	})
	t.Logf("%d streams were repaired", repaired)
}

// damagedStream draws a stream.
func damagedStream(t *testing.T, rt *rapid.T) string {
	program := treetest.Programs().Draw(rt, "program").Sequential()
	tree := treetest.Tree(t, program.Render(rapid.Bool().Draw(rt, "leaky")).Notation)
	var b strings.Builder
	w, err := canonical.NewWriter(&b, canonical.Header{
		Kind: rapid.SampledFrom([]string{"", "docker-agent"}).Draw(rt, "kind"), Writer: session.WriterDead,
	}, canonical.WriteOptions{})
	must(rt, err)
	for _, s := range tree.Sessions {
		readableTasks(s)
		must(rt, w.WriteSession(s))
	}
	must(rt, w.Flush())
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	for range rapid.IntRange(0, 4).Draw(rt, "damages") {
		lines = damageLines(rt, lines)
	}
	for i := range lines {
		if rapid.IntRange(0, 3).Draw(rt, "unknown member") == 0 {
			lines[i] = lines[i][:len(lines[i])-1] + fmt.Sprintf(` ,"x_%d":[1.0, "\u00e9"]}`, i)
		}
	}
	return strings.Join(lines, rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(rt, "line end"))
}

// readableTasks writes the arguments of delegations as models do.
func readableTasks(s *session.Session) {
	for i := range s.Items {
		for n := range s.Items[i].Calls {
			if c := &s.Items[i].Calls[n]; c.Delegation != nil {
				args, _ := json.Marshal(map[string]string{"agent": c.Delegation.Agent, "task": c.Args}) // texts only
				c.Args = string(args)
			}
		}
	}
}

// damageLines damages one result, or what one message says.
func damageLines(t *rapid.T, lines []string) []string {
	results := linesWith(lines, `"results":[{`)
	if calls := linesWith(lines, `"calls":[{`); len(calls) > 0 && rapid.Bool().Draw(t, "of a call") {
		return damageCall(t, lines, calls)
	}
	if len(results) == 0 {
		return lines
	}
	at := rapid.SampledFrom(results).Draw(t, "result")
	line := lines[at]
	to := min(max(at+rapid.IntRange(-4, 4).Draw(t, "distance"), 2), len(lines)-1)
	without := slices.Delete(slices.Clone(lines), at, at+1)
	switch rapid.SampledFrom([]string{"drop", "double", "delay", "differ", "join"}).Draw(t, "damage") {
	case "drop":
		return without
	case "double":
		return slices.Insert(slices.Clone(lines), to, line)
	case "differ":
		return slices.Insert(slices.Clone(lines), to, strings.Replace(line, `"text":"`, `"text":"other `, 1))
	case "join":
		other := rapid.SampledFrom(results).Draw(t, "joined with")
		if other == at {
			return lines
		}
		lines = slices.Clone(lines)
		_, rest, _ := strings.Cut(line, `"results":[`)
		part, _, _ := strings.Cut(rest, "]")
		lines[other] = strings.Replace(lines[other], `"results":[`, `"results":[`+part+",", 1)
		return slices.Delete(lines, at, at+1)
	}
	return slices.Insert(without, min(to, len(without)), line)
}

// linesWith lists the lines that hold a text.
func linesWith(lines []string, text string) []int {
	var list []int
	for i, line := range lines {
		if strings.Contains(line, text) {
			list = append(list, i)
		}
	}
	return list
}

// damageCall makes one message with calls say what no provider takes.
func damageCall(t *rapid.T, lines []string, calls []int) []string {
	at := rapid.SampledFrom(calls).Draw(t, "call")
	lines = slices.Clone(lines)
	set := func(i int, pointer, value string) {
		line, err := jsonedit.SetValue([]byte(lines[i]), pointer, []byte(value))
		must(t, err)
		lines[i] = string(line)
	}
	member := func(i int, pointer string) string {
		raw, _ := jsonedit.RawValue([]byte(lines[i]), pointer)
		return string(raw)
	}
	rename := func(nth, id string) {
		was := member(at, "/calls/"+nth+"/id")
		for i := at + 1; i < len(lines); i++ {
			if member(i, "/session") == member(at, "/session") && member(i, "/results/0/call") == was {
				set(i, "/results/0/call", id)
			}
		}
		set(at, "/calls/"+nth+"/id", id)
	}
	switch rapid.SampledFrom([]string{"reuse", "double", "break", "blank", "empty", "inside", "surrogate"}).Draw(t, "damage of a call") {
	case "reuse":
		rename("0", member(rapid.SampledFrom(calls).Draw(t, "id of"), "/calls/0/id"))
	case "double":
		if member(at, "/calls/1/id") != "" {
			rename("1", member(at, "/calls/0/id"))
		}
	case "break":
		set(at, "/calls/0/args", rapid.SampledFrom([]string{`"{\"path\": "`, `"[1]"`, `"{\"a\":1,\"a\":"`}).Draw(t, "arguments"))
	case "blank":
		set(at, "/text", `" \n"`)
	case "surrogate":
		set(at, "/text", `"half a pair \ud83d"`)
	case "empty":
		return slices.Insert(lines, at, `{"type":"item","session":`+member(at, "/session")+`,"kind":"message","role":"assistant","agent":"root","x":[1.0]}`)
	case "inside": // the result stands within the message of the assistant
		for i := at + 1; i < len(lines); i++ {
			if member(i, "/session") == member(at, "/session") && member(i, "/results/0/call") == member(at, "/calls/0/id") {
				set(at, "/results", member(i, "/results"))
				return slices.Delete(lines, i, i+1)
			}
		}
	}
	return lines
}

// saysAll makes sure that everything that was said is in the new stream or in
// the receipt.
func saysAll(t *rapid.T, text string, before, after map[string]*session.Session, r *streamRepair) {
	t.Helper()
	there := map[string]bool{"": true}
	for _, s := range after {
		for _, said := range words(s) {
			there[said] = true
		}
	}
	kept := r.kept()
	for _, s := range before {
		for _, said := range words(s) {
			if quoted, _ := json.Marshal(said); !there[said] && !strings.Contains(kept, string(quoted)) {
				t.Errorf("%q of session %s is lost\n%s\nnow\n%s", said, s.ID, text, r.out)
			}
		}
	}
}

// words is everything that a session says.
func words(s *session.Session) []string {
	var list []string
	for i := range s.Items {
		it := &s.Items[i]
		list = append(list, it.Body.Text, it.Body.Reasoning)
		for _, c := range it.Calls {
			list = append(list, c.Args)
		}
		for _, r := range it.Results {
			list = append(list, r.Text)
		}
	}
	return list
}

// spoken lists what users and assistants say in a session, as far as the other
// one has it too. Times name items. What stands there twice does not count: a
// leaked copy that was damaged says something else than its twin, and so it moves
// there beside it.
func spoken(s, other *session.Session) []string {
	there, here := names(other), names(s)
	var list []string
	for i := range s.Items {
		it := &s.Items[i]
		if name := nameOf(it); (it.Role == session.User || it.Role == session.Assistant) && here[name] == 1 && there[name] == 1 && !it.Flags.Has(session.Synthetic) {
			list = append(list, name)
		}
	}
	return list
}

func names(s *session.Session) map[string]int {
	count := map[string]int{}
	for i := range s.Items {
		count[nameOf(&s.Items[i])]++
	}
	return count
}

func nameOf(it *session.Item) string {
	return fmt.Sprint(it.Time.Unix(), " ", it.Role, " ", it.Body.Text)
}
