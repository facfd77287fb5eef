package dockeragent

import (
	"database/sql/driver"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
)

// columnEntry is an entry of the legacy column as far as it is counted.
type columnEntry struct {
	SubSession *struct {
		ID       string        `json:"id"`
		Messages []columnEntry `json:"messages"`
	} `json:"sub_session"`
}

// holdsMore reports whether the stored column of a session has more entries than
// there were rows, of the session or of one that is nested in it. What does not
// parse may be more as well.
func holdsMore(stored driver.Value, before *session.Tree, id string) bool {
	text := column.View(stored)
	if text == "" {
		return false
	}
	var list []columnEntry
	if json.Unmarshal([]byte(text), &list, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		return true
	}
	return hasMoreThanRows(list, before, id)
}

func hasMoreThanRows(list []columnEntry, before *session.Tree, id string) bool {
	s := before.Session(id)
	if s == nil || len(list) > len(s.Items) {
		return len(list) > 0
	}
	for _, e := range list {
		if e.SubSession != nil && hasMoreThanRows(e.SubSession.Messages, before, e.SubSession.ID) {
			return true
		}
	}
	return false
}
