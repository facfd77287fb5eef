package dockeragent

import (
	"cmp"
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"slices"

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
// there, or a value that the type cannot hold, makes every list of sessions
// fail. The fallback is the schema's default.
var required = map[string]struct {
	fallback string
	fits     func(driver.Value) string // says what the reader expects, "" for what fits
}{
	"id": {"", anything}, "title": {"", anything}, "created_at": {"", anything},
	"agent_model_overrides": {"{}", anything}, "custom_models_used": {"[]", anything},
	"input_tokens": {"0", wholeNumber}, "output_tokens": {"0", wholeNumber}, "max_iterations": {"0", wholeNumber},
	"cost": {"0", number}, "tools_approved": {"0", truth}, "send_user_message": {"1", truth},
	"starred": {"0", truth}, "thinking": {"1", truth},
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

// sessionRow is a row of the sessions table.
type sessionRow struct {
	*session.Session
	rowid int64
	cost  float64 // recorded, in dollars
}

// readSessions reads the sessions table in row order, or some rows of it.
func readSessions(ctx context.Context, db *sqlite.DB, sc *schema, only idList) (list []sessionRow, faults []session.Fault, err error) {
	columns := sc.pick(tableSessions, sessionColumns...)
	lost, err := only.scan(ctx, db, sc, tableSessions, columns, func(rowid int64, values []driver.Value) error {
		r := sessionRow{Session: &session.Session{}, rowid: rowid}
		for i, column := range columns {
			readSessionColumn(r.Session, column, values[i])
			if column == "cost" {
				r.cost, _ = values[i].(float64)
			}
		}
		list = append(list, r)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	lost, err = sqlite.Salvage(lost, func(rowid int64) (bool, error) {
		s, err := salvageSession(ctx, db, sc, rowid)
		if s != nil {
			list = append(list, sessionRow{Session: s, rowid: rowid})
		}
		return s != nil, err
	})
	slices.SortFunc(list, func(a, b sessionRow) int { return cmp.Compare(a.rowid, b.rowid) })
	for _, l := range lost {
		faults = append(faults, l.Fault(tableSessions))
	}
	return list, faults, err
}

func readSessionColumn(s *session.Session, column string, value driver.Value) {
	fault := func(kind session.FaultKind, detail string, fallback *string) {
		ref := session.Ref{Session: s.ID, Table: session.TableSessions, Key: s.ID}
		s.Faults = append(s.Faults, session.Fault{Kind: kind, Item: -1, Ref: ref, Field: column, Detail: detail, Default: fallback})
	}
	need, needed := required[column]
	if value == nil && needed {
		standard := &need.fallback
		if column == "created_at" || column == "id" {
			standard = nil // a time is found when the items are known, an id cannot be
		}
		fault(session.RequiredNull, "No session of the file can be listed until it has a value.", standard)
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
		} else if expected := need.fits(value); expected != "" {
			fault(session.BadMetadata, expected, &need.fallback)
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
