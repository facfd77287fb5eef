package members

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/jsonscan"
)

// Wrong is a value that a reader does not take, or, where it is Loose, one that it takes for
// another one.
type Wrong struct {
	Pointer jsontext.Pointer // "" for the whole text
	Holds   string           // in words: "a list"; "" where the member is missing
	Expects string
	// Fix is what the reader takes in its place: what the value says in the right type, else
	// what says nothing. Nil takes the value out.
	Fix   jsontext.Value
	Loses bool // it is content or state, and something of it is gone with Fix
	Loose bool
}

// Check holds a JSON text against a type, in the words of the table. It says nothing of a
// text that is no JSON.
func Check(reader Reader, kind string, text []byte) []Wrong {
	c := &checker{reader: reader, text: text, scan: jsonscan.NewScanner(jsonscan.MaskNaN(text))}
	s := shapeOf(kind, tables[reader](), reader)
	if c.checkValue(&s) && c.scan.IsAtEnd() {
		return c.list
	}
	usual := jsontext.Value(bytes.Clone(jsonscan.MaskNaN(text)))
	if usual.Format(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(false)) != nil {
		return nil
	}
	c.text, c.scan, c.list, c.depth = usual, jsonscan.NewScanner(usual), nil, 0
	if !c.checkValue(&s) || !c.scan.IsAtEnd() {
		return nil
	}
	return c.list
}

// Mend is a text with what Check proposes, in which the pointers count: the text itself where
// there is nothing wrong.
func Mend(text []byte, list []Wrong) ([]byte, error) {
	for i := range list {
		if list[i].Pointer == "" {
			return list[i].Fix, nil
		}
		mended, err := jsonedit.SetValue(text, string(list[i].Pointer), list[i].Fix)
		if err != nil {
			return text, err
		}
		text = mended
	}
	return text, nil
}

// checker goes through a text once.
type checker struct {
	reader Reader
	text   []byte // as it is stored
	scan   jsonscan.Scanner
	path   [64][]byte // parts of the text mostly; a Scanner goes no deeper
	depth  int
	list   []Wrong
}

func (c *checker) pointerHere() (p jsontext.Pointer) {
	for _, name := range c.path[:c.depth] {
		p = p.AppendToken(string(name))
	}
	return p
}

// checkValue consumes a value of a shape; false where the text has a rare form.
func (c *checker) checkValue(s *shape) bool {
	first := c.scan.PeekByte()
	from := c.scan.Pos
	switch {
	case s.kind == "model" && first == '{':
		return c.checkModel(s, from)
	case s.kind == "[" && first == '[':
		return c.checkElements(s, from)
	case s.kind == "{" && first == '{':
		return c.scan.VisitMembers(func(name []byte) bool { return c.checkWithin(name, s.of) })
	}
	_, ok := c.scan.ReadValue()
	if !ok || s.kind == "any" || first == 'n' && !s.strict {
		return ok
	}
	raw := c.text[from:c.scan.Pos] // NaN is no zero
	as, takes := takeScalar(c.reader, s.kind, raw)
	switch {
	case !takes:
		c.noteWrong(s, raw, as)
	case as != nil:
		c.list = append(c.list, Wrong{Pointer: c.pointerHere(), Fix: as, Loose: true})
	}
	return true
}

// checkWithin consumes a value in an object or a list. Of doubled names the last one counts.
func (c *checker) checkWithin(name []byte, s *shape) bool {
	c.path[c.depth], c.depth = name, c.depth+1
	if len(c.list) > 0 {
		at := c.pointerHere()
		c.list = slices.DeleteFunc(c.list, func(w Wrong) bool { return w.Pointer == at || at.Contains(w.Pointer) })
	}
	ok := c.checkValue(s)
	c.depth--
	return ok
}

// checkModel consumes an object. Where a member is wrong or missing that has to be there, and has
// no empty value, the object is wrong.
func (c *checker) checkModel(s *shape, from int) bool {
	mark, model, seen := len(c.list), s.of, 0
	if !c.scan.VisitMembers(func(name []byte) bool {
		m := model.memberShape(c.reader, name)
		if m == nil {
			_, ok := c.scan.ReadValue()
			return ok
		}
		seen |= m.bit
		return c.checkWithin(name, m)
	}) {
		return false
	}
	spoiled := slices.ContainsFunc(c.list[mark:], func(w Wrong) bool {
		return w.Fix == nil && c.holdsParentOf(w) && model.memberShape(c.reader, []byte(w.Pointer.LastToken())).whole
	})
	for _, name := range model.needed {
		if m := jsonscan.FindName(model.members, name); seen&m.bit == 0 {
			if spoiled = spoiled || m.whole; !m.whole {
				c.list = append(c.list, Wrong{Pointer: c.pointerHere().AppendToken(name), Expects: describeKind(m.kind), Fix: emptyValueOf(m)})
			}
		}
	}
	if spoiled {
		c.list = c.list[:mark]
		c.noteWrong(s, c.text[from:c.scan.Pos], nil)
		c.list[mark].Holds = "an object without what it needs"
	}
	return true
}

// holdsParentOf reports whether a wrong value is directly in what is being consumed.
func (c *checker) holdsParentOf(w Wrong) bool { return w.Pointer.Parent() == c.pointerHere() }

// checkElements consumes a list. Where an element has to go, it is the list that changes: what
// stands behind gets other places.
func (c *checker) checkElements(s *shape, from int) bool {
	mark, n := len(c.list), 0
	if !c.scan.VisitElements(func() bool {
		n++
		return c.checkWithin(strconv.AppendInt(nil, int64(n-1), 10), s.of)
	}) {
		return false
	}
	i := slices.IndexFunc(c.list[mark:], func(w Wrong) bool { return w.Fix == nil && c.holdsParentOf(w) })
	if i < 0 {
		return true
	}
	is := Wrong{Pointer: c.pointerHere(), Holds: "a list with " + c.list[mark+i].Holds, Expects: "a list of " + plural[c.list[mark+i].Expects], Fix: c.text[from:c.scan.Pos]}
	for _, w := range slices.Backward(c.list[mark:]) {
		is.Loses = is.Loses || w.Loses || s.content && w.Fix == nil && w.Holds != "null"
		changed, err := jsonedit.SetValue(is.Fix, strings.TrimPrefix(string(w.Pointer), string(is.Pointer)), w.Fix)
		if err != nil {
			return false
		}
		is.Fix = changed
	}
	c.list = append(c.list[:mark], is)
	return true
}

// noteWrong notes a value that is not taken; as is what it says in the right type, nil where it
// says nothing there.
func (c *checker) noteWrong(s *shape, raw []byte, as jsontext.Value) {
	w := Wrong{Pointer: c.pointerHere(), Holds: holding[jsontext.Value(raw).Kind()], Expects: describeKind(s.kind), Fix: as}
	if as == nil {
		w.Fix = emptyValueOf(s)
		w.Loses = s.content && !saysNothing(raw)
	}
	c.list = append(c.list, w)
}

// emptyValueOf is the value of a shape that says nothing, nil where there is none.
func emptyValueOf(s *shape) jsontext.Value {
	switch {
	case s.whole && s.strict:
		return nil
	case !s.strict:
		return jsontext.Value("null")
	}
	switch s.kind {
	case "text":
		return jsontext.Value(`""`)
	case "number":
		return jsontext.Value("0")
	case "bool":
		return jsontext.Value("false")
	case "[":
		return jsontext.Value("[]")
	}
	return jsontext.Value("{}")
}

// saysNothing reports whether a value says nothing.
func saysNothing(raw []byte) bool {
	switch string(raw) {
	case "null", "false", "0", `""`, `"null"`, "[]", "{}":
		return true
	}
	return false
}

var holding = map[jsontext.Kind]string{
	'n': "null", 't': "true or false", 'f': "true or false", '0': "a number", '"': "a text", '[': "a list", '{': "an object",
}

var expecting = map[string]string{
	"text": "a text", "label": "a text", "span": "a span of time", "bool": "true or false", "bytes": "a text in base64",
	"int": "a whole number", "long": "a whole number", "number": "a number", "[": "a list",
}

// plural is what a list has of what is expected.
var plural = map[string]string{"a text": "texts", "an object": "objects", "a number": "numbers", "a whole number": "whole numbers"}

func describeKind(kind string) string {
	if word, ok := expecting[kind]; ok {
		return word
	}
	return "an object"
}
