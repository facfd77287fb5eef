package isolation

import (
	"slices"
	"strings"
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

// roll visits every stretch of the text with its hash.
func (s *passages) roll(text string, visit func(hash uint64, stretch []rune)) {
	runes, hash := []rune(spaced(text)), uint64(0)
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

// add adds what an owner was told around its goal. Most prompts are the goal with
// little around it, and nothing is left to look for.
func (s *passages) add(owner int, prompt, goal string) {
	pieces := []string{spaced(prompt)}
	if goal = spaced(goal); goal != "" {
		if at := strings.LastIndex(pieces[0], goal); at >= 0 {
			pieces = []string{pieces[0][:at], pieces[0][at+len(goal):]}
		}
	}
	for _, piece := range pieces {
		s.roll(piece, func(hash uint64, stretch []rune) {
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

// allow drops what is in a text that a prompt may hold.
func (s *passages) allow(text string) {
	if len(s.windows) == 0 {
		return
	}
	s.roll(text, func(hash uint64, _ []rune) { delete(s.windows, hash) })
}

// owners calls found for every owner whose prompt has a stretch of the text, maybe
// several times. The stretch is forgotten then.
func (s *passages) owners(text string, found func(owner int)) {
	if len(s.windows) == 0 {
		return
	}
	s.roll(text, func(hash uint64, stretch []rune) {
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
