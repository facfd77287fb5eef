package kagent

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
)

// The members of an A2A task that name the session that it is in (b2), wherever they
// are but in what tools were told and answered.
var contextMembers = map[string]bool{"contextId": true, "adk_session_id": true, "kagent_session_id": true}

// The members that name the session of a worker (b3): in the answer to a call, and
// beside the call.
const (
	childMember = "subagent_session_id"
	childStamp  = "kagent_subagent_session_id"
)

// rewrite is what the data of a task has to name from now on. Both shapes of tasks
// have their messages and parts in the same members.
type rewrite struct {
	move                  // of the task itself; empty when it stays where it is
	moved map[string]move // all tasks that move, by id
	// child is the session that a call and its answer name from now on.
	child func(call, was string) (string, error)
}

// move is the session where a task was, and the one where it is.
type move struct{ from, to string }

// apply changes single texts of a task's data and no other byte.
func (r *rewrite) apply(doc []byte) ([]byte, error) {
	var task any
	if err := json.Unmarshal(doc, &task, lenient); err != nil {
		return nil, err
	}
	places := map[string][]byte{}
	if err := r.walk("", task, false, places); err != nil {
		return nil, err
	}
	return jsonedit.Replace(doc, places)
}

// walk collects the texts that change, by their pointers. Within said is what a tool
// was told or answered: there only a question to a person names a session, together
// with its task (c2).
func (r *rewrite) walk(at jsontext.Pointer, value any, said bool, places map[string][]byte) error {
	switch v := value.(type) {
	case []any:
		for i, element := range v {
			if err := r.walk(at.AppendToken(strconv.Itoa(i)), element, said, places); err != nil {
				return err
			}
		}
	case map[string]any:
		if data, ok := v["data"].(map[string]any); ok && !said {
			if err := r.part(at, v, data, places); err != nil {
				return err
			}
		}
		task, _ := v["task_id"].(string)
		if m, ok := r.moved[task]; ok && v["context_id"] == m.from {
			places[string(at.AppendToken("context_id"))] = quote(m.to)
		}
		for name, member := range v {
			inner := at.AppendToken(name)
			if !said && contextMembers[name] && r.move != (move{}) && member == r.from {
				places[string(inner)] = quote(r.to)
			}
			if err := r.walk(inner, member, said || name == "data", places); err != nil {
				return err
			}
		}
	}
	return nil
}

// part looks for the session of a worker in a part with data: a call or the answer to
// one.
func (r *rewrite) part(at jsontext.Pointer, part, data map[string]any, places map[string][]byte) error {
	call, _ := data["id"].(string)
	for _, place := range []struct {
		holder any
		at     jsontext.Pointer
		name   string
	}{
		{data["response"], at.AppendToken("data").AppendToken("response"), childMember},
		{part["metadata"], at.AppendToken("metadata"), childStamp},
	} {
		members, _ := place.holder.(map[string]any)
		was, named := members[place.name].(string)
		if !named {
			continue
		}
		is, err := r.child(call, was)
		if err != nil {
			return err
		}
		if is != was {
			places[string(place.at.AppendToken(place.name))] = quote(is)
		}
	}
	return nil
}
