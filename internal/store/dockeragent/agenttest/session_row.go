package agenttest

import (
	"strings"
	"time"
)

// SessionRow is a row of the sessions table. Columns that the generation does
// not have are left out when it is written.
type SessionRow struct {
	ID        string    // drawn from the seed when empty
	CreatedAt time.Time // the time of the next item when zero
	Title     string

	ToolsApproved             bool
	InputTokens, OutputTokens int64
	Cost                      float64 // dollars
	SendUserMessage           bool    // Root sets it: only children go without
	MaxIterations             int
	WorkingDir                string
	Starred                   bool
	Permissions               string // JSON, "" for none
	AgentModelOverrides       string // JSON, "" for {}
	CustomModelsUsed          string // JSON, "" for []
	Thinking                  bool
	Parent                    string // Child sets it

	BranchParent    string    // generations 16 to 18
	BranchPosition  int64     // with BranchParent
	BranchCreatedAt time.Time // with BranchParent
	SplitDiffView   bool      // generations 17 and 18; stored when true

	InstructionContext string // JSON
	SafetyPolicy       string
	Attributes         string // JSON, "" for {}
	Origin             string // "" for run
}

// column is a column of the sessions table, with the generations that have it.
type column struct {
	name  string
	since int
	until int // 0: still there
	value func(*SessionRow) any
}

var sessionColumns = []column{
	{"id", 0, 0, func(r *SessionRow) any { return r.ID }},
	{"created_at", 0, 0, func(r *SessionRow) any { return stamp(r.CreatedAt) }},
	{"tools_approved", 1, 0, func(r *SessionRow) any { return r.ToolsApproved }},
	{"input_tokens", 2, 0, func(r *SessionRow) any { return r.InputTokens }},
	{"output_tokens", 3, 0, func(r *SessionRow) any { return r.OutputTokens }},
	{"title", 4, 0, func(r *SessionRow) any { return r.Title }},
	{"cost", 5, 0, func(r *SessionRow) any { return r.Cost }},
	{"send_user_message", 6, 0, func(r *SessionRow) any { return r.SendUserMessage }},
	{"max_iterations", 7, 0, func(r *SessionRow) any { return r.MaxIterations }},
	{"working_dir", 8, 0, func(r *SessionRow) any { return r.WorkingDir }},
	{"starred", 9, 0, func(r *SessionRow) any { return r.Starred }},
	{"permissions", 10, 0, func(r *SessionRow) any { return r.Permissions }},
	{"agent_model_overrides", 11, 0, func(r *SessionRow) any { return or(r.AgentModelOverrides, "{}") }},
	{"custom_models_used", 12, 0, func(r *SessionRow) any { return or(r.CustomModelsUsed, "[]") }},
	{"thinking", 13, 0, func(r *SessionRow) any { return r.Thinking }},
	{"parent_id", 14, 0, func(r *SessionRow) any { return orNull(r.Parent != "", r.Parent) }},
	{"branch_parent_session_id", 16, 18, func(r *SessionRow) any { return orNull(r.BranchParent != "", r.BranchParent) }},
	{"branch_parent_position", 16, 18, func(r *SessionRow) any { return orNull(r.BranchParent != "", r.BranchPosition) }},
	{"branch_created_at", 16, 18, func(r *SessionRow) any { return orNull(r.BranchParent != "", stamp(r.BranchCreatedAt)) }},
	{"split_diff_view", 17, 18, func(r *SessionRow) any { return orNull(r.SplitDiffView, true) }},
	{"instruction_context", 22, 0, func(r *SessionRow) any { return r.InstructionContext }},
	{"safety_policy", 24, 0, func(r *SessionRow) any { return r.SafetyPolicy }},
	{"attributes", 26, 0, func(r *SessionRow) any { return or(r.Attributes, "{}") }},
	{"origin", 27, 0, func(r *SessionRow) any { return or(r.Origin, "run") }},
}

func or(value, otherwise string) string {
	if value != "" {
		return value
	}
	return otherwise
}

func orNull(present bool, value any) any {
	if present {
		return value
	}
	return nil
}

// insertSession writes a session's own row.
func (db *DB) insertSession(row *SessionRow) {
	var names, marks []string
	var values []any
	for _, c := range sessionColumns {
		if db.Generation < c.since || c.until > 0 && db.Generation > c.until {
			continue
		}
		names, marks = append(names, c.name), append(marks, "?")
		values = append(values, c.value(row))
	}
	db.exec("INSERT INTO sessions ("+strings.Join(names, ", ")+") VALUES ("+strings.Join(marks, ", ")+")", values...)
}
