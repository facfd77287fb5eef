package kagent

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
)

// The members of an A2A task that name the session that it is in (b2), wherever they
// are but in what tools were told and answered.
var contextMembers = map[string]bool{"contextId": true, "adk_session_id": true, "kagent_session_id": true}

// rewrite is what the data of a task has to name from now on. Both shapes of tasks
// have their messages and parts in the same members.
type rewrite struct {
	move                  // of the task itself; empty when it stays where it is
	moved map[string]move // all tasks that move, by id
	// child is the session that a call or its answer names from now on.
	child func(m *mention) (string, error)
}

// move is the session where a task was, and the one where it is.
type move struct{ from, to string }

// apply changes single texts of a task's data and no other byte.
func (r *rewrite) apply(doc []byte) ([]byte, error) {
	return r.changed(doc, false)
}

// within does that in a document which is all that tools were told and answered.
func (r *rewrite) within(doc []byte) ([]byte, error) { return r.changed(doc, true) }

func (r *rewrite) changed(doc []byte, said bool) ([]byte, error) {
	value, err := treeOf(doc)
	if err != nil {
		return nil, err
	}
	w := walk{rewrite: r, doc: doc, places: map[string][]byte{}, mentions: mentions{calls: map[turns]int{}}}
	if err := w.visit("", value, scope{said: said}); err != nil {
		return nil, err
	}
	err = w.mentions.each(func(m *mention) error {
		is, err := r.child(m)
		if err == nil && is != m.was {
			w.places[string(m.at)] = quote(is)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return jsonedit.Replace(doc, w.places)
}

// walk is a way through a document.
type walk struct {
	*rewrite
	doc      []byte
	places   map[string][]byte // the texts that change, by their pointers
	mentions mentions
}

// scope is what a value is in.
type scope struct {
	// said is what a tool was told or answered: there only a question to a person, or the
	// answer to it, names a session, together with its task (c2).
	said       bool
	artifacts  bool   // of the task
	invocation string // that the message or artifact around it says it is of
}

// visit goes through a value, the members of an object in the order of their names:
// the history comes before the status, as its messages do.
func (w *walk) visit(at jsontext.Pointer, value any, in scope) error {
	switch v := value.(type) {
	case string:
		if in.said && at.LastToken() == "response" {
			return w.text(at, v)
		}
	case []any:
		for i, element := range v {
			if err := w.visit(at.AppendToken(strconv.Itoa(i)), element, in); err != nil {
				return err
			}
		}
	case map[string]any:
		return w.object(at, v, in)
	}
	return nil
}

func (w *walk) object(at jsontext.Pointer, v map[string]any, in scope) error {
	if data, ok := v["data"].(map[string]any); ok && !in.said {
		w.mentions.part(at, in, v, data)
	}
	task, _ := v["task_id"].(string)
	home, _ := v["context_id"].(string)
	if m, ok := w.moved[task]; ok && home != "" && isCalled(m.from, home) {
		w.places[string(at.AppendToken("context_id"))] = quote(m.to)
	}
	if details, ok := v["metadata"].(map[string]any); ok && at != "" {
		in.invocation = cmp.Or(detail(details, "invocation_id"), in.invocation)
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		inner, inside := at.AppendToken(name), in
		if !in.said && contextMembers[name] && w.move != (move{}) && v[name] == w.from {
			w.places[string(inner)] = quote(w.to)
		}
		inside.said = in.said || name == "data"
		inside.artifacts = in.artifacts || at == "" && name == "artifacts"
		if err := w.visit(inner, v[name], inside); err != nil {
			return err
		}
	}
	return nil
}

// detail is a member of metadata by the names that kagent gives it: see a2aDetails.
func detail(metadata map[string]any, name string) string {
	first, _ := metadata["adk_"+name].(string)
	second, _ := metadata["kagent_"+name].(string)
	return cmp.Or(first, second)
}

// text looks into a text that is JSON itself: ADK has what a person answered so.
func (w *walk) text(at jsontext.Pointer, text string) error {
	if !strings.HasPrefix(text, "{") {
		return nil
	}
	stored, _ := jsonedit.Raw(w.doc, string(at))
	doc, err := openDocument(stored)
	if err != nil {
		return nil //nolint:nilerr // it only looks like JSON
	}
	if err := doc.edit((&rewrite{moved: w.moved}).within); err != nil {
		return err
	}
	for _, change := range doc.change() {
		w.places[string(at)] = bytesOf(change.New)
	}
	return nil
}
