package errtext

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed sentences.txt
var sentences string

// row is a row of the table of sentences.txt, which says what its lines are.
type row struct {
	kind                      Kind
	rules, profiles, wordings []string
}

var rows = sync.OnceValue(func() []*row { return table(sentences) })

func table(text string) (rows []*row) {
	kinds, named := map[string]Kind{}, map[string][]string{}
	for k := Unknown; k <= Authentication; k++ {
		kinds[k.String()] = k
	}
	words := func(text string) (list []string) {
		for word := range strings.FieldsSeq(text) {
			if of, ok := named[word]; ok {
				list = append(list, of...)
			} else {
				list = append(list, word)
			}
		}
		return list
	}
	for line := range strings.Lines(text) {
		name, definition, defines := strings.Cut(line, " = ")
		switch {
		case strings.TrimSpace(line) == "" || line[0] == '#':
		case line[0] == '\t':
			last := rows[len(rows)-1]
			last.wordings = append(last.wordings, line)
		case defines:
			named[name] = words(definition)
		default:
			of := strings.SplitN(line, "|", 3)
			rows = append(rows, &row{kind: kinds[strings.TrimSpace(of[0])], rules: words(of[1]), profiles: words(of[2])})
		}
	}
	return rows
}

// wording is a sentence as letters with gaps between.
type wording struct {
	*row
	pieces []piece
	must   int // how many of them have to be there
	ids    int // the piece behind which ids are, -1 for none
}

type piece struct {
	letters string
	gap     int // how many letters may be before it
}

// How many letters stand for few words, and for a list of ids.
const fewWords, manyIDs = 64, 2048

var wordings = sync.OnceValue(compiled)

func compiled() (list []wording) {
	for _, r := range rows() {
		for _, words := range r.wordings {
			w := wording{row: r, must: -1, ids: -1}
			gap, open := mostText*2, true // anywhere
			for word := range strings.FieldsSeq(words) {
				if rest, cut := strings.CutPrefix(word, "~"); cut {
					w.must, word, open = len(w.pieces), rest, true
				}
				switch {
				case word == "*":
					gap, open = fewWords, true
				case word == "{id}":
					w.ids, gap, open = len(w.pieces)-1, manyIDs, true
				case open:
					w.pieces = append(w.pieces, piece{word, gap})
					gap, open = 0, false
				default:
					w.pieces[len(w.pieces)-1].letters += word
				}
			}
			if w.must < 0 {
				w.must = len(w.pieces)
			}
			list = append(list, w)
		}
	}
	return list
}

// recognised is the first wording that is in the letters of a text, and where.
func recognised(letters string) (*wording, []span) {
	all := wordings()
	for i := range all {
		if at := all[i].find(letters, 0, nil); at != nil {
			return &all[i], at
		}
	}
	return nil, nil
}

// find is where the pieces are, of which some are found, and the next one from an index
// on; nil where they are not.
func (w *wording) find(letters string, from int, found []span) []span {
	n := len(found)
	if n == len(w.pieces) {
		return found
	}
	p := w.pieces[n]
	window := letters[from:min(len(letters), from+p.gap+len(p.letters))]
	for i := strings.Index(window, p.letters); i >= 0; {
		at := span{from + i, from + i + len(p.letters)}
		if all := w.find(letters, at.end, append(found[:n:n], at)); all != nil {
			return all
		}
		next := strings.Index(window[i+1:], p.letters)
		if next < 0 {
			break
		}
		i += 1 + next
	}
	if n == w.must {
		return found
	}
	return nil
}
