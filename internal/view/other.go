package view

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
)

// otherLabel words an item that no model ever sees: what kind it is, and the
// text of its record if that has one. Error and termination items of docker
// agent hold a message or a reason.
func otherLabel(s *session.Session, i int) (label, text string) {
	for _, f := range s.Faults {
		if f.Item != i {
			continue
		}
		switch f.Kind {
		case session.UnknownKind:
			return "an item of unknown kind " + f.Field, ""
		case session.Undecodable:
			return "a record that cannot be decoded: " + f.Detail, ""
		}
	}
	var record struct {
		Message string `json:"message"`
		Code    string `json:"code"`
		Reason  string `json:"reason"`
	}
	if body := s.Items[i].Body; body != nil {
		_ = json.Unmarshal(body.Raw, &record, lenient) // another form has no text to show
	}
	switch {
	case record.Reason != "":
		return "the run was ended: " + strings.ReplaceAll(record.Reason, "_", " "), record.Message
	case record.Code != "":
		return "the run failed: " + strings.ReplaceAll(record.Code, "_", " "), record.Message
	case record.Message != "":
		return "the run failed", record.Message
	}
	return "a record that no model sees", ""
}

// lenient reads what a runtime's own reader would read too.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
