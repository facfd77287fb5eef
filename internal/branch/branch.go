// Package branch says who could see what: whether an agent that runs on one
// branch is shown an event of another, and why, under the rules of the runtimes
// that write such labels. It is pure.
package branch

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Model is a rule of visibility.
type Model interface {
	// Visible reports whether the viewer is shown the event, and why or why not.
	Visible(viewer Viewer, event Event) (bool, Reason)
}

// Event is what a rule asks about an event.
type Event struct {
	Label      string // its branch as the store has it, "" for the root: see ParseLabel
	Invocation string
	Session    string // the id of the session that holds it
	Scope      string // isolation scope, "" for none
	Node       string // the only node of a workflow that is to see it, "" for all
	// Kept is why the store's reader passes it over, whoever asks: Archived,
	// Rewound, Compacted or HiddenKind; None for what it does not.
	Kept Reason
}

// Viewer is an agent when it runs.
type Viewer struct {
	Label      string
	Invocation string
	Session    string
	Scope      string
	Node       string
}

// Reason is why an event is visible or not. The names are those of the machine
// formats; which of them go with yes and no depends on the model.
type Reason uint8

// The reasons.
const (
	None            Reason = iota
	Root                   // the event has no branch: everybody sees it
	Ancestor               // it is of a branch above the viewer's
	Own                    // it is of the viewer's branch
	Unbranched             // the viewer has no branch and sees all
	OtherInvocation        // it is of another run, where branches of this one mean nothing
	Sibling                // it is of a branch beside the viewer's
	Child                  // it is of a branch below the viewer's
	Unrelated              // the branches have nothing in common
	Archived               // kept in the store, no longer sent
	OutOfScope             // another isolation scope, or another node of the workflow
	Rewound                // annulled by a later rewind
	Compacted              // a summary stands for it
	HiddenKind             // no model ever sees an event of this kind
	TokenSubset            // the viewer has all tokens of the event
	TokenMissing           // it lacks one
	ForkDisjoint           // both are of one fork, on different sides
	OwnSession             // it is of the viewer's session
	OtherSession           // it is of another
)

var names = [...]string{
	"", "root", "ancestor", "own", "unbranched-viewer", "other-invocation", "sibling", "child", "unrelated", "archived",
	"scope", "rewound", "compacted", "hidden-kind", "token-subset", "token-missing", "fork-disjoint", "own-session", "other-session",
}

func (r Reason) String() string { return names[r] }

// Label is a branch label that has been read: one of Path, Names, Tokens and Forks. The
// zero value is the root.
type Label struct {
	Path   string          // "orch.researcher"
	Names  []string        // ["alt","main"]: the branches that an event is of, sorted; nil where the label is something else
	Tokens Set             // {"tokens":[1,3]}; nil where the label is something else
	Forks  map[string]Fork // {"active_forks":{"1":[[0],3]}} by the fork's id; nil where the label is something else
}

// Fork is the part of a fork that a branch is of.
type Fork struct {
	Indices Set
	Total   int // how many branches the fork has
}

// ParseLabel reads a label. What is not exactly one of the JSON forms (a list of names, as
// NamesLabel writes it, and those of the two revisions of adk-python pull request 3889) is a path,
// whatever characters it has.
func ParseLabel(label string) Label {
	if strings.HasPrefix(label, `["`) {
		var names []string
		if json.Unmarshal([]byte(label), &names) == nil && NamesLabel(names...) == label {
			return Label{Names: names}
		}
	}
	if !strings.HasPrefix(label, "{") {
		return Label{Path: label}
	}
	var object map[string]any
	if json.Unmarshal([]byte(label), &object) == nil && len(object) == 1 {
		if tokens, ok := integerSet(object["tokens"]); ok {
			return Label{Tokens: tokens}
		}
		if forks, ok := forksOf(object["active_forks"]); ok {
			return Label{Forks: forks}
		}
	}
	return Label{Path: label}
}

// IsRoot reports whether the label says that there is no branch, in any form.
func (l Label) IsRoot() bool {
	return l.Path == "" && len(l.Names) == 0 && len(l.Tokens) == 0 && len(l.Forks) == 0
}

// NamesLabel is the label of an event that is of each of these branches.
func NamesLabel(names ...string) string {
	names = slices.Clone(names)
	slices.Sort(names)
	text, _ := json.Marshal(slices.Compact(names)) // of strings, it cannot fail
	return string(text)
}

// String is the label as stores hold it: compact, with all lists in order.
func (l Label) String() string {
	switch {
	case l.Names != nil:
		return NamesLabel(l.Names...)
	case l.Tokens != nil:
		return string(append(l.Tokens.appendTo([]byte(`{"tokens":`)), '}'))
	case l.Forks != nil:
		text := []byte(`{"active_forks":{`)
		for i, id := range slices.Sorted(maps.Keys(l.Forks)) {
			if i > 0 {
				text = append(text, ',')
			}
			text = l.Forks[id].appendTo(text, id)
		}
		return string(append(text, "}}"...))
	}
	return l.Path
}

func (f Fork) appendTo(text []byte, id string) []byte {
	key, _ := json.Marshal(id) // of a string, it cannot fail
	text = append(append(text, key...), ":["...)
	text = append(f.Indices.appendTo(text), ',')
	return append(strconv.AppendInt(text, int64(f.Total), 10), ']')
}

func forksOf(value any) (map[string]Fork, bool) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, false
	}
	forks := make(map[string]Fork, len(object))
	for id, value := range object {
		pair, _ := value.([]any)
		if len(pair) != 2 {
			return nil, false
		}
		indices, isList := integerSet(pair[0])
		total, isWhole := wholeNumber(pair[1])
		if !isList || !isWhole {
			return nil, false
		}
		forks[id] = Fork{indices, total}
	}
	return forks, true
}

func integerSet(value any) (Set, bool) {
	list, ok := value.([]any)
	if !ok {
		return nil, false
	}
	set := make(Set, len(list))
	for i, element := range list {
		if set[i], ok = wholeNumber(element); !ok {
			return nil, false
		}
	}
	slices.Sort(set)
	return slices.Compact(set), true
}

// wholeNumber takes the integers that a float64 tells from their neighbours.
func wholeNumber(value any) (int, bool) {
	const most = 1 << 53
	n, ok := value.(float64)
	if !ok || n <= -most || n >= most || n != float64(int(n)) {
		return 0, false
	}
	return int(n), true
}

// compareNatural compares names as people number them: "a2" before "a10".
func compareNatural(a, b string) int {
	whole := strings.Compare(a, b)
	for a != "" && b != "" {
		var x, y string
		x, a = cutChunk(a)
		y, b = cutChunk(b)
		order := strings.Compare(x, y)
		if isDigit(x[0]) && isDigit(y[0]) {
			order = compareDigits(x, y)
		}
		if order != 0 {
			return order
		}
	}
	return cmp.Or(len(a)-len(b), whole)
}

// cutChunk cuts off the digits that a name begins with, or all before the first.
func cutChunk(name string) (first, rest string) {
	n := 1
	for n < len(name) && isDigit(name[n]) == isDigit(name[0]) {
		n++
	}
	return name[:n], name[n:]
}

// compareDigits compares numbers of any length.
func compareDigits(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(len(a)-len(b), strings.Compare(a, b))
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// ByLabel reports whether a model decides by the labels of events, and not by the
// sessions that hold them.
func ByLabel(model string) bool {
	switch FindModel(model).(type) {
	case nil, Session:
		return false
	}
	return true
}

// ByNames reports whether labels are names in a model, so that a typed one is no path.
func ByNames(model string) bool { _, is := FindModel(model).(Names); return is }

// ReaderOf is the model of a store's own reader, by the facts of the store: a store
// that names no model shows an agent all of its session. A reader of paths is the given
// one. It is not for several goroutines at once.
func ReaderOf(model string, paths Path) Model {
	switch m := FindModel(model).(type) {
	case nil:
		return Session{}
	case Path:
		return paths
	case Tokens:
		m.read = map[string]Label{}
		return m
	default:
		return m
	}
}

// Set is a set of tokens or of indices: in ascending order, none twice.
type Set []int

// Contains reports whether all of other is in the set.
func (s Set) Contains(other Set) bool {
	for _, n := range other {
		for len(s) > 0 && s[0] < n {
			s = s[1:]
		}
		if len(s) == 0 || s[0] != n {
			return false
		}
	}
	return true
}

// Meets reports whether the sets have something in common.
func (s Set) Meets(other Set) bool { return slices.ContainsFunc(other, s.has) }

func (s Set) has(n int) bool {
	_, found := slices.BinarySearch(s, n)
	return found
}

func (s Set) appendTo(text []byte) []byte {
	text = append(text, '[')
	for i, n := range s {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, int64(n), 10)
	}
	return append(text, ']')
}

// JoinSets joins what an agent has after its parallel children ended: the union. It is
// never nil.
func JoinSets(sets ...Set) Set {
	union := slices.Concat(sets...)
	slices.Sort(union)
	return append(Set{}, slices.Compact(union)...)
}
