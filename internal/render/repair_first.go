package render

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/ui"
)

// first says where the next request of every changed session begins to differ
// from the last one, and what that costs.
func (r *repairText) first(out *strings.Builder, indent string, changes []repair.FirstChange) {
	for _, c := range changes {
		text := "From item " + strconv.Itoa(c.Item) + " of " + stepPlace(c.Session, -1) + " on, the prompt cache is void."
		if c.Signed != nil {
			text += " Item " + strconv.Itoa(*c.Signed) + storedIn(c) + " holds thinking that its provider signed: " +
				"the newest Claude models refuse it after a change before it (SC505)."
		}
		out.WriteString(ui.Hang(indent, indent+"  ", text, r.Screen.TextWidth()))
	}
}

// storedIn names the session of an item that a repair moves into another one.
func storedIn(c repair.FirstChange) string {
	if c.SignedIn == "" {
		return ""
	}
	return " of " + stepPlace(c.SignedIn, -1)
}

// firstOfAll says the same of all trees that were changed in short.
func (r *repairText) firstOfAll(out *strings.Builder, leftOut []repair.LeftOut) {
	var changed, signed []string
	for _, t := range r.plan.Trees {
		if slices.ContainsFunc(leftOut, func(l repair.LeftOut) bool { return l.Root == t.Root }) {
			continue
		}
		for _, c := range t.First {
			changed = append(changed, stepPlace(c.Session, c.Item))
			if c.Signed != nil {
				signed = append(signed, stepPlace(cmp.Or(c.SignedIn, c.Session), *c.Signed))
			}
		}
	}
	say := func(before string, places []string, behind string) {
		if len(places) > 0 {
			out.WriteString(ui.Hang("", "  ", before+r.some(places)+behind, r.Screen.TextWidth()))
		}
	}
	say("The prompt cache is void from here on: ", changed, ".")
	say("Signed thinking follows: ", signed, ". The newest Claude models refuse it after a change before it (SC505).")
}

// some lists words, no more than steps may be shown.
func (r *repairText) some(words []string) string {
	if r.MaxSteps == 0 || len(words) <= r.MaxSteps {
		return strings.Join(words, ", ")
	}
	return strings.Join(words[:r.MaxSteps], ", ") + " and " + ui.Number(len(words)-r.MaxSteps) + " more"
}
