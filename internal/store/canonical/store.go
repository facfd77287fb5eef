// Package canonical reads and writes the canonical stream: sessctl's model as
// newline-delimited JSON, for runtimes without an adapter and for exports.
// docs/canonical.md describes the format.
package canonical

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/claudecode"
	"github.com/sessctl/sessctl/internal/store/codex"
	"github.com/sessctl/sessctl/internal/store/dockeragent"
	"github.com/sessctl/sessctl/internal/store/filelog"
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
	Detect:    detectStream,
	Open:      openStream,
	Edit:      openEdit,
	Stream:    true,
	Prologue:  composePrologue,
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
	log    *filelog.Log
	header Header
	facts  session.Store
	index  index
	newer  bool            // its format is of a later version
	only   map[string]bool // the sessions whose trees are wanted; nil for all
	keys   filelog.Keys
}

func openStream(ctx context.Context, src *store.Source, opts store.Options) (store.Store, error) {
	if src.Stream == nil {
		return nil, notAStream(src, "it is not a text file")
	}
	s, err := read(ctx, src, filelog.Over(src.Stream), opts)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// read reads what is needed to yield trees.
func read(ctx context.Context, src *store.Source, log *filelog.Log, opts store.Options) (*stream, error) {
	s := &stream{path: nameOf(src), log: log, index: index{byID: make(map[string]*entry)}}
	var (
		version int
		line    int64
		no      error // why it is no stream
	)
	header := func(at filelog.Line) (err error) {
		if at.Err != nil {
			return at.Err
		}
		line = at.Number
		if s.header, version, err = parseHeader(bytes.Clone(at.Text)); err != nil {
			no = notAStream(src, fmt.Sprintf("line %d %v", line, err))
		}
		s.index.model = s.header.Model
		return err
	}
	switch err := s.index.buildIndex(ctx, log, header, opts.Progress); {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case no != nil:
		return nil, no
	case err == io.EOF:
		return nil, notAStream(src, "it is empty")
	case err != nil:
		return nil, unreadableError(s.path, err)
	}
	s.newer = version > formatVersion
	s.facts = s.describeStore(src, version, line)
	return s, nil
}

func unreadableError(path string, err error) error {
	return &problem.Error{
		Class: problem.Unreadable, Err: err,
		What: fmt.Sprintf("%s could not be read to its end: %v", path, err),
	}
}

func (s *stream) describeStore(src *store.Source, version int, headerLine int64) session.Store {
	f := session.Store{
		Path: src.Path, Kind: kindName, Title: kindTitle, Bytes: src.Bytes, Generation: strconv.Itoa(version),
		Writer: s.header.Writer, Runtime: runtimes[s.header.Kind].Runtime,
		Children: session.Children{
			ChildrenClosed: s.header.ChildrenClosed, ChildPrologue: runtimes[s.header.Kind].ChildPrologue,
			ReusesChildren: s.header.ReusesChildren,
		},
		Reader: s.header.Reader, Requests: session.Requests{Profile: s.header.Profile},
		Keys: session.Keys{CountsKeys: true, Renumbers: true, NeedsAll: true},
		Condition: session.Condition{
			Recovery: func() string {
				return "recover the store that the stream was exported from, and export it again"
			},
			Faults: s.index.faults,
		},
	}
	if src.Path == "-" {
		f.ReadOnly = "it is standard input"
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
func (s *stream) Close() error { return s.log.Close() }

// Trees implements store.Store. Every call reads the lines again.
func (s *stream) Trees(ctx context.Context) iter.Seq2[*session.Tree, error] {
	return func(yield func(*session.Tree, error) bool) {
		read := s.newReader()
		trees := forest.GroupHeads(s.listHeads())
		for i, tree := range trees {
			trees[i] = nil // the caller's from here on
			if s.only != nil && !slices.ContainsFunc(tree.Sessions, func(one *session.Session) bool { return s.only[one.ID] }) {
				continue
			}
			if err := read.readOutlines(ctx, tree); err != nil {
				yield(nil, err)
				return
			}
			if !yield(tree, nil) {
				return
			}
		}
	}
}

// listHeads lists fresh copies: a tree belongs to whom it was yielded to.
func (s *stream) listHeads() []forest.Head {
	heads := make([]forest.Head, len(s.index.sessions))
	for i, e := range s.index.sessions {
		head := e.head
		head.Faults = slices.Clone(head.Faults)
		heads[i] = forest.Head{Session: &head, Refs: e.refs}
	}
	return heads
}

// Copy implements store.Copier.
func (s *stream) Copy(_ context.Context, path string, progress func(int64)) (*store.Source, error) {
	done, err := s.log.Copy(path, s.facts.Path)
	if err == nil && progress != nil {
		progress(done)
	}
	return &store.Source{Path: path}, err
}

// FillParts implements store.PartFiller.
func (s *stream) FillParts(ctx context.Context, _ *session.Tree) (*store.Parts, error) {
	r := s.newReader()
	return &store.Parts{Fill: func(part *session.Tree) error { return r.loadBodies(ctx, part) }}, nil
}

// Fill implements store.Store. A tree may have some of its sessions and items only.
func (s *stream) Fill(ctx context.Context, tree *session.Tree) error {
	return s.newReader().loadBodies(ctx, tree)
}

// The format that this package reads and writes.
const (
	formatName    = "sessctl.canonical"
	formatVersion = 1
)

// runtimes are what is known of those whose stores a stream may come from, by the kind of
// store. Of all others the header says what there is to know.
var runtimes = map[string]struct {
	session.Runtime
	session.Children
	resumedBy func(version string) *session.Resumption
}{
	dockeragent.Kind.Name: {dockeragent.Runtime, dockeragent.Children, nil},
	claudecode.Kind.Name:  {claudecode.Runtime, session.Children{ChildrenClosed: true}, claudecode.ResumedBy},
	codex.Kind.Name:       {codex.Runtime, session.Children{ChildrenClosed: true}, nil},
}

// Header is what a stream says of the store that its sessions come from.
type Header struct {
	Kind      string // of the store: "docker-agent"
	Summaries string // root or scoped: what a summary covers; "" when unknown
	Model     string // the model that answered, for sessions that do not say
	Profile   string // see session.Requests
	session.Reader
	ChildrenClosed bool // see session.Children, and so for the next
	ReusesChildren bool
	Writer         session.Writer

	line []byte // as stored, when it was read from a stream: then bodies are lines too
}

// HeaderOf describes a store for a stream that is written from it. st is what
// the adapter opened: something around it would hide the header of a stream.
func HeaderOf(st store.Store) Header {
	if s, ok := st.(interface{ Header() Header }); ok {
		return s.Header()
	}
	f := st.Facts()
	h := Header{
		Kind: f.Kind, Model: f.Model, Profile: f.Profile, Reader: f.Reader, Writer: f.Writer, ChildrenClosed: f.ChildrenClosed, ReusesChildren: f.ReusesChildren,
	}
	if f.BranchModel != "" {
		h.Summaries = summariesScoped
	}
	if f.RootSummaries {
		h.Summaries = summariesRoot
	}
	return h
}

// What a summary stands for.
const (
	summariesRoot   = "root"
	summariesScoped = "scoped"
)

func (h *Header) encodeHeader() headerLine {
	return headerLine{
		Type: typeHeader, Format: fmt.Sprintf("%s/%d", formatName, formatVersion),
		Kind: h.Kind, BranchModel: h.BranchModel, MainBranch: h.MainBranch, Profile: h.Profile, Summaries: h.Summaries,
		Writer: h.Writer.String(), Model: h.Model, ChildrenClosed: h.ChildrenClosed,
		ForeignText: h.ForeignText, GathersResults: h.GathersResults, LastResult: h.LastResult, SilentLabels: h.SilentLabels, HidesToolRuns: h.HidesToolRuns,
		PrefixReaders: h.PrefixReaders, PrefixUntold: h.PrefixUntold, OpenScopes: h.OpenScopes, LikeFilter: h.LikeFilter, FoldsBranches: h.FoldsBranches, ReusesChildren: h.ReusesChildren,
	}
}

// parseHeader reads the first line of a stream and the version of its format.
// The error completes the sentence "line 1 …".
func parseHeader(line []byte) (h Header, version int, err error) {
	rec, usable, wrong := decodeLine[headerLine](line)
	switch {
	case !usable:
		return h, 0, fmt.Errorf("is not a line of a stream (%s)", explainError(wrong.err))
	case rec.Type != typeHeader:
		return h, 0, fmt.Errorf("has the type %s", quoteWord(rec.Type))
	}
	name, number, _ := strings.Cut(rec.Format, "/")
	if version, err = strconv.Atoi(number); name != formatName || err != nil || version < formatVersion {
		return h, 0, fmt.Errorf("has the format %s", quoteWord(rec.Format))
	}
	return Header{
		Kind: rec.Kind, Summaries: rec.Summaries, Model: rec.Model, Profile: rec.Profile,
		Reader: session.Reader{
			BranchModel: rec.BranchModel, MainBranch: rec.MainBranch, ForeignText: rec.ForeignText, GathersResults: rec.GathersResults, LastResult: rec.LastResult, SilentLabels: rec.SilentLabels,
			HidesToolRuns: rec.HidesToolRuns, RootSummaries: rec.Summaries == summariesRoot, PrefixReaders: rec.PrefixReaders, PrefixUntold: rec.PrefixUntold, OpenScopes: rec.OpenScopes, LikeFilter: rec.LikeFilter, FoldsBranches: rec.FoldsBranches,
		},
		ChildrenClosed: rec.ChildrenClosed || runtimes[rec.Kind].ChildrenClosed, ReusesChildren: rec.ReusesChildren,
		Writer: session.ParseWriter(rec.Writer),
		line:   line,
	}, version, nil
}

// firstLine is the first line of a stream that is not blank, as far as it is within the
// first megabyte.
func firstLine(src *store.Source) ([]byte, error) {
	const longest = 1 << 20
	if src.Stream == nil {
		return nil, io.EOF
	}
	for line, err := range filelog.Over(io.NewSectionReader(filelog.At(src.Stream), 0, longest)).Lines(context.Background()) {
		return line.Text, cmp.Or(err, line.Err)
	}
	return nil, io.EOF
}

// IsForeign reports whether a stream is another program's: its first line is sound JSON
// and neither a header of this format with something wrong in it, nor the session or
// item that stands first where the header is gone.
func IsForeign(src *store.Source) bool {
	line, err := firstLine(src)
	var says struct{ Type, Format any }
	if err != nil || json.Unmarshal(line, &says, tolerant, json.MatchCaseInsensitiveNames(true)) != nil {
		return false
	}
	kind, _ := says.Type.(string)
	format, _ := says.Format.(string)
	return !slices.Contains([]string{typeHeader, typeSession, typeItem}, kind) && !strings.HasPrefix(format, formatName)
}

// detectStream looks at the first line. A header that is longer than a megabyte is
// none.
func detectStream(_ context.Context, src *store.Source) store.Detection {
	line, err := firstLine(src)
	if err != nil {
		return store.Detection{}
	}
	_, version, err := parseHeader(line)
	if err != nil {
		return store.Detection{}
	}
	d := store.Detection{
		Sure: store.Certain, Generation: strconv.Itoa(version),
		Why: fmt.Sprintf("its first line is a %s/%d header", formatName, version),
	}
	if version > formatVersion {
		d.Sure = store.Maybe
	}
	return d
}

// notAStream is the error for a source whose first line is no header.
func notAStream(src *store.Source, why string) error {
	return problem.New(problem.Unreadable,
		"write {\"type\":\"header\",\"format\":\"sessctl.canonical/1\"} as the first line, or name the kind of the store with --store",
		`%s is not a canonical stream: %s, where {"type":"header","format":"%s/%d"} is expected`,
		nameOf(src), why, formatName, formatVersion)
}

func nameOf(src *store.Source) string {
	if src.Path == "-" {
		return "standard input"
	}
	return src.Path
}

// Sums implements store.Summer. The record of a session is its line and those of
// its items.
func (s *stream) Sums(ctx context.Context, sessions []string) (map[string]store.Sum, error) {
	r := s.newReader()
	sums := make(map[string]store.Sum, len(sessions))
	for _, id := range sessions {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sum, err := r.sumSession(s.index.byID[id])
		if err != nil {
			return nil, unreadableError(s.path, err)
		}
		sums[id] = sum
	}
	return sums, nil
}

func (r *reader) sumSession(e *entry) (store.Sum, error) {
	if e == nil {
		return store.Sum{}, nil
	}
	clear(r.items.names)
	all := sha256.New()
	line, err := r.lines.Line(e.line.Span)
	if err != nil {
		return store.Sum{}, err
	}
	hashLine(all, line)
	sum := store.Sum{Own: hex.EncodeToString(all.Sum(nil)), Items: make(map[string]string, len(e.items))}
	for _, at := range e.items {
		if line, err = r.lines.Line(at.Span); err != nil {
			return store.Sum{}, err
		}
		hashLine(all, line)
		digest, it := sha256.Sum256(withoutPlace(line)), r.items.readItem(line, at.number)
		sum.Items[r.s.itemKey(at)] = fmt.Sprintf("%016x%s%x", uint64(it.Meaning), store.SumSays, digest)
	}
	sum.Record = hex.EncodeToString(all.Sum(nil))
	sum.Exact = sum.Record
	return sum, nil
}

// itemKey is the key of an item.
func (s *stream) itemKey(at span) string { return strconv.FormatInt(s.keys.Key(at.Place), 10) }

func hashLine(h hash.Hash, line []byte) {
	h.Write(line)
	h.Write([]byte{'\n'})
}

// withoutPlace is the line of an item without what tells of its place, so that it is the same
// after a move. The repair says by itself what becomes of these members.
func withoutPlace(line []byte) []byte {
	var rec struct {
		Session  jsontext.Value `json:"session"`
		Agent    jsontext.Value `json:"agent"`
		KeptFrom jsontext.Value `json:"kept_from"`
		Archived jsontext.Value `json:"archived"`
		Skipped  jsontext.Value `json:"skipped"`
		Rest     jsontext.Value `json:",embed"`
	}
	if json.Unmarshal(line, &rec, tolerant, exact) != nil {
		return line
	}
	return rec.Rest
}

// lineFault is a fault of the stream itself. A line that is no header, session, item or
// fault, or cannot be told to be one, is in nothing that is made of the stream.
func lineFault(kind session.FaultKind, line int64, field, detail string) session.Fault {
	return session.Fault{
		Kind: kind, Item: -1, Field: field,
		Ref:    session.Ref{Table: session.TableLines, Key: strconv.FormatInt(line, 10)},
		Detail: atLine(line, detail),
		Lost:   kind == session.Undecodable || kind == session.UnknownKind,
	}
}

// atLine begins a detail with the line that it is about.
func atLine(line int64, detail string) string { return fmt.Sprintf("line %d: %s", line, detail) }

// quoteWord shows a stored word without letting it fill the screen.
func quoteWord(word string) string {
	const longest = 40
	if runes := []rune(word); len(runes) > longest {
		word = string(runes[:longest]) + "…"
	}
	return strconv.Quote(word)
}

// notATime is the detail of a BadTime fault.
func notATime(text looseText) string { return quoteWord(string(text)) + " is not an RFC 3339 time" }

// explainError words a decoder's error for people: without types of this program,
// and without the text around the place.
func explainError(err error) string {
	if wrong, ok := errors.AsType[*json.SemanticError](err); ok && wrong.JSONKind != jsontext.KindInvalid {
		return fmt.Sprintf("%q holds %s, expected %s", string(wrong.JSONPointer),
			kindNames[wrong.JSONKind], expectedKind(wrong.GoType))
	}
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok && syntax.Err != nil {
		for _, what := range []string{"invalid surrogate pair", "invalid escape sequence"} {
			if strings.HasPrefix(syntax.Err.Error(), what) { // followed by what stands there
				err = &jsontext.SyntacticError{
					ByteOffset: syntax.ByteOffset, JSONPointer: syntax.JSONPointer, Err: errors.New(what),
				}
			}
		}
	}
	return strings.TrimPrefix(err.Error(), "jsontext: ")
}

var kindNames = map[jsontext.Kind]string{
	jsontext.KindTrue:        "true",
	jsontext.KindFalse:       "false",
	jsontext.KindString:      "a string",
	jsontext.KindNumber:      "a number",
	jsontext.KindBeginObject: "an object",
	jsontext.KindBeginArray:  "a list",
}

func expectedKind(t reflect.Type) string {
	if t == nil {
		return "something else"
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int64:
		return "a whole number"
	case reflect.Slice:
		return "a list"
	default:
		return "an object"
	}
}
