package canonical

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/change"
)

// itemLine is the line of an item of session s: as it is stored, with the values that
// become others. A new item is encoded.
func (r *rewriter) itemLine(s *session.Session, it *change.Item) ([]byte, error) {
	is := it.Is
	if is.Body == nil {
		return nil, fmt.Errorf("item %s of session %s cannot be written: its body was not loaded", is.Key, s.ID)
	}
	if it.Was == nil {
		rec := encodeItem(s, is, is.Body, r.names)
		return r.encodeLine(&rec)
	}
	line := lineText{text: is.Body.Raw}
	if it.From != s.ID {
		line.setMember("/session", s.ID)
	}
	for _, v := range it.Values {
		line.setValue(it.Was, v)
	}
	if it.Was.Flags.Has(session.Skipped) && !is.Flags.Has(session.Skipped) { // its child came back
		line.replaceMember("/skipped", false)
	}
	if it.Stays() {
		line.removeTaken(it)
	} else {
		line.keepResult(it)
	}
	if it.Scrubbed { // last: a value may be what was stored
		line.text = scrubJSON(line.text)
	}
	return line.text, line.err
}

// members are the members of a line with the values of an item, or of an element of its
// calls, results or blocks.
var members = map[change.Part]map[string]string{
	change.OfItem: {
		change.FieldAgent: "/agent", session.FieldBranch: "/branch", change.FieldKeptFrom: "/kept_from",
		session.FieldArchived: "/archived", session.FieldText: "/text", change.FieldReasoning: "/reasoning",
	},
	change.OfCall: {
		session.FieldCallID: "/id", change.FieldName: "/name", change.FieldArgs: "/args",
		change.FieldQuestion: "/question/child", change.FieldDelegation: "/delegation/child",
	},
	change.OfResult: {
		session.FieldResultID: "/call", change.FieldName: "/name", session.FieldText: "/text",
		session.FieldChild: "/child", change.FieldQuestion: "/question/child",
	},
	change.OfBlock: {session.FieldBlockID: "/id"},
}

// setValue writes a value of an item that becomes another one.
func (l *lineText) setValue(was *session.Item, v change.Value) {
	if v.Field == session.FieldPosition { // the order of the lines
		return
	}
	at, known := members[v.Of][v.Field]
	if !known {
		l.err = problem.New(problem.RolledBack, "", "%s of %s cannot be changed: a line has no such value", v.Field, was.Key)
		return
	}
	if v.Of != change.OfItem {
		at = fmt.Sprintf("/%s/%d%s", v.Of, v.Nth, at)
	}
	switch v.Field {
	case session.FieldBlockID:
		l.setID(at, v.Is)
		if b := &was.Blocks[v.Nth]; b.Kind == session.CallBlock {
			l.setID(fmt.Sprintf("/calls/%d/item_id", b.Nth), v.Is)
		}
	case session.FieldBranch:
		if v.Is == "" {
			l.removeMember(at)
		} else {
			l.setJSON(at, jsonOf(branchLabel{text: v.Is}))
		}
	case change.FieldKeptFrom, session.FieldArchived:
		l.setJSON(at, jsontext.Value(v.Is))
	case change.FieldArgs: // they stay a text where they are one
		stored, there := l.rawMember(at)
		if args := jsontext.Value(v.Is); there && stored.Kind() != jsontext.KindString && args.IsValid(tolerant) {
			l.setJSON(at, args)
		} else {
			l.setMember(at, v.Is)
		}
	default:
		l.setMember(at, v.Is)
	}
}

// replaceMember gives a member another value, if it is there.
func (l *lineText) replaceMember(pointer string, value any) {
	if _, there := l.rawMember(pointer); there {
		l.setMember(pointer, value)
	}
}

// setID gives a stored id another value, or takes it away.
func (l *lineText) setID(pointer, id string) {
	if id == "" {
		l.removeMember(pointer)
	} else {
		l.replaceMember(pointer, id)
	}
}

// keepResult leaves of a line one of its results, as a message of the tool.
func (l *lineText) keepResult(it *change.Item) {
	if it.Is.Role != it.Was.Role {
		l.setMember("/role", it.Is.Role.String())
		l.replaceMember("/agent", it.Is.Agent()) // which a reader passes over in some roles
	}
	for _, said := range []struct{ at, nothing string }{{"/text", `""`}, {"/reasoning", `""`}, {"/calls", "[]"}} {
		if stored, there := l.rawMember(said.at); there && stored.Kind() != jsontext.KindNull {
			l.setJSON(said.at, jsontext.Value(said.nothing))
		}
	}
	for _, at := range []string{"/blocks", "/signature", "/media", "/empty_calls"} {
		l.removeMember(at)
	}
	if len(it.Was.Results) > 1 {
		result, _ := l.rawMember("/results/" + strconv.Itoa(it.Part))
		l.setJSON("/results", listOf([]jsontext.Value{result}))
	}
	l.setSize(it)
}

func (l *lineText) setSize(it *change.Item) {
	if it.Is.Size != it.Was.Size {
		l.replaceMember("/size", it.Is.Size)
	}
}

// removeTaken takes away the results that went elsewhere, their blocks, and those of a text that
// is empty now.
func (l *lineText) removeTaken(it *change.Item) {
	emptied := slices.ContainsFunc(it.Values, func(v change.Value) bool { return v.Of == change.OfItem && v.Field == session.FieldText && v.Is == "" })
	var gone []int
	for k := range it.Was.Blocks {
		switch b := &it.Was.Blocks[k]; b.Kind {
		case session.TextBlock:
			if emptied {
				gone = append(gone, k)
			}
		case session.ResultBlock:
			before, taken := slices.BinarySearch(it.Taken, b.Nth)
			if taken {
				gone = append(gone, k)
			} else if before > 0 {
				l.replaceMember(fmt.Sprintf("/blocks/%d/nth", k), b.Nth-before)
			}
		}
	}
	if len(gone) > 0 && len(it.Is.Blocks) == 0 {
		l.removeMember("/blocks")
	} else {
		l.removeElements("/blocks", gone)
	}
	l.removeElements("/results", it.Taken)
	l.setSize(it)
}

// removeElements takes elements of a list away, if they are there.
func (l *lineText) removeElements(pointer string, gone []int) {
	var list []jsontext.Value
	if stored, there := l.rawMember(pointer); len(gone) == 0 || !there || json.Unmarshal(stored, &list, tolerant) != nil {
		return
	}
	for _, n := range slices.Backward(gone) {
		if n < len(list) {
			list = slices.Delete(list, n, n+1)
		}
	}
	l.setJSON(pointer, listOf(list))
}

// listOf lists the JSON list of values.
func listOf(values []jsontext.Value) jsontext.Value {
	list := jsontext.Value("[")
	for i, v := range values {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, v...)
	}
	return append(list, ']')
}

// scrubJSON is JSON with U+FFFD in place of what a reader takes for it: bytes that
// are no UTF-8 and halves of surrogate pairs. Every other byte stays.
func scrubJSON(text []byte) []byte {
	if utf8.Valid(text) && !bytes.Contains(text, []byte(`\u`)) {
		return text
	}
	var out bytes.Buffer
	for len(text) > 0 {
		var n int
		switch {
		case text[0] == '\\' && len(text) > 1 && text[1] == 'u':
			var lone bool
			if n, lone = unicodeEscape(text); lone {
				out.WriteString(`\ufffd`)
				text = text[n:]
				continue
			}
		case text[0] == '\\':
			n = min(2, len(text))
		default:
			var char rune
			if char, n = utf8.DecodeRune(text); char == utf8.RuneError && n == 1 {
				out.WriteRune(utf8.RuneError)
				text = text[1:]
				continue
			}
		}
		out.Write(text[:n])
		text = text[n:]
	}
	return out.Bytes()
}

// unicodeEscape measures the escape that a text begins with: one, or the two of
// a surrogate pair. lone says that it is one half of a pair.
func unicodeEscape(text []byte) (n int, lone bool) {
	const one = len(`\u0000`)
	first := codeUnit(text)
	if !utf16.IsSurrogate(first) {
		return min(one, len(text)), false
	}
	if second := codeUnit(text[one:]); utf16.DecodeRune(first, second) != utf8.RuneError {
		return 2 * one, false
	}
	return one, true
}

// codeUnit is the number of the escape that a text begins with, -1 when it
// begins with none.
func codeUnit(text []byte) rune {
	if len(text) < len(`\u0000`) || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(unit)
}
