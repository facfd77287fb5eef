package adk

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

// The signs of a writer other than the one whose tables these are, in words that
// follow "3 of 10 events have".
const (
	nakedTimes   = "times without an offset from UTC, as adk-python writes them"
	zonedTimes   = "times with an offset from UTC, as adk-go writes them"
	awareTimes   = "times with an offset from UTC, as adk-python since 1.24.0 stores them in PostgreSQL"
	textTimes    = "times as texts, as adk-python's DatabaseSessionService writes them"
	wholeTimes   = "times in milliseconds, as adk-js writes them"
	pickles      = "pickled actions, as adk-python writes them"
	jsonActions  = "actions in JSON, as adk-go writes them"
	pascalCase   = "actions with the keys of adk-go up to v2.1 (StateDelta)"
	camelCase    = "actions with the keys of adk-go v2.2 and later (stateDelta)"
	camelMembers = "documents with keys in camel case (invocationId), which this service does not write"
)

// dialectOf is the sign of another writer that an event has, "" for none.
func (g generation) dialectOf(row columns, time stamp) string {
	_, isText := row("timestamp").(string)
	_, isWhole := row("timestamp").(int64)
	isText = isText && time.bad == ""
	switch {
	case (g == ps || g == j1) && isText:
		return textTimes
	case g == p1 && isWhole:
		return wholeTimes
	case g.python() && g != p1 && time.zoned:
		return zonedTimes
	case g.golang() && isText && !time.zoned:
		return nakedTimes
	case g.document():
		return documentDialect(bytesOf(row("event_data")))
	}
	return g.actionsDialect(bytesOf(row("actions")))
}

// documentDialect goes by a key that every event has (2).
func documentDialect(data []byte) string {
	if !bytes.Contains(data, []byte(`"invocation_id"`)) && bytes.Contains(data, []byte(`"invocationId"`)) {
		return camelMembers
	}
	return ""
}

// actionsDialect goes by the first byte and by the case of the first key (1.4).
func (g generation) actionsDialect(data []byte) string {
	if len(data) == 0 {
		return ""
	}
	isPickle := data[0] == pickled
	switch {
	case g == p0 && !isPickle:
		return jsonActions
	case g == p0:
		return ""
	case isPickle:
		return pickles
	}
	switch keys := keyCase(data); {
	case g == g2 && keys == upperCase:
		return pascalCase
	case g == g1 && keys == lowerCase:
		return camelCase
	}
	return ""
}

// How the first key of a JSON object begins.
const (
	noKey = iota
	upperCase
	lowerCase
)

func keyCase(data []byte) int {
	_, key, _ := bytes.Cut(data, []byte{'"'})
	switch {
	case len(key) == 0:
		return noKey
	case key[0] >= 'A' && key[0] <= 'Z':
		return upperCase
	}
	return lowerCase
}

// tellDialects reports a session of which some events, and not all, are those of
// another writer.
func (n *notes) tellDialects(s *session.Session) {
	count, of, aware := 0, map[string]int{}, 0
	for i := range s.Items {
		note := n.of(&s.Items[i])
		if note.dialect != "" {
			count++
			of[note.dialect]++
		}
		if note.aware {
			aware++
		}
	}
	if aware > 0 && aware < len(s.Items) {
		of[awareTimes], count = aware, max(count, aware)
	}
	if count == 0 || count == len(s.Items) && len(of) == 1 {
		return
	}
	var parts []string
	for _, d := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, fmt.Sprintf("%d of %d events have %s", of[d], len(s.Items), d))
	}
	s.Faults = append(s.Faults, session.Fault{
		Kind: session.MixedDialects, Ref: s.Ref(), Item: -1, Field: tableEvents, Count: count, Detail: strings.Join(parts, "; "),
	})
}
