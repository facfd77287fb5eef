package branch

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Label is a branch label that has been read: one of Path, Tokens and Forks. The
// zero value is the root.
type Label struct {
	Path   string          // "orch.researcher"
	Tokens Set             // {"tokens":[1,3]}; nil where the label is something else
	Forks  map[string]Fork // {"active_forks":{"1":[[0],3]}} by the fork's id; nil where the label is something else
}

// Fork is the part of a fork that a branch is of.
type Fork struct {
	Indices Set
	Total   int // how many branches the fork has
}

// Parse reads a label. What is not exactly one of the two JSON forms (those of the
// two revisions of adk-python pull request 3889) is a path, whatever characters
// it has.
func Parse(label string) Label {
	if !strings.HasPrefix(label, "{") {
		return Label{Path: label}
	}
	var object map[string]any
	if json.Unmarshal([]byte(label), &object) == nil && len(object) == 1 {
		if tokens, ok := integers(object["tokens"]); ok {
			return Label{Tokens: tokens}
		}
		if forks, ok := forksOf(object["active_forks"]); ok {
			return Label{Forks: forks}
		}
	}
	return Label{Path: label}
}

// Root reports whether the label says that there is no branch, in any form.
func (l Label) Root() bool { return l.Path == "" && len(l.Tokens) == 0 && len(l.Forks) == 0 }

// String is the label as stores hold it: compact, with all lists in order.
func (l Label) String() string {
	switch {
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
		indices, isList := integers(pair[0])
		total, isWhole := whole(pair[1])
		if !isList || !isWhole {
			return nil, false
		}
		forks[id] = Fork{indices, total}
	}
	return forks, true
}

func integers(value any) (Set, bool) {
	list, ok := value.([]any)
	if !ok {
		return nil, false
	}
	set := make(Set, len(list))
	for i, element := range list {
		if set[i], ok = whole(element); !ok {
			return nil, false
		}
	}
	slices.Sort(set)
	return slices.Compact(set), true
}

// whole takes the integers that a float64 tells from their neighbours.
func whole(value any) (int, bool) {
	const most = 1 << 53
	n, ok := value.(float64)
	if !ok || n <= -most || n >= most || n != float64(int(n)) {
		return 0, false
	}
	return int(n), true
}
