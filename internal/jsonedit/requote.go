package jsonedit

import (
	"bytes"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Requote is a JSON string that held one document and is to hold another one, both of
// them read already. What the documents have in common keeps its escapes: Python's
// json.dumps writes others than Go does.
func Requote(quoted, was, is []byte) []byte {
	before, after := tokens(was), tokens(is)
	if len(before) != len(after) { // more than single values differ
		before, after = []token{{0, len(was)}}, []token{{0, len(is)}}
	}
	at := escapes(quoted, len(was))
	text, copied := []byte{}, 0
	for i := range before {
		old, now := was[before[i].from:before[i].to], is[after[i].from:after[i].to]
		first, last := edges(old, now)
		if first == len(old) && first == len(now) {
			continue
		}
		with, _ := jsontext.AppendQuote(nil, now[first:len(now)-last]) // of a document that was read
		text = append(append(text, quoted[copied:at[before[i].from+first]]...), with[1:len(with)-1]...)
		copied = at[before[i].to-last]
	}
	return append(text, quoted[copied:]...)
}

// escapes are the offsets in a JSON string of the bytes of its text, and of its end.
// All bytes of a character that is escaped have the offset of that.
func escapes(quoted []byte, length int) []int {
	at := make([]int, 0, length+1)
	for i := 1; i < len(quoted)-1; {
		next, bytes := i+1, 1
		if quoted[i] == '\\' {
			next, bytes = escaped(quoted, i)
		}
		for range bytes {
			at = append(at, i)
		}
		i = next
	}
	return append(at, len(quoted)-1)
}

// escaped is where the escape at an offset ends, and how many bytes it stands for.
func escaped(quoted []byte, i int) (next, bytes int) {
	const unit = len(`\u0000`)
	if quoted[i+1] != 'u' {
		return i + len(`\n`), 1
	}
	text, err := jsontext.AppendUnquote(nil, append(append([]byte{'"'}, quoted[i:i+unit]...), '"'))
	if err == nil {
		return i + unit, len(text)
	}
	return i + 2*unit, utf8.UTFMax // the first half of a surrogate pair, the other one behind it
}

// token is where a token of a document is, with what stands before it.
type token struct{ from, to int }

func tokens(doc []byte) (list []token) {
	dec := jsontext.NewDecoder(bytes.NewReader(doc), tolerant)
	from := 0
	for {
		if _, err := dec.ReadToken(); err != nil {
			return append(list, token{from, len(doc)})
		}
		to := int(dec.InputOffset())
		list, from = append(list, token{from, to}), to
	}
}

// edges are how many bytes two texts have in common at their beginnings and, besides,
// at their ends, in whole characters.
func edges(a, b []byte) (first, last int) {
	shorter := min(len(a), len(b))
	for first < shorter && a[first] == b[first] {
		first++
	}
	for first > 0 && (first < len(a) && !utf8.RuneStart(a[first]) || first < len(b) && !utf8.RuneStart(b[first])) {
		first--
	}
	for last < shorter-first && a[len(a)-1-last] == b[len(b)-1-last] {
		last++
	}
	for last > 0 && !utf8.RuneStart(a[len(a)-last]) {
		last--
	}
	return first, last
}
