package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// said is a message of a test conversation: one result a message, as most
// stores have it.
type said struct {
	role   session.Role
	text   string
	calls  []session.Call
	result *session.Result
	blank  bool // its text is white space
}

// clean draws a conversation that every provider accepts.
func clean(t *rapid.T) []said {
	var list []said
	calls := 0
	for range rapid.IntRange(1, 4).Draw(t, "questions") {
		list = append(list, said{role: session.User, text: fmt.Sprint("question ", len(list))})
		for range rapid.IntRange(0, 3).Draw(t, "steps") {
			turn := said{role: session.Assistant}
			var results []said
			for range rapid.IntRange(1, 3).Draw(t, "calls") {
				calls++
				c := session.Call{ID: fmt.Sprintf("c%08d", calls), Name: "read", Args: `{"p":1}`}
				turn.calls = append(turn.calls, c)
				results = append(results, answer(c.ID, fmt.Sprint("output ", calls)))
			}
			list = append(append(list, turn), results...)
		}
		list = append(list, said{role: session.Assistant, text: fmt.Sprint("answer ", len(list))})
	}
	return list
}

func answer(call, text string) said {
	return said{role: session.Tool, result: &session.Result{CallID: call, Name: "read", Text: text}}
}

// tree makes a session of messages.
func treeOf(list []said) *session.Tree {
	s := &session.Session{ID: "P", Thinking: session.No}
	for i, m := range list {
		it := session.Item{
			Shared: &session.Shared{Table: "items", Agent: "root"}, Key: fmt.Sprint(i), Position: int64(i), Role: m.role,
			Calls: slices.Clone(m.calls), Text: session.DigestOf(m.text), Body: &session.Body{Text: m.text},
		}
		if m.role == session.User || m.role == session.System {
			it.Own().Agent = ""
		}
		for n := range it.Calls {
			if it.Calls[n].Args == "{" {
				it.Calls[n].Form = session.ArgsBroken
			}
		}
		if m.blank {
			it.Flags |= session.BlankText
		}
		if r := m.result; r != nil {
			it.Results = []session.Result{{
				CallID: r.CallID, Name: r.Name, Text: r.Text, Digest: session.DigestOf(r.Text), IsError: r.IsError,
				Synthetic: session.IsPlaceholder(r.Text),
			}}
			it.Text = it.Results[0].Digest
		} else if strings.TrimSpace(m.text) == "" && len(m.calls) == 0 {
			it.Flags |= session.Blank
		}
		meaning := session.Meaning{}
		meaning.Reset(it.Role, it.Agent())
		meaning.AddDigest(session.DigestOf(m.show()))
		it.Meaning = meaning.Digest()
		s.Items = append(s.Items, it)
	}
	return &session.Tree{Sessions: []*session.Session{s}}
}

// show is one line. A placeholder has no text.
func (m *said) show() string {
	line := m.role.String() + " " + m.text
	for _, c := range m.calls {
		line += " " + c.ID + ":" + c.Name + c.Args
	}
	if m.result != nil {
		text := m.result.Text
		if strings.HasPrefix(text, session.SyntheticPrefix) {
			text = "placeholder"
		}
		line += " " + m.result.CallID + "=" + text
	}
	return line
}

// shown is a conversation in lines; the order of results that stand together is
// free.
func shown(list []said) []string {
	var lines []string
	group := 0
	for i := range list {
		if list[i].role != session.Tool {
			group = i + 1
		}
		lines = append(lines, list[i].show())
		slices.Sort(lines[min(group, len(lines)):])
	}
	return lines
}

func messagesOf(s *session.Session) []said {
	var list []said
	for i := range s.Items {
		it := &s.Items[i]
		m := said{role: it.Role, calls: it.Calls}
		if len(it.Results) > 0 {
			m.result = &it.Results[0]
		} else if it.Body != nil {
			m.text = it.Body.Text
		}
		list = append(list, m)
	}
	return list
}

// mutation damages a clean conversation in one way. It returns the conversation
// and what its repair must leave; nil when there is nothing that it could damage.
type mutation struct {
	rule  string
	apply func(t *rapid.T, list []said) (damaged, repaired []said)
}

// resultAt draws the place of a result, -1 when there is none.
func resultAt(t *rapid.T, list []said) int {
	var places []int
	for i := range list {
		if list[i].result != nil {
			places = append(places, i)
		}
	}
	if len(places) == 0 {
		return -1
	}
	return rapid.SampledFrom(places).Draw(t, "result")
}

// turnOf is the message whose call a result answers.
func turnOf(list []said, result int) int {
	for i := result; ; i-- {
		if len(list[i].calls) > 0 {
			return i
		}
	}
}

// groupEnd is the place behind the results of a turn.
func groupEnd(list []said, turn int) int {
	end := turn + 1
	for end < len(list) && list[end].result != nil {
		end++
	}
	return end
}

func withoutRule(list []said, i int) []said { return slices.Delete(slices.Clone(list), i, i+1) }

func with(list []said, i int, m ...said) []said { return slices.Insert(slices.Clone(list), i, m...) }

// changed is a copy of the conversation with one message made anew.
func changed(list []said, i int, change func(*said)) []said {
	list = slices.Clone(list)
	m := list[i]
	m.calls = slices.Clone(m.calls)
	if m.result != nil {
		r := *m.result
		m.result = &r
	}
	change(&m)
	list[i] = m
	return list
}

// onResult is a mutation of the result at a drawn place.
func onResult(apply func(t *rapid.T, list []said, at int) (damaged, repaired []said)) func(*rapid.T, []said) ([]said, []said) {
	return func(t *rapid.T, list []said) ([]said, []said) {
		at := resultAt(t, list)
		if at < 0 {
			return nil, nil
		}
		return apply(t, list, at)
	}
}

var mutations = []mutation{
	{"SC101", onResult(func(_ *rapid.T, list []said, at int) ([]said, []said) {
		placeholder := answer(list[at].result.CallID, session.SyntheticPrefix)
		return withoutRule(list, at), changed(list, at, func(m *said) { *m = placeholder })
	})},
	{"SC103", onResult(func(_ *rapid.T, list []said, at int) ([]said, []said) {
		return with(list, at, answer("c99999999", "of nobody")), list
	})},
	{"SC104", onResult(func(t *rapid.T, list []said, at int) ([]said, []said) {
		end := groupEnd(list, turnOf(list, at))
		to := rapid.IntRange(end+1, len(list)).Draw(t, "to")
		return withoutRule(with(list, to, list[at]), at), list
	})},
	{"SC105", onResult(func(t *rapid.T, list []said, at int) ([]said, []said) {
		to := rapid.IntRange(0, turnOf(list, at)).Draw(t, "to")
		return with(withoutRule(list, at), to, list[at]), list
	})},
	{"SC106", onResult(func(t *rapid.T, list []said, at int) ([]said, []said) {
		return with(list, rapid.IntRange(at+1, len(list)).Draw(t, "to"), list[at]), list
	})},
	{"SC107", onResult(func(t *rapid.T, list []said, at int) ([]said, []said) {
		return with(list, rapid.IntRange(at+1, len(list)).Draw(t, "to"), answer(list[at].result.CallID, "something else")), list
	})},
	{"SC112", onResult(func(t *rapid.T, list []said, at int) ([]said, []said) {
		to := rapid.IntRange(turnOf(list, at)+1, len(list)).Draw(t, "to")
		return with(list, to, answer(list[at].result.CallID, "No result provided")), list
	})},
	{"SC111", onResult(func(_ *rapid.T, list []said, at int) ([]said, []said) {
		if at+1 >= len(list) || list[at+1].result == nil {
			return nil, nil
		}
		swapped := slices.Clone(list)
		swapped[at], swapped[at+1] = list[at+1], list[at]
		return swapped, swapped
	})},
	{"SC202", onResult(func(_ *rapid.T, list []said, at int) ([]said, []said) {
		turn := turnOf(list, at)
		n := slices.IndexFunc(list[turn].calls, func(c session.Call) bool { return c.ID == list[at].result.CallID })
		first := slices.IndexFunc(list, func(m said) bool { return len(m.calls) > 0 })
		if first == turn {
			return nil, nil
		}
		reuse := func(id string) []said {
			list := changed(list, turn, func(m *said) { m.calls[n].ID = id })
			return changed(list, at, func(m *said) { m.result.CallID = id })
		}
		return reuse(list[first].calls[0].ID), reuse(list[first].calls[0].ID + "_dup1")
	})},
	{"SC201", onResult(func(_ *rapid.T, list []said, at int) ([]said, []said) {
		turn := turnOf(list, at)
		calls := list[turn].calls
		if len(calls) < 2 {
			return nil, nil
		}
		double := func(id string) []said {
			list := changed(list, turn, func(m *said) { m.calls[1].ID = id })
			return changed(list, turn+2, func(m *said) { m.result.CallID = id })
		}
		return double(calls[0].ID), double(calls[0].ID + "_dup1")
	})},
	{"SC205", onResult(func(_ *rapid.T, list []said, at int) ([]said, []said) {
		arguments := func(text string) []said {
			return changed(list, turnOf(list, at), func(m *said) { m.calls[0].Args = text })
		}
		return arguments("{"), arguments(`{"INVALID_JSON":"{"}`)
	})},
	{"SC203", onResult(func(_ *rapid.T, list []said, at int) ([]said, []said) {
		turn := turnOf(list, at)
		odd := changed(list, turn, func(m *said) { m.calls[0].ID = "functions.read:0" })
		odd = changed(odd, turn+1, func(m *said) { m.result.CallID = "functions.read:0" })
		return odd, odd
	})},
	{"SC206", onResult(func(_ *rapid.T, list []said, at int) ([]said, []said) {
		odd := changed(list, turnOf(list, at), func(m *said) { m.calls[0].Name = "read file" })
		return odd, odd
	})},
	{"SC402", onResult(func(_ *rapid.T, list []said, at int) ([]said, []said) {
		return changed(list, turnOf(list, at), func(m *said) { m.text, m.blank = " \n", true }), list
	})},
	{"SC401", func(t *rapid.T, list []said) ([]said, []said) {
		at := rapid.IntRange(1, len(list)).Draw(t, "at")
		if at < len(list) && list[at].result != nil {
			return nil, nil
		}
		return with(list, at, said{role: session.Assistant}), list
	}},
	{"SC304", func(t *rapid.T, list []said) ([]said, []said) {
		at := rapid.IntRange(1, len(list)).Draw(t, "at")
		if at < len(list) && list[at].result != nil {
			return nil, nil
		}
		odd := with(list, at, said{role: session.System, text: "be brief"})
		return odd, odd
	}},
	{"SC301", func(_ *rapid.T, list []said) ([]said, []said) {
		odd := with(list, 0, said{role: session.User, text: "hello"})
		return odd, odd
	}},
	{"SC302", func(_ *rapid.T, list []said) ([]said, []said) {
		asks := func(m said) bool { return m.role == session.User }
		if len(list[1].calls) > 0 || !slices.ContainsFunc(list[1:], asks) {
			return nil, nil // a call at the start, or no user at all, is something else
		}
		return list[1:], list[1:]
	}},
}

// TestEverySingleMutationIsNamedAndMended: from a conversation that all profiles
// accept, each damage is found as exactly its rule, and the repair makes what
// was there before, but for what nobody can know.
func TestEverySingleMutationIsNamedAndMended(t *testing.T) {
	store := &session.Store{Writer: session.WriterDead}
	everybody := rules.Judge{Profiles: rules.Profiles}
	for _, m := range mutations {
		t.Run(m.rule, func(t *testing.T) {
			check(t, func(rt *rapid.T) {
				c := mutantOf(m).Draw(rt, "mutant")
				if found := findFor(store, []*session.Tree{treeOf(c.clean)}, everybody); len(found) > 0 {
					rt.Fatalf("a clean conversation has findings:\n%s%s", messages(found), strings.Join(shown(c.clean), "\n"))
				}
				tree := treeOf(c.damaged)
				found := idsOf(findFor(store, []*session.Tree{tree}, everybody))
				slices.Sort(found)
				if found = slices.Compact(found); !slices.Equal(found, []string{m.rule}) {
					rt.Fatalf("found %v in\n%s", found, strings.Join(shown(c.damaged), "\n"))
				}
				after, _ := repaired(rt, store, tree)
				if diff := cmp.Diff(shown(c.want), shown(messagesOf(after.Root()))); diff != "" {
					rt.Fatalf("after the repair, want (-), got (+):\n%s", diff)
				}
			})
		})
	}
}

// mutant is a conversation that a mutation has damaged, and what a repair makes of it.
type mutant struct{ clean, damaged, want []said }

// mutantOf draws conversations until one has a place for the mutation, so that
// every case counts, however few a run takes.
func mutantOf(m mutation) *rapid.Generator[mutant] {
	return rapid.Custom(func(t *rapid.T) mutant {
		list := clean(t)
		damaged, want := m.apply(t, list)
		return mutant{list, damaged, want}
	}).Filter(func(c mutant) bool { return c.damaged != nil })
}
