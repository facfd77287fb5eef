// Package change says as data what a repair makes of a tree: where every item goes, and
// which values of it become others. An adapter says where in its records a value stands,
// and writes; it holds no trees against each other.
package change

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// Session is what becomes of one session.
type Session struct {
	Was   *session.Session // as it is stored; nil for a new one
	Is    *session.Session // as it is to be
	Like  string           // of a new one: the session that it is split from, "" for none
	Sets  []session.Edit   // of its own record
	Items []Item           // what becomes of each item of Is, in their order
	// Removed are the items of Was that are stored nowhere afterwards.
	Removed []*session.Item
	// Left: an item of Was went to another session.
	Left bool
}

// ListDiffers reports whether the items of the session are others, or anything of them is.
func (s *Session) ListDiffers() bool {
	differs := s.Was == nil || s.Left || len(s.Removed) > 0
	for i := range s.Items {
		differs = differs || !s.Items[i].Stays() || s.Items[i].Differs()
	}
	return differs
}

// Item is what becomes of one item that is there afterwards.
type Item struct {
	Is    *session.Item
	Was   *session.Item // as it is stored; nil for a new one
	From  string        // the session that Was is in
	At    int           // the index of Was in it
	Moves bool          // to another session
	// Part is the index among the results of Was of the one that is an item of its own
	// from now on; -1 where Is is not such a part.
	Part   int
	Taken  []int          // the results of Was that it has no longer, in ascending order
	Values []Value        // what it says in another way
	Sets   []session.Edit // of columns that the model does not hold
	// Scrubbed: what is no Unicode in its record becomes U+FFFD, wherever it stands there.
	Scrubbed bool
	// Shown: U+0000 in its texts and arguments, which have no values of their own then, becomes
	// text that shows it.
	Shown bool

	stored *stored
}

// Stays reports whether the item keeps its record, wherever that goes.
func (c *Item) Stays() bool { return c.Was != nil && c.Part < 0 }

// Differs reports whether the record of an item that stays becomes another one.
func (c *Item) Differs() bool {
	return c.Moves || c.Scrubbed || c.Shown || len(c.Taken)+len(c.Values)+len(c.Sets) > 0
}

// WasResult is the nth result of the item as it is stored, nil for a new one.
func (c *Item) WasResult(n int) *session.Result {
	switch {
	case c.Was == nil:
		return nil
	case c.Part >= 0:
		return &c.Was.Results[c.Part]
	}
	for _, gone := range c.Taken {
		if gone <= n {
			n++
		}
	}
	return &c.Was.Results[n]
}

// OmissionNotes are what comes in the place of the blocks that leave, by their indexes: a text, "" for
// nothing.
func (c *Item) OmissionNotes() map[int]string {
	notes := map[int]string{}
	for _, v := range c.Values {
		if v.Field == FieldOmitted {
			notes[v.Nth] = v.Is
		}
	}
	return notes
}

// Value is one value of an item that becomes another one. An adapter says where it is
// stored. A text that stays as it is loses the blank texts beside it.
type Value struct {
	Of      Part
	Nth     int    // the index of the part in the item as it is stored
	Field   string // one of those of package session, or of the following
	Was, Is string
}

// Name is where the value is in the model: "agent_name", "calls/1/args".
func (v Value) Name() string {
	if v.Of == OfItem {
		return v.Field
	}
	return fmt.Sprintf("%s/%d/%s", v.Of, v.Nth, v.Field)
}

// Part is what of an item a value belongs to.
type Part string

// The parts.
const (
	OfItem   Part = ""
	OfCall   Part = "calls"
	OfResult Part = "results"
	OfBlock  Part = "blocks"
)

// The fields of values that no edit sets by themselves.
const (
	FieldAgent      = "agent_name"       // of an item
	FieldKeptFrom   = "first_kept_entry" // of an item: a number
	FieldReasoning  = "reasoning"        // of an item
	FieldName       = "name"             // of a call or a result: of the tool
	FieldArgs       = "args"             // of a call
	FieldQuestion   = "question"         // of a call or a result: the child of its Question
	FieldDelegation = "delegation"       // of a call: the child of its Delegation
	FieldOmitted    = "omitted"          // of a block: it leaves, or a text comes in its place, which Is says. What it was is gone from the texts of the item without values of their own
)

// stored is an item of the tree before, and what becomes of it.
type stored struct {
	item      *session.Item
	session   *Session
	at        int   // its index in the session
	odd       bool  // its position is no whole number
	illegible bool  // it holds what is no Unicode
	nul       bool  // it holds U+0000
	stays     bool  // it is an item afterwards
	follows   bool  // its texts differ because of blocks that leave, or of U+0000
	parts     []int // those of its results that are items of their own
}

// CompareSessions is what becomes of every session of a change, in the order of the tree before, new
// ones behind them. An error is a problem of class RolledBack: the trees are not such as
// a store.Change may have.
func CompareSessions(c *store.Change) ([]*Session, error) {
	all, err := pairSessions(c)
	if err != nil {
		return nil, err
	}
	before := map[string]*stored{}
	for _, s := range all {
		if s.Was == nil {
			continue
		}
		odd, illegible, nul := faultyItems(s.Was, oddPosition), faultyItems(s.Was, badUnicode), faultyItems(s.Was, nulCharacter)
		for i := range s.Was.Items {
			before[s.Was.ItemRef(i).Row()] = &stored{item: &s.Was.Items[i], session: s, at: i, odd: odd[i], illegible: illegible[i], nul: nul[i]}
		}
	}
	sets, err := setsByRow(c.Sets, all, before)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		s.Sets = sets[s.Is.Ref().Row()]
		if err := s.traceItems(before, sets); err != nil {
			return nil, err
		}
	}
	for _, s := range all {
		if err := s.completeItems(before); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// setsByRow are the edits of columns by the record that they change.
func setsByRow(edits []session.Edit, all []*Session, before map[string]*stored) (map[string][]session.Edit, error) {
	sets, sessions := map[string][]session.Edit{}, map[string]bool{}
	for _, s := range all {
		sessions[s.Is.Ref().Row()] = true
	}
	for _, e := range edits {
		whole := e.Ref
		whole.Pointer = ""
		row := whole.Row()
		if before[row] == nil && !sessions[row] {
			return nil, problem.New(problem.RolledBack, "Check the store again.", "record %s cannot be changed: the store has no record with that key", row)
		}
		sets[row] = append(sets[row], e)
	}
	return sets, nil
}

// pairSessions holds the sessions before against those after.
func pairSessions(c *store.Change) ([]*Session, error) {
	var all []*Session
	befores, afters := byID(c.Before), byID(c.After)
	for _, was := range c.Before.Sessions {
		is := afters[was.ID]
		if is == nil {
			return nil, problem.New(problem.RolledBack, "", "session %s is missing after the repair, which deletes none", was.ID)
		}
		all = append(all, &Session{Was: was, Is: is})
	}
	for _, is := range c.After.Sessions {
		if befores[is.ID] == nil {
			all = append(all, &Session{Is: is, Like: c.Split[is.ID]})
		}
	}
	return all, nil
}

func byID(tree *session.Tree) map[string]*session.Session {
	sessions := make(map[string]*session.Session, len(tree.Sessions))
	for _, s := range tree.Sessions {
		sessions[s.ID] = s
	}
	return sessions
}

// partMark stands in the key of a part of an item between the key of the item and
// the index of the part among its results.
const partMark = "#results/"

// traceItems finds what is stored of the items of a session.
func (c *Session) traceItems(before map[string]*stored, sets map[string][]session.Edit) error {
	c.Items = make([]Item, len(c.Is.Items))
	for i := range c.Items {
		it := &c.Items[i]
		it.Is, it.Part = &c.Is.Items[i], -1
		if it.Is.Table() == "" {
			continue
		}
		row := c.Is.ItemRef(i).Row()
		it.Sets = sets[row]
		was := before[row]
		if was == nil {
			if was, it.Part = partIn(before, row); was == nil {
				return problem.New(problem.RolledBack, "", "%s is in session %s of the repaired tree and was not in it before", row, c.Is.ID)
			}
			was.parts = append(was.parts, it.Part)
		} else if was.stays {
			return problem.New(problem.RolledBack, "", "%s is in the repaired tree twice", row)
		} else {
			was.stays = true
			it.Moves = was.session != c
			was.session.Left = was.session.Left || it.Moves
		}
		it.Was, it.From, it.At, it.stored = was.item, was.session.Is.ID, was.at, was
	}
	return nil
}

// partIn finds the item of which a row is a part; nil for none.
func partIn(before map[string]*stored, row string) (was *stored, nth int) {
	at := strings.LastIndex(row, partMark)
	if at < 0 {
		return nil, -1
	}
	nth, err := strconv.Atoi(row[at+len(partMark):])
	if was = before[row[:at]]; was == nil || err != nil || nth < 0 || nth >= len(was.item.Results) {
		return nil, -1
	}
	return was, nth
}

// completeItems sets what is known when all sessions are traced.
func (c *Session) completeItems(before map[string]*stored) error {
	odd, illegible, nul := faultyItems(c.Is, oddPosition), faultyItems(c.Is, badUnicode), faultyItems(c.Is, nulCharacter)
	for i := range c.Items {
		it := &c.Items[i]
		if it.Was == nil {
			continue
		}
		it.Scrubbed = it.stored.illegible && !illegible[i]
		it.Shown = it.stored.nul && !nul[i]
		if it.Stays() {
			var err error
			if it.Taken, err = takenResults(it.Was, it.Is, it.stored.parts); err != nil {
				return err
			}
			if it.Was.Position != it.Is.Position || it.stored.odd && !odd[i] {
				it.Values = append(it.Values, Value{OfItem, 0, session.FieldPosition, strconv.FormatInt(it.Was.Position, 10), strconv.FormatInt(it.Is.Position, 10)})
			}
		}
		if err := it.compareValues(); err != nil {
			return err
		}
	}
	if c.Was == nil {
		return nil
	}
	for i := range c.Was.Items {
		if was := before[c.Was.ItemRef(i).Row()]; !was.stays {
			c.Removed = append(c.Removed, was.item)
		}
	}
	return nil
}

// faultyItems are the items that have such a fault, by index.
func faultyItems(s *session.Session, such func(*session.Fault) bool) map[int]bool {
	items := map[int]bool{}
	for i := range s.Faults {
		if f := &s.Faults[i]; f.Item >= 0 && such(f) {
			items[f.Item] = true
		}
	}
	return items
}

// oddPosition: a stored position is no whole number, whatever place that gives the item.
func oddPosition(f *session.Fault) bool { return f.Field == session.FieldPosition }

func nulCharacter(f *session.Fault) bool { return f.Kind == session.NulCharacter }

func badUnicode(f *session.Fault) bool { return f.Kind == session.BadUnicode }

// takenResults are the results that an item has no longer: those that are parts of their
// own, and those that left for the receipt. What is left keeps its order, and may
// answer to another id.
func takenResults(was, is *session.Item, parts []int) ([]int, error) {
	alike := func(a, b *session.Result) bool {
		return a.Digest == b.Digest && a.Name == b.Name && a.IsError == b.IsError
	}
	for _, same := range []func(a, b *session.Result) bool{
		func(a, b *session.Result) bool { return alike(a, b) && a.CallID == b.CallID }, alike,
		func(_, _ *session.Result) bool { return len(was.Results) == len(is.Results)+len(parts) },
	} {
		var gone []int
		next := 0
		for n := range was.Results {
			if !slices.Contains(parts, n) && next < len(is.Results) && same(&was.Results[n], &is.Results[next]) {
				next++
				continue
			}
			gone = append(gone, n)
		}
		if next == len(is.Results) {
			return gone, nil
		}
	}
	return nil, problem.New(problem.RolledBack, "", "%s/%s has results in the repaired tree that it did not have before", was.Table(), was.Key)
}

// compareValues lists the values that differ. Texts are compared where they are loaded: an item
// whose text or arguments change has its body.
func (c *Item) compareValues() error {
	was, is := c.Was, c.Is
	c.addValue(OfItem, 0, FieldAgent, was.Agent(), is.Agent())
	c.addValue(OfItem, 0, session.FieldBranch, was.Branch(), is.Branch())
	c.addValue(OfItem, 0, FieldKeptFrom, strconv.FormatInt(was.KeptFrom(), 10), strconv.FormatInt(is.KeptFrom(), 10))
	c.addValue(OfItem, 0, session.FieldArchived, strconv.FormatBool(was.Flags.Has(session.Archived)), strconv.FormatBool(is.Flags.Has(session.Archived)))
	c.addValue(OfItem, 0, session.FieldUnfinished, strconv.FormatBool(was.Flags.Has(session.Unfinished)), strconv.FormatBool(is.Flags.Has(session.Unfinished)))
	if c.Part >= 0 {
		if len(is.Results) != 1 {
			return problem.New(problem.RolledBack, "", "%s/%s is a result of its own in the repaired tree, and has %d", is.Table(), is.Key, len(is.Results))
		}
		c.compareResult(c.Part, &is.Results[0])
		return nil
	}
	annulled := func(it *session.Item) bool { return it.Kind == session.Summary || it.Kind == session.Other } // Relate says which
	named := was.Kind == session.Message && is.Kind == session.Summary                                        // by its session, from now on
	if was.Kind != is.Kind && !named && (!annulled(was) || !annulled(is)) || was.Role != is.Role || len(was.Calls) != len(is.Calls) {
		return problem.New(problem.RolledBack, "", "%s/%s cannot become a message of another form", was.Table(), was.Key)
	}
	omitted := c.omittedBlocks()
	c.stored.follows = c.Shown || len(omitted) > 0
	if was.Body != nil && is.Body != nil && was.Body != is.Body {
		if !c.stored.follows {
			c.addValue(OfItem, 0, session.FieldText, was.Body.Text, is.Body.Text)
			c.addValue(OfItem, 0, FieldReasoning, was.Body.Reasoning, is.Body.Reasoning)
		}
		if (c.stored.follows || was.Body.Text == is.Body.Text) && countBlank(is) < countBlank(was) {
			c.Values = append(c.Values, Value{OfItem, 0, session.FieldText, is.Body.Text, is.Body.Text})
		}
	}
	for n := range was.Calls {
		c.compareCall(n, &was.Calls[n], &is.Calls[n])
	}
	next := 0
	for n := range was.Results {
		if !slices.Contains(c.Taken, n) {
			c.compareResult(n, &is.Results[next])
			next++
		}
	}
	for _, n := range omitted {
		c.Values = append(c.Values, Value{OfBlock, n, FieldOmitted, "", was.Blocks[n].OmissionNote()})
	}
	c.compareBlocks(omitted)
	return nil
}

// omittedBlocks are the blocks of reasoning and media that the item has no longer. Those that are
// left keep their order.
func (c *Item) omittedBlocks() (list []int) {
	may := func(b *session.Block) bool { return b.Kind == session.ReasoningBlock || b.Kind == session.MediaBlock }
	next := 0
	for n := range c.Was.Blocks {
		was := c.Was.Blocks[n]
		if !may(&was) || was.In > 0 && slices.Contains(c.Taken, was.In-1) {
			continue
		}
		for next < len(c.Is.Blocks) && !may(&c.Is.Blocks[next]) {
			next++
		}
		if next < len(c.Is.Blocks) {
			is := c.Is.Blocks[next]
			was.ID, was.In = is.ID, is.In
			if was == is {
				next++
				continue
			}
		}
		list = append(list, n)
	}
	return list
}

func countBlank(it *session.Item) (n int) {
	for i := range it.Blocks {
		if it.Blocks[i].Blank {
			n++
		}
	}
	return n
}

func (c *Item) addValue(of Part, nth int, field, was, is string) {
	if was != is {
		c.Values = append(c.Values, Value{of, nth, field, was, is})
	}
}

func (c *Item) compareCall(n int, was, is *session.Call) {
	c.addValue(OfCall, n, session.FieldCallID, was.ID, is.ID)
	c.addValue(OfCall, n, FieldName, was.Name, is.Name)
	if !c.Shown {
		c.addValue(OfCall, n, FieldArgs, was.Args, is.Args)
	}
	c.addValue(OfCall, n, FieldQuestion, was.Question.Child, is.Question.Child)
	if was.Delegation != nil && is.Delegation != nil {
		c.addValue(OfCall, n, FieldDelegation, was.Delegation.Child, is.Delegation.Child)
	}
}

func (c *Item) compareResult(n int, is *session.Result) {
	was := &c.Was.Results[n]
	c.addValue(OfResult, n, session.FieldResultID, was.CallID, is.CallID)
	c.addValue(OfResult, n, FieldName, was.Name, is.Name)
	if !c.stored.follows {
		c.addValue(OfResult, n, session.FieldText, was.Text, is.Text)
	}
	c.addValue(OfResult, n, session.FieldChild, was.Child, is.Child)
	c.addValue(OfResult, n, FieldQuestion, was.Question.Child, is.Question.Child)
}

// compareBlocks compares the ids of the blocks that are left: those of results that were taken
// are gone, and those of a text that is empty now can be.
func (c *Item) compareBlocks(omitted []int) {
	was, is := c.Was.Blocks, c.Is.Blocks
	next := 0
	for n := range was {
		gone := len(was) != len(is) && (was[n].Kind == session.ResultBlock && slices.Contains(c.Taken, was[n].Nth) ||
			slices.Contains(omitted, n) && (was[n].Kind == session.ReasoningBlock || was[n].In > 0) ||
			was[n].Kind == session.TextBlock && was[n].Blank && (next == len(is) || is[next].Kind != session.TextBlock || !is[next].Blank))
		if gone || next == len(is) {
			continue
		}
		c.addValue(OfBlock, n, session.FieldBlockID, was[n].ID, is[next].ID)
		next++
	}
}
