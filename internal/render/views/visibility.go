package views

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/branch"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// visibilityTable makes the cells of a table of events: what they are, and what a
// block of viewers sees of them. Its cells are safe to print.
type visibilityTable struct {
	v       *view.Visibility
	viewers []int // the block: indexes of the viewers
	sets    bool  // a column of token sets that were computed
}

func newVisibilityTable(v *view.Visibility) *visibilityTable {
	t := &visibilityTable{v: v}
	for i := 0; i < len(v.Viewers) && !v.IsCrowd(); i++ {
		t.viewers = append(t.viewers, i)
	}
	t.sets = len(v.Models) == 1 && v.Models[0].Recomputed
	return t
}

// columnNames are the headings.
func (t *visibilityTable) columnNames() []string {
	list := []string{"#", "author", "branch"}
	if t.sets {
		list = append(list, "tokens")
	}
	switch {
	case !t.v.Single:
		for _, i := range t.viewers {
			list = append(list, viewerLetters(i))
		}
		return list
	case len(t.v.Models) == 1:
		list = append(list, "sees")
	default:
		list = append(list, t.v.Models[0].Name, t.v.Models[1].Name)
	}
	return append(list, "why")
}

// eventCells are the cells of an event.
func (t *visibilityTable) eventCells(e *view.Event) []string {
	list := append(make([]string, 0, 6), strconv.Itoa(e.Item), ui.Clean(e.Who()), ui.Clean(view.BranchLabel(e.Stored().Branch())))
	if t.sets {
		list = append(list, ui.Clean(view.BranchLabel(e.Set)))
	}
	if !t.v.Single {
		for _, i := range t.viewers {
			list = append(list, t.cellSign(e, i))
		}
		return list
	}
	viewer := &t.v.Viewers[0]
	why := make([]string, 0, 2)
	for m := range t.v.Models {
		cell := t.v.Cell(e, 0, m)
		list = append(list, yesNo[cell.Visible])
		why = append(why, cell.Words(viewer, e))
	}
	return append(list, oneReason(why))
}

// oneReason says why in the words of every model. Where those of one go on from
// those of another, they say both.
func oneReason(why []string) string {
	last := why[len(why)-1]
	switch {
	case strings.HasPrefix(why[0], last):
		return why[0]
	case strings.HasPrefix(last, why[0]):
		return last
	}
	return strings.Join(why, "; ")
}

var yesNo = map[bool]string{true: "yes", false: "no"}

// modelWords name the models with whose readers go by them.
func modelWords(v *view.View) string {
	models := v.Visibility.Models
	if len(models) == 1 {
		return "model: " + models[0].Head(v.Store)
	}
	var names []string
	for i := range models {
		name := models[i].Name
		if models[i].Own {
			name = models[i].Head(v.Store)
		}
		names = append(names, name)
	}
	return "models: " + strings.Join(names, " and ")
}

// seesCount says how many events a viewer sees: "3 of 5", and of two models
// "path 3, tokens 4 of 5".
func seesCount(v *view.Visibility, viewer *view.Viewer) string {
	if len(v.Models) == 1 {
		return fmt.Sprintf("%s of %s", ui.Number(viewer.Sees[0]), ui.Number(v.Total))
	}
	return fmt.Sprintf("%s %s, %s %s of %s", v.Models[0].Name, ui.Number(viewer.Sees[0]), v.Models[1].Name, ui.Number(viewer.Sees[1]), ui.Number(v.Total))
}

// visibilityCount is the count at the end.
func visibilityCount(v *view.Visibility) string {
	total := ui.Count(v.Total, "event")
	switch {
	case len(v.Models) == 2:
		return fmt.Sprintf("%s and %s disagree on %s of %s", v.Models[0].Name, v.Models[1].Name, ui.Number(len(v.Events)), total)
	case v.Single:
		return fmt.Sprintf("%s of %s visible to %s", ui.Number(v.Viewers[0].Sees[0]), total, ui.Clean(v.Viewers[0].Name()))
	}
	return fmt.Sprintf("%s, %s", total, ui.Count(len(v.Viewers), "viewer"))
}

// holderTable is who held which tokens.
func holderTable(v *view.Visibility) document.Table {
	runs := map[string]bool{}
	for i := range v.Holders {
		runs[v.Holders[i].Invocation] = true
	}
	table := document.Table{Columns: []document.Column{
		{Name: "agent", Give: document.Tail}, {Name: "branch", Give: document.Tail}, {Name: "tokens", Give: document.Tail}, {Name: "sees messages of", Give: document.Break},
	}}
	for i := range v.Holders {
		h := &v.Holders[i]
		tokens := "none computed"
		if h.Tokens != nil {
			tokens = view.SetWords(h.Tokens)
		}
		row := render.Cells(h.Agent, view.BranchLabel(h.Branch), tokens, strings.Join(h.Sees, ", "))
		if len(runs) > 1 {
			row = append(render.Cells(h.Invocation), row...)
		}
		table.Rows = append(table.Rows, row)
	}
	if len(runs) > 1 {
		table.Columns = append([]document.Column{{Name: "run", Give: document.Tail}}, table.Columns...)
	}
	return table
}

// crowdBlocks says of many viewers which events each one sees, or on which two models disagree.
// Viewers that see the same share a row.
func (t *visibilityTable) crowdBlocks() document.Document {
	var doc document.Document
	table := document.Table{Columns: []document.Column{{Name: "viewer", Give: document.Break}, {Name: "sees"}}}
	two := len(t.v.Models) == 2
	for i := range t.v.Models {
		name := "only " + t.v.Models[i].Name
		if !two {
			name = "sees besides"
			all := t.v.RunsWhere(0, func(e *view.Event) bool { return e.ToAll })
			doc = append(doc, render.Say("Every viewer sees: "+runWords(all)), document.Gap{})
		}
		table.Columns = append(table.Columns, document.Column{Name: name, Give: document.Break})
	}
	rows := map[string]int{}
	for i := range t.v.Viewers {
		viewer := &t.v.Viewers[i]
		row := []any{seesCount(t.v, viewer)}
		for m := range t.v.Models {
			row = append(row, runWords(t.v.RunsWhere(i, func(e *view.Event) bool {
				return t.v.Cell(e, i, m).Visible && !e.ToAll && (!two || t.v.ModelsDisagree(e, i))
			})))
		}
		key := fmt.Sprint(viewer.Session.ID, row)
		if at, known := rows[key]; known {
			table.Rows[at][0] = append(table.Rows[at][0], document.Words(", "+viewer.Name())...)
			continue
		}
		rows[key] = len(table.Rows)
		table.Rows = append(table.Rows, render.Cells(append([]any{viewer.Name()}, row...)...))
	}
	return append(doc, table)
}

// runWords are the first numbers of events: "0–2, 7".
func runWords(runs []view.Run) string {
	const most = 20
	words := cmp.Or(view.RunWords(runs[:min(len(runs), most)], "–", ", "), "nothing")
	if len(runs) > most {
		words += ", …"
	}
	return words
}

// viewerLetters names a viewer in a matrix: A to Z, AA, AB.
func viewerLetters(i int) string {
	name := string(rune('A' + i%26))
	if i >= 26 {
		return viewerLetters(i/26-1) + name
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

// cellSign is a cell of the matrix: how a viewer sees an event or, of two models, the
// first letter of the one that shows it.
func (t *visibilityTable) cellSign(e *view.Event, viewer int) string {
	cell := t.v.Cell(e, viewer, 0)
	if len(t.v.Models) == 2 {
		switch {
		case !t.v.ModelsDisagree(e, viewer):
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

// signLegend explains the signs that occur.
func (t *visibilityTable) signLegend() []string {
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
			used[t.cellSign(&t.v.Events[i], n)] = true
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
			list = append(list, h.sign+" "+view.ReasonWords(h.reason))
		}
	}
	return list
}
