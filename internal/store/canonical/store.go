// Package canonical reads and writes the canonical stream: sessctl's model as
// newline-delimited JSON, for runtimes without an adapter and for exports.
// docs/canonical.md describes the format.
package canonical

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/forest"
)

const (
	kindName  = "canonical"
	kindTitle = "canonical stream"
)

// Kind is the canonical stream as a kind of store. No runtime keeps one, so it
// has no default locations.
var Kind = store.Kind{
	Name:      kindName,
	Title:     kindTitle,
	Locations: func(string) []string { return nil },
	Detect:    detect,
	Open:      open,
	Rewrite:   rewrite,
	Prologue:  prologue,
}

// tableItems is the table of every item; the key is the item's ordinal among
// the items of the stream, from 0.
const tableItems = "items"

// tableSource is the table of what the stream that this one was exported from could not
// be read of; the key is the place there.
const tableSource = "source"

// stream is an opened stream.
type stream struct {
	path   string // for people
	r      io.ReaderAt
	header Header
	facts  session.Store
	index  index
	newer  bool // its format is of a later version
}

func open(ctx context.Context, src *store.Source, opts store.Options) (store.Store, error) {
	if src.Stream == nil {
		return nil, notAStream(src, "it is no file of text lines")
	}
	if _, err := src.Stream.Seek(0, io.SeekStart); err != nil {
		return nil, unreadable(nameOf(src), err)
	}
	lines := newLineScanner(src.Stream)
	line, at, err := lines.next()
	switch {
	case err == io.EOF:
		return nil, notAStream(src, "it is empty")
	case err != nil:
		return nil, unreadable(nameOf(src), err)
	}
	header, version, err := parseHeader(bytes.Clone(line))
	if err != nil {
		return nil, notAStream(src, fmt.Sprintf("line %d %v", at.number, err))
	}
	s := &stream{
		path: nameOf(src), r: positional(src.Stream), header: header,
		index: index{model: header.Model, byID: make(map[string]*entry)},
	}
	switch err := s.index.build(ctx, lines, opts.Progress); {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, unreadable(s.path, err)
	}
	s.newer = version > formatVersion
	s.facts = s.describe(src, version, at.number)
	return s, nil
}

func unreadable(path string, err error) error {
	return &problem.Error{
		Class: problem.Unreadable, Err: err,
		What: fmt.Sprintf("%s could not be read to its end: %v", path, err),
	}
}

func (s *stream) describe(src *store.Source, version int, headerLine int64) session.Store {
	f := session.Store{
		Path: src.Path, Kind: kindName, Title: kindTitle, Bytes: src.Bytes, Generation: strconv.Itoa(version),
		Writer: s.header.Writer, Runtime: runtimes[s.header.Kind].Runtime,
		Children: session.Children{
			ChildrenClosed: s.header.ChildrenClosed, ChildPrologue: runtimes[s.header.Kind].ChildPrologue,
			ReusesChildren: s.header.ReusesChildren,
		},
		Reader: s.header.Reader,
		Keys:   session.Keys{CountsKeys: true},
		Condition: session.Condition{
			Recovery: "recover the store that the stream was exported from, and export it again",
			ReadOnly: "a canonical stream is repaired into a new file: `sessctl repair IN --output OUT`",
			Faults:   s.index.faults,
		},
	}
	if s.newer {
		newer := store.Later{
			Found: fmt.Sprintf("the stream has version %d of the format, and this sessctl knows version %d", version, formatVersion),
			Read:  fmt.Sprintf("The lines and members of version %d", formatVersion), Unread: []string{"what is new"},
			Doubts: []string{"what is new can change what other lines mean"},
		}
		fault := newer.Fault(session.Ref{})
		f.ReadOnly = newer.ReadOnly()
		f.Faults = append(f.Faults, lineFault(fault.Kind, headerLine, "format", fault.Detail))
	}
	return f
}

// Facts implements store.Store.
func (s *stream) Facts() *session.Store { return &s.facts }

// Header is the header of the stream, for a stream that is written from it.
func (s *stream) Header() Header { return s.header }

// Close implements store.Store.
func (s *stream) Close() error { return nil }

// Trees implements store.Store. Every call reads the lines again.
func (s *stream) Trees(ctx context.Context) iter.Seq2[*session.Tree, error] {
	return func(yield func(*session.Tree, error) bool) {
		read := s.newReader()
		trees := forest.Group(s.heads())
		for i, tree := range trees {
			trees[i] = nil // the caller's from here on
			if err := read.outlines(ctx, tree); err != nil {
				yield(nil, err)
				return
			}
			if !yield(tree, nil) {
				return
			}
		}
	}
}

// heads are fresh copies: a tree belongs to whom it was yielded to.
func (s *stream) heads() []forest.Head {
	heads := make([]forest.Head, len(s.index.sessions))
	for i, e := range s.index.sessions {
		head := e.head
		head.Faults = slices.Clone(head.Faults)
		heads[i] = forest.Head{Session: &head, Refs: e.refs}
	}
	return heads
}

// Fill implements store.Store.
func (s *stream) Fill(ctx context.Context, tree *session.Tree) error {
	return s.newReader().bodies(ctx, tree)
}
