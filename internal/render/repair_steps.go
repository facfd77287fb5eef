package render

import (
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// widestExcerpt is how many columns of a value are shown at most.
const widestExcerpt = document.WidestQuote

// stepChange says what a step does, with what the item says where that is shown.
func stepChange(s *repair.Step, content bool) document.Change {
	c := document.Change{Place: stepPlace(s.Session, s.Item), What: itemWords(s, content)}
	say := func(what string) { c.What = document.Quote{Who: what} }
	switch s.Op {
	case session.RemoveTwin:
		c.Kind, c.Note = document.Gone, "same as "+twinPlace(s.Twin)
	case session.Quarantine:
		c.Kind, c.Note = document.Gone, "to the receipt"
		if s.Twin != nil {
			c.Note += "; stays in " + twinPlace(s.Twin)
		}
	case session.Move:
		c.Kind, c.Note = document.Moved, destination(s)
	case session.MoveRun:
		c.Kind, c.Note = document.Moved, destination(s)
		say("run " + ui.Clean(rules.Short(s.Run)))
	case session.Insert:
		c.Kind, c.Note = document.Added, behind(s.After)
		if s.Role == session.System {
			c.Note = "at the start"
			say("task and start message")
		}
	case session.Create:
		c.Kind, c.Place, c.Note = document.Added, stepPlace(s.Child, -1), "below "+stepPlace(s.To, -1)
		switch {
		case s.Like != "": // all of one agent, so that only the calls tell them apart
			c.Note = "split from " + stepPlace(s.Like, -1)
			say("new sub-session for " + callID(s))
		case s.Agent != "":
			say("new sub-session for " + ui.Clean(s.Agent))
		default:
			say("new sub-session")
		}
	case session.Set, session.Wrap, session.Scrub:
		say(editWords(s))
	}
	return c
}

// editWords say what a record says from then on.
func editWords(s *repair.Step) string {
	part, id := partWord(s), ""
	if s.Value != nil {
		id = ui.Clean(*s.Value)
	}
	switch {
	case s.Op == session.Wrap:
		return "the arguments of call " + callID(s) + " become an object that holds them as text"
	case s.Op == session.Scrub:
		return "what is no text becomes U+FFFD"
	case part == "calls" && s.Field == session.FieldChild:
		return "the question of " + callID(s) + " names session " + rules.Short(id)
	case part == "calls":
		return "call " + callID(s) + " gets the id " + id
	case s.Field == session.FieldChild:
		return "the result of " + callID(s) + " names session " + rules.Short(id)
	case part == "results":
		return "the result of " + callID(s) + " becomes that of " + id
	case part == "blocks" && s.Value == nil:
		return "a part loses the provider's id"
	case part == "blocks":
		return "a part gets the provider's id " + id
	case s.Field == session.FieldText && s.Item >= 0:
		return "the blank text goes"
	}
	return ui.Clean(s.Field) + " → " + value(s.Value)
}

// partWord is the list that the part of a step stands in, "" for a whole item.
func partWord(s *repair.Step) string {
	part, _, _ := strings.Cut(strings.TrimPrefix(s.Part, "/"), "/")
	return part
}

// callID is the id of the call that a step is about.
func callID(s *repair.Step) string {
	if s.Call == "" {
		return "(no id)"
	}
	return ui.Clean(s.Call)
}

func destination(s *repair.Step) string {
	if s.To != s.Session {
		return "to " + stepPlace(s.To, -1)
	}
	if s.After < 0 {
		return "moves"
	}
	return "to " + behind(s.After)
}

func behind(item int) string {
	if item < 0 {
		return ""
	}
	return "after item " + strconv.Itoa(item)
}

func twinPlace(p *session.Place) string {
	if p == nil {
		return "another item"
	}
	return stepPlace(p.Session, p.Item)
}

// stepPlace is SESSION:ITEM as in a finding, or SESSION for what has no place yet.
func stepPlace(session string, item int) string {
	id := ui.Clean(rules.Short(session))
	if item < 0 {
		return id
	}
	return id + ":" + strconv.Itoa(item)
}

// itemWords say what an item is, with what it says where that is wanted.
func itemWords(s *repair.Step, content bool) document.Quote {
	said := ""
	if content {
		said = s.Text
	}
	switch {
	case s.Kind == session.SubSession:
		return document.Quote{Who: "reference to sub-session " + stepPlace(s.Child, -1)}
	case s.Kind == session.Summary:
		return document.Quote{Who: "summary", Said: said}
	case s.Kind == session.Other:
		return document.Quote{Who: "record"}
	case s.Rest:
		return document.Quote{Who: "only the result of " + callID(s), Said: said}
	case s.Role == session.Tool || partWord(s) == "results":
		return document.Quote{Who: "result of " + callID(s), Said: said}
	}
	q := document.Quote{Who: ui.Clean(s.Agent), Said: said, Bare: "message"}
	if q.Who == "" {
		q.Who = s.Role.String()
	}
	if len(s.Calls) > 0 {
		q.More = " + " + ui.Clean(strings.Join(s.Calls, ", "))
	}
	return q
}

// value is what a field becomes.
func value(v *string) string {
	if v == nil {
		return "NULL"
	}
	return `"` + ui.Excerpt(*v, widestExcerpt) + `"`
}
