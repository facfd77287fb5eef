package repair

import (
	"cmp"
	"container/list"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/session"
)

// rewriting is an edit that changed what an item says, with the item before and
// after it.
type rewritten struct {
	edit    session.Edit
	was, is session.Item
}

// rewriteRecord changes what the record of an item says. The stored bytes stay with the
// body: they are what an adapter changes and what the receipt keeps.
func (d *draft) rewriteRecord(e session.Edit) error {
	at := d.findRecord(e.Ref)
	if at == nil {
		return fmt.Errorf("the record does not exist")
	}
	it := at.Value.(*entry)
	names := e.Field == session.FieldChild
	if own := it.ownIn(d.fixes); !names || own.rewritten < 0 {
		*own = ownParts{fix: d.fixes, rewritten: -1}
	}
	was, told := it.Item, it.resultAt(e.Ref.Pointer)
	if err := it.rewriteItem(e); err != nil {
		return err
	}
	if e.Op == session.Wrap || e.Op == session.Omit {
		if err := d.requireUnicode(e.Ref); err != nil {
			return err
		}
	}
	if e.Op == session.Scrub {
		for _, b := range d.sessions {
			b.dropFaults(func(f session.Fault) bool { return f.Kind == scrubbedFault(e) && wholeRow(f.Ref) == wholeRow(e.Ref) })
		}
	}
	if names && told.CallID != "" {
		d.callFollows(it, told, valueOf(e))
	}
	it.Meaning = meaningAfter(was.Meaning, e)
	if at := it.own.rewritten; at >= 0 {
		d.rewritten[at].is = it.Item
		return nil
	}
	if names {
		it.own.rewritten = len(d.rewritten)
	}
	d.rewritten = append(d.rewritten, rewritten{e, was, it.Item})
	return nil
}

// ownParts are the parts of an item of which one fix made copies, as it lets them name
// other sessions: a split does that to thousands of results of one item, which is then
// one rewriting.
type ownParts struct {
	fix            int // by its number on the draft
	calls, results bool
	rewritten      int // its index on the draft, -1 for none
}

// ownIn are those of a fix.
func (it *entry) ownIn(fix int) *ownParts {
	if it.own.fix != fix {
		it.own = ownParts{fix: fix, rewritten: -1}
	}
	return &it.own
}

// resultAt is the result that a pointer means, the zero value for none.
func (it *entry) resultAt(pointer string) session.Result {
	if list, n := partOf(pointer); list == inResults && n < len(it.Results) {
		return it.Results[n]
	}
	return session.Result{}
}

// requireUnicode refuses a record that holds what is no text: what is written anew of a
// part of it would be something else than what is stored, and nobody would keep
// that. A scrub, which the receipt tells of, has to come first.
func (d *draft) requireUnicode(r session.Ref) error {
	if slices.Contains(d.faultsOf(r), session.BadUnicode) {
		return fmt.Errorf("it holds text that is not valid Unicode; repair that first (SC606)")
	}
	return nil
}

// requireWhole refuses to take a part out of a record with a defect of its own: which of
// the two would have it then, a role that nobody knows among them, cannot be told.
func (d *draft) requireWhole(r session.Ref) error {
	if len(d.faultsOf(r)) > 0 || d.findRecord(r).Value.(*entry).Role == session.NoRole {
		return fmt.Errorf("it has a defect of its own, which must be repaired first")
	}
	return nil
}

// faultsOf are the kinds of the faults that a record has.
func (d *draft) faultsOf(r session.Ref) []session.FaultKind {
	var kinds []session.FaultKind
	for _, f := range d.findRecord(r).Value.(*entry).home.Faults {
		if wholeRow(f.Ref) == wholeRow(r) {
			kinds = append(kinds, f.Kind)
		}
	}
	return kinds
}

// meaningAfter is made of the meaning before and the edit, so that two twins that
// are edited alike stay twins.
func meaningAfter(was session.Digest, e session.Edit) session.Digest {
	var m session.Meaning
	m.AddDigest(was)
	m.AddTexts(string(e.Op), e.Ref.Pointer, e.Field, valueOf(e))
	return m.Digest()
}

func (it *entry) rewriteItem(e session.Edit) error {
	switch e.Op {
	case session.Wrap:
		return it.wrapArguments(e.Ref.Pointer)
	case session.Scrub:
		return it.scrubText(scrubbedFault(e))
	case session.Omit:
		return it.omitBlock(e.Ref.Pointer)
	}
	switch {
	case e.Ref.Pointer != "":
		return it.renamePart(e)
	case e.Field == session.FieldText:
		return it.removeBlankText(valueOf(e))
	case e.Field == session.FieldUnfinished:
		return it.markFinished()
	}
	return it.setBranch(e)
}

// markFinished gives an answer the end that it lacks.
func (it *entry) markFinished() error {
	if !it.Flags.Has(session.Unfinished) {
		return fmt.Errorf("it has an end already")
	}
	it.Flags &^= session.Unfinished
	return nil
}

// setBranch puts an item on another branch. One that was no label is none any more.
func (it *entry) setBranch(e session.Edit) error {
	if it.Branch() == valueOf(e) {
		return fmt.Errorf("it is already on that branch")
	}
	it.Own().Branch = valueOf(e)
	it.home.dropFaultsOf(e)
	return nil
}

// renamePart gives a call, a result or a block another id, or another child.
func (it *entry) renamePart(e session.Edit) error {
	list, n := partOf(e.Ref.Pointer)
	if e.Field == session.FieldChild {
		return it.nameChild(e, list, n)
	}
	var id *string
	switch {
	case list == inCalls && e.Field == session.FieldCallID && n < len(it.Calls):
		it.Calls = slices.Clone(it.Calls)
		id = &it.Calls[n].ID
	case list == inResults && e.Field == session.FieldResultID && n < len(it.Results) && it.Results[n].CallID != takenResult:
		it.Results = slices.Clone(it.Results)
		id = &it.Results[n].CallID
	case list == inBlocks && e.Field == session.FieldBlockID && n < len(it.Blocks):
		it.Blocks = slices.Clone(it.Blocks)
		id = &it.Blocks[n].ID
	default:
		return fmt.Errorf("the record has no such part with the field %q", e.Field)
	}
	if *id == valueOf(e) {
		return fmt.Errorf("it already has that value")
	}
	*id = valueOf(e)
	return nil
}

// nameChild lets a result, or the question in a result or a call, name another session.
func (it *entry) nameChild(e session.Edit, list string, n int) error {
	var named []*string
	switch {
	case list == inCalls && n < len(it.Calls):
		it.copyCalls()
		named = []*string{&it.Calls[n].Question.Child}
	case list == inResults && n < len(it.Results) && it.Results[n].CallID != takenResult:
		if !it.own.results {
			it.Results, it.own.results = slices.Clone(it.Results), true
		}
		named = []*string{&it.Results[n].Child, &it.Results[n].Question.Child}
	default:
		return fmt.Errorf("the record has no such part with the field %q", e.Field)
	}
	old := ""
	for _, id := range named {
		if old = cmp.Or(old, *id); *id != "" && *id == old {
			*id = valueOf(e)
		}
	}
	switch old {
	case "":
		return fmt.Errorf("it names no session")
	case valueOf(e):
		return fmt.Errorf("it already has that value")
	}
	return nil
}

// copyCalls makes the calls of an item ones that a fix can change.
func (it *entry) copyCalls() {
	if !it.own.calls {
		it.Calls, it.own.calls = slices.Clone(it.Calls), true
	}
}

// wrapped is the member of an object that holds arguments that are none.
const wrapped = "INVALID_JSON"

// wrapArguments makes arguments an object that holds the text that they were, if there was one.
func (it *entry) wrapArguments(pointer string) error {
	list, n := partOf(pointer)
	switch {
	case list != inCalls || n >= len(it.Calls):
		return fmt.Errorf("the record has no such call")
	case it.Calls[n].Form == session.ArgsObject:
		return fmt.Errorf("its arguments are already an object")
	case it.Body == nil:
		return fmt.Errorf("its arguments were not loaded")
	}
	args, err := json.Marshal(map[string]string{wrapped: it.Calls[n].Args})
	if err != nil {
		return err
	}
	if it.Calls[n].Args == "" { // there is nothing to keep
		args = []byte("{}")
	}
	it.Calls = slices.Clone(it.Calls)
	it.Calls[n].Args, it.Calls[n].Form = string(args), session.ArgsObject
	return nil
}

// removeBlankText takes blank texts away: all that the item says as text, or blocks beside it.
func (it *entry) removeBlankText(value string) error {
	blank := it.Body != nil && strings.TrimSpace(it.Body.Text) == ""
	switch {
	case value != "":
		return fmt.Errorf("a repair writes no text into a message")
	case it.Body == nil:
		return fmt.Errorf("its text was not loaded")
	case (!blank || it.Body.Text == "") && !slices.ContainsFunc(it.Blocks, func(b session.Block) bool { return b.Blank }):
		return fmt.Errorf("its text is not blank")
	}
	body := *it.Body
	if it.Body, it.emptied = &body, true; !blank {
		return nil
	}
	body.Text, it.Text = "", 0
	if it.Role == session.Tool && len(it.Results) == 1 {
		it.Text = it.Results[0].Digest
	}
	it.Flags &^= session.BlankText | session.TrailingSpace
	return nil
}

// scrubbedFault is the fault that a Scrub mends.
func scrubbedFault(e session.Edit) session.FaultKind {
	if e.Field == session.FieldNUL {
		return session.NulCharacter
	}
	return session.BadUnicode
}

// scrubText makes everything that an item says Unicode, or what it sends but for reasoning, which
// is signed, a text without U+0000.
func (it *entry) scrubText(kind session.FaultKind) error {
	if it.Body == nil {
		return fmt.Errorf("its text was not loaded")
	}
	body := *it.Body
	it.Body, it.Calls, it.Results = &body, slices.Clone(it.Calls), slices.Clone(it.Results)
	if kind == session.NulCharacter {
		shown := func(text string) string { return strings.ReplaceAll(text, "\x00", `\u0000`) }
		body.Text, body.Raw = shown(body.Text), nil // the record changes, also where another item says what has it
		for i := range it.Calls {
			it.Calls[i].Args = string(jsonedit.ShowNUL([]byte(it.Calls[i].Args)))
		}
		for i := range it.Results {
			it.Results[i].Text = shown(it.Results[i].Text)
		}
		return nil
	}
	body.Text, body.Reasoning = toUnicode(body.Text), toUnicode(body.Reasoning)
	for i := range it.Calls {
		c := &it.Calls[i]
		c.ID, c.Name, c.Args = toUnicode(c.ID), toUnicode(c.Name), toUnicode(c.Args)
	}
	for i := range it.Results {
		r := &it.Results[i]
		r.CallID, r.Name, r.Text = toUnicode(r.CallID), toUnicode(r.Name), toUnicode(r.Text)
	}
	return nil
}

// omitBlock takes a block away. In the place of media comes a note: a part of the result that held
// them, or a text of the item, on a line of its own. Of several blocks of reasoning nobody
// knows here what each says.
func (it *entry) omitBlock(pointer string) error {
	list, n := partOf(pointer)
	switch {
	case list != inBlocks || n >= len(it.Blocks) || slices.Contains(it.omitted, n):
		return fmt.Errorf("the record has no such block")
	case it.Body == nil:
		return fmt.Errorf("its text was not loaded")
	}
	b := &it.Blocks[n]
	body := *it.Body
	it.Body, it.omitted, it.Size = &body, append(slices.Clone(it.omitted), n), max(0, it.Size-b.Bytes)
	below := func(text string) string { return strings.TrimPrefix(text+"\n"+b.OmissionNote(), "\n") }
	switch {
	case b.Kind == session.ReasoningBlock:
		if !it.hasBlocksLeft(session.ReasoningBlock) {
			body.Reasoning = ""
		}
	case b.Kind != session.MediaBlock || b.In > len(it.Results):
		return fmt.Errorf("only reasoning and media can be left out")
	case b.In > 0:
		it.Results = slices.Clone(it.Results)
		r := &it.Results[b.In-1]
		r.Text = below(r.Text)
		if r.Digest = session.DigestOf(r.Text); it.Role == session.Tool && len(it.Results) == 1 {
			it.Text = r.Digest
		}
	default:
		spaced := it.Flags.Has(session.TrailingSpace) && slices.ContainsFunc(it.Blocks[n:], func(b session.Block) bool { return b.Kind == session.TextBlock })
		body.Text = below(body.Text)
		it.Text, it.Flags = session.DigestOf(body.Text), it.Flags&^(session.BlankText|session.TrailingSpace)
		if spaced {
			it.Flags |= session.TrailingSpace
		}
	}
	return nil
}

// hasBlocksLeft reports whether blocks of a kind are left of the item.
func (it *entry) hasBlocksLeft(kind session.BlockKind) bool {
	for n := range it.Blocks {
		if it.Blocks[n].Kind == kind && !slices.Contains(it.omitted, n) {
			return true
		}
	}
	return false
}

// toUnicode is a text with U+FFFD for every byte that is part of no character.
func toUnicode(text string) string { return string([]rune(text)) }

// The lists of an item that a pointer can mean an element of.
const (
	inCalls   = "calls"
	inResults = "results"
	inBlocks  = "blocks"
)

// partOf splits a pointer: "/calls/1" means call 1. The list is "" when it has
// another form.
func partOf(pointer string) (list string, n int) {
	list, number, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 {
		return "", 0
	}
	return list, n
}

// rewordsItem reports whether an edit changes what a record of an item says, in place
// of where it stands or of a column beside it.
func rewordsItem(e session.Edit) bool {
	switch e.Op {
	case session.Wrap, session.Scrub, session.Omit:
		return true
	case session.Set:
		return e.Ref.Table != session.TableSessions &&
			(e.Ref.Pointer != "" || e.Field == session.FieldText || e.Field == session.FieldBranch || e.Field == session.FieldUnfinished)
	}
	return false
}

// countScrubs counts the edits of a fix that mend what is no text.
func countScrubs(f Fix) int {
	return lists.CountIf(f.Edits, func(e session.Edit) bool { return e.Op == session.Scrub })
}

// partMark stands in the key of a part of an item between the key of the record
// that it was taken from and the number of the part.
const partMark = "#" + inResults + "/"

// isPart reports whether a reference means a part that was taken out of a record.
func isPart(r session.Ref) bool { return strings.Contains(r.Key, partMark) }

// recordRow is the row of the stored record that a row stands for a part of.
func recordRow(row string) string {
	row, _, _ = strings.Cut(row, partMark)
	return row
}

// recordOf is the stored record that a reference means something of, be it a part
// that an earlier edit took out.
func recordOf(r session.Ref) session.Ref {
	r.Pointer = ""
	if at := strings.LastIndex(r.Key, partMark); at >= 0 {
		r.Key = r.Key[:at]
	}
	return r
}

// setValue changes one value of a record. What the model holds changes in the model;
// an adapter is told the rest.
func (d *draft) setValue(e session.Edit) error {
	b, it, err := d.findTarget(e.Ref)
	if err != nil {
		return err
	}
	known := false
	if it != nil {
		known, err = setItem(b, it, e)
	} else {
		known, err = b.setField(e)
	}
	if !known && err == nil {
		d.sets = append(d.sets, e)
	}
	return err
}

// findTarget finds the session whose own record a reference means, or the item.
func (d *draft) findTarget(r session.Ref) (*draftSession, *entry, error) {
	if r.Table == session.TableSessions {
		if b := d.byID[r.Key]; b != nil {
			return b, nil, nil
		}
	} else if at := d.findRecord(r); at != nil {
		it := at.Value.(*entry)
		return it.home, it, nil
	}
	return nil, nil, fmt.Errorf("the record does not exist")
}

func setItem(b *draftSession, it *entry, e session.Edit) (known bool, err error) {
	value := valueOf(e)
	switch e.Field {
	case session.FieldPosition:
		b.touched = true // every position of the session is made anew
		return true, nil
	case "agent_name":
		it.Own().Agent = value
		return true, nil
	case session.FieldArchived:
		b.dropFaultsOf(e) // what it held may be neither
		return true, it.setArchived(value)
	case "first_kept_entry":
		it.Own().KeptFrom, err = strconv.ParseInt(value, 10, 64)
		b.touched = true
		return true, err
	}
	for _, f := range b.Faults {
		if f.Ref.Row() != e.Ref.Row() || f.Field != e.Field {
			continue
		}
		if f.Position != 0 {
			b.moveToPosition(it, f.Position)
		}
		if !f.Time.IsZero() {
			it.Time = f.Time
		}
	}
	b.dropFaultsOf(e)
	return false, nil
}

// setArchived takes an item out of what is sent, or puts it back.
func (it *entry) setArchived(value string) error {
	switch value {
	case "true":
		it.Flags |= session.Archived
	case "false":
		it.Flags &^= session.Archived
	default:
		return fmt.Errorf("a message is archived or not (true or false), and not %q", value)
	}
	return nil
}

func (b *draftSession) setField(e session.Edit) (known bool, err error) {
	if e.Field == "parent_id" {
		b.Parent = valueOf(e)
		return true, nil
	}
	for at := b.items.Front(); at != nil && e.Field == session.FieldSummary; at = at.Next() {
		if it := at.Value.(*entry); it.Key == valueOf(e) {
			it.Kind = session.Summary
		}
	}
	for i := range b.IndexRefs {
		if r := &b.IndexRefs[i]; r.Ref == e.Ref && r.Field == e.Field {
			r.Index, err = strconv.ParseInt(valueOf(e), 10, 64)
			b.touched = true
			return true, err
		}
	}
	b.dropFaultsOf(e)
	return false, nil
}

// moveToPosition puts an item where its position is another one.
func (b *draftSession) moveToPosition(it *entry, position int64) {
	var own, next *list.Element
	for at := b.items.Front(); at != nil; at = at.Next() {
		e := at.Value.(*entry)
		if e == it {
			own = at
		} else if next == nil && e.Position > position {
			next = at
		}
	}
	it.Position, b.touched = position, true
	if next == nil {
		b.items.MoveToBack(own)
	} else {
		b.items.MoveBefore(own, next)
	}
}

// dropFaultsOf forgets the faults of a value that gets another one.
func (b *draftSession) dropFaultsOf(e session.Edit) {
	b.dropFaults(func(f session.Fault) bool { return f.Ref.Row() == e.Ref.Row() && f.Field == e.Field })
}

func (b *draftSession) dropFaults(mended func(session.Fault) bool) {
	b.Faults = slices.DeleteFunc(slices.Clone(b.Faults), mended)
}

func valueOf(e session.Edit) string {
	if e.Value == nil {
		return ""
	}
	return *e.Value
}
