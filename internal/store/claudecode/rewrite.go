package claudecode

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/docedit"
	"github.com/sessctl/sessctl/internal/store/filelog"
)

// rewrite is what a repair makes of the lines of one file: some leave, some hang below
// others, some move, and new ones come behind others. No other byte changes.
type rewrite struct {
	*chain
	file    *filelog.Spliced     // its text
	parents map[int]filelog.Name // of the lines that hang below others now
	gone    map[int]bool         // lines that leave
	texts   map[int][]byte       // of the lines that say less now
	renamed map[filelog.Name]filelog.Name
	behind  map[int][][]byte               // lines that come behind another one; -1 for the end of the file, or start
	brought map[filelog.Name]int           // strays that came from other files, and their places
	latest  map[int]filelog.Name           // the last of them at a place
	later   time.Duration                  // how far the time of the last new line is behind the newest one
	added   map[*session.Item]filelog.Name // the identifiers of new lines
	apart   map[*filelog.Run]bool          // that are taken apart
}

// composeFiles composes what becomes of the files of a tree.
func (c *claude) composeFiles(ctx context.Context, tree *store.Change, text func(name string) (*filelog.Spliced, error)) (map[string][]filelog.Splice, error) {
	all, err := change.CompareSessions(tree)
	if err != nil {
		return nil, err
	}
	parts, files := map[string]*part{}, map[string]*rewrite{}
	roots := rootsOf(tree.Before)
	err = c.visitParts(ctx, roots, func(t transcript, p *part) error {
		if slices.Contains(roots, t.id) {
			parts[p.ID] = p
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	open := func(p *part) (f *rewrite, err error) {
		if f = files[p.in.source]; f == nil {
			f = newRewrite(p.in.chain)
			f.file, err = text(p.in.source)
			files[p.in.source] = f
		}
		return f, err
	}
	for _, s := range all {
		p := parts[s.Is.ID]
		if err := requireWritable(s); err != nil {
			return nil, err
		}
		if p == nil {
			return nil, problem.New(problem.RolledBack, "", "session %s cannot be changed: the store has no session with that id", s.Is.ID)
		}
		if !s.ListDiffers() && len(s.Sets) == 0 {
			continue
		}
		f, err := open(p)
		if err == nil {
			err = f.rewriteSession(s, p)
		}
		for _, other := range all {
			lines := strayLines(s, parts[other.Is.ID])
			if err != nil || len(lines) == 0 {
				continue
			}
			var from *rewrite
			if from, err = open(parts[other.Is.ID]); err == nil {
				err = f.bringHome(from, lines)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return splicesOf(ctx, files)
}

// rootsOf are the sessions of a tree that have transcripts.
func rootsOf(tree *session.Tree) (ids []string) {
	for _, s := range tree.Sessions {
		if s.Parent == "" {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

func newRewrite(c *chain) *rewrite {
	return &rewrite{
		chain: c, parents: map[int]filelog.Name{}, gone: map[int]bool{}, texts: map[int][]byte{}, renamed: map[filelog.Name]filelog.Name{}, behind: map[int][][]byte{},
		added: map[*session.Item]filelog.Name{}, brought: map[filelog.Name]int{}, latest: map[int]filelog.Name{}, apart: map[*filelog.Run]bool{},
	}
}

// splicesOf are the changes of those files that change.
func splicesOf(ctx context.Context, files map[string]*rewrite) (map[string][]filelog.Splice, error) {
	splices := map[string][]filelog.Splice{}
	for name, f := range files {
		list, err := f.collectSplices(ctx)
		if err != nil {
			return nil, err
		}
		if len(list) > 0 {
			splices[name] = list
		}
	}
	return splices, nil
}

// requireWritable says what of a change no line can become.
func requireWritable(s *change.Session) error {
	refuse := func(what string) error {
		return problem.New(problem.RolledBack, "", "in a transcript a repair adds, moves, removes and relinks whole lines, and %s", what)
	}
	if s.Was == nil || s.Was.Parent != s.Is.Parent {
		return refuse("makes no session")
	}
	for _, e := range s.Sets {
		if e.Field != fieldParent && !strings.HasPrefix(e.Field, "line") {
			return refuse("does not set " + e.Field)
		}
	}
	for i := range s.Items {
		it := &s.Items[i]
		said := slices.ContainsFunc(it.Values, func(v change.Value) bool {
			return v.Field != change.FieldOmitted && (v.Of != change.OfItem || v.Field != session.FieldPosition && v.Field != session.FieldText && (v.Field != session.FieldArchived || !it.Moves))
		})
		switch {
		case it.Was == nil && (it.Is.Role != session.Tool || len(it.Is.Results) != 1):
			return refuse("adds only results")
		case it.Moves && it.Was.Home() != s.Is.ID:
			return refuse("only what belongs to another file goes to one")
		case it.Part >= 0 || len(it.Taken) > 0:
			return refuse("no part of one")
		case it.Scrubbed || said || len(it.Sets) > 0:
			return refuse("changes nothing that one says")
		}
	}
	return nil
}

// rewriteSession makes the changes of one session.
func (f *rewrite) rewriteSession(s *change.Session, p *part) error {
	for _, e := range s.Sets {
		for _, r := range f.runs {
			f.apart[r] = f.apart[r] || e.Field == r.Name()
		}
		if i, ok := f.at[f.Name(e.Ref.Pointer)]; ok && e.Value != nil {
			f.parents[int(i)] = f.Name(*e.Value)
		}
	}
	for _, it := range s.Removed {
		for _, i := range p.lines[it.Key] {
			if f.nodes[i].length == 0 {
				return problem.New(problem.RolledBack, "", "line %d is too long to look for records in it", f.nodes[i].number)
			}
			f.removeLine(i)
		}
	}
	for i := range s.Items {
		if err := f.editBlocks(p.lines[s.Items[i].Is.Key], &s.Items[i]); err != nil {
			return err
		}
		if slices.ContainsFunc(s.Items[i].Values, func(v change.Value) bool { return v.Field == session.FieldText }) {
			if err := f.dropBlanks(p.lines[s.Items[i].Is.Key]); err != nil {
				return err
			}
		}
	}
	moved := change.MovedResults(s.Items)
	news := 0
	for i := range s.Items {
		if s.Items[i].Was == nil {
			news++
		}
	}
	for i := range s.Items {
		it := &s.Items[i]
		if it.Was != nil && !moved[i] || it.Moves {
			continue
		}
		if len(it.Is.Results) == 0 {
			return problem.New(problem.RolledBack, "", "only results of tools can be moved in a transcript")
		}
		place, err := f.findResultPlace(s.Items, i, p)
		if err != nil {
			return err
		}
		if it.Was != nil {
			for _, n := range p.lines[it.Is.Key] {
				f.moveLine(n, place)
			}
			continue
		}
		place.alone = news == 1
		f.added[it.Is] = f.addResultLine(&it.Is.Results[0], place)
	}
	return nil
}

// currentParent is the line that one hangs below.
func (f *rewrite) currentParent(i int) filelog.Name {
	if up, set := f.parents[i]; set {
		return up
	}
	return f.nodes[i].parent
}

// relinkBelow lets the lines below one line hang below another one, but for those that stay.
func (f *rewrite) relinkBelow(from, to filelog.Name, stays func(i int) bool) {
	for i := range f.nodes {
		if n := &f.nodes[i]; n.uuid != 0 && !f.gone[i] && f.currentParent(i) == from && n.uuid != to && !stays(i) {
			f.parents[i] = to
		}
	}
}

// unlinkLine takes a line out of the chain: what hangs below it hangs below its parent.
func (f *rewrite) unlinkLine(i int) {
	if n := &f.nodes[i]; n.uuid != 0 && !n.replaced {
		f.relinkBelow(n.uuid, f.currentParent(i), func(int) bool { return false })
	}
}

// removeLine takes a line out of the file.
func (f *rewrite) removeLine(i int) {
	f.unlinkLine(i)
	f.gone[i] = true
	if n := &f.nodes[i]; n.uuid != 0 && !n.replaced {
		f.renamed[n.uuid] = f.currentParent(i)
	}
}

// stampForm is the form of the times of lines.
const stampForm = "2006-01-02T15:04:05.000Z"

// place is where the line of a result goes.
type place struct {
	call   int          // its line
	parent filelog.Name // what it hangs below
	line   int          // the line that it comes behind, -1 for the end of the file
	latest time.Time    // of what follows, or of the call where that is later; zero for none
	batch  []int        // the lines of the message that made the call, and of its results
	linear bool         // results hang below each other, as up to 2.0
	alone  bool         // no other line is new
}

// findResultPlace finds out where the result at an index of the items goes: below its call, and up
// to 2.0 below the last line of the turn, as sessions that were resumed have shown.
func (f *rewrite) findResultPlace(items []change.Item, at int, p *part) (*place, error) {
	id := items[at].Is.Results[0].CallID
	made := at - 1
	for made >= 0 && (items[made].Was == nil || !items[made].Is.MakesCall(id)) {
		made--
	}
	if made < 0 {
		return nil, problem.New(problem.RolledBack, "", "the call %q of a result is not before it", id)
	}
	pl := &place{line: -1}
	var calls []int // several where two calls have one id: their results are in the same order
	for _, i := range p.lines[items[made].Is.Key] {
		pl.batch = append(pl.batch, i)
		if !f.nodes[i].again && slices.Contains(f.toolsOf(&f.nodes[i], assistant), f.Name(id)) {
			calls = append(calls, i)
		}
	}
	if len(calls) == 0 {
		return nil, problem.New(problem.RolledBack, "", "the call %q cannot have a result", id)
	}
	nth := 0
	for i := made + 1; i < at && nth < len(calls)-1; i++ {
		if items[i].Is.AnswersCall(id) {
			nth++
		}
	}
	pl.call = calls[nth]
	last := slices.Max(pl.batch)
	middle := slices.ContainsFunc(items[at+1:], isSent)
	pl.linear = strings.HasPrefix(f.lineVersion(pl.call), "1.") || strings.HasPrefix(f.lineVersion(pl.call), "2.0.") || !middle && f.reordersBlocks(pl)
	pl.parent = f.nodes[pl.call].uuid
	if pl.linear {
		pl.parent = f.nodes[last].uuid
	}
	for i := made + 1; i < at; i++ {
		for _, n := range p.lines[items[i].Is.Key] {
			if len(items[i].Is.Results) > 0 && !f.gone[n] {
				pl.batch, last = append(pl.batch, n), max(last, n)
				if pl.linear && f.nodes[n].active {
					pl.parent = f.nodes[n].uuid
				}
			}
		}
		if items[i].Was == nil && pl.linear {
			pl.parent = f.added[items[i].Is]
		}
	}
	if !middle {
		return pl, nil
	}
	pl.line = last
	timed := func(it change.Item) bool { return isSent(it) && !it.Is.Time.IsZero() }
	if n := slices.IndexFunc(items[at+1:], timed); n >= 0 {
		pl.latest = items[at+1+n].Is.Time
		if called := items[made].Is.Time; called.After(pl.latest) {
			pl.latest = called
		}
	}
	return pl, nil
}

// isSent reports whether an item is there and sent.
func isSent(it change.Item) bool { return !it.Is.Flags.Has(session.Archived) && it.Was != nil }

// reordersBlocks reports whether the blocks of the message that made a call come in another order
// where the chain goes through the call: those beside it are the last ones.
func (f *rewrite) reordersBlocks(pl *place) bool {
	var above []int
	i, known := int32(pl.call), true
	for range f.nodes { // the parents may lead in a circle
		if known = known && f.nodes[i].kind != user; !known {
			break
		}
		if slices.Contains(pl.batch, int(i)) && !slices.Contains(above, int(i)) {
			above = append(above, int(i))
		}
		i, known = f.at[f.currentParent(int(i))]
	}
	slices.Reverse(above)
	beside := slices.DeleteFunc(slices.Sorted(slices.Values(pl.batch)), func(i int) bool { return slices.Contains(above, i) })
	return !slices.Equal(append(above, beside...), pl.batch)
}

// lineVersion is the one that wrote a line.
func (f *rewrite) lineVersion(i int) string {
	raw, _ := jsonedit.RawValue(f.storedLine(i), "/version")
	return strings.Trim(string(raw), `"`)
}

// storedLine is the text of a line.
func (f *rewrite) storedLine(i int) []byte { return f.nodes[i].lineSpan().Of(f.file) }

// endOfLine is where the line behind a line begins.
func (f *rewrite) endOfLine(i int) int {
	return f.file.EndOfLine(int(f.nodes[i].offset) + int(f.nodes[i].length))
}

// insertInChain lets what hung below the parent of a new line hang below that. In the middle only:
// at the end there is nothing that is sent.
func (f *rewrite) insertInChain(uuid filelog.Name, pl *place) {
	if pl.line >= 0 {
		f.relinkBelow(pl.parent, uuid, func(i int) bool { return !f.nodes[i].active || slices.Contains(pl.batch, i) })
	}
}

// moveLine takes the line of a late result to its place.
func (f *rewrite) moveLine(i int, pl *place) {
	f.unlinkLine(i)
	f.insertInChain(f.nodes[i].uuid, pl)
	f.parents[i] = pl.parent
	at := pl.line
	if at < 0 {
		at = slices.Max(pl.batch)
	}
	f.behind[at] = append(f.behind[at], f.relinkedLine(i))
	f.gone[i] = true
}

// relinkedLine is a line with its parent, and what it says.
func (f *rewrite) relinkedLine(i int) []byte {
	line := f.currentLine(i)
	up, set := f.parents[i]
	if !set {
		return line
	}
	value := []byte("null")
	if up != 0 {
		value = docedit.QuoteText(f.Text(up))
	}
	text, err := jsonedit.SetValue(line, "/"+fieldParent, value)
	if err != nil { // it was read before
		return line
	}
	return text
}

// addResultLine writes the line of a result, as Claude Code 2.1.330 does when it resumes a session
// whose call has none: with what the line of the call says of the session.
func (f *rewrite) addResultLine(r *session.Result, pl *place) (uuid filelog.Name) {
	call, text := f.nodes[pl.call], docedit.QuoteText(r.Text)
	if gap := f.findGap(pl); gap >= 0 {
		uuid = f.nodes[gap].parent
		delete(f.parents, gap)
	} else {
		uuid = f.Name(f.DeriveUUID(f.Text(call.uuid) + "\n" + r.CallID))
	}
	f.insertInChain(uuid, pl)
	var stamp []byte // the newest of the turn, whose lines need not be in the order of their times
	var newest time.Time
	for _, i := range pl.batch {
		of := f.timestampOf(i)
		if at, _ := time.Parse(time.RFC3339Nano, strings.Trim(string(of), `"`)); at.After(newest) {
			stamp, newest = of, at
		}
	}
	if !pl.latest.IsZero() && (stamp == nil || newest.After(pl.latest)) {
		stamp = docedit.QuoteText(pl.latest.UTC().Format(stampForm))
	}
	if pl.line < 0 && !f.newest.IsZero() {
		f.later += time.Millisecond
		stamp = docedit.QuoteText(f.newest.Add(f.later).UTC().Format(stampForm))
	}
	var b []byte
	member := func(name string, value []byte) {
		if value != nil {
			b = append(append(b, ",\""+name+"\":"...), value...)
		}
	}
	of := func(names ...string) {
		for _, name := range names {
			if raw, ok := jsonedit.RawValue(f.storedLine(pl.call), "/"+name); ok {
				member(name, raw)
			}
		}
	}
	member(fieldParent, docedit.QuoteText(f.Text(pl.parent)))
	of("isSidechain", "agentId")
	member("type", []byte(`"user"`))
	member("message", fmt.Appendf(nil, `{"role":"user","content":[{"type":"tool_result","content":%s,"is_error":%t,"tool_use_id":%s}]}`, text, r.IsError, docedit.QuoteText(r.CallID)))
	member("uuid", docedit.QuoteText(f.Text(uuid)))
	member("timestamp", stamp)
	member("toolUseResult", text)
	if r.IsError {
		member("toolDenialKind", []byte(`"interrupted"`))
	}
	member("sourceToolAssistantUUID", docedit.QuoteText(f.Text(call.uuid)))
	of("userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "slug")
	b[0] = '{'
	f.behind[pl.line] = append(f.behind[pl.line], append(b, '}'))
	return uuid
}

// findGap finds the one line that names a parent which does not exist, where it comes behind the
// turn: its parent was the result that was lost. -1 for none.
func (f *rewrite) findGap(pl *place) int {
	gap, before := -1, -1
	for i := range f.nodes {
		n := &f.nodes[i]
		if n.uuid == 0 || n.replaced || n.side != f.nodes[pl.call].side {
			continue
		}
		if _, ok := f.at[n.parent]; !ok && n.parent != 0 && !f.gone[i] {
			if gap >= 0 || !pl.alone || !slices.Contains(pl.batch, before) || slices.Contains(pl.batch, i) {
				return -1
			}
			gap = i
		}
		before = i
	}
	return gap
}
