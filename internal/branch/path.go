package branch

import "strings"

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
	return judge(viewer, event, p.sees)
}

func (p Path) sees(v Viewer, e Event) (bool, Reason) {
	viewer, event := path(v.Label), path(e.Label)
	switch {
	case event == "":
		return true, Root
	case viewer == "" && p.HidesToolRuns && isToolRun(event):
		return false, Child
	case viewer == "":
		return true, Unbranched
	}
	reason := relation(viewer, event)
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
	return judge(viewer, event, r.sees)
}

func (RawPrefix) sees(viewer Viewer, event Event) (bool, Reason) {
	visible, reason := Path{}.sees(viewer, event)
	return visible || strings.HasPrefix(viewer.Label, event.Label), reason
}

// relation says where a branch is, seen from another; neither is the root.
func relation(viewer, event string) Reason {
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

// path is the label as a path: "" for the root in any form.
func path(label string) string {
	if Parse(label).Root() {
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

// SubBranch is the path one segment below its parent.
func SubBranch(parent, segment string) string {
	if parent == "" || segment == "" {
		return parent + segment
	}
	return parent + "." + segment
}
