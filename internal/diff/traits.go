package diff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sessctl/sessctl/internal/session"
)

// trait is one thing in which two items or two sessions can differ. Names are those of the
// canonical stream (docs/canonical.md), which has the same for every kind of store.
type trait[T any] struct {
	name string
	of   func(*T) string
}

// itemSays are the traits that make up what an item says. Without a body they tell what
// an outline does.
var itemSays = []trait[session.Item]{
	{"kind", func(it *session.Item) string { return it.Kind.String() }},
	{"role", func(it *session.Item) string { return it.Role.String() }},
	{"text", func(it *session.Item) string {
		if it.Body == nil {
			return strconv.FormatUint(uint64(it.Text), 16)
		}
		return readable(it.Body.Text)
	}},
	{"reasoning", func(it *session.Item) string {
		if it.Body == nil {
			return ""
		}
		return readable(it.Body.Reasoning)
	}},
	{"calls", callsOf},
	{"results", resultsOf},
	{"child", func(it *session.Item) string { return it.Child }},
}

// itemIs are the further traits of an item.
var itemIs = []trait[session.Item]{
	{"agent", func(it *session.Item) string { return it.Agent }},
	{"branch", func(it *session.Item) string { return it.Branch }},
	{"invocation", func(it *session.Item) string { return it.Invocation }},
	{"scope", func(it *session.Item) string { return it.Scope }},
	{"node", func(it *session.Item) string { return it.Node }},
	{"model", func(it *session.Item) string { return it.Model }},
	{"time", func(it *session.Item) string { return instant(it.Time) }},
	flag("implicit", session.Implicit),
	flag("archived", session.Archived),
	flag("synthetic", session.Synthetic),
	flag("unfinished", session.Unfinished),
	flag("rewound", session.Rewound),
	flag("compacted", session.Compacted),
	flag("unshown", session.Unshown),
	flag("summary_turn", session.SummaryTurn),
}

// fields are the traits of a session. Their values are shown.
func (f *Form) fields() []trait[session.Session] {
	return []trait[session.Session]{
		{"parent", func(s *session.Session) string { return s.Parent }},
		{"app", func(s *session.Session) string { return s.App }},
		{"user", func(s *session.Session) string { return s.User }},
		{"title", func(s *session.Session) string { return readable(s.Title) }},
		{"agent", func(s *session.Session) string { return s.Agent }},
		{"model", f.model},
		{"thinking", func(s *session.Session) string { return [...]string{"", "true", "false"}[s.Thinking] }},
		{"unstored", func(s *session.Session) string { return set(s.Unstored) }},
		{"created", func(s *session.Session) string { return instant(s.Created) }},
		{"updated", func(s *session.Session) string { return instant(s.Updated) }},
		{"fork_of", func(s *session.Session) string { return set(s.Forked) }},
		{"delegated", func(s *session.Session) string { return set(s.Delegated) }},
		{"deleted", func(s *session.Session) string { return set(s.Deleted) }},
		{"workspace", func(s *session.Session) string { return s.Workspace }},
		{"agents", func(s *session.Session) string { return strings.Join(s.Agents, ", ") }},
		{"runs", runsOf},
	}
}

// model is the model that a session names. One that a store assumes where none is named
// says nothing: an export names it once for all sessions.
func (f *Form) model(s *session.Session) string {
	if slices.Contains(f.Assumed[:], s.Model) {
		return ""
	}
	return s.Model
}

func flag(name string, f session.Flags) trait[session.Item] {
	return trait[session.Item]{name, func(it *session.Item) string { return set(it.Flags.Has(f)) }}
}

func set(is bool) string {
	if is {
		return "true"
	}
	return ""
}

func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// readable is a text as a stream can hold it: U+FFFD for each byte that is no UTF-8.
func readable(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}

func callsOf(it *session.Item) string {
	var b strings.Builder
	for i := range it.Calls {
		c := &it.Calls[i]
		fmt.Fprintf(&b, "%q %q %q\n", readable(c.ID), readable(c.Name), readable(c.Args))
	}
	return b.String()
}

func resultsOf(it *session.Item) string {
	var b strings.Builder
	for i := range it.Results {
		r := &it.Results[i]
		text := readable(r.Text)
		if it.Body == nil {
			text = strconv.FormatUint(uint64(r.Digest), 16)
		}
		fmt.Fprintf(&b, "%q %q %t %q %q\n", readable(r.CallID), readable(r.Name), r.IsError, r.Child, text)
	}
	return b.String()
}

func runsOf(s *session.Session) string {
	list := make([]string, len(s.Runs))
	for i := range s.Runs {
		list[i] = s.Runs[i].ID + " (" + s.Runs[i].State + ")"
	}
	return strings.Join(list, ", ")
}

// saidOf is the digest of what an item says. The agent of a result does not count, as in
// session.Meaning. That of the adapter counts between stores of one kind: it covers media.
func saidOf(it *session.Item, alike bool) session.Digest {
	var m session.Meaning
	m.Reset(it.Role, it.Agent)
	if alike {
		m.Add(it.Meaning)
	}
	for _, t := range itemSays {
		m.Add(session.DigestOf(t.of(it)))
	}
	return m.Digest()
}

// differing names the traits in which two values differ.
func differing[T any](traits []trait[T], a, b *T) []string {
	var names []string
	for _, t := range traits {
		if t.of(a) != t.of(b) {
			names = append(names, t.name)
		}
	}
	return names
}

// fieldsOf lists the traits in which two sessions differ, with their values.
func (f *Form) fieldsOf(a, b *session.Session) []Field {
	var list []Field
	for _, t := range f.fields() {
		if was, is := t.of(a), t.of(b); was != is {
			list = append(list, Field{t.name, was, is})
		}
	}
	return list
}

// outline is a digest of all that the outline of a session tells, or its bodies where
// they are loaded. Equal ones are equal; sessions that differ in numbers only may have
// other ones. Between stores of one kind what only their adapter tells counts too.
func (f *Form) outline(s *session.Session) session.Digest {
	var m session.Meaning
	for _, t := range f.fields() {
		m.Add(session.DigestOf(t.of(s)))
	}
	for i := range s.IndexRefs {
		m.Add(session.DigestOf(fmt.Sprint(s.IndexRefs[i])))
	}
	for i := range s.Items {
		it := &s.Items[i]
		m.Add(session.Digest(it.KeptFrom))
		if f.Alike {
			m.Add(it.Meaning)
		}
		for _, t := range slices.Concat(itemSays, itemIs) {
			m.Add(session.DigestOf(t.of(it)))
		}
	}
	return m.Digest()
}
