package isolation

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/delegation"
	"github.com/sessctl/sessctl/internal/session"
)

// mostStretches bounds the memory of a search: about how many stretches of prompts are
// looked for at a time.
const mostStretches = 500_000

// passedOn finds the children whose prompts hold a passage of their parent's history
// in one piece, besides what the delegation itself says: the message of the child, and
// the parent's item that its first passage is from. It needs the texts.
func passedOn(p *rules.Pass, list []delegation.Spawn) map[*rules.Subject]delegation.CopiedPair {
	found := map[*rules.Subject]delegation.CopiedPair{}
	length := p.Isolation().Passage
	if length <= 0 {
		return found
	}
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].From == list[0].From {
			n++
		}
		for siblings, from := list[:n], 0; from < n; {
			s := newPrompts(length, list[0].From)
			from += s.add(siblings[from:])
			s.allow(siblings)
			s.search(found)
		}
		list = list[n:]
	}
	return found
}

// prompts are the messages that children of one parent begin with.
type prompts struct {
	parent *rules.Subject
	last   int       // index of the last item of the parent that asks one of them
	list   []prompt  // the owners of passages
	asked  *passages // of messages for each child: no word of agents and tools belongs there
	begun  *passages // of what every child begins with. It may quote files that the parent's tools read, too
}

// prompt is an item of a child.
type prompt struct {
	spawn delegation.Spawn
	item  int
}

func newPrompts(length int, parent *rules.Subject) *prompts {
	return &prompts{parent: parent, asked: newPassages(length), begun: newPassages(length)}
}

// add adds the prompts of as many of the children as there is room for, and returns how
// many these are.
func (s *prompts) add(list []delegation.Spawn) int {
	for n, of := range list {
		if s.asked.size+s.begun.size >= mostStretches {
			return n
		}
		goal := goal(&of)
		for _, i := range lead(&of, nil) {
			it := &of.To.Items[i]
			if it.Body == nil {
				continue
			}
			in := s.begun
			if isPrompt(it) {
				in = s.asked
			}
			in.add(len(s.list), it.Body.Text, goal)
			s.list = append(s.list, prompt{of, i})
		}
		s.last = max(s.last, of.Item)
	}
	return len(list)
}

// allow drops what the delegations say themselves, and what the user and the system say
// to the parent: that may be passed on.
func (s *prompts) allow(spawns []delegation.Spawn) {
	drop := func(text string) {
		s.asked.allow(text)
		s.begun.allow(text)
	}
	for _, of := range spawns {
		for _, text := range givenTo(&of) {
			drop(text)
		}
	}
	for i := range s.parent.Items {
		if it := &s.parent.Items[i]; it.Body != nil && (it.Role == session.User || it.Role == session.System) {
			drop(it.Body.Text)
		}
	}
}

// search notes for each child the first item of the parent, before the delegation,
// that a prompt has a passage of. A passage of an item behind the delegation tells
// nothing, nor does it in later items: these are behind the delegation, too.
func (s *prompts) search(found map[*rules.Subject]delegation.CopiedPair) {
	for i := range s.parent.Items[:s.last] {
		it := &s.parent.Items[i]
		if it.Body == nil || !it.OnWire() {
			continue
		}
		note := func(owner int) {
			at := s.list[owner]
			if _, known := found[at.spawn.To]; !known && i < at.spawn.Item {
				found[at.spawn.To] = delegation.CopiedPair{Parent: i, Child: at.item}
			}
		}
		if it.Role == session.Assistant {
			for _, text := range []string{it.Body.Text, it.Body.Reasoning} {
				s.asked.owners(text, note)
				s.begun.owners(text, note)
			}
		}
		for n := range it.Results {
			s.asked.owners(it.Results[n].Text, note)
		}
	}
}
