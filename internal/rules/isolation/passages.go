package isolation

import (
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/delegation"
	"github.com/sessctl/sessctl/internal/session"
)

// passages looks for texts of a length that prompts and other texts have in common.
// It keeps every stretch of that length of the prompts by a rolling hash, and rolls
// over each other text once. A stretch is found once and then forgotten, so the time
// is linear in what is looked at, and the memory in the prompts.
type passages struct {
	length  int // in characters, with white space as single spaces
	windows map[uint64]window
	size    int    // how many stretches the prompts had, equal ones of several prompts counted for each
	leading uint64 // factor to the power of length-1
}

// window is a stretch that prompts have.
type window struct {
	text   []rune
	owners []int // whose prompts
}

// factor is odd, so that no character is lost on the way through the window. Equal
// hashes are only candidates: the texts are compared. Of two stretches with one hash
// the first counts.
const factor = 0x9E3779B97F4A7C15

func newPassages(length int) *passages {
	s := &passages{length: length, windows: map[uint64]window{}, leading: 1}
	for range length - 1 {
		s.leading *= factor
	}
	return s
}

// visitStretches visits every stretch of the text with its hash.
func (s *passages) visitStretches(text string, visit func(hash uint64, stretch []rune)) {
	runes, hash := []rune(collapseSpaces(text)), uint64(0)
	for i, r := range runes {
		if i >= s.length {
			hash -= uint64(runes[i-s.length]) * s.leading
		}
		hash = hash*factor + uint64(r)
		if i+1 >= s.length {
			visit(hash, runes[i+1-s.length:i+1])
		}
	}
}

// addPrompt adds what an owner was told around its goal. Most prompts are the goal with
// little around it, and nothing is left to look for.
func (s *passages) addPrompt(owner int, prompt, goal string) {
	pieces := []string{collapseSpaces(prompt)}
	if goal = collapseSpaces(goal); goal != "" {
		if at := strings.LastIndex(pieces[0], goal); at >= 0 {
			pieces = []string{pieces[0][:at], pieces[0][at+len(goal):]}
		}
	}
	for _, piece := range pieces {
		s.visitStretches(piece, func(hash uint64, stretch []rune) {
			w, known := s.windows[hash]
			switch n := len(w.owners); {
			case !known:
				w.text = stretch
			case w.owners[n-1] == owner || !slices.Equal(w.text, stretch): // owners come one after another
				return
			}
			w.owners = append(w.owners, owner)
			s.windows[hash] = w
			s.size++
		})
	}
}

// dropText drops what is in a text that a prompt may hold.
func (s *passages) dropText(text string) {
	if len(s.windows) == 0 {
		return
	}
	s.visitStretches(text, func(hash uint64, _ []rune) { delete(s.windows, hash) })
}

// findOwners calls found for every owner whose prompt has a stretch of the text, maybe
// several times. The stretch is forgotten then.
func (s *passages) findOwners(text string, found func(owner int)) {
	if len(s.windows) == 0 {
		return
	}
	s.visitStretches(text, func(hash uint64, stretch []rune) {
		w, known := s.windows[hash]
		if !known || !slices.Equal(w.text, stretch) {
			return
		}
		delete(s.windows, hash)
		for _, owner := range w.owners {
			found(owner)
		}
	})
}

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
	for _, siblings := range lists.GroupBy(list, func(s delegation.Spawn) *rules.Subject { return s.From }) {
		for from := 0; from < len(siblings); {
			s := &prompts{parent: siblings[0].From, asked: newPassages(length), begun: newPassages(length)}
			from += s.addPrompts(siblings[from:])
			s.dropAllowed(siblings)
			s.findPassed(found)
		}
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

// addPrompts adds the prompts of as many of the children as there is room for, and returns how
// many these are.
func (s *prompts) addPrompts(list []delegation.Spawn) int {
	for n, of := range list {
		if s.asked.size+s.begun.size >= mostStretches {
			return n
		}
		goal := spawnGoal(&of)
		for _, i := range openingItems(&of, nil) {
			it := &of.To.Items[i]
			if it.Body == nil {
				continue
			}
			in := s.begun
			if isPrompt(it) {
				in = s.asked
			}
			in.addPrompt(len(s.list), it.Body.Text, goal)
			s.list = append(s.list, prompt{of, i})
		}
		s.last = max(s.last, of.Item)
	}
	return len(list)
}

// dropAllowed drops what the delegations say themselves, and what the user and the system say
// to the parent: that may be passed on.
func (s *prompts) dropAllowed(spawns []delegation.Spawn) {
	drop := func(text string) {
		s.asked.dropText(text)
		s.begun.dropText(text)
	}
	for _, of := range spawns {
		for _, text := range argumentTexts(of.Call().Args) {
			drop(text)
		}
	}
	for i := range s.parent.Items {
		if it := &s.parent.Items[i]; it.Body != nil && (it.Role == session.User || it.Role == session.System) {
			drop(it.Body.Text)
		}
	}
}

// findPassed notes for each child the first item of the parent, before the delegation,
// that a prompt has a passage of. A passage of an item behind the delegation tells
// nothing, nor does it in later items: these are behind the delegation, too.
func (s *prompts) findPassed(found map[*rules.Subject]delegation.CopiedPair) {
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
				s.asked.findOwners(text, note)
				s.begun.findOwners(text, note)
			}
		}
		for n := range it.Results {
			s.asked.findOwners(it.Results[n].Text, note)
		}
	}
}
