package adk

import (
	"bytes"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/adk/members"
	"github.com/sessctl/sessctl/internal/store/adk/pickle"
	"github.com/sessctl/sessctl/internal/store/column"
)

// member is a member of an object that is written, by adk-python's name. Without a
// value there is none.
type member struct {
	name  string
	value []byte
}

// composeObject composes a JSON object, with the names of the writer of a neighbour: at is an
// object of that which is like it. Members of that which say nothing are said so again,
// as writers that leave none out do.
func (r *revision) composeObject(spelled spelling, at spot, members ...member) []byte {
	var given []string
	out := []byte{'{'}
	add := func(name string, value []byte) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, quoteText(name)...), ':'), value...)
	}
	for _, m := range members {
		if m.value != nil {
			given = append(given, spelled(m.name))
			add(spelled(m.name), m.value)
		}
	}
	for name, value := range r.listMembers(at) {
		switch string(value) {
		case "null", "false", `""`, "0", "[]", "{}":
			if !slices.ContainsFunc(given, func(known string) bool { return sameName(known, name) }) {
				add(name, value)
			}
		}
	}
	return append(out, '}')
}

// spelling is how a writer spells the names of members, which are given as
// adk-python's.
type spelling func(name string) string

func inSnake(name string) string { return name }

func inCamel(name string) string { return members.InCamel(name) }

// inPascal is the spelling of adk-go before 2.2, whose structs have no names of their
// own for JSON.
func inPascal(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words {
		if words[i] = strings.ToUpper(word[:1]) + word[1:]; word == "id" || word == "ids" {
			words[i] = "ID" + word[2:]
		}
	}
	return strings.Join(words, "")
}

// documentSpelling is that of the document of an event.
func (r *revision) documentSpelling() spelling {
	at := r.memberSpot(r.document(), "invocationId")
	switch {
	case r.document().Column == inCamel("event_data"): // adk-kotlin, which leaves out what says nothing
		return inCamel
	case r.Raw(at) == nil:
		return inSnake
	case at.Pointer.LastToken() == inPascal("invocation_id"):
		return inPascal
	case at.Pointer.LastToken() == "invocationId":
		return inCamel
	}
	return inSnake
}

// contentSpelling is that of what an event says: of its calls and results, or else of
// the whole store. Within a content nothing is in Pascal case.
func (r *revision) contentSpelling() spelling {
	calls, results := r.callSpots(r.partSpots())
	snake := r.hasPickle()
	if r.hasDocument() {
		snake = r.documentSpelling()("invocation_id") == "invocation_id"
	}
	for _, at := range append(calls, results...) {
		snake = strings.Contains(at.Pointer.LastToken(), "_")
		break
	}
	if snake {
		return inSnake
	}
	return inCamel
}

// hasPickle reports whether the actions are a pickle, as adk-python has them in a
// column.
func (r *revision) hasPickle() bool {
	return bytes.HasPrefix(column.Bytes(r.Value("actions")), []byte{pickled})
}

// dictionaries are the members of actions that are always there in adk-python, empty
// if need be (docs/stores/adk.md#what-is-read).
var dictionaries = []string{"state_delta", "artifact_delta", "requested_auth_configs", "requested_tool_confirmations"}

// composeEmptyActions composes those of an event that did nothing besides, in the form of a
// neighbour: with the members that its writer knows (docs/stores/adk.md#what-is-read), as the next reader is as
// old or new as that; nil where that has none.
func (r *revision) composeEmptyActions() ([]byte, error) {
	if !r.hasDocument() {
		switch stored := column.Bytes(r.Value("actions")); {
		case stored == nil:
			return nil, nil
		case r.hasPickle():
			return emptyPickle(stored)
		case bytes.Contains(stored, []byte(`"StateDelta"`)):
			return []byte(`{"StateDelta":{},"ArtifactDelta":{},"RequestedToolConfirmations":null,"SkipSummarization":false,"TransferToAgent":"","Escalate":false}`), nil
		}
		return []byte(`{"stateDelta":{},"artifactDelta":{}}`), nil
	}
	var empty []member
	actions := r.memberSpot(r.document(), "actions")
	for _, name := range dictionaries {
		if r.Raw(r.memberSpot(actions, inCamel(name))) != nil {
			empty = append(empty, member{name, []byte("{}")})
		}
	}
	return r.composeObject(r.documentSpelling(), actions, empty...), nil
}

// emptyPickle is an object of the same class with the same fields, all as they are
// when nothing sets them: of these, newer versions of adk-python have more (docs/stores/adk.md#what-is-read), and
// each fails on a pickle that lacks one that it asks for.
func emptyPickle(like []byte) ([]byte, error) {
	refused := problem.New(problem.RolledBack, "migrate the database to adk-python's schema v1 (`adk migrate session`), and repair that",
		"an event cannot be added: the pickled actions of the event beside it hold more than plain data")
	value, err := pickle.Decode(like)
	stored, isObject := value.(*pickle.Object)
	if err != nil || !isObject {
		return nil, refused
	}
	state, isDict := stored.State.(*pickle.Dict)
	if !isDict {
		return nil, refused
	}
	empty := &pickle.Dict{}
	for _, pair := range state.Pairs {
		switch pair[0] {
		case "__dict__":
			pair[1] = unsetFields(pair[1])
		case "__pydantic_fields_set__":
			pair[1] = &pickle.Set{}
		}
		empty.Pairs = append(empty.Pairs, pair)
	}
	data, err := pickle.Encode(&pickle.Object{Class: stored.Class, Args: stored.Args, State: empty})
	if err != nil {
		return nil, refused
	}
	return data, nil
}

func unsetFields(fields any) any {
	unset := &pickle.Dict{}
	known, ok := fields.(*pickle.Dict)
	if !ok {
		return fields
	}
	for _, pair := range known.Pairs {
		pair[1] = nil
		if name, _ := pair[0].(string); slices.Contains(dictionaries, name) {
			pair[1] = &pickle.Dict{}
		}
		unset.Pairs = append(unset.Pairs, pair)
	}
	return unset
}
