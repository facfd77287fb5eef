package dockeragent

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

type migration struct {
	number  int64
	name    string // without the number
	columns []string
	until   int64 // the migration that dropped the columns, 0 while they are there
}

// migrations are those that this adapter knows (2.1), with the columns that each brought:
// "table.column TYPE". docker agent tells them by their names, and so does sessctl: the
// number 029 stood for two before they were released.
var migrations = []migration{
	{0, "", []string{"sessions.id TEXT", "sessions.created_at TEXT"}, 0},
	{0, "", []string{"sessions.messages TEXT"}, 20},
	{1, "add_tools_approved_column", []string{"sessions.tools_approved BOOLEAN"}, 0},
	{2, "add_usage_column", []string{"sessions.input_tokens INTEGER"}, 0},
	{3, "add_output_tokens_column", []string{"sessions.output_tokens INTEGER"}, 0},
	{4, "add_title_column", []string{"sessions.title TEXT"}, 0},
	{5, "add_cost_column", []string{"sessions.cost REAL"}, 0},
	{6, "add_send_user_message_column", []string{"sessions.send_user_message BOOLEAN"}, 0},
	{7, "add_max_iterations_column", []string{"sessions.max_iterations INTEGER"}, 0},
	{8, "add_working_dir_column", []string{"sessions.working_dir TEXT"}, 0},
	{9, "add_starred_column", []string{"sessions.starred BOOLEAN"}, 0},
	{10, "add_permissions_column", []string{"sessions.permissions TEXT"}, 0},
	{11, "add_agent_model_overrides_column", []string{"sessions.agent_model_overrides TEXT"}, 0},
	{12, "add_custom_models_used_column", []string{"sessions.custom_models_used TEXT"}, 0},
	{13, "add_thinking_column", []string{"sessions.thinking BOOLEAN"}, 0},
	{14, "normalize_session_items", []string{
		"sessions.parent_id TEXT", "session_items.id INTEGER", "session_items.session_id TEXT", "session_items.position INTEGER",
		"session_items.item_type TEXT", "session_items.agent_name TEXT", "session_items.message_json TEXT", "session_items.implicit BOOLEAN",
		"session_items.subsession_id TEXT", "session_items.summary_text TEXT",
	}, 0},
	{15, "migrate_messages_to_session_items", nil, 0},
	{16, "add_branching_columns", []string{
		"sessions.branch_parent_session_id TEXT", "sessions.branch_parent_position INTEGER", "sessions.branch_created_at TEXT",
	}, 19},
	{17, "add_split_diff_view_column", []string{"sessions.split_diff_view BOOLEAN"}, 19},
	{18, "add_session_items_type_index", nil, 0},
	{19, "drop_branch_and_split_diff_columns", nil, 0},
	{20, "drop_messages_column", nil, 0},
	{21, "add_first_kept_entry_column", []string{"session_items.first_kept_entry INTEGER"}, 0},
	{22, "add_instruction_context_column", []string{"sessions.instruction_context TEXT"}, 0},
	{23, "add_cost_to_session_items", []string{"session_items.cost REAL"}, 0},
	{24, "add_safety_policy_column", []string{"sessions.safety_policy TEXT"}, 0},
	{25, "add_model_usage_to_session_items", []string{"session_items.model TEXT", "session_items.usage_json TEXT"}, 0},
	{26, "add_session_attributes_column", []string{"sessions.attributes TEXT"}, 0},
	{27, "add_session_origin_column", []string{"sessions.origin TEXT"}, 0},
	{28, "add_generated_media_manifest_table", []string{"generated_media_manifest.session_id TEXT"}, 0},
	{29, "add_generated_media_blob_table", []string{"generated_media_blobs.data BLOB"}, 0},
	{30, "add_root_kind_to_generated_media_manifest", []string{"generated_media_manifest.root_kind TEXT"}, 0},
}

// numbered is the last migration that came in the order of its number everywhere.
const numbered = 28

// from is the generation that has a migration: of those that came in either order, the
// first of their numbers.
func from(number int64) int64 { return min(number, numbered+1) }

// recordNumber is the number before the name of a migration on record.
var recordNumber = regexp.MustCompile(`^\d+_`)

// learn notes a record of the table migrations. Without a name, the number is believed.
func (s *schema) learn(id int64, name string) {
	s.recorded[id] = name
	i := slices.IndexFunc(migrations, func(m migration) bool {
		return m.number > 0 && (name == "" && m.number == id || name != "" && m.name == recordNumber.ReplaceAllString(name, ""))
	})
	if i < 0 {
		s.later = append(s.later, cmp.Or(name, generationName(id)))
		return
	}
	s.ran[migrations[i].number] = true
	s.generation = max(s.generation, from(migrations[i].number))
}

// brought reports whether the columns of a migration are there.
func (s *schema) brought(m migration) bool {
	return slices.ContainsFunc(m.columns, func(c string) bool { return s.has(columnOf(c)) })
}

// columnOf are the table and the name of a column in the list of migrations.
func columnOf(entry string) (table, column string) {
	table, column, _ = strings.Cut(entry, ".")
	column, _, _ = strings.Cut(column, " ")
	return table, column
}

// missing are the columns that the database should have.
func (s *schema) missing() []string {
	var list []string
	for _, m := range migrations {
		wanted := s.ran[m.number] || m.number <= min(s.generation, numbered)
		if !wanted || m.until > 0 && s.generation >= m.until {
			continue
		}
		for _, c := range m.columns {
			if table, column := columnOf(c); !s.has(table, column) {
				list = append(list, table+"."+column)
			}
		}
	}
	return list
}

// unrecorded are the known migrations that are not on record, although what they or
// later ones brought is there.
func (s *schema) unrecorded() []int64 {
	var gaps []int64
	for _, m := range migrations {
		_, taken := s.recorded[m.number]
		there := m.number <= s.generation && !taken
		if m.number > numbered {
			there = s.brought(m)
		}
		if m.number > 0 && there && !s.ran[m.number] {
			gaps = append(gaps, m.number)
		}
	}
	return gaps
}

// migrationList is "migration 016 is", "migrations 001 to 004 and 026 are".
func migrationList(ids []int64) string {
	var ranges []string
	for i := 0; i < len(ids); {
		j := i
		for j+1 < len(ids) && ids[j+1] == ids[j]+1 {
			j++
		}
		text := generationName(ids[i])
		if j > i {
			text += " to " + generationName(ids[j])
		}
		ranges = append(ranges, text)
		i = j + 1
	}
	if len(ids) == 1 {
		return "migration " + ranges[0] + " is"
	}
	return "migrations " + joined(ranges) + " are"
}

// sentenceList is "a is", "a, b and c are".
func sentenceList(words []string) string {
	if len(words) == 1 {
		return words[0] + " is"
	}
	return joined(words) + " are"
}

// joined is "a", "a and b", "a, b and c".
func joined(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
