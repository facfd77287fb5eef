package branch

import (
	"maps"
	"slices"
	"strings"
)

// Named is a model and the name that flags, stores and machine formats call it by.
type Named struct {
	Name  string
	Model Model
}

// Models are all there are.
var Models = []Named{
	{"path", Path{}},
	{"raw-prefix", RawPrefix{}},
	{"tokens", Tokens{}},
	{"forks", Forks{}},
	{"names", Names{}},
	{"session", Session{}},
}

// FindModel gives the model of a name, nil where no model is called so.
func FindModel(name string) Model {
	for _, m := range Models {
		if m.Name == name {
			return m.Model
		}
	}
	return nil
}

// judgeEvent asks a rule about branches, unless something hides the event under every
// rule: the store's reader passes it over, it is of another scope ("" is a scope,
// too), or it is for another node (adk-go and adk-python since 2.0).
func judgeEvent(viewer Viewer, event Event, sees func(Viewer, Event) (bool, Reason)) (bool, Reason) {
	switch {
	case event.Kept != None:
		return false, event.Kept
	case event.Scope != viewer.Scope, event.Node != "" && event.Node != viewer.Node:
		return false, OutOfScope
	}
	return sees(viewer, event)
}

// Session is the rule of runtimes that isolate agents by sessions, as docker agent
// does: an agent sees its own session, and of its children's the calls and results
// that stand in its own.
type Session struct{}

// Visible reports OwnSession or OtherSession. Scopes and nodes are no matter of
// such runtimes.
func (Session) Visible(viewer Viewer, event Event) (bool, Reason) {
	event.Scope, event.Node = viewer.Scope, ""
	return judgeEvent(viewer, event, func(viewer Viewer, event Event) (bool, Reason) {
		if event.Session == viewer.Session {
			return true, OwnSession
		}
		return false, OtherSession
	})
}

// Path is the rule of labels that are paths ("orch.researcher"): an agent sees the
// events of its own branch, of those above it by whole segments, and those without
// a branch; an agent without a branch sees all. So read adk-python since late 2025,
// adk-go since 0.4.0, adk-java since 1.8.1 and Spring AI Session.
type Path struct {
	// HidesToolRuns: what a tool's own run said is seen by that run only, as in
	// the newest adk-python. adk-go has no such filter.
	HidesToolRuns bool
	// OpenScopes: what has no isolation scope is seen in every scope, as in adk-js.
	OpenScopes bool
}

// Visible reports Child, Sibling and Unrelated for what is hidden.
func (p Path) Visible(viewer Viewer, event Event) (bool, Reason) {
	if p.OpenScopes && event.Scope == "" {
		event.Scope = viewer.Scope
	}
	return judgeEvent(viewer, event, p.seesEvent)
}

func (p Path) seesEvent(v Viewer, e Event) (bool, Reason) {
	viewer, event := labelPath(v.Label), labelPath(e.Label)
	switch {
	case event == "":
		return true, Root
	case viewer == "" && p.HidesToolRuns && isToolRun(event):
		return false, Child
	case viewer == "":
		return true, Unbranched
	}
	reason := branchRelation(viewer, event)
	return reason == Own || reason == Ancestor, reason
}

// RawPrefix is the rule of older readers, adk-python to 1.4 and somewhat later,
// adk-go 0.1 and adk-java to 1.8.0: as Path, but any text that the viewer's label
// begins with is a branch above it, so that agent_10 sees what agent_1 said
// (adk-python issue 2948, adk-java issue 1414).
type RawPrefix struct{}

// Visible gives the reasons of Path: an event that is visible as Sibling or
// Unrelated is one that only these readers show.
func (r RawPrefix) Visible(viewer Viewer, event Event) (bool, Reason) {
	return judgeEvent(viewer, event, r.seesEvent)
}

func (RawPrefix) seesEvent(viewer Viewer, event Event) (bool, Reason) {
	visible, reason := Path{}.seesEvent(viewer, event)
	return visible || strings.HasPrefix(viewer.Label, event.Label), reason
}

// branchRelation says where a branch is, seen from another; neither is the root.
func branchRelation(viewer, event string) Reason {
	switch {
	case event == viewer:
		return Own
	case isBelow(viewer, event):
		return Ancestor
	case isBelow(event, viewer):
		return Child
	case firstSegment(viewer) == firstSegment(event):
		return Sibling
	}
	return Unrelated
}

func isBelow(path, above string) bool {
	rest, ok := strings.CutPrefix(path, above)
	return ok && strings.HasPrefix(rest, ".")
}

func firstSegment(path string) string {
	first, _, _ := strings.Cut(path, ".")
	return first
}

// labelPath is the label as a path: "" for the root in any form.
func labelPath(label string) string {
	if ParseLabel(label).IsRoot() {
		return ""
	}
	return label
}

// isToolRun reports whether a segment of the path is "tool@call id". A number
// behind the "@" is no call's id: workflows count their nodes' runs so.
func isToolRun(path string) bool {
	for segment := range strings.SplitSeq(path, ".") {
		tool, id, _ := strings.Cut(segment, "@")
		if tool != "" && strings.Trim(id, "0123456789") != "" {
			return true
		}
	}
	return false
}

// CommonPrefix is the longest path that all labels begin with, by whole segments.
// Nodes that join parallel branches run on it, and so does a summary of events
// of several branches.
func CommonPrefix(labels ...string) string {
	if len(labels) == 0 {
		return ""
	}
	common := strings.Split(labels[0], ".")
	for _, label := range labels[1:] {
		n := 0
		for segment := range strings.SplitSeq(label, ".") {
			if n == len(common) || segment != common[n] {
				break
			}
			n++
		}
		common = common[:n]
	}
	return strings.Join(common, ".")
}

// Forks is the rule of the later, structural revision of adk-python pull request
// 3889: a branch holds the indices it is of in every fork that is not joined yet,
// and an event is hidden only if some fork is in both with no index in common. A
// fork that the viewer does not have is history to it. Nothing is known of
// invocations in this revision, so they make no difference.
type Forks struct{}

// Visible reports ForkDisjoint for what is hidden. Root stands for every event
// without forks, Unbranched for every viewer without; Child and Unrelated are
// visible: of forks that the viewer does not have.
func (f Forks) Visible(viewer Viewer, event Event) (bool, Reason) {
	return judgeEvent(viewer, event, f.seesEvent)
}

func (Forks) seesEvent(viewer Viewer, event Event) (bool, Reason) {
	v, e := ParseLabel(viewer.Label), ParseLabel(event.Label)
	switch {
	case event.Label == viewer.Label && !e.IsRoot():
		return true, Own
	case len(e.Forks) == 0:
		return true, Root
	case len(v.Forks) == 0:
		return true, Unbranched
	case maps.EqualFunc(v.Forks, e.Forks, sameIndices):
		return true, Own
	}
	shared := 0
	for id, its := range e.Forks {
		if mine, both := v.Forks[id]; both {
			if !mine.Indices.Meets(its.Indices) {
				return false, ForkDisjoint
			}
			shared++
		}
	}
	switch shared {
	case len(e.Forks):
		return true, Ancestor
	case len(v.Forks):
		return true, Child
	}
	return true, Unrelated
}

func sameIndices(a, b Fork) bool { return slices.Equal(a.Indices, b.Indices) }

// Tokens is the rule of the token-set revision of adk-python pull request 3889
// (open): an agent sees an event of its invocation if it has all of its tokens.
// The root is the empty set, for a viewer too: it sees no child that it has not
// joined.
//
// An event whose label is no token set is visible to all, as in that revision. A
// viewer always has a set there; one whose label is a path or forks cannot be
// compared with anything, so nothing is hidden from it either.
type Tokens struct {
	// read are the labels that were read before, nil to read each anew. Sets grow
	// with every group of a run, and the same few are asked about again and again.
	read map[string]Label
}

// Visible reports TokenMissing for what is hidden. Root stands for every event
// without tokens, Unbranched for every viewer whose label is no set.
func (t Tokens) Visible(viewer Viewer, event Event) (bool, Reason) {
	return judgeEvent(viewer, event, t.seesEvent)
}

func (t Tokens) seesEvent(viewer Viewer, event Event) (bool, Reason) {
	if viewer.Invocation != event.Invocation && viewer.Invocation != "" && event.Invocation != "" {
		return true, OtherInvocation
	}
	v, e := t.parseLabel(viewer.Label), t.parseLabel(event.Label)
	switch {
	case event.Label == viewer.Label && !e.IsRoot():
		return true, Own
	case len(e.Tokens) == 0:
		return true, Root
	case v.Tokens == nil && !v.IsRoot():
		return true, Unbranched
	case slices.Equal(e.Tokens, v.Tokens):
		return true, Own
	case v.Tokens.Contains(e.Tokens):
		return true, TokenSubset
	}
	return false, TokenMissing
}

func (t Tokens) parseLabel(label string) Label {
	known, ok := t.read[label]
	if !ok {
		known = ParseLabel(label)
		if t.read != nil {
			t.read[label] = known
		}
	}
	return known
}

// Names is the rule of copied histories: a branch began as a copy of another one's first events, which
// are stored once and name both. An agent sees the events that name its branch.
type Names struct{}

// Visible reports Sibling for what is hidden. Root stands for every event whose label names no
// branch, Unbranched for every such viewer.
func (n Names) Visible(viewer Viewer, event Event) (bool, Reason) {
	return judgeEvent(viewer, event, func(viewer Viewer, event Event) (bool, Reason) {
		v, e := ParseLabel(viewer.Label).Names, ParseLabel(event.Label).Names
		switch {
		case len(e) == 0:
			return true, Root
		case len(v) == 0:
			return true, Unbranched
		case slices.ContainsFunc(v, func(name string) bool { return slices.Contains(e, name) }):
			return true, Own
		}
		return false, Sibling
	})
}
