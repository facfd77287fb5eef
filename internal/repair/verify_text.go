package repair

import (
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// sameText reports whether a stored text is the planned one, but for what a split changes
// there: some stores have the session that a result or a question names within its text,
// as a value of JSON, and a person's answer as one of JSON within a text. How a runtime
// spelled the names does not count, only what they are.
func (c *carried) sameText(planned, stored string) bool {
	if planned == stored || len(c.Split) == 0 {
		return planned == stored
	}
	before, after := tokensOf(planned), tokensOf(stored)
	for {
		was, err := before.ReadToken()
		if err != nil {
			_, ended := after.ReadToken()
			return err == io.EOF && ended == io.EOF //nolint:errorlint // the decoder gives these themselves
		}
		was = was.Clone()
		is, err := after.ReadToken()
		if err != nil || was.Kind() != is.Kind() {
			return false
		}
		if from, to := was.String(), is.String(); from != to &&
			(was.Kind() != jsontext.KindString || c.Split[to] != from && !c.sameText(from, to)) {
			return false
		}
	}
}

func tokensOf(text string) *jsontext.Decoder {
	return jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}
