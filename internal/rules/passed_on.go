package rules

import "github.com/sessctl/sessctl/internal/session"

// passedOn finds the children whose prompts hold a passage of their parent's history
// in one piece, besides what the delegation itself says: the message of the child, and
// the parent's item that its first passage is from. It needs the texts.
func (p *Pass) passedOn(list []spawn) map[*Subject]copiedPair {
	found := map[*Subject]copiedPair{}
	length := p.isolation().Passage
	if length <= 0 {
		return found
	}
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].parent == list[0].parent {
			n++
		}
		newPrompts(length, list[:n]).search(found)
		list = list[n:]
	}
	return found
}

// prompts are the messages that the children of one parent begin with.
type prompts struct {
	parent *Subject
	list   []prompt  // the owners of passages
	asked  *passages // of messages for each child: no word of agents and tools belongs there
	begun  *passages // of what every child begins with. It may quote files that the parent's tools read, too
}

// prompt is an item of a child.
type prompt struct {
	spawn spawn
	item  int
}

func newPrompts(length int, spawns []spawn) *prompts {
	s := &prompts{parent: spawns[0].parent, asked: newPassages(length), begun: newPassages(length)}
	for _, of := range spawns {
		goal := of.goal()
		for _, i := range of.lead(nil) {
			it := &of.child.Items[i]
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
	}
	for _, of := range spawns {
		for _, text := range of.given() {
			s.allow(text)
		}
	}
	for i := range s.parent.Items { // what the user says to the parent may be passed on
		if it := &s.parent.Items[i]; it.Body != nil && (it.Role == session.User || it.Role == session.System) {
			s.allow(it.Body.Text)
		}
	}
	return s
}

func (s *prompts) allow(text string) {
	s.asked.allow(text)
	s.begun.allow(text)
}

// search notes for each child the first item of the parent, before the delegation,
// that a prompt has a passage of.
func (s *prompts) search(found map[*Subject]copiedPair) {
	for i := range s.parent.Items {
		it := &s.parent.Items[i]
		if it.Body == nil || !it.OnWire() {
			continue
		}
		note := func(owner int) {
			at := s.list[owner]
			if _, known := found[at.spawn.child]; !known && i < at.spawn.Item {
				found[at.spawn.child] = copiedPair{parent: i, child: at.item}
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
