package adk

import (
	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/session"
)

// Revision is the document of an event, as another store keeps it, while it is being
// changed: in whatever names it is, single values change and every other byte stays.
// Its errors are problems of class RolledBack.
type Revision struct{ revision }

// Revise begins to change a document. It is kept and not changed itself.
func Revise(document []byte) *Revision {
	return &Revision{*revise(whole(document))}
}

// whole is a document as the record of an event.
type whole []byte

func (whole) Has(column string) bool { return column == "event_data" }

func (w whole) Value(column string) any {
	if w.Has(column) {
		return []byte(w)
	}
	return nil
}

// Update makes the event say what the item after says, and its time as much later as
// its place is.
func (r *Revision) Update(before, after *session.Item, taken []int) error {
	if err := r.change(before, after, taken); err != nil || before.Position == after.Position {
		return err
	}
	return r.shift(after.Position - before.Position)
}

// Answers are the texts that the results answer as a member of an object, "" for those
// that have none. The member is named as it is stored.
func (r *Revision) Answers(member string) []string {
	_, results := r.said(r.parts())
	texts := make([]string, len(results))
	for i, result := range results {
		texts[i] = r.text(r.answer(result, member))
	}
	return texts
}

// SetAnswers gives such texts other values, by the indexes of the results.
func (r *Revision) SetAnswers(member string, values map[int]string) error {
	const column = "event_data"
	_, results := r.said(r.parts())
	places := map[string][]byte{}
	for nth, value := range values {
		if nth >= len(results) {
			return notAsRead(column)
		}
		places[string(r.answer(results[nth], member).pointer)] = quote(value)
	}
	doc, err := jsonedit.Replace(r.document(column), places)
	return r.become(column, doc, err)
}

func (r *Revision) answer(result spot, member string) spot {
	response := r.inside(result, "response")
	return spot{response.column, response.pointer.AppendToken(member)}
}

// Document is what the revision has come to.
func (r *Revision) Document() []byte { return r.document("event_data") }

// Response is the document of a new event of session s with the result that its item
// it has, so many microseconds later than the event that is revised, in whose form it
// is.
func (r *Revision) Response(s *session.Session, it *session.Item, id string, later int64) ([]byte, error) {
	return r.eventDocument(it, id, r.response(s, it), later)
}

// Part is the same for a result that was the nth one of the event that is revised.
func (r *Revision) Part(it *session.Item, nth int, id string, later int64) ([]byte, error) {
	part, err := r.part(it, nth)
	if err != nil {
		return nil, err
	}
	return r.eventDocument(it, id, part, later)
}
