// Package errtext recognises the errors of model providers in what people paste: JSON
// bodies, log lines, screens. It knows texts and nothing of stores.
package errtext

import (
	"encoding/json"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sessctl/sessctl/internal/pattern"
)

// Kind says what the matter is.
type Kind uint8

// The kinds. Refused, by a provider or a runtime, and Unloaded, which a runtime fails to load,
// are matters of the stored session. Of the others the session is not the cause: Absent is one
// that the runtime does not find, Unsaved what was not stored, TooLong a matter of its length.
// RateLimited includes quotas and credit.
const (
	Unknown Kind = iota
	Refused
	Unloaded
	Unsaved
	Version
	Absent
	Machine
	TooLong
	RateLimited
	Overloaded
	Authentication
)

func (k Kind) String() string {
	return [...]string{"unknown", "refused", "unloaded", "unsaved", "version", "absent", "machine", "too-long", "rate-limited", "overloaded", "authentication"}[k]
}

// IsStored reports whether what is stored is the cause.
func (k Kind) IsStored() bool { return k == Refused || k == Unloaded }

// Said is what a sentence means.
type Said struct {
	Kind    Kind
	Rules   []string // ids of the rules that find the cause, or what follows from it, in a store, most likely first; none where no rule does
	Stores  []string // the kinds of stores that it can be about, none for all
	From    string   // the provider or the runtime that says it
	Meaning string   // sentences
	Next    string   // what to do, "" for looking into the session
	Text    string   // the sentence on one line, without what could drive a terminal; of an unknown text, its beginning, or the message of a body in it
}

// IsCause reports whether the stored session is the cause. A request that is built in a way that
// a model does not accept is refused for another reason.
func (s *Said) IsCause() bool { return s.Kind == Unloaded || s.Kind == Refused && len(s.Rules) > 0 }

// Error is what a text was recognised as.
type Error struct {
	Said
	Also     []Said   // further errors in the text, in the order of the tables
	Profiles []string // names of the profiles whose provider words it like this, most likely first; none for a client's text
	// IDs are the call ids that the sentence names, in order, each once, or, where it
	// names none, those anywhere in the text. One that was cut off is what is left of it.
	IDs     []string
	Words   []string // what may be the id of a session, anywhere in the text
	Paths   []string // what looks like the path of a store
	Message int      // N of messages.N, input[N], "position N" and the like, -1 where none is named
	Block   int      // M of messages.N.content.M, tool_calls[M], parts[M], or -1
}

// Causes are the rules that find the cause of any error of the text in a store.
func (e *Error) Causes() []string {
	all := slices.Clone(e.Rules)
	for _, other := range e.Also {
		for _, id := range other.Rules {
			if !slices.Contains(all, id) {
				all = append(all, id)
			}
		}
	}
	return all
}

// InSession reports whether what is stored is the cause of any error of the text.
func (e *Error) InSession() bool {
	return e.Kind.IsStored() || slices.ContainsFunc(e.Also, func(s Said) bool { return s.Kind.IsStored() })
}

// ParseAnswer recognises what a provider, or a client on its way, answered. Of several errors
// in one text, a refusal is told before all others.
func ParseAnswer(pasted string) Error {
	t := cleanText(pasted)
	letters, places := t.lettersOnly()
	e := Error{Message: -1, Block: -1}
	var named, told []span
	start, end := 0, len(t)
	for i, m := range recogniseWordings(letters) {
		at := m.at
		from, to := places[at[0].start], places[at[len(at)-1].end-1]+1
		if slices.ContainsFunc(told, func(s span) bool { return from < s.end && s.start < to }) {
			continue // the same sentence in other words
		}
		said := Said{Kind: m.kind, Rules: m.rules, Stores: m.stores, From: m.from, Meaning: m.meaning, Next: m.next}
		if i > 0 {
			from, to = t.widenToSentence(from, to)
			said.Text = t.displayText(from, to, nil)
			e.Also, told = append(e.Also, said), append(told, span{from, to})
			continue
		}
		e.Said, e.Profiles, start, end = said, m.profiles, from, to
		for n := 0; at != nil && n < manyTimes; n++ {
			if m.ids >= 0 && m.ids < len(at) {
				next := -1
				if m.ids+1 < len(at) {
					next = places[at[m.ids+1].start]
				}
				named = append(named, t.listIDs(places[at[m.ids].end-1]+1, next)...)
			}
			if n == 0 && named != nil {
				end = max(end, named[len(named)-1].end)
			}
			at = m.findPieces(letters, at[len(at)-1].end, nil)
		}
		start, end = t.widenToSentence(start, end)
		told = append(told, span{start, end})
		if m := place().FindStringSubmatch(marks.Replace(string(t[start:min(len(t), end+longText)]))); m != nil {
			e.Message, e.Block = parseNumber(m[1]+m[3]), parseNumber(m[2])
		}
	}
	if named == nil {
		named = t.idsAnywhere()
	}
	for _, at := range named {
		if id := t.idAt(at); !slices.Contains(e.IDs, id) {
			e.IDs = append(e.IDs, id)
		}
	}
	e.Text = t.displayText(start, end, named)
	if inner := ""; e.Kind == Unknown {
		if m := inBody().FindStringSubmatch(pasted); m != nil && json.Unmarshal([]byte(m[1]), &inner) == nil {
			said := cleanText(inner)
			e.Text = said.displayText(0, len(said), nil)
		}
	}
	e.Words, e.Paths = t.collectWords(), t.collectPaths()
	return e
}

// inBody is the message in a body that is JSON.
var inBody = pattern.Lazy(`"message": ?("(?:[^"\\]|\\.)+")`)

// What may be the id of a session: words of some length with a digit, also one that lines end
// in, and what is behind "session". And the paths of stores.
var (
	longWord  = pattern.Lazy(`[A-Za-z0-9][\w.:@-]{6,127}`)
	wholeWord = pattern.Lazy(`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|ses_\w{26}`)
	behindOf  = pattern.Lazy(`(?i)(?:session|thread|conversation)(?:[ _]?id)?[^\w\n]{1,8}(\w[\w.:@-]{0,127})`)
	pathForm  = pattern.Lazy(`(?:sqlite(?:\+\w+)?:///)?([~\w./-][\w./ -]{0,299}\.(?:db|sqlite3?|ndjson|jsonl))\b`)
)

// most is how many words and paths of a text are looked for.
const most = 256

func (t text) collectWords() (list []string) {
	add := func(word string) {
		if word = strings.Trim(word, ".:-"); len(list) < most && word != "" && !slices.Contains(list, word) {
			list = append(list, word)
		}
	}
	joined, apart := marks.Replace(string(t)), strings.ReplaceAll(strings.ReplaceAll(string(t), full, ""), blank, " ")
	for _, word := range wholeWord().FindAllString(joined, most) {
		add(word)
	}
	for _, found := range behindOf().FindAllStringSubmatch(apart, most) {
		add(found[1])
	}
	for _, word := range longWord().FindAllString(apart, -1) {
		if strings.ContainsAny(word, "0123456789") {
			add(word)
		}
	}
	return list
}

// collectPaths also gives what is behind the blanks of one, which may be words before it.
func (t text) collectPaths() (list []string) {
	for _, found := range pathForm().FindAllStringSubmatch(strings.ReplaceAll(strings.ReplaceAll(string(t), full, ""), blank, " "), most/16) {
		for path := found[1]; path != ""; _, path, _ = strings.Cut(path, " ") {
			if path = strings.TrimSpace(path); !slices.Contains(list, path) && len(list) < most {
				list = append(list, path)
			}
		}
	}
	return list
}

const (
	manyTimes = 64  // how often one error is looked for in a text
	longText  = 400 // of what is shown, in bytes
	longLead  = 80  // of what is shown before what is recognised
)

// place is where a sentence says what it is about.
var place = pattern.Lazy(`(?i)(?:messages|contents|input)\\*[.\[]{1,2}(\d{1,6})(?:\\*\]?[.\[](?:content|tool_calls|parts)\\*[.\[](\d{1,6}))?` +
	`|(?:message ?(?:at ?)?(?:message ?)?(?:position|index)|, ?position) ?(\d{1,6})`)

func parseNumber(digits string) int {
	if n, err := strconv.Atoi(digits); err == nil {
		return n
	}
	return -1
}

// widenToSentence widens a place to the beginning of the sentence, or to the number of the
// message that it is about, and to its end.
func (t text) widenToSentence(start, end int) (int, int) {
	from := max(0, start-longLead)
	lead := string(t[from:start])
	if all := opened().FindAllStringIndex(lead, -1); all != nil {
		from += all[len(all)-1][1]
		lead = string(t[from:start])
	} else if from > 0 {
		from = start
	}
	if at := place().FindStringIndex(marks.Replace(lead)); at != nil {
		from = start - len(lead) + at[0]
		for i := start - len(lead); i <= from; i++ { // what is before has marks
			if t[i] <= full[0] {
				from++
			}
		}
	} else if unicode.IsUpper(rune(t[start])) {
		from = start
	} else if all := beginning().FindAllStringIndex(lead, -1); all != nil {
		from = start - len(lead) + all[len(all)-1][1]
	}
	rest := string(t[end:min(len(t), end+longText)])
	if at := ending().FindStringIndex(rest); at != nil {
		rest = rest[:at[0]]
	}
	return from, end + len(rest)
}

// What is before and behind a sentence, and before a quotation.
var (
	opened    = pattern.Lazy(`["{}\n]|(?:^|\PL)'`)
	beginning = pattern.Lazy(`\pL: |\. `)
	ending    = pattern.Lazy(`["{}\n─]|'[,})\]]|\. |\](?:[\x00\x01]|$)`)
)

// displayText is a part of the text for display.
func (t text) displayText(start, end int, ids []span) string {
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
	idForm = pattern.Lazy(`(?:srvtoolu_|toolu_|tooluse_|call_|fc_|chatcmpl-tool-|functions\.|adk-(?:[\x00\x01]?[0-9a-f]){8})[\w.:\x00\x01-]*`)
	whole  = pattern.Lazy(`^(?:(?:srv)?toolu_(?:[a-z]{3,5}_)?01\w{22}|tooluse_[\w-]{22}|call_(?:[A-Za-z0-9]{24}|[0-9a-f]{32})` +
		`|fc_[0-9a-f]{48}|chatcmpl-tool-[0-9a-f]{32}|functions\.[\w-]+:\d+|(?:adk-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$`)
	noID = pattern.Lazy(`^(?:call_ids?|[a-z]+_|functions[^:]*|and|or)?$`) // fields, and words between ids
	nine = pattern.Lazy(`^[A-Za-z0-9]{9}$`)                               // of Mistral
)

// IsCallID reports whether a word by itself looks like the id of a call.
func IsCallID(word string) bool {
	form := idForm().FindStringIndex(word)
	return form != nil && form[0] == 0 && form[1] == len(word) && !noID().MatchString(word) ||
		nine().MatchString(word) && strings.ToLower(word[1:]) != word[1:] && strings.ToUpper(word) != word
}

// What is in a list of ids, and before, between and behind them.
var (
	listed  = pattern.Lazy(`\w[\w.:\x00\x01-]*`)
	opening = pattern.Lazy(`^[^\pL\pN_.\n]{0,16}`)
	another = pattern.Lazy("^[ \x00\x01]?(?:,|and )[\\s\x00\x01]{0,8}")
	quoted  = pattern.Lazy("^(?:['\"’”`][ \x00\x01]?(?:,|and )[\\s\x00\x01]{0,8}['\"‘’“`]|[ \x00\x01]?,[\\s\x00\x01]{0,8})")
	closing = pattern.Lazy("^(?:\\.?[\\s\x00\x01]*(?:$|\n)|…|\\. |\\.?['\"’”`\\\\)\\]},])")
)

// listIDs lists the ids in the text between two places, or, if the end is not known, as long
// as another one follows.
func (t text) listIDs(from, to int) (ids []span) {
	if to >= 0 {
		for _, at := range listed().FindAllStringIndex(string(t[from:to]), -1) {
			ids = t.addID(ids, from+at[0], from+at[1])
		}
		return ids
	}
	lead, next := opening().FindString(string(t[from:])), another()
	if strings.ContainsAny(lead, "'\"‘’“`") {
		next = quoted()
	}
	from += len(lead)
	for {
		at := listed().FindStringIndex(string(t[from:]))
		if at == nil || at[0] > 0 {
			return ids
		}
		end := t.idEnd(from, from+at[1])
		ids = t.addID(ids, from, end)
		more := len(next.FindString(string(t[end:])))
		if more == 0 || len(ids) > manyIDs {
			return ids
		}
		from = end + more
	}
}

// idsAnywhere are the words of the text that say of themselves that they are ids.
func (t text) idsAnywhere() (ids []span) {
	for _, at := range idForm().FindAllStringIndex(string(t), -1) {
		at := span{at[0], t.idEnd(at[0], at[1])}
		id, function := t.idAt(at), "abcdefghijklmnopqrstuvwxyz_.-" // what it is made of in a trace
		if IsCallID(id) && strings.Trim(id, function) != "" && (at.start == 0 || !isWord().MatchString(string(t[at.start-1:at.start]))) {
			ids = append(ids, at)
		}
	}
	return ids
}

// isWord is what an id does not begin behind: it is part of a name or a path.
var isWord = pattern.Lazy(`[\w/.-]`)

// idEnd is where an id ends that lines may end in. It goes on in the next line if that
// makes it whole, if the line was full, or if the sentence ends behind.
func (t text) idEnd(start, end int) int {
	all := strings.TrimRight(string(t[start:end]), ".:"+full+blank)
	for i, r := range all {
		if r != 0 && r != 1 {
			continue
		}
		if whole().MatchString(marks.Replace(all)) {
			break
		}
		head := marks.Replace(all[:i])
		ended := strings.HasSuffix(head, ".") && head != "functions."
		goesOn := string(r) == full || closing().MatchString(string(t[start+len(all):]))
		if ended || whole().MatchString(head) || !goesOn {
			return start + i
		}
	}
	return start + len(all)
}

// addID adds a place if an id is there.
func (t text) addID(to []span, start, end int) []span {
	if id := t.idAt(span{start, end}); len(id) > 200 || noID().MatchString(id) {
		return to
	}
	return append(to, span{start, end})
}

// idAt is the id at a place.
func (t text) idAt(at span) string {
	return strings.Trim(marks.Replace(string(t[at.start:at.end])), ".:")
}

// text is a pasted text with its escapes undone and its lines joined. A mark is left where
// a line ended: at a blank, or because it was full, perhaps within a word.
type text string

const blank, full = "\x00", "\x01"

var marks = strings.NewReplacer(blank, "", full, "")

const (
	mostText = 256 << 10 // how much of a text is read, half of it at each end
	rounds   = 4         // how often a text was escaped in different ways; backslashes are undone at once
)

// What terminals and loggers put at the beginning and the end of every line.
var (
	colour = pattern.Lazy(`(?:\x1b|\^\[)\[[ -?\x00\x01]*[@-~]|\[(?:[\d\x00\x01]{1,4};){0,4}[\d\x00\x01]{1,4}m|\x1b\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)?|\x1b`)
	stamp  = `\[?(?:(?:\d{4}[-/]\d\d[-/]\d\d|[JFMASOND][a-z]{2} [ \d]\d|[IWEF]\d{4})[T ])?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d)?\]?`
	level  = `(?:\s+(?:[-|:]\s+)?\[?(?i:trace|debug|info|notice|warn|warning|error|err|fatal|critical|(?:stderr|stdout) [FP])\b\]?:?)?`
	source = `(?:\s+(?:[-|:]\s+)?(?:\[[A-Za-z][\w.:/ -]{1,40}\]|[\w./-]{1,40}\.(?:py|go|js|ts|rs|rb|java|kt|cs):\d+|[\w.-]+ [\w.-]+\[\d+\]:):?)*(?:\s+[-|:](?:\s|$))?`
	before = pattern.Lazy(`^(?:[\s>│┃║▏▎▌⎿└├╰╭|]+|[\w.-]{1,40} *\| |` + stamp + level + source +
		`|(?:(?:time|ts|level|lvl|logger|caller)=(?:"[^"]*"|\S+)\s+)+(?:msg=)?)+`)
	behind = pattern.Lazy(`[\s│┃║▕▏╮╯|]+$`)
)

// What is written for a character, with lines that end within it.
var (
	percents = pattern.Lazy(`(?:[\x00\x01]?%[\x00\x01]?[0-9A-Fa-f][\x00\x01]?[0-9A-Fa-f])+`)
	entities = pattern.Lazy(`&[#\w\x00\x01]{2,12};`)
	tags     = pattern.Lazy(`</?[a-z\x00\x01]{1,10} ?/?>`)
	escapes  = pattern.Lazy(`\\[\\\x00\x01]*(?:u(?:[\x00\x01]?[0-9a-fA-F]){4}|x(?:[\x00\x01]?[0-9a-fA-F]){2}|[0-3](?:[\x00\x01]?[0-7]){2}|[nrt_"'/` + "`])")
)

func cleanText(pasted string) text {
	if len(pasted) > mostText {
		pasted = pasted[:mostText/2] + "\n\n" + pasted[len(pasted)-mostText/2:]
	}
	s := joinLines(colour().ReplaceAllString(marks.Replace(strings.ToValidUTF8(pasted, " ")), ""))
	spaced := strings.Contains(strings.TrimSpace(s), " ")
	for range rounds {
		was := s
		s = replaceMatches(s, percents(), func(m string) string {
			raw, _ := strconv.Unquote(`"` + strings.ReplaceAll(m, "%", `\x`) + `"`)
			return strings.ToValidUTF8(raw, " ")
		})
		s = replaceMatches(s, entities(), html.UnescapeString)
		s = replaceMatches(s, tags(), func(string) string { return " " })
		s = replaceMatches(s, escapes(), unescapedChar)
		if s == was {
			break
		}
	}
	if !spaced {
		s = strings.ReplaceAll(s, "+", " ") // as in URLs
	}
	return text(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) { // of no width
			return -1
		}
		return r
	}, colour().ReplaceAllString(s, "")))
}

// replaceMatches replaces what matches, and keeps a mark within it.
func replaceMatches(s string, re *regexp.Regexp, with func(string) string) string {
	return re.ReplaceAllStringFunc(s, func(m string) string {
		mark := ""
		if i := strings.IndexAny(m, blank+full); i >= 0 {
			mark = m[i : i+1]
		}
		return marks.Replace(with(marks.Replace(m))) + mark
	})
}

// unescapedChar is the character that an escape with any number of backslashes stands for.
func unescapedChar(m string) string {
	m = strings.TrimLeft(m, `\`)
	base := 16
	switch {
	case m == "n":
		return "\n"
	case m == "r", m == "t":
		return " "
	case len(m) == 1:
		return m
	case m[0] < '8':
		base = 8
	}
	r, _ := strconv.ParseUint(strings.TrimLeft(m, "ux"), base, 32)
	return string(rune(r))
}

// joinLines takes the lines for one, without what is around each of them. An empty line
// stays the end of a line.
func joinLines(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	widths := map[int]int{}
	widest := 0
	for _, line := range lines {
		n := utf8.RuneCountInString(line)
		widest = max(widest, n)
		widths[n]++
	}
	var b strings.Builder
	for i, line := range lines {
		own := before().ReplaceAllString(line, "")
		line, trimmed := line, behind().ReplaceAllString(own, "")
		b.WriteString(trimmed)
		switch {
		case i == len(lines)-1:
		case trimmed == "":
			b.WriteByte('\n')
		case own == trimmed && widths[widest] > 1 && utf8.RuneCountInString(line) == widest:
			b.WriteString(full)
		default:
			b.WriteString(blank)
		}
	}
	return b.String()
}

// lettersOnly are the letters and digits of the text in lower case and nothing else, so that
// neither quotation marks nor blanks nor the ends of lines matter, and the place of each.
func (t text) lettersOnly() (string, []int) {
	letters, places := make([]byte, 0, len(t)), make([]int, 0, len(t))
	for i, c := range []byte(t) {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' {
			letters, places = append(letters, c), append(places, i)
		}
	}
	return string(letters), places
}
