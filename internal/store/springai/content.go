package springai

import "strings"

// content is what counts of a column when two states of an event are compared:
// what the reader makes of it. So a repair may set the default of a column that
// cannot be read, and of nothing else.
func (sc *schema) content(column string, stored any) any {
	switch strings.ToLower(column) {
	case "metadata":
		if _, wrong := readMetadata(stored); wrong != "" {
			return defaultMetadata
		}
	case "synthetic":
		if stored == nil {
			return int64(0)
		}
	}
	return stored
}
