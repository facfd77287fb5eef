package adk

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// update says how the row of an event changes.
func update(row eventlog.Row, before, after *session.Item, taken []int) ([]table.FieldChange, error) {
	r := revise(row)
	if err := r.change(before, after, taken); err != nil {
		return nil, err
	}
	if before.Position != after.Position {
		if err := r.move(after.Position); err != nil {
			return nil, err
		}
	}
	return r.changes(), nil
}

// change makes an event say what the item after says, wherever it stands.
func (r *revision) change(before, after *session.Item, taken []int) error {
	parts := r.parts()
	calls, results := r.said(parts)
	if err := r.reword(calls, before.Calls, after.Calls); err != nil {
		return err
	}
	if err := r.rename(results, before, after, taken); err != nil {
		return err
	}
	if before.Body != nil && after.Body != nil && before.Body.Text != after.Body.Text {
		if err := r.blank(parts); err != nil {
			return err
		}
	}
	if err := r.take(results, taken); err != nil {
		return err
	}
	if before.Branch != after.Branch {
		return r.relabel(after.Branch)
	}
	return nil
}

// reword changes the ids and arguments of calls.
func (r *revision) reword(calls []spot, before, after []session.Call) error {
	if len(before) != len(after) {
		return notAsRead("content")
	}
	for i := range before {
		was, is := &before[i], &after[i]
		if was.ID == is.ID && was.Args == is.Args {
			continue
		}
		if i >= len(calls) {
			return notAsRead("content")
		}
		if err := r.identify(calls[i], was.ID, is.ID); err != nil {
			return err
		}
		if was.Args != is.Args {
			if err := r.put(r.inside(calls[i], "args"), []byte(is.Args)); err != nil {
				return err
			}
		}
	}
	return r.wait(before, after)
}

// rename changes the ids of results. Those that are taken out have no counterpart.
func (r *revision) rename(results []spot, before, after *session.Item, taken []int) error {
	n := 0
	for i := range before.Results {
		if slices.Contains(taken, i) {
			continue
		}
		if i >= len(results) || n >= len(after.Results) {
			return notAsRead("content")
		}
		if err := r.identify(results[i], before.Results[i].CallID, after.Results[n].CallID); err != nil {
			return err
		}
		n++
	}
	return nil
}

// identify gives a call or a result another id.
func (r *revision) identify(at spot, was, is string) error {
	if was == is {
		return nil
	}
	id := r.inside(at, "id")
	if r.text(id) != was {
		return notAsRead(at.column)
	}
	return r.put(id, quote(is))
}

// wait lets the list of the calls that wait for somebody name them by their new ids.
// A call that shared its id with one that keeps it waits as well.
func (r *revision) wait(before, after []session.Call) error {
	at := spot{column: "long_running_tool_ids_json"}
	if r.row.Has("event_data") {
		at = r.inside(spot{column: "event_data"}, "longRunningToolIds")
	}
	var ids, renamed []string
	if json.Unmarshal(r.raw(at), &ids, goJSON) != nil {
		return nil // there is none
	}
	for _, id := range ids {
		known := false
		for i := range before {
			if before[i].ID == id && !slices.Contains(renamed, after[i].ID) {
				renamed = append(renamed, after[i].ID)
			}
			known = known || before[i].ID == id
		}
		if !known {
			renamed = append(renamed, id)
		}
	}
	if len(ids) != len(renamed) {
		list, _ := json.Marshal(renamed) // texts always have a form
		return r.put(at, list)
	}
	for i := range ids {
		if ids[i] != renamed[i] {
			if err := r.put(at.element(i), quote(renamed[i])); err != nil {
				return err
			}
		}
	}
	return nil
}

// blank takes the texts of white space away, and a part with them that says
// nothing else. Reasoning stays.
func (r *revision) blank(parts []spot) error {
	for _, at := range slices.Backward(parts) {
		text := r.inside(at, "text")
		if thought := r.raw(r.inside(at, "thought")); string(thought) == "true" || r.raw(text) == nil || strings.TrimSpace(r.text(text)) != "" {
			continue
		}
		var members map[string]any
		if json.Unmarshal(r.raw(at), &members, goJSON) == nil && len(members) == 1 {
			if err := r.put(at, nil); err != nil {
				return err
			}
		} else if err := r.put(text, []byte(`""`)); err != nil {
			return err
		}
	}
	return nil
}

// take takes results out: the part of each leaves the list.
func (r *revision) take(results []spot, taken []int) error {
	for _, n := range slices.Backward(slices.Sorted(slices.Values(taken))) {
		if n >= len(results) {
			return notAsRead("content")
		}
		if err := r.put(results[n].holder(), nil); err != nil {
			return err
		}
	}
	return nil
}

// relabel puts an event on another branch.
func (r *revision) relabel(branch string) error {
	if r.row.Has("event_data") {
		return r.put(r.inside(spot{column: "event_data"}, "branch"), labelValue(branch))
	}
	if branch == "" {
		r.set("branch", nil)
	} else {
		r.set("branch", branch)
	}
	return nil
}

// labelValue is a branch in a document, nil for none: text that is no path is JSON
// of its own.
func labelValue(branch string) []byte {
	switch {
	case branch == "":
		return nil
	case !labelOf([]byte(branch)).wrong:
		return []byte(branch)
	}
	return quote(branch)
}

func quote(text string) []byte {
	value, _ := json.Marshal(text, goJSON) // never fails on a text that may be no Unicode
	return value
}
