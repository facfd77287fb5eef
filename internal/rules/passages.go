package rules

import (
	"slices"
	"strings"
)

// passages looks for texts of a length that prompts and other texts have in common.
// It keeps every stretch of that length of the prompts by a rolling hash, and rolls
// over each other text once: the time is linear in what is looked at, and the memory
// in the prompts.
type passages struct {
	length  int // in characters, with white space as single spaces
	windows map[uint64][]window
	leading uint64 // factor to the power of length-1
}

// window is a stretch of a prompt.
type window struct {
	text  []rune
	owner int // whose prompt it is
}

// factor is odd, so that no character is lost on the way through the window. Equal
// hashes are only candidates: the texts are compared.
const factor = 0x9E3779B97F4A7C15

func newPassages(length int) *passages {
	s := &passages{length: length, windows: map[uint64][]window{}, leading: 1}
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
			list := s.windows[hash]
			if n := len(list); n == 0 || list[n-1].owner != owner { // owners come one after another
				s.windows[hash] = append(list, window{stretch, owner})
			}
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
// several times.
func (s *passages) owners(text string, found func(owner int)) {
	if len(s.windows) == 0 {
		return
	}
	s.roll(text, func(hash uint64, stretch []rune) {
		for _, w := range s.windows[hash] {
			if slices.Equal(w.text, stretch) {
				found(w.owner)
			}
		}
	})
}
