package dockeragent

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// sessionColumns are read from every row of sessions, as far as they exist. The
// messages column is not among them: it can be many megabytes.
var sessionColumns = []string{
	"id", "parent_id", "title", "created_at", "tools_approved", "input_tokens", "output_tokens", "cost",
	"send_user_message", "max_iterations", "starred", "permissions", "agent_model_overrides", "custom_models_used",
	"thinking", "instruction_context", "attributes",
}

// required are the columns that upstream scans into plain values: one NULL
// there makes every list of sessions fail. The value is the schema's default.
var required = map[string]string{
	"title": "", "created_at": "", "tools_approved": "0", "input_tokens": "0", "output_tokens": "0", "cost": "0",
	"send_user_message": "1", "max_iterations": "0", "starred": "0", "agent_model_overrides": "{}",
	"custom_models_used": "[]", "thinking": "1",
}

// metadata are the columns that hold JSON: what upstream decodes them into, and
// their default.
var metadata = map[string]struct {
	into     func() any
	fallback string
}{
	"permissions": {func() any {
		return &struct {
			Allow []string `json:"allow"`
			Ask   []string `json:"ask"`
			Deny  []string `json:"deny"`
		}{}
	}, ""},
	"agent_model_overrides": {func() any { return &map[string]string{} }, "{}"},
	"custom_models_used":    {func() any { return &[]string{} }, "[]"},
	"attributes":            {func() any { return &map[string]string{} }, "{}"},
	"instruction_context":   {func() any { return &instructionContext{} }, ""},
}

// instructionContext is what the column of migration 022 holds, as far as
// indexes go: both count in the list of items that the reader loads.
type instructionContext struct {
	EpochStart *int64 `json:"epoch_start"`
	Updates    []struct {
		Position *int64 `json:"position"`
	} `json:"updates"`
}

// tableSessions is what reading the sessions table gives, in row order.
type tableSessions struct {
	sessions []*session.Session
	costs    []float64
	faults   []session.Fault
}

// readSessions reads the sessions table in row order.
func readSessions(ctx context.Context, db *sqlite.DB, sc *schema) (tableSessions, error) {
	var t tableSessions
	columns := sc.pick("sessions", sessionColumns...)
	lost, err := db.ScanTable(ctx, "sessions", columns, func(_ int64, values []driver.Value) error {
		s, cost := &session.Session{}, 0.0
		for i, column := range columns {
			readSessionColumn(s, column, values[i])
			if column == "cost" {
				cost, _ = values[i].(float64)
			}
		}
		t.sessions, t.costs = append(t.sessions, s), append(t.costs, cost)
		return nil
	})
	for _, l := range lost {
		t.faults = append(t.faults, l.Fault("sessions"))
	}
	return t, err
}

func readSessionColumn(s *session.Session, column string, value driver.Value) {
	fault := func(kind session.FaultKind, detail string, fallback *string) {
		ref := session.Ref{Session: s.ID, Table: session.TableSessions, Key: s.ID}
		s.Faults = append(s.Faults, session.Fault{Kind: kind, Item: -1, Ref: ref, Field: column, Detail: detail, Default: fallback})
	}
	def, needed := required[column]
	if value == nil && needed {
		detail := "No session of the file can be listed until it has a value."
		if column == "created_at" {
			fault(session.RequiredNull, detail, nil) // the value is found when the items are known
			return
		}
		fault(session.RequiredNull, detail, &def)
		return
	}
	text := textOf(value)
	switch column {
	case "id":
		s.ID = text
	case "parent_id":
		s.Parent = text
	case "title":
		s.Title = text
	case "created_at":
		created, detail := parseTime(text)
		s.Created = created
		if detail != "" {
			fault(session.BadTime, detail, nil)
		}
	default:
		if m, ok := metadata[column]; ok {
			readMetadata(s, column, text, m.into(), func(detail string) { fault(session.BadMetadata, detail, &m.fallback) })
		} else if !isNumber(value, text) {
			fault(session.BadMetadata, "the reader expects a number", &def)
		}
	}
}

func readMetadata(s *session.Session, column, text string, into any, bad func(detail string)) {
	if text == "" {
		return
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		bad(err.Error())
		return
	}
	ic, ok := into.(*instructionContext)
	if !ok {
		return
	}
	add := func(pointer, name string, index *int64) {
		if index != nil {
			ref := s.Ref()
			ref.Pointer = "/" + column + pointer
			s.IndexRefs = append(s.IndexRefs, session.IndexRef{Ref: ref, Field: column + " " + name, Index: *index, Pointer: pointer})
		}
	}
	add("/epoch_start", "epoch_start", ic.EpochStart)
	for i, u := range ic.Updates {
		add(fmt.Sprintf("/updates/%d/position", i), fmt.Sprintf("updates[%d].position", i), u.Position)
	}
}

// isNumber reports whether upstream, which scans flags and counters as text and
// parses them, can read the value.
func isNumber(value driver.Value, text string) bool {
	switch value.(type) {
	case int64, float64, bool, nil:
		return true
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return true
	}
	_, err := strconv.ParseBool(text)
	return err == nil
}

// parseTime reads a stored time and says what is wrong with it, if anything.
func parseTime(text string) (time.Time, string) {
	t, err := time.Parse(time.RFC3339, text)
	switch {
	case err != nil && text == "":
		return time.Time{}, "it is empty"
	case err != nil:
		return time.Time{}, "it is not in the form 2026-02-03T09:56:40Z"
	case t.Year() <= 1:
		return time.Time{}, "it is the zero time"
	case t.Year() < 2000 || t.Year() > 2200:
		return time.Time{}, fmt.Sprintf("its year is %d", t.Year())
	}
	return t, ""
}

// textOf is a column value as text; the string is the store's own copy.
func textOf(value driver.Value) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return strings.Clone(v)
	case []byte:
		return string(v)
	case time.Time:
		return v.Format(time.RFC3339)
	}
	return fmt.Sprint(value)
}
