package repair

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// verification holds what a store now has of a tree against what the plan
// foretold: the same sessions with the same items, and a check that finds the
// same.
type verification struct {
	facts *session.Store
	judge rules.Judge
	*executed
}

func (v verification) verifyTree(stored *session.Tree) error {
	foretold := v.After
	if len(foretold.Sessions) != len(stored.Sessions) {
		return fmt.Errorf("%d sessions are stored, and the plan has %d", len(stored.Sessions), len(foretold.Sessions))
	}
	for _, want := range foretold.Sessions {
		got := stored.Session(want.ID)
		if got == nil {
			return fmt.Errorf("session %s is missing", want.ID)
		}
		if err := v.verifySession(want, got); err != nil {
			return fmt.Errorf("session %s: %w", want.ID, err)
		}
	}
	want, got := foreseenFindings(v.facts, foretold, v.judge), check.RunTree(v.facts, stored, catalogue.UsualRules(), v.judge)
	places, loose := map[string]int{}, map[string]bool{}
	for i := range want {
		// What an adapter says of a session as a whole comes of all its records: that it
		// no longer holds is known when they are read.
		key := findingKey(want[i])
		places[key]++
		loose[key] = want[i].Item < 0
	}
	for i := range got {
		places[findingKey(got[i])]--
	}
	for key, n := range places {
		switch {
		case n > 0 && !loose[key]:
			return fmt.Errorf("a check does not find what the plan says will remain: %s", key)
		case n < 0:
			return fmt.Errorf("a check finds what the plan does not say will remain: %s", key)
		}
	}
	return nil
}

// foreseenFindings are what a check will find in a tree whose texts may be loaded: it reads
// outlines, and some rules find more with the texts.
func foreseenFindings(facts *session.Store, tree *session.Tree, judge rules.Judge) []*check.Finding {
	return check.RunTree(facts, tree.Outline(), catalogue.UsualRules(), judge)
}

func findingKey(f *check.Finding) string {
	return fmt.Sprint(f.Rule.ID, " ", f.Severity, " ", f.Session, ":", f.Item, " ", f.Call)
}

func (v verification) verifySession(want, got *session.Session) error {
	switch {
	case want.Parent != got.Parent:
		return fmt.Errorf("its parent is %q instead of %q", got.Parent, want.Parent)
	case len(want.Items) != len(got.Items):
		return fmt.Errorf("it has %d items instead of %d", len(got.Items), len(want.Items))
	case len(want.IndexRefs) != len(got.IndexRefs):
		return fmt.Errorf("it has %d index references instead of %d", len(got.IndexRefs), len(want.IndexRefs))
	}
	if !slices.Equal(runsOf(want), runsOf(got)) {
		return fmt.Errorf("its runs are not those of the plan")
	}
	for i := range want.IndexRefs {
		if want.IndexRefs[i].Index != got.IndexRefs[i].Index {
			return fmt.Errorf("%s is %d instead of %d", want.IndexRefs[i].Field, got.IndexRefs[i].Index, want.IndexRefs[i].Index)
		}
	}
	for i := range want.Items {
		if what := v.itemDifference(&want.Items[i], &got.Items[i], v.edited.hasRecord(want.ItemRef(i))); what != "" {
			return fmt.Errorf("the %s of item %d (%s) differs from the plan", what, i, got.ItemRef(i).Row())
		}
	}
	return nil
}

// sameTexts compares what new and edited items say, which no digest tells: an
// adapter makes its own of what it stores.
func sameTexts(ctx context.Context, st store.Store, foretold *executed, stored *session.Tree) error {
	part, said := &session.Tree{}, []*session.Item{}
	for _, want := range foretold.After.Sessions {
		got := *stored.Session(want.ID)
		items := got.Items
		got.Items = nil
		for i := range want.Items {
			if ref := want.ItemRef(i); want.Items[i].Table() == "" || isPart(ref) || foretold.edited.hasRecord(ref) {
				got.Items = append(got.Items, items[i])
				said = append(said, &want.Items[i])
			}
		}
		part.Sessions = append(part.Sessions, &got)
	}
	if err := st.Fill(ctx, part); err != nil {
		return err
	}
	n, anew := 0, foretold.namedAnew()
	for _, s := range part.Sessions {
		for i := range s.Items {
			want, got := itemTexts(said[n]), itemTexts(unwrappedItem(&s.Items[i], said[n]))
			if foretold.amends(s.ItemRef(i), session.Omit) {
				want, got = linesOf(said[n]), linesOf(&s.Items[i])
			}
			if !slices.EqualFunc(want, got, anew.sameText) {
				return fmt.Errorf("item %s does not say what the plan says", s.ItemRef(i).Row())
			}
			n++
		}
	}
	return nil
}

// amends reports whether such an edit changes an item.
func (c *executed) amends(ref session.Ref, op session.Op) bool {
	return slices.ContainsFunc(c.amended, func(r rewritten) bool { return r.edit.Op == op && wholeRow(r.edit.Ref) == wholeRow(ref) })
}

// linesOf are all lines of the texts of an item of which blocks left, in no order: where a note
// stands among them, and what is left of several thoughts, is known when the item is read.
func linesOf(it *session.Item) []string {
	bare := *it
	bare.Body = &session.Body{Text: it.Body.Text}
	lines := strings.Split(strings.Join(itemTexts(&bare), "\n"), "\n")
	slices.Sort(lines)
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" })
}

// unwrappedItem is a stored item whose new results have the child's answer alone for a text,
// as the plan has it, where the store wraps it.
func unwrappedItem(stored, want *session.Item) *session.Item {
	it := *stored
	if want.Table() != "" || len(it.Results) != len(want.Results) {
		return &it
	}
	it.Results = slices.Clone(it.Results)
	for i := range it.Results {
		if r, planned := &it.Results[i], &want.Results[i]; r.Answer != 0 && r.Answer == session.DigestOf(planned.Text) {
			r.Text = planned.Text
		}
	}
	return &it
}

// itemTexts are all texts of an item, the arguments of its calls included. That of a
// tool item with one result is the result's.
func itemTexts(it *session.Item) []string {
	var list []string
	if it.Body != nil && (it.Role != session.Tool || len(it.Results) != 1) {
		list = append(list, it.Body.Text, it.Body.Reasoning)
	}
	for i := range it.Calls {
		list = append(list, it.Calls[i].Args)
	}
	for i := range it.Results {
		list = append(list, it.Results[i].Text)
	}
	return list
}

// itemDifference names the first thing in which two outlines differ, "" when they
// are alike. A new item has no row in the plan; what an edited one says is
// compared as text.
func (v verification) itemDifference(want, got *session.Item, edited bool) string {
	flags := session.Implicit | session.Archived | session.Blank | session.Skipped | session.Dangling
	if want.Table() != "" {
		flags |= session.Unfinished | session.BlankText | session.TrailingSpace | session.NullText | session.EmptyCalls
	}
	stored := want.Table() != ""
	part := isPart(session.Ref{Key: want.Key}) // a record of its own now
	digests := stored && !edited && !part
	for _, part := range []struct {
		name string
		same bool
	}{
		{"row", !stored || part || v.facts.CountsRows || want.Table() == got.Table() && want.Key == got.Key},
		{"meaning", !digests || want.Meaning == got.Meaning},
		{"position", v.facts.Renumbers || want.Position == got.Position},
		{"kind", want.Kind == got.Kind},
		{"role", want.Role == got.Role},
		{"agent", want.Agent() == got.Agent()},
		{"branch", want.Branch() == got.Branch()},
		{"flags", want.Flags&flags == got.Flags&flags},
		{"sub-session", want.Child() == got.Child()},
		{"kept tail", want.KeptFrom() == got.KeptFrom()},
		{"text", !digests || want.Text == got.Text},
		{"calls", slices.EqualFunc(want.Calls, got.Calls, func(a, b session.Call) bool {
			return a.ID == b.ID && a.Name == b.Name && a.Question == b.Question && (want.Table() == "" || a.Form == b.Form)
		})},
		{"results", slices.EqualFunc(want.Results, got.Results, func(a, b session.Result) bool {
			return a.CallID == b.CallID && (!digests || a.Digest == b.Digest) && a.IsError == b.IsError && a.Synthetic == b.Synthetic &&
				a.Child == b.Child && a.Question == b.Question
		})},
		{"blocks", slices.Equal(blockIDs(want), blockIDs(got))},
	} {
		if !part.same {
			return part.name
		}
	}
	return ""
}

// runsOf are the ids and states of a session's runs, in the order of ids.
func runsOf(s *session.Session) []string {
	ids := make([]string, len(s.Runs))
	for i := range s.Runs {
		ids[i] = s.Runs[i].ID + " " + s.Runs[i].State
	}
	slices.Sort(ids)
	return ids
}

// blockIDs are the ids that a provider's server gave to parts of an item.
func blockIDs(it *session.Item) []string {
	var ids []string
	for i := range it.Blocks {
		if id := it.Blocks[i].ID; id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// named are the sessions that results and questions name now, each with those that they named before.
type named map[string][]string

// namedAnew are those of a change: of a split, and of results that name another child.
func (c *executed) namedAnew() named {
	anew := named{}
	for id, was := range c.Split {
		anew[id] = []string{was}
	}
	for _, r := range c.amended {
		if list, n := partOf(r.edit.Ref.Pointer); r.edit.Field == session.FieldChild && list == inResults && n < len(r.was.Results) {
			anew[valueOf(r.edit)] = append(anew[valueOf(r.edit)], r.was.Results[n].Child)
		}
	}
	return anew
}

// sameText reports whether a stored text is the planned one, but for the sessions that are named
// anew there: some stores have the session that a result or a question names within its text,
// as a value of JSON, and a person's answer as one of JSON within a text. How a runtime
// spelled the names does not count, only what they are.
func (anew named) sameText(planned, stored string) bool {
	if planned == stored || len(anew) == 0 {
		return planned == stored
	}
	before, after := tokensOf(planned), tokensOf(stored)
	for {
		was, err := before.ReadToken()
		if err != nil {
			_, ended := after.ReadToken()
			return err == io.EOF && ended == io.EOF //nolint:errorlint // the decoder gives these themselves
		}
		was = was.Clone()
		is, err := after.ReadToken()
		if err != nil || was.Kind() != is.Kind() {
			return false
		}
		if from, to := was.String(), is.String(); from != to &&
			(was.Kind() != jsontext.KindString || !slices.Contains(anew[to], from) && !anew.sameText(from, to)) {
			return false
		}
	}
}

func tokensOf(text string) *jsontext.Decoder {
	return jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}
