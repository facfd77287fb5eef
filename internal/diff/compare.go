package diff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// Form says how near to each other two stores are.
type Form struct {
	Keyed bool // a record keeps its key in both as long as it is stored
	Alike bool // both are of one kind
	// Exact: of one schema too, so that what is stored can be compared byte by byte.
	Exact bool
	// Assumed are the models that the stores assume where a session names none, "" where
	// they do not say.
	Assumed [2]string
}

// Sums are the digests of the sessions that are compared, by id. Without one only what
// the model holds is compared.
type Sums struct{ A, B map[string]store.Sum }

// CompareTrees compares the trees of two stores that belong together, and counts what they hold.
// Their bodies are loaded. There is no tree when nothing differs.
func CompareTrees(a, b []*session.Tree, form Form, sums Sums) (*Tree, Tally) {
	c := &comparing{
		a: newSide(a, form.Alike), b: newSide(b, form.Alike), form: form, sums: sums,
		twins: map[session.Digest][]*entry{}, told: map[session.Digest]int{}, elsewhere: map[session.Digest]*entry{},
	}
	for _, e := range c.b.entries {
		if e.item().Kind == session.Message {
			c.twins[e.said] = append(c.twins[e.said], e)
			if c.elsewhere[e.said] == nil && c.twins[e.said][0].home != e.home {
				c.elsewhere[e.said] = e
			}
		}
	}
	pairEntries(c.a, c.b, form.Keyed)
	tree := &Tree{Change: Changed}
	switch {
	case len(b) == 0:
		tree.Root, tree.Change = a[0].Root(), Gone
	case len(a) == 0:
		tree.Root, tree.Change = b[0].Root(), Added
	default:
		tree.Root = b[0].Root()
	}
	for _, s := range c.b.sessions {
		tree.Sessions = c.appendSession(tree.Sessions, c.a.byID[s.ID], s)
	}
	for _, s := range c.a.sessions {
		if c.b.byID[s.ID] == nil {
			tree.Sessions = c.appendSession(tree.Sessions, s, nil)
		}
	}
	if len(tree.Sessions) == 0 {
		tree = nil
		c.tally.Trees.countChange(equal)
	} else {
		c.tally.Trees.countChange(tree.Change)
	}
	return tree, c.tally
}

type comparing struct {
	a, b  *side
	form  Form
	sums  Sums
	twins map[session.Digest][]*entry // messages of b by what they say
	told  map[session.Digest]int      // how many of them were named
	// elsewhere is the first of them that is in another session than the very first.
	elsewhere map[session.Digest]*entry
	tally     Tally
}

// appendSession appends a session if it differs. One of the two may be nil.
func (c *comparing) appendSession(list []Session, a, b *session.Session) []Session {
	s := Session{Change: Changed, A: a, B: b}
	switch {
	case a == nil:
		s.Change, s.From = Added, mostlyFrom(c.b.of[b.ID])
	case b == nil:
		s.Change = Gone
	default:
		s.Fields = c.sessionFields(a, b)
	}
	if b != nil {
		for _, e := range c.b.of[b.ID] {
			s.Items = c.appendStored(s.Items, e)
		}
	}
	if a != nil {
		for _, e := range c.a.of[a.ID] {
			switch {
			case e.pair == nil:
				s.Items = append(s.Items, Item{Change: Gone, A: e.asRecord(), Was: e.item(), Twin: c.takeTwin(e)})
			case e.pair.home.ID != a.ID:
				s.Left++
			}
		}
	}
	if s.Change == Gone && s.Left > 0 && s.Left == len(a.Items) {
		s.Into = mostlyFrom(c.a.of[a.ID])
	}
	if s.Change == Changed && len(s.Fields)+len(s.Items)+s.Left == 0 && c.recordsDiffer(a, b) {
		s.Fields = []Field{{Name: positionsName}}
	}
	if s.Change == Changed && len(s.Fields)+len(s.Items)+s.Left == 0 {
		c.tally.Sessions.countChange(equal)
		return list
	}
	c.tally.Sessions.countChange(s.Change)
	for i := range s.Items {
		c.tally.Items.countChange(s.Items[i].Change)
	}
	return append(list, s)
}

// appendStored appends an item of the second store if it differs.
func (c *comparing) appendStored(list []Item, e *entry) []Item {
	if e.pair == nil {
		return append(list, Item{Change: Added, B: e.asRecord(), Is: e.item(), Twin: c.copiedFrom(e)})
	}
	it := Item{Change: Moved, A: e.pair.asRecord(), B: e.asRecord(), Was: e.pair.item(), Is: e.item(), Differences: c.itemDifferences(e.pair, e)}
	if e.stays {
		if it.Change = Changed; len(it.Differences) == 0 {
			c.tally.Items.countChange(equal)
			return list
		}
	}
	return append(list, it)
}

// takeTwin is where another message of the second store says the same: the first for the
// first that asks, and so on.
func (c *comparing) takeTwin(e *entry) *Record {
	others := c.twins[e.said]
	if len(others) == 0 {
		return nil
	}
	n := min(c.told[e.said], len(others)-1)
	c.told[e.said]++
	return others[n].asRecord()
}

// copiedFrom is where another session of the second store has what an added message says.
// People say the same things again and again, so what they say is no copy.
func (c *comparing) copiedFrom(e *entry) *Record {
	if role := e.item().Role; role != session.Assistant && role != session.Tool {
		return nil
	}
	others := c.twins[e.said]
	if len(others) > 0 && others[0].home != e.home {
		return others[0].asRecord()
	}
	if elsewhere := c.elsewhere[e.said]; elsewhere != nil {
		return elsewhere.asRecord()
	}
	return nil
}

// mostlyFrom is the session of the other store in which most of a session's items are, "" where
// none is.
func mostlyFrom(list []*entry) string {
	counts, most := map[string]int{}, ""
	for _, e := range list {
		if e.pair == nil {
			continue
		}
		id := e.pair.home.ID
		if counts[id]++; most == "" || counts[id] > counts[most] {
			most = id
		}
	}
	return most
}

// itemDifferences name what an item has otherwise than before. The members of its record are
// looked at where its words are the same: else they only say it again.
func (c *comparing) itemDifferences(a, b *entry) []string {
	was, is := a.item(), b.item()
	says := differingTraits(itemSays, was, is)
	names := slices.Concat(says, differingTraits(itemIs, was, is))
	if c.keptDigest(c.a, a) != c.keptDigest(c.b, b) {
		names = append(names, "kept_from")
	}
	switch {
	case len(says) > 0:
	case c.form.Exact && c.sums.contentDiffers(a, b):
		found := differingMembers(rawOf(was), rawOf(is))
		if len(names)+len(found) == 0 {
			found = []string{recordName}
		}
		names = append(names, found...)
	case !c.form.Exact && c.form.Alike && was.Meaning != is.Meaning && len(names) == 0:
		names = append(names, recordName)
	}
	return names
}

// recordName stands for a difference in a stored record that has no other name.
const recordName = "record"

// positionsName stands for what else the records of the items of a session tell: their
// numbers, where the order is the same.
const positionsName = "positions"

// recordsDiffer reports whether the records of two sessions differ of which nothing else does.
// The record of a session covers which children it has, and these are told by themselves.
func (c *comparing) recordsDiffer(a, b *session.Session) bool {
	return c.form.Exact && c.sums.A[a.ID].Record != c.sums.B[b.ID].Record && slices.Equal(childIDs(a), childIDs(b))
}

func childIDs(s *session.Session) []string {
	return slices.Sorted(slices.Values(lists.MapEach(s.Children, idOf)))
}

func rawOf(it *session.Item) []byte {
	if it.Body == nil {
		return nil
	}
	return it.Body.Raw
}

// contentDiffers reports whether the stored content of two items differs. One without a digest
// is compared by its bytes.
func (s *Sums) contentDiffers(a, b *entry) bool {
	was, is := s.A[a.home.ID].Items[a.item().Key], s.B[b.home.ID].Items[b.item().Key]
	if was == "" || is == "" {
		return string(rawOf(a.item())) != string(rawOf(b.item()))
	}
	return was != is
}

// keptDigest is what the item says at which the tail begins that a summary keeps: the number
// that is stored changes with every item before it.
func (c *comparing) keptDigest(s *side, e *entry) session.Digest {
	if e.item().Kind != session.Summary {
		return 0
	}
	return s.loadedDigest(e.home, e.item().KeptFrom())
}

// loadedDigest is what the item says that an index into the loaded list of a session means, 0
// where it means none.
func (s *side) loadedDigest(in *session.Session, index int64) session.Digest {
	list := in.LoadedIndexes()
	if index <= 0 || index >= int64(len(list)) {
		return 0
	}
	return s.of[in.ID][list[index]].said
}

// sessionFields are the properties in which a session differs.
func (c *comparing) sessionFields(a, b *session.Session) []Field {
	list := c.form.fieldsOf(a, b)
	if c.form.Alike {
		list = append(list, c.indexFields(a, b)...)
	}
	if c.form.Exact && len(list) == 0 && c.sums.A[a.ID].Own != c.sums.B[b.ID].Own {
		list = append(list, Field{Name: recordName})
	}
	return list
}

// indexFields are the numbers stored elsewhere that mean other places of the session than before.
func (c *comparing) indexFields(a, b *session.Session) []Field {
	before := map[string]int64{}
	for _, r := range a.IndexRefs {
		before[r.Field] = r.Index
	}
	var list []Field
	for _, r := range b.IndexRefs {
		if was, there := before[r.Field]; there && c.a.loadedDigest(a, was) != c.b.loadedDigest(b, r.Index) {
			list = append(list, Field{r.Field, fmt.Sprint(was), fmt.Sprint(r.Index)})
		}
	}
	return list
}

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
		return validText(it.Body.Text)
	}},
	{"reasoning", func(it *session.Item) string {
		if it.Body == nil {
			return ""
		}
		return validText(it.Body.Reasoning)
	}},
	{"calls", callsOf},
	{"results", resultsOf},
	{"child", func(it *session.Item) string { return it.Child() }},
}

// itemIs are the further traits of an item.
var itemIs = []trait[session.Item]{
	{"agent", func(it *session.Item) string { return it.Agent() }},
	{"branch", func(it *session.Item) string { return it.Branch() }},
	{"invocation", func(it *session.Item) string { return it.Invocation() }},
	{"scope", func(it *session.Item) string { return it.Scope() }},
	{"node", func(it *session.Item) string { return it.Node() }},
	{"model", func(it *session.Item) string { return it.Model() }},
	{"time", func(it *session.Item) string { return timeText(it.Time) }},
	flagTrait("implicit", session.Implicit),
	flagTrait("archived", session.Archived),
	flagTrait("synthetic", session.Synthetic),
	flagTrait("unfinished", session.Unfinished),
	flagTrait("rewound", session.Rewound),
	flagTrait("compacted", session.Compacted),
	flagTrait("unshown", session.Unshown),
	flagTrait("summary_turn", session.SummaryTurn),
}

// sessionTraits are the traits of a session. Their values are shown.
func (f *Form) sessionTraits() []trait[session.Session] {
	return []trait[session.Session]{
		{"parent", func(s *session.Session) string { return s.Parent }},
		{"app", func(s *session.Session) string { return s.App }},
		{"user", func(s *session.Session) string { return s.User }},
		{"title", func(s *session.Session) string { return validText(s.Title) }},
		{"agent", func(s *session.Session) string { return s.Agent }},
		{"model", f.namedModel},
		{"thinking", func(s *session.Session) string { return [...]string{"", "true", "false"}[s.Thinking] }},
		{"unstored", func(s *session.Session) string { return boolText(s.Unstored) }},
		{"created", func(s *session.Session) string { return timeText(s.Created) }},
		{"updated", func(s *session.Session) string { return timeText(s.Updated) }},
		{"fork_of", func(s *session.Session) string { return boolText(s.Forked) }},
		{"delegated", func(s *session.Session) string { return boolText(s.Delegated) }},
		{"deleted", func(s *session.Session) string { return boolText(s.Deleted) }},
		{"version", func(s *session.Session) string { return s.Version }},
		{"workspace", func(s *session.Session) string { return s.Workspace }},
		{"agents", func(s *session.Session) string { return strings.Join(s.Agents, ", ") }},
		{"runs", runsOf},
	}
}

// namedModel is the model that a session names. One that a store assumes where none is named
// says nothing: an export names it once for all sessions.
func (f *Form) namedModel(s *session.Session) string {
	if slices.Contains(f.Assumed[:], s.Model) {
		return ""
	}
	return s.Model
}

func flagTrait(name string, f session.Flags) trait[session.Item] {
	return trait[session.Item]{name, func(it *session.Item) string { return boolText(it.Flags.Has(f)) }}
}

func boolText(is bool) string {
	if is {
		return "true"
	}
	return ""
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// validText is a text as a stream can hold it: U+FFFD for each byte that is no UTF-8.
func validText(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}

func callsOf(it *session.Item) string {
	var b strings.Builder
	for i := range it.Calls {
		c := &it.Calls[i]
		fmt.Fprintf(&b, "%q %q %q\n", validText(c.ID), validText(c.Name), validText(c.Args))
	}
	return b.String()
}

func resultsOf(it *session.Item) string {
	var b strings.Builder
	for i := range it.Results {
		r := &it.Results[i]
		text := validText(r.Text)
		if it.Body == nil {
			text = strconv.FormatUint(uint64(r.Digest), 16)
		}
		fmt.Fprintf(&b, "%q %q %t %q %q\n", validText(r.CallID), validText(r.Name), r.IsError, r.Child, text)
	}
	return b.String()
}

func runsOf(s *session.Session) string {
	return strings.Join(lists.MapEach(s.Runs, func(r session.Run) string { return r.ID + " (" + r.State + ")" }), ", ")
}

// saidOf is the digest of what an item says. The agent of a result does not count, as in
// session.Meaning. That of the adapter counts between stores of one kind: it covers media.
func saidOf(it *session.Item, alike bool) session.Digest {
	var m session.Meaning
	m.Reset(it.Role, it.Agent())
	if alike {
		m.AddDigest(it.Meaning)
	}
	for _, t := range itemSays {
		m.AddDigest(session.DigestOf(t.of(it)))
	}
	return m.Digest()
}

// differingTraits names the traits in which two values differ.
func differingTraits[T any](traits []trait[T], a, b *T) []string {
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
	for _, t := range f.sessionTraits() {
		if was, is := t.of(a), t.of(b); was != is {
			list = append(list, Field{t.name, was, is})
		}
	}
	return list
}

// outlineDigest is a digest of all that the outline of a session tells, or its bodies where
// they are loaded. Equal ones are equal; sessions that differ in numbers only may have
// other ones. Between stores of one kind what only their adapter tells counts too.
func (f *Form) outlineDigest(s *session.Session) session.Digest {
	var m session.Meaning
	for _, t := range f.sessionTraits() {
		m.AddDigest(session.DigestOf(t.of(s)))
	}
	for i := range s.IndexRefs {
		m.AddDigest(session.DigestOf(fmt.Sprint(s.IndexRefs[i])))
	}
	for i := range s.Items {
		it := &s.Items[i]
		m.AddDigest(session.Digest(it.KeptFrom()))
		if f.Alike {
			m.AddDigest(it.Meaning)
		}
		for _, t := range slices.Concat(itemSays, itemIs) {
			m.AddDigest(session.DigestOf(t.of(it)))
		}
	}
	return m.Digest()
}
