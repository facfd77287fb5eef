package canonical

import (
	"cmp"
	"fmt"

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
	line := lineText{text: s.Raw}
	if s.Parent != rec.Parent {
		line.set("/parent", s.Parent)
	}
	if s.Title != rec.Title {
		line.set("/title", s.Title)
	}
	if !sameRuns(s, &rec) {
		line.setJSON("/runs", runsOf(tree, s))
	}
	if s.Task != taskAgain(s, rec.Task) {
		if task := findTask(tree, s); task != nil {
			line.set("/task", *task)
		}
	}
	return line.text, line.err
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
	rec.Runs = nil
	text, err := r.encode(&rec)
	if err != nil || len(s.Runs) == 0 {
		return text, err
	}
	line := lineText{text: text}
	line.setJSON("/runs", runsOf(tree, s))
	return line.text, line.err
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

func (r *rewriter) encode(rec any) ([]byte, error) {
	line, err := json.Marshal(rec, exact, tolerant)
	if err != nil {
		return nil, fmt.Errorf("encoding a line: %w", err)
	}
	return line, nil
}
