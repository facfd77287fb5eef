package view

import (
	"strings"

	"github.com/sessctl/sessctl/internal/branch"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// reasons are the reasons in words.
var reasons = map[branch.Reason]string{
	branch.Root:            "root event, visible to all",
	branch.Ancestor:        "ancestor",
	branch.Own:             "own branch",
	branch.Unbranched:      "a viewer without a branch sees all",
	branch.OtherInvocation: "other invocation",
	branch.Sibling:         "sibling branch",
	branch.Child:           "child branch",
	branch.Unrelated:       "unrelated branch",
	branch.Archived:        "archived",
	branch.OutOfScope:      "outside its scope",
	branch.Rewound:         "rewound",
	branch.Compacted:       "covered by a summary",
	branch.HiddenKind:      "no model sees it",
	branch.TokenSubset:     "all its tokens are held",
	branch.TokenMissing:    "a token is missing",
	branch.ForkDisjoint:    "other side of a fork",
	branch.OwnSession:      "own session",
	branch.OtherSession:    "other session",
}

// Words say why a viewer sees an event or not.
func (c Cell) Words(viewer *Viewer, e *Event) string {
	parent, event := viewer.Branch[:max(strings.LastIndexByte(viewer.Branch, '.'), 0)], e.Stored().Branch
	switch {
	case c.Reason == branch.Ancestor && parent == event:
		return "direct ancestor"
	case c.Visible && (c.Reason == branch.Sibling || c.Reason == branch.Unrelated && strings.HasPrefix(viewer.Branch, event)):
		return reasons[c.Reason] + ", but its text is a prefix"
	}
	return reasons[c.Reason]
}

// Words say why, for no viewer in particular.
func Words(r branch.Reason) string { return reasons[r] }

// Label is a branch for people: a path as it is stored, a set in braces, "–" for
// none.
func Label(label string) string {
	parsed := branch.Parse(label)
	switch {
	case parsed.Tokens != nil:
		return SetWords(parsed.Tokens)
	case label == "":
		return "–"
	}
	return label
}

// SetWords are a set of tokens: "{1,3}".
func SetWords(tokens branch.Set) string {
	text := strings.Trim(branch.Label{Tokens: branch.Join(tokens)}.String(), "{}")
	return "{" + strings.Trim(strings.TrimPrefix(text, `"tokens":`), "[]") + "}"
}

// Name is a viewer for people: "orch.researcher".
func (v *Viewer) Name() string {
	switch {
	case v.Key == v.Session.ID:
		return strings.TrimSpace(v.Agent + " in session " + rules.Short(v.Key))
	case v.Key == "" && v.Agent != "":
		return v.Agent + ", without a branch"
	case v.Key == "":
		return "an agent without a branch"
	case strings.HasPrefix(v.Branch, "{"):
		return Label(v.Branch) + strings.TrimPrefix(v.Key, v.Branch)
	}
	return v.Key
}

// Head says which model decides, and whose reader goes by it: "path (Spring AI
// Session)".
func (m *Model) Head(st *session.Store) string {
	switch {
	case m.Recomputed:
		return m.Name + ", computed from paths"
	case m.Own:
		return m.Name + " (" + st.Title + ")"
	case st.BranchModel != "":
		return m.Name + " (" + st.Title + " goes by " + st.BranchModel + ")"
	}
	return m.Name
}

// Remarks are what has to be known of the models, in sentences.
func (v *Visibility) Remarks(st *session.Store) []string {
	var said []string
	for i := range v.Models {
		switch m := &v.Models[i]; {
		case m.Name == "raw-prefix":
			readers := st.PrefixReaders
			if readers == "" {
				readers = "adk-python up to 1.4 and some later releases, adk-go 0.1 and adk-java up to 1.8.0"
			}
			said = append(said, "raw-prefix is what older readers did ("+readers+"): every label that the viewer's begins with counts as one above it.")
		case m.Recomputed:
			said = append(said, "The token sets are computed from paths and order, and exact up to renaming only: an agent that stored nothing took a token, too.")
			if m.Unreadable > 0 {
				said = append(said, counted(m.Unreadable)+" a path that is no list of pairs (parallel agent, child), so that no set can be computed: tokens shows such events to all.")
			}
		}
	}
	return said
}

func counted(n int) string {
	if n == 1 {
		return "1 event has"
	}
	return ui.Count(n, "event") + " have"
}
