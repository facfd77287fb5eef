// Package errtext recognises the errors of model providers in what people paste: JSON
// bodies, log lines, screens. It knows texts and nothing of stores.
package errtext

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Kind says what the matter is.
type Kind uint8

// The kinds. Refused is a matter of the stored session, TooLong of its length; the
// others have nothing to do with what is stored. RateLimited includes quotas and credit.
const (
	Unknown Kind = iota
	Refused
	TooLong
	RateLimited
	Overloaded
	Authentication
)

func (k Kind) String() string {
	return [...]string{"unknown", "refused", "too-long", "rate-limited", "overloaded", "authentication"}[k]
}

// Error is what a text was recognised as.
type Error struct {
	Kind     Kind
	Rules    []string // ids of the rules that find the cause in a store, most likely first; none where no rule does
	Profiles []string // names of the profiles whose provider words it like this, most likely first; none for a client's text
	// IDs are the call ids that the sentence names, in order, each once, or, where it
	// names none, those anywhere in the text. One that was cut off is what is left of it.
	IDs     []string
	Message int    // N of messages.N, input[N], "position N" and the like, -1 where none is named
	Block   int    // M of messages.N.content.M, tool_calls[M], parts[M], or -1
	Text    string // the sentence on one line, without what could drive a terminal; of an unknown text, its beginning
}

// Read recognises what a provider, or a client on its way, answered. Of several errors
// in one text, a refusal is told before all others.
func Read(pasted string) Error {
	t := clean(pasted)
	letters, places := t.letters()
	e := Error{Message: -1, Block: -1}
	var named []span
	start, end := 0, len(t)
	if w, at := recognised(letters); w != nil {
		e.Kind, e.Rules, e.Profiles = w.kind, w.rules, w.profiles
		start, end = places[at[0].start], places[at[len(at)-1].end-1]+1
		for n := 0; at != nil && n < manyTimes; n++ {
			if w.ids >= 0 && w.ids < len(at) {
				next := -1
				if w.ids+1 < len(at) {
					next = places[at[w.ids+1].start]
				}
				named = append(named, t.list(places[at[w.ids].end-1]+1, next)...)
			}
			if n == 0 && named != nil {
				end = max(end, named[len(named)-1].end)
			}
			at = w.find(letters, at[len(at)-1].end, nil)
		}
		start, end = t.sentence(start, end)
		if m := place.FindStringSubmatch(marks.Replace(string(t[start:min(len(t), end+longText)]))); m != nil {
			e.Message, e.Block = number(m[1]+m[3]), number(m[2])
		}
	}
	if named == nil {
		named = t.anywhere()
	}
	for _, at := range named {
		if id := t.id(at); !slices.Contains(e.IDs, id) {
			e.IDs = append(e.IDs, id)
		}
	}
	e.Text = t.shown(start, end, named)
	return e
}

const (
	manyTimes = 64  // how often one error is looked for in a text
	longText  = 400 // of what is shown, in bytes
	longLead  = 80  // of what is shown before what is recognised
)

// place is where a sentence says what it is about.
var place = regexp.MustCompile(`(?i)(?:messages|contents|input)\\*[.\[]{1,2}(\d{1,6})(?:\\*\]?[.\[](?:content|tool_calls|parts)\\*[.\[](\d{1,6}))?` +
	`|(?:message ?(?:at ?)?(?:message ?)?(?:position|index)|, ?position) ?(\d{1,6})`)

func number(digits string) int {
	if n, err := strconv.Atoi(digits); err == nil {
		return n
	}
	return -1
}

// sentence widens a place to the beginning of the sentence, or to the number of the
// message that it is about, and to its end.
func (t text) sentence(start, end int) (int, int) {
	from := max(0, start-longLead)
	lead := string(t[from:start])
	if all := opened.FindAllStringIndex(lead, -1); all != nil {
		from += all[len(all)-1][1]
		lead = string(t[from:start])
	} else if from > 0 {
		from = start
	}
	if at := place.FindStringIndex(marks.Replace(lead)); at != nil {
		from = start - len(lead) + at[0]
		for i := start - len(lead); i <= from; i++ { // what is before has marks
			if t[i] <= full[0] {
				from++
			}
		}
	} else if unicode.IsUpper(rune(t[start])) {
		from = start
	} else if all := beginning.FindAllStringIndex(lead, -1); all != nil {
		from = start - len(lead) + all[len(all)-1][1]
	}
	rest := string(t[end:min(len(t), end+longText)])
	if at := ending.FindStringIndex(rest); at != nil {
		rest = rest[:at[0]]
	}
	return from, end + len(rest)
}

// What is before and behind a sentence, and before a quotation.
var (
	opened    = regexp.MustCompile(`["{}\n]|(?:^|\PL)'`)
	beginning = regexp.MustCompile(`\pL: |\. `)
	ending    = regexp.MustCompile(`["{}\n─]|'[,})\]]|\. |\](?:[\x00\x01]|$)`)
)

// shown is a part of the text for display.
func (t text) shown(start, end int, ids []span) string {
	s := string(t[start:end])
	for _, at := range ids {
		if id := string(t[at.start:at.end]); strings.ContainsAny(id, full+blank) {
			s = strings.ReplaceAll(s, id, marks.Replace(id))
		}
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), unicode.IsSpace(r):
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return -1
	}, strings.ReplaceAll(s, full, ""))
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > longText {
		s = strings.ToValidUTF8(s[:longText], "") + "…"
	}
	return s
}

// span is a part of a text, in bytes.
type span struct{ start, end int }

// Call ids that say of themselves what they are: of Anthropic, Bedrock, OpenAI, vLLM, Kimi
// and ADK. A whole one has all its characters.
var (
	idForm = regexp.MustCompile(`(?:srvtoolu_|toolu_|tooluse_|call_|fc_|chatcmpl-tool-|functions\.|adk-(?:[\x00\x01]?[0-9a-f]){8})[\w.:\x00\x01-]*`)
	whole  = regexp.MustCompile(`^(?:(?:srv)?toolu_(?:[a-z]{3,5}_)?01\w{22}|tooluse_[\w-]{22}|call_(?:[A-Za-z0-9]{24}|[0-9a-f]{32})` +
		`|fc_[0-9a-f]{48}|chatcmpl-tool-[0-9a-f]{32}|functions\.[\w-]+:\d+|(?:adk-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$`)
	noID = regexp.MustCompile(`^(?:call_ids?|[a-z]+_|functions[^:]*|and|or)?$`) // fields, and words between ids
	nine = regexp.MustCompile(`^[A-Za-z0-9]{9}$`)                               // of Mistral
)

// IsCallID reports whether a word by itself looks like the id of a call.
func IsCallID(word string) bool {
	form := idForm.FindStringIndex(word)
	return form != nil && form[0] == 0 && form[1] == len(word) && !noID.MatchString(word) ||
		nine.MatchString(word) && strings.ToLower(word[1:]) != word[1:] && strings.ToUpper(word) != word
}

// What is in a list of ids, and before, between and behind them.
var (
	listed  = regexp.MustCompile(`\w[\w.:\x00\x01-]*`)
	opening = regexp.MustCompile(`^[^\pL\pN_.\n]{0,16}`)
	another = regexp.MustCompile("^[ \x00\x01]?(?:,|and )[\\s\x00\x01]{0,8}")
	quoted  = regexp.MustCompile("^(?:['\"’”`][ \x00\x01]?(?:,|and )[\\s\x00\x01]{0,8}['\"‘’“`]|[ \x00\x01]?,[\\s\x00\x01]{0,8})")
	closing = regexp.MustCompile("^(?:\\.?[\\s\x00\x01]*(?:$|\n)|…|\\. |\\.?['\"’”`\\\\)\\]},])")
)

// list are the ids in the text between two places, or, if the end is not known, as long
// as another one follows.
func (t text) list(from, to int) (ids []span) {
	if to >= 0 {
		for _, at := range listed.FindAllStringIndex(string(t[from:to]), -1) {
			ids = t.add(ids, from+at[0], from+at[1])
		}
		return ids
	}
	lead, next := opening.FindString(string(t[from:])), another
	if strings.ContainsAny(lead, "'\"‘’“`") {
		next = quoted
	}
	from += len(lead)
	for {
		at := listed.FindStringIndex(string(t[from:]))
		if at == nil || at[0] > 0 {
			return ids
		}
		end := t.idEnd(from, from+at[1])
		ids = t.add(ids, from, end)
		more := len(next.FindString(string(t[end:])))
		if more == 0 || len(ids) > manyIDs {
			return ids
		}
		from = end + more
	}
}

// anywhere are the words of the text that say of themselves that they are ids.
func (t text) anywhere() (ids []span) {
	for _, at := range idForm.FindAllStringIndex(string(t), -1) {
		at := span{at[0], t.idEnd(at[0], at[1])}
		id, function := t.id(at), "abcdefghijklmnopqrstuvwxyz_.-" // what it is made of in a trace
		if IsCallID(id) && strings.Trim(id, function) != "" && (at.start == 0 || !isWord.MatchString(string(t[at.start-1:at.start]))) {
			ids = append(ids, at)
		}
	}
	return ids
}

// isWord is what an id does not begin behind: it is part of a name or a path.
var isWord = regexp.MustCompile(`[\w/.-]`)

// idEnd is where an id ends that lines may end in. It goes on in the next line if that
// makes it whole, if the line was full, or if the sentence ends behind.
func (t text) idEnd(start, end int) int {
	all := strings.TrimRight(string(t[start:end]), ".:"+full+blank)
	for i, r := range all {
		if r != 0 && r != 1 {
			continue
		}
		if whole.MatchString(marks.Replace(all)) {
			break
		}
		head := marks.Replace(all[:i])
		ended := strings.HasSuffix(head, ".") && head != "functions."
		goesOn := string(r) == full || closing.MatchString(string(t[start+len(all):]))
		if ended || whole.MatchString(head) || !goesOn {
			return start + i
		}
	}
	return start + len(all)
}

// add adds a place if an id is there.
func (t text) add(to []span, start, end int) []span {
	if id := t.id(span{start, end}); len(id) > 200 || noID.MatchString(id) {
		return to
	}
	return append(to, span{start, end})
}

// id is the id at a place.
func (t text) id(at span) string {
	return strings.Trim(marks.Replace(string(t[at.start:at.end])), ".:")
}
