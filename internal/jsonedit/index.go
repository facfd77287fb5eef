package jsonedit

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Index finds many values of one document: what Raw reads for each of them from the
// start, it reads once. It is not safe for concurrent use.
type Index struct {
	doc    []byte
	inside map[jsontext.Pointer]*container
}

// NewIndex is the index of a document, which must not change as long as it is used.
func NewIndex(doc []byte) *Index {
	return &Index{doc: doc, inside: map[jsontext.Pointer]*container{}}
}

// Raw is what the function Raw gives for the document.
func (x *Index) Raw(pointer string) ([]byte, bool) {
	at, ok := part{}, jsontext.Pointer(pointer).IsValid()
	if ok {
		at, ok = x.at(jsontext.Pointer(pointer))
	}
	return x.doc[at.value:at.to:at.to], ok
}

// at is where the value at a pointer is.
func (x *Index) at(pointer jsontext.Pointer) (part, bool) {
	if pointer == "" {
		return x.container("", func() container { return whole(x.doc) }).last("")
	}
	holder, name := pointer.Parent(), pointer.LastToken()
	in := x.container(holder+"/", func() container {
		at, ok := x.at(holder)
		if !ok {
			return container{}
		}
		return inside(x.doc, at)
	})
	if n, err := strconv.Atoi(name); err == nil && in.kind == jsontext.KindBeginArray && n >= 0 && n < len(in.parts) && in.parts[n].name == name {
		return in.parts[n], true
	}
	return in.last(name)
}

// container is one that is read at its first use; the key is the pointer of its value
// with a slash behind it, and "" for the document itself.
func (x *Index) container(key jsontext.Pointer, read func() container) *container {
	known := x.inside[key]
	if known == nil {
		c := read()
		known = &c
		x.inside[key] = known
	}
	return known
}
