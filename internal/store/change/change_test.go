package change_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/change"
)

// unwritten are the fields of an item that a change does not list, each with the reason.
// Whoever adds a field to the model lists it, or says here why no adapter writes it.
var unwritten = map[string]string{
	"Item.Note":  "the record says what it is",
	"Item.Flags": "is read of the rest, but for Archived", "Item.Time": "follows the position",
	"Item.Meaning": "is read of the rest", "Item.Text": "is read of the rest", "Item.Size": "is read of the rest",
	"Shared.Model": "no repair changes it", "Shared.Invocation": "no repair changes it", "Shared.Scope": "no repair changes it",
	"Shared.Node": "no repair changes it", "Shared.Child": "no repair changes it", "Shared.Outputs": "no repair changes files",
	"Shared.Home": "is read of the rest", "Item.Passed": "is read of the rest", "Item.Copied": "is read of the rest",
	"Body.Raw": "is what was stored, and stays so",

	"Call.Form": "is read of the arguments", "Call.Server": "no repair changes it", "Call.Waits": "is read of other items",
	"Call.Asked": "is read of other items", "Call.Owed": "is read of the rest", "Question.Run": "no repair changes it",
	"Delegation.Agent": "is read of the arguments", "Delegation.Task": "is read of the arguments",
	"Delegation.Run": "no repair changes it", "Delegation.Likely": "is read of the rest",
	"Delegation.Blocking": "is read of the rest", "Delegation.Apart": "is read of the rest",

	"Result.Digest": "is read of the text", "Result.IsError": "no repair changes it", "Result.Synthetic": "no repair changes it",
	"Result.Pending": "is read of other items", "Result.Null": "no repair changes it", "Result.Server": "no repair changes it",
	"Result.Answer": "is read of the text", "Result.Correlation": "no repair changes it",

	"Delegation.Tools": "is read of the arguments", "Delegation.Timeout": "is read of the arguments", "Delegation.Correlation": "no repair changes it",

	"Block.Kind": "no repair changes it", "Block.Name": "no repair changes it", "Block.With": "no repair changes it",
	"Block.Nth": "follows the results that are left", "Block.Blank": "is read of the text", "Block.Unsent": "is read of the text", "Block.Text": "is read of the text",
	"Block.Signature": "no repair changes it", "Block.Unsigned": "no repair changes it", "Block.Cached": "no repair changes it",
	"Block.Width": "no repair changes it", "Block.Height": "no repair changes it",
	"Block.Empty": "no repair changes it", "Block.Media": "no repair changes it", "Block.Is": "no repair changes it",
	"Block.Bytes": "no repair changes it", "Block.Broken": "no repair changes it", "Block.In": "no repair changes it",

	"Shared.Provider": "no repair changes it", "Refusal.Status": "no repair changes it", "Refusal.Text": "no repair changes it",
}

// fullItem has a value in every part of an item.
func fullItem() *session.Item {
	return &session.Item{
		Shared: &session.Shared{Table: "t"}, Key: "k", Body: &session.Body{},
		Calls:   []session.Call{{Delegation: &session.Delegation{}}},
		Results: []session.Result{{}},
		Blocks:  []session.Block{{Kind: session.CallBlock}},
	}
}

func changeOf(was, is *session.Item) *store.Change {
	tree := func(it *session.Item) *session.Tree {
		return &session.Tree{Sessions: []*session.Session{{ID: "s", Items: []session.Item{*it}}}}
	}
	return &store.Change{Before: tree(was), After: tree(is)}
}

// TestEveryFieldIsListedOrNeverWritten changes one field at a time.
func TestEveryFieldIsListedOrNeverWritten(t *testing.T) {
	used := map[string]bool{}
	var each func(v func(*session.Item) reflect.Value)
	each = func(of func(*session.Item) reflect.Value) {
		typ := of(fullItem()).Type()
		for i := range typ.NumField() {
			name := typ.Name() + "." + typ.Field(i).Name
			field := func(it *session.Item) reflect.Value { return of(it).Field(i) }
			is := fullItem()
			inner := field(is)
			if inner.Kind() == reflect.Slice && inner.Len() > 0 {
				each(func(it *session.Item) reflect.Value { return field(it).Index(0) })
				continue
			}
			if inner.Kind() == reflect.Pointer && !inner.IsNil() {
				each(func(it *session.Item) reflect.Value { return field(it).Elem() })
				continue
			}
			if _, isTime := inner.Interface().(time.Time); inner.Kind() == reflect.Struct && !isTime {
				each(field)
				continue
			}
			used[name] = true
			other(inner)
			sessions, err := change.CompareSessions(changeOf(fullItem(), is))
			listed := err != nil || sessions[0].Items[0].Differs()
			if listed == (unwritten[name] != "") {
				t.Errorf("%s: listed or refused: %v, reason to pass it over: %q", name, listed, unwritten[name])
			}
		}
	}
	each(func(it *session.Item) reflect.Value { return reflect.ValueOf(it).Elem() })
	for name := range unwritten {
		if !used[name] {
			t.Errorf("%s is no field", name)
		}
	}
}

// other makes a value another one.
func other(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Uint8, reflect.Uint16, reflect.Uint64:
		v.SetUint(v.Uint() + 1)
	case reflect.Struct: // a time
		v.Set(reflect.ValueOf(time.Unix(1, 0)))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	default:
		panic("no other value of " + v.Type().String())
	}
}

// several is an item with a text of white space, two calls and three results.
func several() session.Item {
	return session.Item{
		Shared: &session.Shared{Table: "t"}, Key: "a", Position: 3, Role: session.Tool, Body: &session.Body{Text: " "},
		Calls: []session.Call{{ID: "c1"}, {ID: "c2", Args: "x"}},
		Results: []session.Result{
			{CallID: "c1", Digest: 1}, {CallID: "c2", Digest: 2}, {CallID: "c3", Digest: 3},
		},
		Blocks: []session.Block{
			{Kind: session.TextBlock, Blank: true, ID: "b0"},
			{Kind: session.ResultBlock, Nth: 0, ID: "b1"}, {Kind: session.ResultBlock, Nth: 1, ID: "b2"}, {Kind: session.ResultBlock, Nth: 2, ID: "b3"},
		},
	}
}

// A change tells where everything went, and what of it is another value.
func TestChange(t *testing.T) {
	was := several()
	plain := session.Item{Shared: &session.Shared{Table: "t"}, Key: "b"}
	before := &session.Tree{Sessions: []*session.Session{{ID: "p", Items: []session.Item{was, plain, {Shared: &session.Shared{Table: "t"}, Key: "gone"}}}, {ID: "c"}}}
	before.Sessions[0].Faults = []session.Fault{{Kind: session.BadUnicode, Item: 0}, {Kind: session.BadUnicode, Item: 1}, {Kind: session.BadTime, Item: 2}}

	left := several()
	left.Flags, left.Own().Branch, left.Body = session.Archived, "x.y", &session.Body{}
	left.Calls[1] = session.Call{ID: "c2", Args: `{"INVALID_JSON":"x"}`}
	left.Results = []session.Result{{CallID: "c9", Digest: 3}}
	left.Blocks = []session.Block{{Kind: session.ResultBlock}}
	part := session.Item{Shared: &session.Shared{Table: "t", Branch: "x"}, Key: "a#results/1", Role: session.Tool, Results: []session.Result{{CallID: "c8", Digest: 2}}}
	moved := plain
	moved.Position = 7
	after := &session.Tree{Sessions: []*session.Session{
		{ID: "p", Items: []session.Item{left}, Faults: before.Sessions[0].Faults[:1]},
		{ID: "c", Items: []session.Item{moved, part, {Key: "new"}}},
		{ID: "made"},
	}}
	sets := []session.Edit{
		{Op: session.Set, Ref: session.Ref{Session: "c", Table: session.TableSessions, Key: "c"}, Field: "f"},
		{Op: session.Set, Ref: session.Ref{Session: "p", Table: "t", Key: "b"}, Field: "g"},
	}
	got, err := change.CompareSessions(&store.Change{Before: before, After: after, Sets: sets, Split: map[string]string{"made": "p"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []change.Item{
		{Is: &after.Sessions[0].Items[0], Was: &before.Sessions[0].Items[0], From: "p", Part: -1, Taken: []int{0, 1}, Values: []change.Value{
			{Field: session.FieldBranch, Is: "x.y"},
			{Field: session.FieldArchived, Was: "false", Is: "true"},
			{Field: session.FieldText, Was: " "},
			{Of: change.OfCall, Nth: 1, Field: change.FieldArgs, Was: "x", Is: `{"INVALID_JSON":"x"}`},
			{Of: change.OfResult, Nth: 2, Field: session.FieldResultID, Was: "c3", Is: "c9"},
			{Of: change.OfBlock, Nth: 3, Field: session.FieldBlockID, Was: "b3"},
		}},
		{
			Is: &after.Sessions[1].Items[0], Was: &before.Sessions[0].Items[1], From: "p", At: 1, Moves: true, Part: -1,
			Values: []change.Value{{Field: session.FieldPosition, Was: "0", Is: "7"}}, Sets: sets[1:], Scrubbed: true,
		},
		{Is: &after.Sessions[1].Items[1], Was: &before.Sessions[0].Items[0], From: "p", Part: 1, Scrubbed: true, Values: []change.Value{
			{Field: session.FieldBranch, Is: "x"},
			{Of: change.OfResult, Nth: 1, Field: session.FieldResultID, Was: "c2", Is: "c8"},
		}},
		{Is: &after.Sessions[1].Items[2], Part: -1},
	}
	unexported := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".stored" }, cmp.Ignore())
	if diff := cmp.Diff(want, append(got[0].Items, got[1].Items...), unexported); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
	if left, part, made := &got[0].Items[0], &got[1].Items[1], &got[1].Items[2]; left.WasResult(0) != &before.Sessions[0].Items[0].Results[2] ||
		part.WasResult(0) != &before.Sessions[0].Items[0].Results[1] || made.WasResult(0) != nil {
		t.Errorf("results were %+v, %+v, %+v", left.WasResult(0), part.WasResult(0), made.WasResult(0))
	}
	p, c, made := got[0], got[1], got[2]
	if !p.Left || len(p.Removed) != 1 || p.Removed[0].Key != "gone" || c.Left || len(c.Removed) != 0 || len(c.Sets) != 1 {
		t.Errorf("p: left %v, removed %v; c: left %v, removed %v, sets %v", p.Left, p.Removed, c.Left, c.Removed, c.Sets)
	}
	if made.Was != nil || made.Like != "p" {
		t.Errorf("the new session is %+v", made)
	}
}

// A summary that a rewind annulled is one again when that is gone: nothing is written.
func TestASummaryIsOneAgain(t *testing.T) {
	was, is := session.Item{Shared: &session.Shared{Table: "t"}, Key: "k", Kind: session.Other}, session.Item{Shared: &session.Shared{Table: "t"}, Key: "k", Kind: session.Summary}
	for _, c := range []*store.Change{changeOf(&was, &is), changeOf(&is, &was)} {
		sessions, err := change.CompareSessions(c)
		if err != nil || sessions[0].Items[0].Differs() {
			t.Errorf("got %v", err)
		}
	}
}

// What no repair makes is refused.
func TestChangeRefused(t *testing.T) {
	cases := []struct {
		name   string
		change func(c *store.Change)
		want   string
	}{
		{"a column of nowhere", func(c *store.Change) {
			c.Sets = []session.Edit{{Op: session.Set, Ref: session.Ref{Table: "t", Key: "x"}}}
		}, "the store has no record with that key"},
		{"a session is missing", func(c *store.Change) { c.After.Sessions = nil }, "missing after the repair, which deletes none"},
		{"an item twice", func(c *store.Change) { s := c.After.Root(); s.Items = append(s.Items, s.Items[0]) }, "twice"},
		{"an item of nowhere", func(c *store.Change) { c.After.Root().Items[0].Key = "x" }, "was not in it before"},
		{"a part that the item never had", func(c *store.Change) { c.After.Root().Items[0].Key = "a#results/3" }, "was not in it before"},
		{"a result that the item never had", func(c *store.Change) {
			it := &c.After.Root().Items[0]
			it.Results = append(it.Results, session.Result{})
		}, "did not have before"},
		{"a part with two results", func(c *store.Change) { c.After.Root().Items[0].Key += "#results/0" }, "has 3"},
		{"another kind", func(c *store.Change) { c.After.Root().Items[0].Kind = session.Other }, "another form"},
		{"another role", func(c *store.Change) { c.After.Root().Items[0].Role = session.User }, "another form"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			was, is := several(), several()
			made := changeOf(&was, &is)
			c.change(made)
			_, err := change.CompareSessions(made)
			if problem.ClassOf(err) != problem.RolledBack || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}
