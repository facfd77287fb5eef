package dockeragent

import "strings"

// marks are columns that a generation must have (from, until exclusive; 0 is
// open), enough to tell a half-migrated file. Two of them came in either order, so a
// file must have them where it has the migration of that name on record.
var marks = []struct {
	table, column string
	from, until   int64
	name          string // of the migration behind its number, "" where the number says it
}{
	{"sessions", "tools_approved", 1, 0, ""},
	{"sessions", "title", 4, 0, ""},
	{"sessions", "starred", 9, 0, ""},
	{"sessions", "permissions", 10, 0, ""},
	{"sessions", "custom_models_used", 12, 0, ""},
	{"sessions", "thinking", 13, 0, ""},
	{"sessions", "parent_id", 14, 0, ""},
	{"session_items", "message_json", 14, 0, ""},
	{"session_items", "subsession_id", 14, 0, ""},
	{"sessions", "messages", 0, 20, ""},
	{"session_items", "first_kept_entry", 21, 0, ""},
	{"sessions", "instruction_context", 22, 0, ""},
	{"session_items", "cost", 23, 0, ""},
	{"session_items", "usage_json", 25, 0, ""},
	{"sessions", "attributes", 26, 0, ""},
	{"sessions", "origin", 27, 0, ""},
	{"generated_media_manifest", "session_id", 28, 0, ""},
	{"generated_media_blobs", "data", numbered + 1, 0, "_add_generated_media_blob_table"},
	{"generated_media_manifest", "root_kind", numbered + 1, 0, "_add_root_kind_to_generated_media_manifest"},
}

// numbered is the last migration that its number tells. Of those behind it the order
// was changed before they were released: the number 029 stands for two.
const numbered = 28

// missing are the columns that the generation should have.
func (s *schema) missing() []string {
	var list []string
	for _, m := range marks {
		wanted := s.generation >= m.from && (m.until == 0 || s.generation < m.until)
		if m.name != "" {
			wanted = s.ran(m.name)
		}
		if wanted && !s.has(m.table, m.column) {
			list = append(list, m.table+"."+m.column)
		}
	}
	return list
}

// ran reports whether a migration that its name tells is on record.
func (s *schema) ran(name string) bool {
	for id, recorded := range s.recorded {
		if id > numbered && recorded == generationName(id)+name {
			return true
		}
	}
	return false
}

// unknown is the last migration on record that this adapter does not know; 0 when it
// knows all. Without a name, a number is believed.
func (s *schema) unknown() int64 {
	last := int64(0)
	for id, recorded := range s.recorded {
		known := id <= numbered || id <= newest && recorded == ""
		for _, m := range marks {
			known = known || m.name != "" && id <= newest && recorded == generationName(id)+m.name
		}
		if !known {
			last = max(last, id)
		}
	}
	return last
}

// newestColumn is the generation that brought the newest column that there is.
func (s *schema) newestColumn() int64 {
	generation := int64(0)
	for _, m := range marks {
		if s.has(m.table, m.column) {
			generation = max(generation, m.from)
		}
	}
	return generation
}

// unrecorded are the migrations below the generation that are not on record.
func (s *schema) unrecorded() []int64 {
	var gaps []int64
	for id := int64(1); id <= min(s.generation, newest); id++ {
		if _, is := s.recorded[id]; !is {
			gaps = append(gaps, id)
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
