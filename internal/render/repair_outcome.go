package render

import (
	"io"
	"strings"

	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
)

func (r *repairText) Ask(backup string, bytes int64) error {
	r.asked = true
	_, err := io.WriteString(r.Screen, "\nBackup: "+ui.Clean(ui.Tilde(backup, r.Home))+" ("+ui.Bytes(bytes)+")\n")
	return err
}

// Close prints what became of the plan. What has to be copied stands on a line
// of its own, whole.
func (r *repairText) Close(o Outcome) error {
	var out strings.Builder
	switch {
	case o.Applied:
		r.applied(&out, o)
	case len(o.Next) > 0 && !r.Quiet:
		out.WriteString("Nothing was changed. Next:\n" + nextLines(o.Next, r.Screen.TextWidth()))
	}
	_, err := io.WriteString(r.Screen, out.String())
	return err
}

func (r *repairText) applied(out *strings.Builder, o Outcome) {
	var done []string
	if o.Backup != "" {
		done = append(done, "backed up")
	}
	done = append(done, "applied", "verified: "+accounted(*o.Ledger))
	out.WriteString(ui.Hang("", "", ui.Green.Render("✓")+" "+strings.Join(done, "  "+ui.Green.Render("✓")+" "), r.Screen.TextWidth()))
	r.leftOut(out, o.LeftOut)
	r.firstOfAll(out, o.LeftOut)
	if o.Output != "" {
		out.WriteString("Written to: " + ui.Clean(ui.Tilde(o.Output, r.Home)) + "\nWhat left:  " + ui.Clean(ui.Tilde(o.Receipt, r.Home)) +
			"\nThe store itself was not changed.\n")
		return
	}
	if o.Backup != "" && !r.asked {
		out.WriteString("Backup: " + ui.Clean(ui.Tilde(o.Backup, r.Home)) + "\n")
	}
	for _, n := range o.Next {
		out.WriteString("Undo with: " + ui.Clean(n.Line) + "\n")
	}
}

// leftOut names the sessions that could not be repaired.
func (r *repairText) leftOut(out *strings.Builder, list []repair.LeftOut) {
	for i, l := range list {
		if i == r.MaxSteps && r.MaxSteps > 0 {
			out.WriteString("…and " + ui.Count(len(list)-i, "session") + " more left out (--format json lists all)\n")
			return
		}
		text := "Left out: session " + ui.Clean(rules.Short(l.Root)) + " is as before: " + ui.Ended(ui.Clean(l.Why))
		if l.Next != "" {
			text += " " + ui.Sentence(ui.Clean(l.Next))
		}
		out.WriteString(ui.Hang("", "  ", text, r.Screen.TextWidth()))
	}
}

// accounted holds the items that there were against those that are stored or
// left with a reason.
func accounted(l repair.Ledger) string {
	text := ui.Number(l.After-l.Synthetic+l.Quarantined+l.Removed) + " of " + ui.Count(l.Before, "item") + " accounted for"
	if l.Synthetic > 0 {
		text += ", " + ui.Number(l.Synthetic) + " added"
	}
	if l.Edited > 0 {
		text += ", " + ui.Number(l.Edited) + " changed"
	}
	return text
}
