package render_test

import (
	"fmt"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
	"github.com/sessctl/sessctl/internal/view"
)

// Eleven calls with long names share a child.
func TestBordersFitTheScreen(t *testing.T) {
	const calls = 11
	const sentence = "Check the pods of the cluster in Frankfurt and say which of them do not run, number "
	var parent, child strings.Builder
	parent.WriteString("P\n  user\n  root")
	for n := range calls {
		fmt.Fprintf(&parent, " call_%016d>kagent__team__checks_the_clusters(%s%d)=C", n, strings.ReplaceAll(sentence, " ", "_"), n)
		fmt.Fprintf(&child, "  user %q run=r%d\n", strings.ReplaceAll(sentence, " ", "_")+fmt.Sprint(n), n)
	}
	for n := range calls {
		fmt.Fprintf(&parent, "\n  root <call_%016d %q", n, strings.Repeat("All of them run, but one. ", 20))
	}
	tree := treetest.Tree(t, parent.String()+"\nC<P\n"+child.String()+"  worker \"done\" run=r0\n")
	v := view.BuildBorders(view.Input{Store: &session.Store{}, Tree: tree, Session: "P"})
	for _, full := range []bool{false, true} {
		for _, width := range []int{60, 80, 120} {
			text := printed(t, "text", v, width, full)
			for line := range strings.Lines(text) {
				if got := lipgloss.Width(strings.TrimRight(line, "\n")); got > width {
					t.Errorf("a line of %d columns on a screen of %d: %s", got, width, line)
				}
			}
			if got := strings.Count(text, "of the sub-session"); got != calls {
				t.Errorf("%d of the child's items are told, want that of each of %d calls:\n%s", got, calls, text)
			}
		}
	}
}
