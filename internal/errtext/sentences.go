package errtext

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// The tables of what providers and runtimes say.
var (
	//go:embed sentences.txt
	sentences string
	//go:embed runtimes.txt
	runtimes string
)

// row is a row of a table; sentences.txt says what its lines are.
type row struct {
	kind                    Kind
	rules, profiles, stores []string
	from, meaning, next     string
	wordings                []string
}

// rows are those of both tables. What is about the stored session comes before what is not,
// so that of several errors in one text it is told first.
var rows = sync.OnceValue(func() []*row {
	list := append(parseTable(sentences), parseTable(runtimes)...)
	slices.SortStableFunc(list, func(a, b *row) int { return cmp.Compare(min(a.kind, TooLong), min(b.kind, TooLong)) })
	return list
})

func parseTable(text string) (rows []*row) {
	kinds, named, meanings := map[string]Kind{}, map[string][]string{}, map[string]string{}
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
	var from string
	var stores []string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		key, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch name, definition, defines := strings.Cut(line, " = "); {
		case key == "" || key[0] == '#':
		case line[0] == '\t':
			last := rows[len(rows)-1]
			last.wordings = append(last.wordings, line)
		case line[0] == ' ':
			last := rows[len(rows)-1]
			*map[string]*string{"from": &last.from, "means": &last.meaning, "next": &last.next}[key] = rest
		case key == "from":
			name, of, _ := strings.Cut(rest, " | ")
			from, stores = name, strings.Fields(of)
		case strings.HasPrefix(rest, "means "):
			meanings[key] = strings.TrimPrefix(rest, "means ")
		case defines:
			named[name] = words(definition)
		default:
			of := strings.SplitN(line, "|", 3)
			rows = append(rows, &row{kind: kinds[strings.TrimSpace(of[0])], rules: words(of[1]), profiles: words(of[2]), stores: stores, from: from})
		}
	}
	for _, r := range rows {
		if r.meaning == "" && len(r.rules) > 0 {
			r.meaning = meanings[r.rules[0]]
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

var wordings = sync.OnceValue(compileWordings)

func compileWordings() (list []wording) {
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

// recogniseWordings are the wordings that are in the letters of a text, the first of each row that
// says something of its own, and where their pieces are.
func recogniseWordings(letters string) (found []match) {
	all := wordings()
	for i := range all {
		if w := &all[i]; !slices.ContainsFunc(found, func(m match) bool { return m.saysSame(w) }) {
			if at := w.findPieces(letters, 0, nil); at != nil {
				found = append(found, match{w, at})
			}
		}
	}
	return found
}

// match is a wording that is in a text, and where its pieces are.
type match struct {
	*wording
	at []span
}

// saysSame reports whether a wording would say the same again.
func (m match) saysSame(w *wording) bool { return m.row == w.row || m.meaning == w.meaning }

// findPieces finds where the pieces are, of which some are found, and the next one from an index
// on; nil where they are not.
func (w *wording) findPieces(letters string, from int, found []span) []span {
	n := len(found)
	if n == len(w.pieces) {
		return found
	}
	p := w.pieces[n]
	window := letters[from:min(len(letters), from+p.gap+len(p.letters))]
	for i := strings.Index(window, p.letters); i >= 0; {
		at := span{from + i, from + i + len(p.letters)}
		if all := w.findPieces(letters, at.end, append(found[:n:n], at)); all != nil {
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
