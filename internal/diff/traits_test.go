package diff

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

// What only an adapter tells of an item, another image for example, counts between stores
// of one kind.
func TestOutlinesTellWhatOnlyAnAdapterKnows(t *testing.T) {
	outlines := func(f Form) (session.Digest, session.Digest) {
		a := session.Session{ID: "P", Items: []session.Item{{Meaning: 1}}}
		b := session.Session{ID: "P", Items: []session.Item{{Meaning: 2}}}
		return f.outlineDigest(&a), f.outlineDigest(&b)
	}
	if a, b := outlines(Form{Alike: true}); a == b {
		t.Error("between stores of one kind the outlines are equal")
	}
	if a, b := outlines(Form{}); a != b {
		t.Error("between stores of other kinds the outlines differ")
	}
}

// An export names once what model the store assumes.
func TestAnAssumedModelIsNoDifference(t *testing.T) {
	named, unnamed := &session.Session{Model: "gemini"}, &session.Session{}
	if list := (&Form{Assumed: [2]string{"gemini"}}).fieldsOf(unnamed, named); list != nil {
		t.Errorf("they differ in %v", list)
	}
	if list := (&Form{}).fieldsOf(unnamed, named); len(list) != 1 {
		t.Errorf("where none is assumed they differ in %v", list)
	}
}
