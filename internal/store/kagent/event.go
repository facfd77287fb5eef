package kagent

import (
	"bytes"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/adk"
)

// headerUpdate is the invocation of the events by which the Python runtime hands the
// headers of a request to its agent (b1).
const headerUpdate = "header_update"

// item decodes an event.
func (r *reader) item(row columns, it *session.Item, body bool) []session.Fault {
	faults := timeFaults(row)
	if row("deleted_at") != nil {
		it.Flags |= session.Skipped
	}
	data := bytesOf(row("data"))
	if data == nil {
		it.Kind = session.Other
		if body {
			it.Body = &session.Body{}
		}
		return append(faults, session.Fault{Kind: session.RequiredNull, Field: "data", Detail: "Nothing else has what the event says."})
	}
	doc, _ := unwrap(data)
	form := dialectOf(doc)
	skipped := it.Flags // the decoders set the others
	faults = append(faults, r.decode(form, doc, row, it)...)
	it.Flags |= skipped
	n := r.tie(row, form, doc, it)
	if !body {
		forget(it)
		r.notes.keep(it.Key, n)
		return faults
	}
	it.Body.Raw = bytes.Clone(data)
	if r.redacts {
		it.Body.Raw = redacted(it.Body.Raw)
	}
	return faults
}

// decode reads a document of some dialect, texts included.
func (r *reader) decode(form dialect, doc []byte, row columns, it *session.Item) []session.Fault {
	stored, _ := parseTime(row("created_at"))
	switch form {
	case responses:
		it.Time = stored
		return decodeResponses(doc, it)
	case message:
		it.Time = stored
		return decodeMessage(doc, it)
	}
	faults := r.documents.Item(adk.Document{
		Data: doc, Column: "data", Python: form == snake, User: textOf(row("user_id")), Stored: stored,
	}, it, true)
	if it.Invocation == headerUpdate || it.Agent == "system" {
		it.Agent = ""
	}
	return faults
}

// timeFaults are about the columns with times.
func timeFaults(row columns) (faults []session.Fault) {
	for _, column := range []string{"created_at", "updated_at", "deleted_at"} {
		if _, wrong := parseTime(row(column)); wrong != "" {
			faults = append(faults, session.Fault{Kind: session.BadTime, Field: column, Detail: wrong})
		}
	}
	if row("created_at") == nil {
		faults = append(faults, session.Fault{Kind: session.BadTime, Field: "created_at", Detail: "it is NULL, so that the event stands before all others"})
	}
	return faults
}

// forget leaves the outline of an item.
func forget(it *session.Item) {
	it.Body = nil
	for i := range it.Calls {
		it.Calls[i].Args = ""
	}
	for i := range it.Results {
		it.Results[i].Text = ""
	}
}
