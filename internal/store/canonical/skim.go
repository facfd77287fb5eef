package canonical

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// glance is what the index needs of a line.
type glance struct {
	kind              string // of the line: "item"
	session, itemKind string // of an item
	id                string // of a session
}

// skimmer reads only as much of a line as the index needs. What comes behind
// that is judged when the line is read in full.
type skimmer struct {
	dec *jsontext.Decoder
	buf bytes.Buffer
}

func newSkimmer() *skimmer { return &skimmer{dec: new(jsontext.Decoder)} }

var errNoObject = errors.New("no JSON object")

// skim returns what it found before an error, which may be enough.
func (s *skimmer) skim(line []byte) (g glance, err error) {
	s.buf = *bytes.NewBuffer(line)
	s.dec.Reset(&s.buf, tolerant)
	if s.dec.PeekKind() != '{' {
		if _, err := s.dec.ReadValue(); err != nil {
			return g, err
		}
		return g, errNoObject
	}
	if _, err := s.dec.ReadToken(); err != nil {
		return g, err
	}
	for s.dec.PeekKind() == '"' {
		if err := s.member(&g); err != nil || g.complete() {
			return g, err
		}
	}
	_, err = s.dec.ReadToken() // the closing brace
	return g, err
}

func (s *skimmer) member(g *glance) error {
	name, err := s.dec.ReadToken()
	if err != nil {
		return err
	}
	into := g.field(name.String())
	if into == nil || s.dec.PeekKind() != '"' {
		return s.dec.SkipValue()
	}
	value, err := s.dec.ReadToken()
	if err == nil {
		*into = value.String()
	}
	return err
}

func (g *glance) field(name string) *string {
	switch name {
	case "type":
		return &g.kind
	case "session":
		return &g.session
	case "kind":
		return &g.itemKind
	case "id":
		return &g.id
	}
	return nil
}

// complete reports whether nothing more of the line matters to the index.
func (g *glance) complete() bool {
	return g.kind == typeItem && g.session != "" && g.itemKind != ""
}
