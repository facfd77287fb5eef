package canonical

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
)

// sessionLine is the line of a session of the stream, changed where the model
// says something else.
func (r *rewriter) sessionLine(tree *session.Tree, s *session.Session) ([]byte, error) {
	if s.Raw == nil {
		return nil, fmt.Errorf("session %s cannot be written: its line was not loaded", s.ID)
	}
	rec, usable, _ := decode[sessionLine](s.Raw)
	if !usable {
		return s.Raw, nil
	}
	var set []member
	if s.Parent != rec.Parent {
		set = append(set, member{"parent", jsonOf(s.Parent)})
	}
	if s.Title != rec.Title {
		set = append(set, member{"title", jsonOf(s.Title)})
	}
	if s.Task != taskAgain(s, rec.Task) {
		if task := findTask(tree, s); task != nil {
			set = append(set, member{"task", jsonOf(*task)})
		}
	}
	return changed(s.Raw, set), nil
}

// taskAgain is the task that a reader of the session will find.
func taskAgain(s *session.Session, given *string) session.Digest {
	switch {
	case given != nil:
		return session.DigestOf(*given)
	case len(s.Items) == 0 || s.Items[0].Body == nil:
		return 0
	}
	return taskOf(&s.Items[0], s.Items[0].Body.Text)
}

// newSessionLine is the line of a session that a repair creates.
func (r *rewriter) newSessionLine(tree *session.Tree, s *session.Session) ([]byte, error) {
	rec := encodeSession(s)
	if s.Task != taskAgain(s, rec.Task) {
		rec.Task = findTask(tree, s)
	}
	return r.encode(&rec)
}

// findTask finds the text of a session's task: in what the session says, or in
// the call that hands it over. nil means that nobody has it.
func findTask(tree *session.Tree, s *session.Session) *string {
	if task := explicitTask(s); task != nil || s.Task == 0 {
		return cmp.Or(task, new(string))
	}
	for _, from := range tree.Sessions {
		for i := range from.Items {
			for n := range from.Items[i].Calls {
				if d := from.Items[i].Calls[n].Delegation; d != nil && d.Task == s.Task {
					if task := handedOver(&from.Items[i], n, s.Task); task != nil {
						return task
					}
				}
			}
		}
	}
	return nil
}

// handedOver is the task of a call: from its delegation, else from its arguments.
func handedOver(it *session.Item, n int, task session.Digest) *string {
	if it.Body != nil {
		if rec, usable, _ := decodeItem(it.Body.Raw); usable && n < len(rec.Calls) {
			if given := rec.Calls[n].Delegation.given; given != nil && given.Task != nil && session.DigestOf(*given.Task) == task {
				return given.Task
			}
		}
	}
	return stringWithDigest(jsontext.Value(it.Calls[n].Args), task)
}

// itemLine is the line of an item in session s: as it is stored, changed only
// where the model says something else. A new item is encoded.
func (r *rewriter) itemLine(s *session.Session, it *session.Item) ([]byte, error) {
	if it.Body == nil {
		return nil, fmt.Errorf("item %s of session %s cannot be written: its body was not loaded", it.Key, s.ID)
	}
	if it.Table == "" {
		rec := encodeItem(s, it, it.Body)
		return r.encode(&rec)
	}
	var set []member
	line := it.Body.Raw
	if g, _ := r.skim.skim(line); g.session != s.ID {
		set = append(set, member{"session", jsonOf(s.ID)})
	}
	was := r.items.read(line, 0)
	if it.Agent != was.Agent {
		set = append(set, member{"agent", jsonOf(it.Agent)})
	}
	if it.KeptFrom != was.KeptFrom {
		set = append(set, member{"kept_from", jsonOf(it.KeptFrom)})
	}
	if was.Flags.Has(session.Skipped) && !it.Flags.Has(session.Skipped) { // its child came back
		set = append(set, member{"skipped", jsonOf(false)})
	}
	return changed(line, append(set, partMembers(it, &was)...)), nil
}

// partMembers are the members that differ in an item of which a part was taken,
// and in the part.
func partMembers(it, was *session.Item) []member {
	var set []member
	if it.Body.Text != was.Body.Text {
		set = append(set, member{"text", jsonOf(it.Body.Text)})
	}
	if it.Body.Reasoning != was.Body.Reasoning {
		set = append(set, member{"reasoning", jsonOf(it.Body.Reasoning)})
	}
	if len(it.Calls) == 0 && len(was.Calls) > 0 {
		set = append(set, member{"calls", jsontext.Value("[]")})
	}
	if len(it.Results) != len(was.Results) {
		set = append(set, member{"results", keptResults(it, was)})
	}
	return set
}

// keptResults are the stored results of which the item still has some, in their
// order.
func keptResults(it, was *session.Item) jsontext.Value {
	var rec struct {
		Results []jsontext.Value `json:"results"`
	}
	_ = json.Unmarshal(it.Body.Raw, &rec, tolerant) // was was read from it
	var kept [][]byte
	left := it.Results
	for i, value := range rec.Results {
		if len(left) > 0 && i < len(was.Results) && left[0] == was.Results[i] {
			kept, left = append(kept, value), left[1:]
		}
	}
	return slices.Concat(jsontext.Value("["), bytes.Join(kept, []byte(",")), []byte("]"))
}

func changed(line []byte, set []member) []byte {
	if len(set) == 0 {
		return line
	}
	return setMembers(line, set)
}

func (r *rewriter) encode(rec any) ([]byte, error) {
	line, err := json.Marshal(rec, exact, tolerant)
	if err != nil {
		return nil, fmt.Errorf("encoding a line: %w", err)
	}
	return line, nil
}
