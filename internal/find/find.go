// Package find looks for words in what agents were told, said, ran and read.
package find

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// Where in a message words are.
const (
	InText      = "text"
	InReasoning = "reasoning"
	InCalls     = "calls"   // the arguments of a call
	InResults   = "results" // what a call gave
	InFiles     = "files"   // the name of an attachment
)

// Parts are the parts of a message that can be asked for.
var Parts = []string{InText, InReasoning, InCalls, InResults}

// Roles are the roles that can be asked for.
var Roles = []string{session.User.String(), session.Assistant.String(), session.Tool.String(), session.System.String()}

// Query is what is looked for. What is not set asks nothing.
type Query struct {
	Words  []Word // all of which one message holds, in whatever order
	Part   string // one of Parts
	Role   session.Role
	Agent  string
	Tool   string // whose calls and results
	Branch *string
}

// Word is a word, a phrase or an expression.
type Word struct {
	lower      string // in lower case, "" for an expression
	literals   []literal
	expression *regexp.Regexp
}

// SplitWords splits what was typed into words, in whatever case; those between two quotation
// marks are one.
func SplitWords(typed string) (words []Word) {
	for i, phrase := range strings.Split(typed, `"`) {
		list := []string{phrase}
		if i%2 == 0 {
			list = strings.Fields(phrase)
		}
		for _, word := range list {
			if strings.TrimSpace(word) != "" {
				words = append(words, Word{strings.ToLower(word), literalsOf(word), regexp.MustCompile("(?i)" + asciiCases.Replace(regexp.QuoteMeta(word)))})
			}
		}
	}
	return words
}

// Expression is an expression in the syntax of RE2.
func Expression(typed string) (Word, error) {
	e, err := regexp.Compile(typed)
	return Word{expression: e}, err
}

// findIn finds the first place in a text, -1 for none. Expressions that fold cases are slow.
func (w *Word) findIn(text string) int {
	for i := range w.literals {
		if at := w.literals[i].findIn(text); at < 0 || w.literals[i].lower == w.lower {
			return at
		}
	}
	if w.lower != "" && w.literals == nil && !strings.Contains(strings.ToLower(text), w.lower) {
		return -1
	}
	if m := w.expression.FindStringIndex(text); m != nil {
		return m[0]
	}
	return -1
}

// Tree is what was found in the tree of a session, in the order of the sessions and items.
type Tree struct {
	ID, Title string
	Last      time.Time // when something happened in it last
	Hits      []Hit
}

// Hit is a message that holds what is looked for.
type Hit struct {
	Session string
	Path    []string // the agents from the root of the tree down to that of the session, or their sessions
	Item    int
	Role    session.Role
	Agent   string
	Time    time.Time
	Part    string // where the first word is: one of Parts, or InFiles
	Tool    string // of a call or a result
	Line    string // the line with it, shortened on both sides
	Marks   [][2]int
	Around  []Near // the messages before and after, where these are asked for
}

// Near is how a message begins that stands near one that was found.
type Near struct {
	Item  int
	Agent string
	Line  string
}

// InTree looks into the messages of a tree, whose texts are loaded, and gives as many before and
// after each that it finds.
func (q *Query) InTree(tree *session.Tree, near int) Tree {
	root := tree.Root()
	found := Tree{ID: root.ID, Title: root.Title, Last: root.Created}
	for _, s := range tree.Sessions {
		if s.Updated.After(found.Last) { // which not every store has
			found.Last = s.Updated
		}
		for i := range s.Items {
			hit, is := q.findIn(s, i)
			if !is {
				continue
			}
			hit.Path = pathOf(tree, s)
			for k := max(0, i-near); k <= min(len(s.Items)-1, i+near); k++ {
				if line := beginningOf(s, k); k != i {
					hit.Around = append(hit.Around, Near{k, s.Items[k].Agent(), line})
				}
			}
			found.Hits = append(found.Hits, hit)
		}
	}
	return found
}

// pathOf are the agents from the root to a session, those without a name by their sessions.
func pathOf(tree *session.Tree, s *session.Session) (path []string) {
	seen := map[string]bool{}
	for s != nil && !seen[s.ID] {
		seen[s.ID] = true
		path = append(path, cmp.Or(replay.FirstAgent(s), rules.ShortID(s.ID)))
		s = tree.Session(s.Parent)
	}
	slices.Reverse(path)
	return path
}

// beginningOf is the first line of what a message says.
func beginningOf(s *session.Session, i int) string {
	for _, p := range piecesOf(s, &s.Items[i]) {
		if strings.TrimSpace(p.text) != "" {
			return lineAround(p.text, len(p.text)-len(strings.TrimLeft(p.text, " \t\r\n")))
		}
	}
	return ""
}

type piece struct{ part, tool, text string }

func (q *Query) findIn(s *session.Session, i int) (hit Hit, found bool) {
	it := &s.Items[i]
	if q.Role != session.NoRole && it.Role != q.Role || q.Branch != nil && it.Branch() != *q.Branch ||
		q.Agent != "" && !strings.EqualFold(it.Agent(), q.Agent) && !strings.EqualFold(s.Agent, q.Agent) {
		return hit, false
	}
	pieces := slices.DeleteFunc(piecesOf(s, it), func(p piece) bool {
		return q.Part != "" && p.part != q.Part || q.Tool != "" && !strings.EqualFold(p.tool, q.Tool)
	})
	first, at := -1, 0
	for n := range q.Words {
		in, from := q.Words[n].findPiece(pieces)
		if in < 0 {
			return hit, false
		}
		if n == 0 {
			first, at = in, from
		}
	}
	if first < 0 {
		return hit, false
	}
	p := pieces[first]
	hit = Hit{Session: s.ID, Item: i, Role: it.Role, Agent: it.Agent(), Time: it.Time, Part: p.part, Tool: p.tool, Line: lineAround(p.text, at)}
	for _, w := range q.Words {
		for _, m := range w.expression.FindAllStringIndex(hit.Line, -1) {
			hit.Marks = append(hit.Marks, [2]int(m))
		}
	}
	slices.SortFunc(hit.Marks, func(a, b [2]int) int { return a[0] - b[0] })
	return hit, true
}

// findPiece finds the first piece that has the word, and where; -1 for none.
func (w *Word) findPiece(pieces []piece) (n, at int) {
	for n, p := range pieces {
		if at := w.findIn(p.text); at >= 0 {
			return n, at
		}
	}
	return -1, 0
}

// piecesOf are the texts of a message, as people read them.
func piecesOf(s *session.Session, it *session.Item) (list []piece) {
	add := func(part, tool, text string) {
		if text != "" {
			list = append(list, piece{part, tool, text})
		}
	}
	if it.Body != nil {
		add(InText, "", it.Body.Text)
		add(InReasoning, "", it.Body.Reasoning)
	}
	for i := range it.Calls {
		add(InCalls, it.Calls[i].Name, withoutEscapes(it.Calls[i].Args))
	}
	for i := range it.Results {
		r := &it.Results[i]
		add(InResults, toolOf(s, r), withoutEscapes(r.Text))
	}
	for i := range it.Blocks {
		if it.Blocks[i].Kind == session.MediaBlock {
			add(InFiles, "", it.Blocks[i].Name)
		}
	}
	return list
}

// toolOf is the tool of a result, which some stores name with the call only.
func toolOf(s *session.Session, r *session.Result) string {
	for i := 0; r.Name == "" && i < len(s.Items); i++ {
		for n := range s.Items[i].Calls {
			if c := &s.Items[i].Calls[n]; c.ID == r.CallID {
				return c.Name
			}
		}
	}
	return r.Name
}

// withoutEscapes is a JSON text with its strings as they read: stores escape what is in them.
// Any other text stays.
func withoutEscapes(text string) string {
	if !strings.ContainsRune(text, '\\') || !strings.ContainsAny(text[:1], `{["`) {
		return text
	}
	var b strings.Builder
	for rest := text; ; {
		at := strings.IndexByte(rest, '"')
		if at < 0 {
			return b.String() + rest
		}
		end := at + 1
		for end < len(rest) && rest[end] != '"' {
			if rest[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(rest) { // cut off
			return b.String() + rest
		}
		b.WriteString(rest[:at+1])
		said, err := jsontext.AppendUnquote(nil, rest[at:end+1])
		if err != nil && said == nil {
			said = []byte(rest[at+1 : end])
		}
		b.Write(said)
		b.WriteByte('"')
		rest = rest[end+1:]
	}
}

// around is how much of a line is kept before and after what was found, in bytes.
const around = 200

// lineAround is the line that has a place of a text, shortened.
func lineAround(text string, at int) string {
	from, to := strings.LastIndexByte(text[:at], '\n')+1, len(text)
	if end := strings.IndexByte(text[at:], '\n'); end >= 0 {
		to = at + end
	}
	before, after := "", ""
	if from < at-around {
		for from = at - around; !utf8.RuneStart(text[from]); from++ {
		}
		before = "…"
	}
	if to > at+around {
		for to = at + around; !utf8.RuneStart(text[to]); to-- {
		}
		after = "…"
	}
	return strings.Clone(before + strings.TrimSpace(text[from:to]) + after)
}
