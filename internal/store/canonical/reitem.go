package canonical

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
)

// itemLine is the line of item i of session s: as it is stored, changed only
// where the model says something else. A new item is encoded.
func (r *rewriter) itemLine(s *session.Session, i int) ([]byte, error) {
	it := &s.Items[i]
	if it.Body == nil {
		return nil, fmt.Errorf("item %s of session %s cannot be written: its body was not loaded", it.Key, s.ID)
	}
	if it.Table == "" {
		rec := encodeItem(s, it, it.Body, r.names)
		return r.encode(&rec)
	}
	was := r.items.read(it.Body.Raw, 0)
	line := lineText{text: it.Body.Raw}
	if slices.ContainsFunc(r.items.faults, isBadUnicode) && !hasBadUnicode(s, i) {
		line.text = scrubbed(line.text)
	}
	if g, _ := r.skim.skim(line.text); g.session != s.ID {
		line.set("/session", s.ID)
	}
	if it.Role != was.Role {
		line.set("/role", it.Role.String())
	}
	// A reader passes over the agent of some roles.
	if _, given := line.raw("/agent"); it.Agent != was.Agent || it.Role != was.Role && given {
		line.set("/agent", it.Agent)
	}
	if it.KeptFrom != was.KeptFrom {
		line.set("/kept_from", it.KeptFrom)
	}
	if it.Branch != was.Branch {
		line.branch(it.Branch)
	}
	if archived := it.Flags.Has(session.Archived); archived != was.Flags.Has(session.Archived) {
		line.set("/archived", archived)
	}
	if was.Flags.Has(session.Skipped) && !it.Flags.Has(session.Skipped) { // its child came back
		line.set("/skipped", false)
	}
	line.parts(it, &was)
	return line.text, line.err
}

// branch writes a label in the form that a reader takes it from, or takes it away.
func (l *lineText) branch(label string) {
	if label == "" {
		l.remove("/branch")
	} else {
		l.setJSON("/branch", jsonOf(branchLabel{text: label}))
	}
}

func isBadUnicode(f session.Fault) bool { return f.Kind == session.BadUnicode }

func hasBadUnicode(s *session.Session, item int) bool {
	return slices.ContainsFunc(s.Faults, func(f session.Fault) bool { return f.Item == item && isBadUnicode(f) })
}

// parts writes what differs in an item of which a part was taken, in the part,
// and in an item that got other ids, arguments or no text.
func (l *lineText) parts(it, was *session.Item) {
	if it.Body.Text != was.Body.Text {
		l.set("/text", it.Body.Text)
	}
	if it.Body.Reasoning != was.Body.Reasoning {
		l.set("/reasoning", it.Body.Reasoning)
	}
	kept := keptResults(it.Results, was.Results)
	if len(it.Blocks) == 0 {
		for _, member := range []string{"/blocks", "/signature", "/media"} {
			if len(was.Blocks) > 0 {
				l.remove(member)
			}
		}
	} else {
		l.blocks(it, was, kept)
	}
	if _, there := l.raw("/size"); there && it.Size != was.Size {
		l.set("/size", it.Size)
	}
	if len(it.Calls) == 0 && len(was.Calls) > 0 {
		l.setJSON("/calls", jsontext.Value("[]"))
	}
	if was.Flags.Has(session.EmptyCalls) && !it.Flags.Has(session.EmptyCalls) {
		l.remove("/empty_calls")
	}
	l.calls(it, was)
	l.results(it, was, kept)
}

// calls writes the ids and arguments of calls that are others now. Arguments
// stay a text where they are one.
func (l *lineText) calls(it, was *session.Item) {
	for n := range min(len(it.Calls), len(was.Calls)) {
		c, old, at := &it.Calls[n], &was.Calls[n], "/calls/"+strconv.Itoa(n)
		if c.ID != old.ID {
			l.set(at+"/id", c.ID)
		}
		if d := c.Delegation; d != nil && old.Delegation != nil && d.Child != old.Delegation.Child {
			l.set(at+"/delegation/child", d.Child)
		}
		if child := c.Question.Child; child != old.Question.Child {
			l.set(at+"/question/child", child)
		}
		if c.Args == old.Args {
			continue
		}
		stored, there := l.raw(at + "/args")
		if args := jsontext.Value(c.Args); there && stored.Kind() != jsontext.KindString && args.IsValid(tolerant) {
			l.setJSON(at+"/args", args)
		} else {
			l.set(at+"/args", c.Args)
		}
	}
}

// results writes which of the stored results the item still has, and their ids.
func (l *lineText) results(it, was *session.Item, kept []int) {
	if len(it.Results) != len(was.Results) {
		list := make([][]byte, 0, len(kept))
		for _, n := range kept {
			value, _ := l.raw("/results/" + strconv.Itoa(n))
			list = append(list, value)
		}
		l.setJSON("/results", listOf(list))
	}
	for i, n := range kept {
		if id := it.Results[i].CallID; id != was.Results[n].CallID {
			l.set("/results/"+strconv.Itoa(i)+"/call", id)
		}
		if child := it.Results[i].Child; child != was.Results[n].Child {
			l.set("/results/"+strconv.Itoa(i)+"/child", child)
		}
		if child := it.Results[i].Question.Child; child != was.Results[n].Question.Child {
			l.set("/results/"+strconv.Itoa(i)+"/question/child", child)
		}
	}
}

// keptResults are the places that the results of an item had among the stored
// ones. They are in the same order; some may be gone and some have other ids.
func keptResults(is, was []session.Result) []int {
	kept := make([]int, 0, len(is))
	for n := range was {
		left := is[len(kept):]
		if len(left) == 0 {
			break
		}
		renamed := was[n]
		renamed.CallID = left[0].CallID
		if left[0] == was[n] || left[0] == renamed && !slices.Contains(was[n+1:], left[0]) || len(left) == len(was)-n {
			kept = append(kept, n)
		}
	}
	return kept
}

// listOf is the JSON list of values.
func listOf(values [][]byte) jsontext.Value {
	return slices.Concat([]byte("["), bytes.Join(values, []byte(",")), []byte("]"))
}

// blocks writes the ids of blocks that lost them, and the stored list without
// the blocks of results that went elsewhere and of a text that is empty now.
func (l *lineText) blocks(it, was *session.Item, kept []int) {
	var list [][]byte
	next := 0 // of it.Blocks
	for k := range was.Blocks {
		old := &was.Blocks[k]
		at := "/blocks/" + strconv.Itoa(k)
		value, listed := l.raw(at)
		if !stays(old, it, kept) {
			continue
		}
		if next == len(it.Blocks) {
			break
		}
		b := &it.Blocks[next]
		next++
		if listed {
			list = append(list, l.block(value, b, old))
		}
		if b.ID != old.ID && b.Kind == session.CallBlock {
			l.id("/calls/"+strconv.Itoa(b.Nth)+"/item_id", b.ID)
		}
	}
	if _, there := l.raw("/blocks"); there && !slices.Equal(it.Blocks, was.Blocks) {
		l.setJSON("/blocks", listOf(list))
	}
}

// stays reports whether the item still has a block that it had.
func stays(old *session.Block, it *session.Item, kept []int) bool {
	switch old.Kind {
	case session.ResultBlock:
		return slices.Contains(kept, old.Nth)
	case session.TextBlock:
		return it.Has(session.TextBlock)
	}
	return true
}

// block is a block of the stored list with the number and the id that it has now.
func (l *lineText) block(stored jsontext.Value, b, old *session.Block) []byte {
	line := lineText{text: stored}
	if _, there := line.raw("/nth"); there && b.Nth != old.Nth {
		line.set("/nth", b.Nth)
	}
	if b.ID != old.ID {
		line.id("/id", b.ID)
	}
	if line.err != nil {
		l.err = line.err
	}
	return line.text
}

// id gives a stored id another value, or takes it away.
func (l *lineText) id(pointer, id string) {
	if id == "" {
		l.remove(pointer)
	} else if _, there := l.raw(pointer); there {
		l.set(pointer, id)
	}
}

// scrubbed is JSON with U+FFFD in place of what a reader takes for it: bytes that
// are no UTF-8 and halves of surrogate pairs. Every other byte stays.
func scrubbed(text []byte) []byte {
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
