package replay

import (
	"slices"
	"sort"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

// spot is a place that two items can share: behind the same stored item, with
// something that both say.
type spot struct {
	behind int
	what   any
}

// claimPartners finds partners for the recorded items that have none, among the stored
// items of the run at the same place, in order. keys are what two items can
// share: one of them is enough. The same place is behind the same item of those
// that count. It returns the indexes of the recorded items.
func (p *pair) claimPartners(keys func(content) []any, counts func(content) bool) (found []int) {
	waiting := map[spot][]int{}
	for j, behind := range p.behindRows(counts) {
		if !p.isFree(j) {
			continue
		}
		for _, key := range keys(p.rows[j]) {
			at := spot{behind, key}
			waiting[at] = append(waiting[at], j)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	for i, behind := range p.behindEvents(counts) {
		if p.match[i] >= 0 {
			continue
		}
		for _, key := range keys(p.events[i]) {
			at := spot{behind, key}
			list := waiting[at]
			for len(list) > 0 && !p.isFree(list[0]) {
				list = list[1:]
			}
			waiting[at] = list
			n := slices.IndexFunc(list, func(j int) bool { return p.isFree(j) && !hasOtherChild(p.rows[j], p.events[i]) })
			if n < 0 {
				continue
			}
			j := list[n]
			p.match[i], p.back[j] = j, i
			found = append(found, i)
			break
		}
	}
	return found
}

// isFree reports whether a stored item of the run is still to be explained.
func (p *pair) isFree(j int) bool {
	return p.near[j] && !p.excused[j] && p.back[j] < 0 && p.leaks[j] == nil && p.rows[j].key != 0
}

// behindEvents is, for each recorded item, the stored partner of the last item
// before it that counts and stands where it should, -1 for none.
func (p *pair) behindEvents(counts func(content) bool) []int {
	list, last := make([]int, len(p.events)), -1
	for i := range p.events {
		list[i] = last
		if p.match[i] >= 0 && !p.moved[i] && counts(p.events[i]) {
			last = p.match[i]
		}
	}
	return list
}

// behindRows is the same for each stored item.
func (p *pair) behindRows(counts func(content) bool) []int {
	list, last := make([]int, len(p.rows)), -1
	for j := range p.rows {
		list[j] = last
		if i := p.back[j]; i >= 0 && !p.moved[i] && counts(p.events[i]) {
			last = j
		}
	}
	return list
}

// restrictKeys are the keys of some items only.
func restrictKeys(some func(content) bool, keys func(content) []any) func(content) []any {
	return func(it content) []any {
		if !some(it) {
			return nil
		}
		return keys(it)
	}
}

// hasOtherChild reports whether two items refer to different sub-sessions.
func hasOtherChild(a, b content) bool {
	return a.Child() != b.Child() && a.Child() != "" && b.Child() != ""
}

// What two items can share:

// itemKeys is all that an item says.
func (it content) itemKeys() []any { return []any{it.key} }

// shared is a call or result of a message of a role.
type shared struct {
	role  session.Role
	agent string
	id    string
	call  string
}

// callKeys are the calls that a message makes or answers: those of its agent, and calls
// that are the same in full whoever makes them.
func (it content) callKeys() []any {
	keys := it.ownCallKeys()
	for i := range it.Calls {
		c := &it.Calls[i]
		keys = append(keys, shared{role: it.Role, id: c.ID, call: c.Name + canonicalArguments(c.Args)})
	}
	for i := range it.Results {
		keys = append(keys, shared{role: it.Role, id: it.Results[i].CallID})
	}
	return keys
}

// resultKeys are the results of a message, whatever name it has: that of a call that
// took over a row of its child stands before the reference to it (docs/stores/docker-agent.md#which-versions-leak).
func (it content) resultKeys() []any {
	var keys []any
	for i := range it.Results {
		keys = append(keys, shared{role: it.Role, id: it.Results[i].CallID, call: it.outputs[i]})
	}
	return keys
}

// ownCallKeys are the calls of an agent: providers give those of two agents the same
// ids.
func (it content) ownCallKeys() []any {
	var keys []any
	for i := range it.Calls {
		keys = append(keys, shared{role: it.Role, agent: it.Agent(), id: it.Calls[i].ID})
	}
	return keys
}

// speaker is who says something, without calls and results or besides them.
type speaker struct {
	kind  session.Kind
	role  session.Role
	agent string
	plain bool
	text  string
}

// speakerKeys are the speaker and the text, the text alone, and the speaker alone where
// the text is all.
func (it content) speakerKeys() []any {
	var keys []any
	if it.Body.Text != "" {
		keys = append(keys, speaker{it.Kind, it.Role, it.Agent(), false, it.Body.Text}, speaker{it.Kind, it.Role, "", false, it.Body.Text})
	}
	if len(it.Calls)+len(it.Results) == 0 {
		keys = append(keys, speaker{it.Kind, it.Role, it.Agent(), true, ""})
	}
	return keys
}

// candidates are the stored items that can stand for a recorded one, found by
// what these have in common, so that long sessions need not be compared item by
// item.
type candidates struct {
	stored  []content
	byText  []int            // all, ordered by their texts
	answers map[string][]int // results, by the first call
	begun   map[string][]int // unfinished messages, by what they say
	lengths []int            // of the texts in begun
}

func newCandidates(stored []content) *candidates {
	c := &candidates{stored: stored, answers: map[string][]int{}, begun: map[string][]int{}}
	for j := range stored {
		c.byText = append(c.byText, j)
		text := stored[j].Body.Text
		switch {
		case len(stored[j].Results) > 0:
			id := stored[j].Results[0].CallID
			c.answers[id] = append(c.answers[id], j)
		case stored[j].cut:
			if c.begun[text] == nil && !slices.Contains(c.lengths, len(text)) {
				c.lengths = append(c.lengths, len(text))
			}
			c.begun[text] = append(c.begun[text], j)
		}
	}
	slices.SortFunc(c.byText, func(a, b int) int { return strings.Compare(stored[a].Body.Text, stored[b].Body.Text) })
	return c
}

// yieldFor yields the candidates for a recorded item, some of them twice.
func (c *candidates) yieldFor(it content, yield func(j int)) {
	if len(it.Results) > 0 {
		for _, j := range c.answers[it.Results[0].CallID] {
			yield(j)
		}
		return
	}
	text := it.Body.Text
	for _, n := range c.lengths {
		if n <= len(text) {
			for _, j := range c.begun[text[:n]] {
				yield(j)
			}
		}
	}
	if !it.cut && !it.Flags.Has(session.Blank) {
		return
	}
	if it.Flags.Has(session.Blank) {
		text = ""
	}
	from := sort.Search(len(c.byText), func(n int) bool { return c.stored[c.byText[n]].Body.Text >= text })
	for _, j := range c.byText[from:] {
		if !strings.HasPrefix(c.stored[j].Body.Text, text) {
			return
		}
		yield(j)
	}
}
