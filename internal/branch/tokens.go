package branch

import "slices"

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
	return judge(viewer, event, t.sees)
}

func (t Tokens) sees(viewer Viewer, event Event) (bool, Reason) {
	if viewer.Invocation != event.Invocation && viewer.Invocation != "" && event.Invocation != "" {
		return true, OtherInvocation
	}
	v, e := t.parse(viewer.Label), t.parse(event.Label)
	switch {
	case event.Label == viewer.Label && !e.Root():
		return true, Own
	case len(e.Tokens) == 0:
		return true, Root
	case v.Tokens == nil && !v.Root():
		return true, Unbranched
	case slices.Equal(e.Tokens, v.Tokens):
		return true, Own
	case v.Tokens.Contains(e.Tokens):
		return true, TokenSubset
	}
	return false, TokenMissing
}

func (t Tokens) parse(label string) Label {
	known, ok := t.read[label]
	if !ok {
		known = Parse(label)
		if t.read != nil {
			t.read[label] = known
		}
	}
	return known
}

// Factory gives out the tokens of one invocation, from 1.
type Factory struct{ last int }

// Reset begins a new invocation.
func (f *Factory) Reset() { f.last = 0 }

// Fork gives each of n parallel children the parent's tokens and a fresh one, in
// the order of the children.
func (f *Factory) Fork(parent Set, n int) []Set {
	children := make([]Set, n)
	for i := range children {
		f.last++
		children[i] = Join(parent, Set{f.last})
	}
	return children
}
