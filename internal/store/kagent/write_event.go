package kagent

import (
	"errors"
	"iter"
	"slices"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/adk"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// update says how the row of an event changes.
func update(row eventlog.Row, before, after *session.Item, taken []int) ([]table.FieldChange, error) {
	if before.Agent != after.Agent || before.Role != after.Role || before.Kind != after.Kind || before.Flags.Has(session.Archived) != after.Flags.Has(session.Archived) {
		return nil, problem.New(problem.RolledBack, "", "event %s cannot become one of another agent or kind, or one that is not sent: this kind of store has no place for that", before.Key)
	}
	var list []table.FieldChange
	if before.Position != after.Position {
		stored := table.Kept(row.Value("created_at"))
		at, err := timeLike(stored, after.Position)
		if err != nil {
			return nil, err
		}
		list = append(list, table.FieldChange{Name: "created_at", Old: stored, New: at})
	}
	if len(list) == 0 && len(taken) == 0 && alike(before, after) {
		return nil, nil // it goes to another session as it is, whatever it is
	}
	doc, err := openDocument(row.Value("data"))
	if err == nil {
		err = doc.edit(func(json []byte) ([]byte, error) {
			if moved := renamedQuestions(before, after, taken); len(moved) > 0 {
				changed, err := (&rewrite{moved: moved}).within(json)
				if err != nil {
					return nil, err
				}
				json = changed
			}
			switch dialectOf(json) {
			case responses:
				changed, err := updateResponses(json, before, after, taken)
				if err != nil {
					return nil, err
				}
				return shifted(changed, after.Position-before.Position)
			case message:
				return nil, errors.New("it is a message of A2A, which a repair leaves as it is")
			}
			return updateADK(json, before, after, taken)
		})
	}
	if err != nil {
		return nil, problem.New(problem.RolledBack, "Check the store again.", "event %s cannot be changed: %v", before.Key, err)
	}
	return append(list, doc.change()...), nil
}

// alike reports whether two items say the same, as far as a repair changes that.
func alike(before, after *session.Item) bool {
	text := func(it *session.Item) string {
		if it.Body == nil {
			return ""
		}
		return it.Body.Text
	}
	return before.Branch == after.Branch && slices.Equal(before.Blocks, after.Blocks) &&
		(before.Body == nil || after.Body == nil || text(before) == text(after)) &&
		slices.EqualFunc(before.Calls, after.Calls, func(a, b session.Call) bool { return a.ID == b.ID && a.Args == b.Args && a.Question == b.Question }) &&
		slices.EqualFunc(before.Results, after.Results, func(a, b session.Result) bool {
			return a.CallID == b.CallID && a.Child == b.Child && a.Question == b.Question
		})
}

// updateADK changes an event of ADK in any of its spellings.
func updateADK(doc []byte, before, after *session.Item, taken []int) ([]byte, error) {
	r := adk.Revise(doc)
	if renamed := renamedChildren(before, after, taken); len(renamed) > 0 {
		answers, names := r.Answers(childMember), map[int]string{}
		for n, change := range renamed {
			if n >= len(answers) || !isCalled(change.was, answers[n]) {
				return nil, errChanged
			}
			names[n] = change.is
		}
		if err := r.SetAnswers(childMember, names); err != nil {
			return nil, err
		}
	}
	if err := r.Update(before, after, taken); err != nil {
		return nil, err
	}
	return r.Document(), nil
}

// renamedChildren are the results that name another session, by their index before.
func renamedChildren(before, after *session.Item, taken []int) map[int]child {
	list := map[int]child{}
	for n, is := range kept(before, after, taken) {
		if was := &before.Results[n]; was.Child != is.Child {
			list[n] = child{was: was.Child, is: is.Child}
		}
	}
	return list
}

// renamedQuestions are the tasks that questions and their answers put into another
// session than before, by id.
func renamedQuestions(before, after *session.Item, taken []int) map[string]move {
	moved := map[string]move{}
	add := func(was, is session.Question) {
		if was != is {
			moved[was.Run] = move{was.Child, is.Child}
		}
	}
	for n := range min(len(before.Calls), len(after.Calls)) {
		add(before.Calls[n].Question, after.Calls[n].Question)
	}
	for n, is := range kept(before, after, taken) {
		add(before.Results[n].Question, is.Question)
	}
	return moved
}

// kept are the results that an item still has, by their index before.
func kept(before, after *session.Item, taken []int) iter.Seq2[int, *session.Result] {
	return func(yield func(int, *session.Result) bool) {
		next := 0
		for n := range before.Results {
			if slices.Contains(taken, n) || next >= len(after.Results) {
				continue
			}
			if !yield(n, &after.Results[next]) {
				return
			}
			next++
		}
	}
}
