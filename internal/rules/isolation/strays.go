package isolation

import (
	"math"
	"slices"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/delegation"
	"github.com/sessctl/sessctl/internal/session"
)

// stray is what stands in a parent although its child said it: messages of the child's
// agent, and results of the child's calls, behind the call that asked it.
type stray struct {
	delegation.Spawn
	items []int
}

// findStrays finds those of the tree, each item with the first call that explains it. What
// the replay takes for a leak is none of them.
func findStrays(p *rules.Pass) []stray {
	var list []stray
	talks, told := map[*rules.Subject]*talk{}, map[session.Place]bool{}
	for _, s := range delegation.ListSpawns(p) {
		if talks[s.From] == nil {
			talks[s.From] = talkOf(s.From)
		}
		items := slices.DeleteFunc(straysOf(&s, talks[s.From]), func(i int) bool { return told[s.From.ItemPlace(i)] })
		for _, i := range items {
			told[s.From.ItemPlace(i)] = true
		}
		if len(items) > 0 {
			list = append(list, stray{s, items})
		}
	}
	return list
}

// talk is who speaks where in a session, so that nobody has to go through all of it for
// each of many calls.
type talk struct {
	by     map[string][]int // the indexes of what each agent says
	breaks []int            // where the user speaks, who may speak to any agent, or somebody hands over
}

func talkOf(s *rules.Subject) *talk {
	t := &talk{by: map[string][]int{}}
	for i, it := range s.OwnItems() {
		if !it.OnWire() {
			continue
		}
		if isPrompt(it) || hasHandoff(it) {
			t.breaks = append(t.breaks, i)
		}
		if it.Role == session.Assistant {
			t.by[it.Agent()] = append(t.by[it.Agent()], i)
		}
	}
	return t
}

// nextIndex is the first of sorted indexes that is no smaller than i, none being infinite.
func nextIndex(list []int, i int) int {
	if n, _ := slices.BinarySearch(list, i); n < len(list) {
		return list[n]
	}
	return math.MaxInt
}

// straysOf are the indexes of such items before the result of a call that waits for it.
func straysOf(s *delegation.Spawn, in *talk) []int {
	asked, end := s.Call().Delegation.Agent, min(len(s.From.Items), nextIndex(in.breaks, s.Item))
	if s.Call().Delegation.Blocking && s.Final >= 0 {
		end = min(end, s.Final)
	}
	if asked == "" || asked == s.Caller() || s.Caller() == "" || replay.IsRebuilt(s.From.Session) {
		return nil
	}
	var list []int
	made := map[string]bool{} // calls of the strays
	for i := nextIndex(in.by[asked], s.Item); i < end; i++ {
		it := &s.From.Items[i]
		if !s.From.OnWire(i) {
			continue
		}
		switch {
		case it.Role == session.Assistant && it.Agent() == asked:
			list = append(list, i)
			rules.AddIDs(made, it)
		case len(it.Results) > 0 && made[it.Results[0].CallID] && i != s.Final:
			list = append(list, i)
		}
	}
	return list
}

// hasHandoff reports whether an item calls for another agent within its session.
func hasHandoff(it *session.Item) bool {
	return slices.ContainsFunc(it.Calls, func(c session.Call) bool { return session.IsHandoff(c.Name) })
}
