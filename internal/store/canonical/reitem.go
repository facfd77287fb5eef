package canonical

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
)

// itemLine is the line of item i of session s: as it is stored, changed only
// where the model says something else. A new item is encoded.
func (r *rewriter) itemLine(s *session.Session, i int) ([]byte, error) {
	it := &s.Items[i]
	if it.Body == nil {
		return nil, fmt.Errorf("item %s of session %s cannot be written: its body was not loaded", it.Key, s.ID)
	}
	if it.Table == "" {
		rec := encodeItem(s, it, it.Body, r.names)
		return r.encode(&rec)
	}
	was := r.items.read(it.Body.Raw, 0)
	line := lineText{text: it.Body.Raw}
	if slices.ContainsFunc(r.items.faults, isBadUnicode) && !hasBadUnicode(s, i) {
		line.text = scrubbed(line.text)
	}
	if g, _ := r.skim.skim(line.text); g.session != s.ID {
		line.set("/session", s.ID)
	}
	if it.Role != was.Role {
		line.set("/role", it.Role.String())
	}
	// A reader passes over the agent of some roles.
	if _, given := line.raw("/agent"); it.Agent != was.Agent || it.Role != was.Role && given {
		line.set("/agent", it.Agent)
	}
	if it.KeptFrom != was.KeptFrom {
		line.set("/kept_from", it.KeptFrom)
	}
	if it.Branch != was.Branch {
		line.branch(it.Branch)
	}
	if archived := it.Flags.Has(session.Archived); archived != was.Flags.Has(session.Archived) {
		line.set("/archived", archived)
	}
	if was.Flags.Has(session.Skipped) && !it.Flags.Has(session.Skipped) { // its child came back
		line.set("/skipped", false)
	}
	line.parts(it, &was)
	return line.text, line.err
}

// branch writes a label in the form that a reader takes it from, or takes it away.
func (l *lineText) branch(label string) {
	if label == "" {
		l.remove("/branch")
	} else {
		l.setJSON("/branch", jsonOf(branchLabel{text: label}))
	}
}

func isBadUnicode(f session.Fault) bool { return f.Kind == session.BadUnicode }

func hasBadUnicode(s *session.Session, item int) bool {
	return slices.ContainsFunc(s.Faults, func(f session.Fault) bool { return f.Item == item && isBadUnicode(f) })
}

// parts writes what differs in an item of which a part was taken, in the part,
// and in an item that got other ids, arguments or no text.
func (l *lineText) parts(it, was *session.Item) {
	if it.Body.Text != was.Body.Text {
		l.set("/text", it.Body.Text)
	}
	if it.Body.Reasoning != was.Body.Reasoning {
		l.set("/reasoning", it.Body.Reasoning)
	}
	kept := keptResults(it.Results, was.Results)
	if len(it.Blocks) == 0 {
		for _, member := range []string{"/blocks", "/signature", "/media"} {
			if len(was.Blocks) > 0 {
				l.remove(member)
			}
		}
	} else {
		l.blocks(it, was, kept)
	}
	if _, there := l.raw("/size"); there && it.Size != was.Size {
		l.set("/size", it.Size)
	}
	if len(it.Calls) == 0 && len(was.Calls) > 0 {
		l.setJSON("/calls", jsontext.Value("[]"))
	}
	if was.Flags.Has(session.EmptyCalls) && !it.Flags.Has(session.EmptyCalls) {
		l.remove("/empty_calls")
	}
	l.calls(it, was)
	l.results(it, was, kept)
}

// calls writes the ids and arguments of calls that are others now. Arguments
// stay a text where they are one.
func (l *lineText) calls(it, was *session.Item) {
	for n := range min(len(it.Calls), len(was.Calls)) {
		c, old, at := &it.Calls[n], &was.Calls[n], "/calls/"+strconv.Itoa(n)
		if c.ID != old.ID {
			l.set(at+"/id", c.ID)
		}
		if d := c.Delegation; d != nil && old.Delegation != nil && d.Child != old.Delegation.Child {
			l.set(at+"/delegation/child", d.Child)
		}
		if child := c.Question.Child; child != old.Question.Child {
			l.set(at+"/question/child", child)
		}
		if c.Args == old.Args {
			continue
		}
		stored, there := l.raw(at + "/args")
		if args := jsontext.Value(c.Args); there && stored.Kind() != jsontext.KindString && args.IsValid(tolerant) {
			l.setJSON(at+"/args", args)
		} else {
			l.set(at+"/args", c.Args)
		}
	}
}

// results writes which of the stored results the item still has, and their ids.
func (l *lineText) results(it, was *session.Item, kept []int) {
	if len(it.Results) != len(was.Results) {
		list := make([][]byte, 0, len(kept))
		for _, n := range kept {
			value, _ := l.raw("/results/" + strconv.Itoa(n))
			list = append(list, value)
		}
		l.setJSON("/results", listOf(list))
	}
	for i, n := range kept {
		if id := it.Results[i].CallID; id != was.Results[n].CallID {
			l.set("/results/"+strconv.Itoa(i)+"/call", id)
		}
		if child := it.Results[i].Child; child != was.Results[n].Child {
			l.set("/results/"+strconv.Itoa(i)+"/child", child)
		}
		if child := it.Results[i].Question.Child; child != was.Results[n].Question.Child {
			l.set("/results/"+strconv.Itoa(i)+"/question/child", child)
		}
	}
}

// keptResults are the places that the results of an item had among the stored
// ones. They are in the same order; some may be gone and some have other ids.
func keptResults(is, was []session.Result) []int {
	kept := make([]int, 0, len(is))
	for n := range was {
		left := is[len(kept):]
		if len(left) == 0 {
			break
		}
		renamed := was[n]
		renamed.CallID = left[0].CallID
		if left[0] == was[n] || left[0] == renamed && !slices.Contains(was[n+1:], left[0]) || len(left) == len(was)-n {
			kept = append(kept, n)
		}
	}
	return kept
}

// listOf is the JSON list of values.
func listOf(values [][]byte) jsontext.Value {
	return slices.Concat([]byte("["), bytes.Join(values, []byte(",")), []byte("]"))
}
