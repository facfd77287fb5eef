package render

import (
	"github.com/sessctl/sessctl/internal/branch"
	"github.com/sessctl/sessctl/internal/view"
)

// letters names a viewer in a matrix: A to Z, AA, AB.
func letters(i int) string {
	name := string(rune('A' + i%26))
	if i >= 26 {
		return letters(i/26-1) + name
	}
	return name
}

// The signs of a matrix. What is hidden has a letter for the reason.
const (
	seenSign = "+"
	ownSign  = "="
	sameSign = "·" // two models agree
)

var hiddenSigns = []struct {
	reason branch.Reason
	sign   string
}{
	{branch.Sibling, "s"}, {branch.Child, "c"}, {branch.Unrelated, "u"}, {branch.TokenMissing, "t"}, {branch.ForkDisjoint, "f"},
	{branch.OutOfScope, "o"}, {branch.OtherSession, "x"}, {branch.Archived, "a"}, {branch.Rewound, "r"}, {branch.Compacted, "m"},
	{branch.HiddenKind, "n"},
}

// sign is a cell of the matrix: how a viewer sees an event or, of two models, the
// first letter of the one that shows it.
func (t *visibilityTable) sign(e *view.Event, viewer int) string {
	cell := t.v.Cell(e, viewer, 0)
	if len(t.v.Models) == 2 {
		switch {
		case !t.v.Disagree(e, viewer):
			return sameSign
		case cell.Visible:
			return t.v.Models[0].Name[:1]
		}
		return t.v.Models[1].Name[:1]
	}
	switch {
	case cell.Visible && (cell.Reason == branch.Own || cell.Reason == branch.OwnSession):
		return ownSign
	case cell.Visible:
		return seenSign
	}
	for _, h := range hiddenSigns {
		if h.reason == cell.Reason {
			return h.sign
		}
	}
	return "-"
}

// legend explains the signs that occur.
func (t *visibilityTable) legend() []string {
	if models := t.v.Models; len(models) == 2 {
		return []string{
			models[0].Name[:1] + " only " + models[0].Name + " shows it",
			models[1].Name[:1] + " only " + models[1].Name + " shows it",
			sameSign + " they agree",
		}
	}
	used := map[string]bool{}
	for i := range t.v.Events {
		for n := range t.v.Viewers {
			used[t.sign(&t.v.Events[i], n)] = true
		}
	}
	var list []string
	for _, known := range []struct{ sign, words string }{{seenSign, "sees it"}, {ownSign, "its own"}} {
		if used[known.sign] {
			list = append(list, known.sign+" "+known.words)
		}
	}
	for _, h := range hiddenSigns {
		if used[h.sign] {
			list = append(list, h.sign+" "+view.Words(h.reason))
		}
	}
	return list
}
