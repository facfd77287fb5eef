package isolation

import (
	"cmp"
	"encoding/json"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/pattern"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// fileUse is a file that an own item of a session names.
type fileUse struct {
	item   int
	path   string // below the store's folder, or as the tool was given it
	writes bool
	put    bool  // a result was put there
	bytes  int64 // 0 when nobody looked at the file
}

// sessionFiles are the files that a session uses, in stored order: those that the reader of
// the store looked at, else those that calls name in their arguments, which are
// known where texts are loaded. Calls that failed used nothing.
func sessionFiles(s *rules.Subject) []fileUse {
	var list []fileUse
	failed := failedCalls(s)
	for i, it := range s.OwnItems() {
		for n := range it.Outputs() {
			if o := &it.Outputs()[n]; o.Real != "" {
				list = append(list, fileUse{
					item: i, path: path.Clean(o.Real), bytes: o.Bytes,
					writes: writesOutputs(it) && !digested().MatchString(o.Real), put: len(it.Calls) == 0,
				})
			}
		}
		for n := range it.Calls {
			if len(it.Outputs()) > 0 || failed[pairing.Occurrence{Item: i, Nth: n}] {
				continue
			}
			if name := fileOf(it.Calls[n].Args, s.Workspace); name != "" {
				list = append(list, fileUse{item: i, path: name, writes: writesFiles(it.Calls[n].Name)})
			}
		}
	}
	return list
}

// failedCalls are the calls whose result says that they failed.
func failedCalls(s *rules.Subject) map[pairing.Occurrence]bool {
	failed := map[pairing.Occurrence]bool{}
	for _, pair := range s.Pairs.Pairs {
		if s.ResultAt(pair.Result).IsError {
			failed[pair.Call] = true
		}
	}
	return failed
}

// fileOf is the file that the arguments of a call name, "" for none. A relative one
// is meant below the folder that the call names as its own, else below the agent's.
func fileOf(args, workspace string) string {
	var given map[string]any
	if json.Unmarshal([]byte(args), &given) != nil {
		return ""
	}
	text := func(key string) string { t, _ := given[key].(string); return t }
	for _, key := range []string{"path", "file_path", "file", "url"} {
		name := text(key)
		if key == "url" {
			name = ofFileURL(name)
		}
		if name == "" {
			continue
		}
		for _, folder := range []string{text("cwd"), workspace} {
			if !path.IsAbs(name) {
				name = path.Join(folder, name)
			}
		}
		return path.Clean(name)
	}
	return ""
}

// ofFileURL is the path of a URL of a file, "" for any other.
func ofFileURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	return u.Path
}

// writers are the tools that change the file that they name, by their names without
// a server's name before them, in lower case and without "_" and "-". Sources: the
// filesystem toolsets of docker agent and MCP, Claude Code, Cline, Loom, the text
// editor of Anthropic.
var writers = map[string]bool{
	"writefile": true, "editfile": true, "createfile": true, "appendfile": true, "savefile": true,
	"deletefile": true, "removefile": true, "movefile": true, "writetofile": true, "replaceinfile": true,
	"write": true, "edit": true, "multiedit": true, "notebookedit": true,
	"strreplaceeditor": true, "strreplacebasededittool": true,
}

// writesFiles reports whether a tool of this name changes the file that it names.
func writesFiles(tool string) bool {
	if i := strings.LastIndexAny(tool, ":./"); i >= 0 {
		tool = tool[i+1:]
	}
	if i := strings.LastIndex(tool, "__"); i >= 0 {
		tool = tool[i+2:]
	}
	return writers[strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(tool))]
}

// digested are files that are named after their content (loom-py offloader: 16 hex
// digits before the ending). Who writes one again writes the same.
var digested = pattern.Lazy(`_[0-9a-f]{16}\.[^./]*$`)

// writesOutputs reports whether the files of an item are ones that it wrote: what a
// result refers to was put there, what a call names only if its tool writes.
func writesOutputs(it *session.Item) bool {
	return len(it.Calls) == 0 || slices.ContainsFunc(it.Calls, func(c session.Call) bool { return writesFiles(c.Name) })
}

// liesIn reports whether a clean path is a folder or lies in it.
func liesIn(name, folder string) bool {
	folder = path.Clean(folder)
	if folder == "." {
		return !path.IsAbs(name) && name != ".." && !strings.HasPrefix(name, "../")
	}
	return name == folder || strings.HasPrefix(name, strings.TrimSuffix(folder, "/")+"/")
}

// isShared reports whether every agent may use what lies there.
func isShared(l *rules.Isolation, name string) bool {
	return slices.ContainsFunc(l.Shared, func(folder string) bool { return liesIn(name, folder) })
}

// toldFrom is the index of the item from which on an agent knew a file's name: it
// stands in what the agent was asked, or in what a delegation of its own brought back.
// 0 where the call that started the agent has it, or where texts are not loaded and
// nobody knows; len(Items) where the agent was never told.
func toldFrom(p *rules.Pass, s *rules.Subject, file string) int {
	name := path.Base(file)
	if d := p.Trace.Callers[s.Session]; d != nil && strings.Contains(d.Call().Args, name) {
		return 0
	}
	first := len(s.Items)
	for i := range s.Items {
		it := &s.Items[i]
		if it.Body == nil {
			return 0
		}
		if (it.Role == session.User || it.Role == session.System) && strings.Contains(it.Body.Text, name) {
			first = i
			break
		}
	}
	for _, d := range s.Replay.Delegations {
		r := d.Outcome()
		if r != nil && d.Final < first && strings.Contains(r.Text, name) {
			first = d.Final
		}
	}
	return first
}

// agentName is the agent that a session belongs to, "" when unknown.
func agentName(s *rules.Subject) string {
	asked := ""
	if s.Caller != nil {
		asked = s.Caller.Call().Delegation.Agent
	}
	return cmp.Or(s.Agent, asked, replay.FirstAgent(s.Session))
}

// whoseName names a session by its agent, for people.
func whoseName(s *rules.Subject) string {
	if agent := agentName(s); agent != "" {
		return rules.QuoteText(agent) + " (" + rules.ShortID(s.ID) + ")"
	}
	return "session " + rules.ShortID(s.ID)
}

// fileResult is that a result of an agent was put into a file.
type fileResult struct {
	by   *rules.Subject
	item *session.Item
}

// fileResults are the results that were put outside of every workspace (the cache of
// loom-py, which all agents of a folder have), by file.
func fileResults(p *rules.Pass, owners map[string]*rules.Subject) map[string][]fileResult {
	results := map[string][]fileResult{}
	for _, s := range p.Subjects {
		for _, use := range sessionFiles(s) {
			if use.put && ownerOf(owners, use.path) == nil {
				results[use.path] = append(results[use.path], fileResult{s, &s.Items[use.item]})
			}
		}
	}
	return results
}

// reportForeignResults tells of files outside of every workspace that a call of the
// agent names, that another agent's result was put into before and none of its own, and
// that nothing named that the agent was told.
func reportForeignResults(p *rules.Pass, s *rules.Subject, results map[string][]fileResult) {
	told := map[string]bool{}
	for _, use := range sessionFiles(s) {
		if use.put || told[use.path] || isShared(p.Isolation(), use.path) {
			continue
		}
		from := foreignResult(results[use.path], s, &s.Items[use.item])
		if from == nil || toldFrom(p, s, use.path) <= use.item {
			continue
		}
		told[use.path] = true
		f := p.FindItem(s.Session, use.item)
		f.Nth = 3
		f.Related = []session.Place{from.ItemPlace(-1)}
		f.Message = whoseName(s) + " uses " + rules.QuoteText(path.Base(use.path)) + ", which holds a result of " + whoseName(from)
		f.AddSentence("Nothing that it was told names this file")
		p.Report(f)
	}
}

// foreignResult is the agent whose result a file holds as an item of s uses it; nil
// where it is the agent's own, or where all results came later.
func foreignResult(results []fileResult, s *rules.Subject, at *session.Item) *rules.Subject {
	var from *rules.Subject
	for _, r := range results {
		switch {
		case !at.Time.IsZero() && r.item.Time.After(at.Time):
		case r.by == s || isOneAgent(r.by, s):
			return nil
		case from == nil:
			from = r.by
		}
	}
	return from
}

// party is an agent at work: in a session of its own, or on a branch of one that
// several agents share, in one run of the runtime.
type party struct {
	of                 *rules.Subject
	branch, invocation string
}

// span is from when to when a party worked, as far as its items have times.
type span struct{ first, last time.Time }

// including is the span with another time in it.
func (w span) including(at time.Time) span {
	if at.IsZero() {
		return w
	}
	if w.first.IsZero() || at.Before(w.first) {
		w.first = at
	}
	if at.After(w.last) {
		w.last = at
	}
	return w
}

func partyOf(s *rules.Subject, i int) party {
	return party{s, s.Items[i].Branch(), s.Items[i].Invocation()}
}

// spans are when the parties of a session worked.
type spans map[party]span

func spansOf(s *rules.Subject) spans {
	return rules.ComputeOnce(&s.Known, func() spans {
		found := spans{}
		for i, it := range s.OwnItems() {
			by := partyOf(s, i)
			found[by] = found[by].including(it.Time)
		}
		return found
	})
}

// fileWrite is that a party wrote a file.
type fileWrite struct {
	path string
	by   party
	item int
}

// reportSharedFiles tells of files that two parties wrote while both were running. Of each party
// the first write counts.
func reportSharedFiles(p *rules.Pass, writes []fileWrite) {
	type fileBy struct {
		path string
		by   party
	}
	ofEach := lists.GroupBy(writes, func(w fileWrite) fileBy { return fileBy{w.path, w.by} })
	firsts := lists.MapEach(ofEach, func(list []fileWrite) fileWrite { return list[0] })
	for _, writes := range lists.GroupBy(firsts, func(w fileWrite) string { return w.path }) {
		reportSharedFile(p, writes)
	}
}

func reportSharedFile(p *rules.Pass, writes []fileWrite) {
	for n, write := range writes {
		for _, earlier := range writes[:n] {
			one, other := spansOf(earlier.by.of)[earlier.by], spansOf(write.by.of)[write.by]
			if !one.first.Before(other.last) || !other.first.Before(one.last) || isWaiting(p, earlier.by, write.by) {
				continue
			}
			f := p.FindItem(write.by.of.Session, write.item)
			f.Nth = 2
			f.Related = []session.Place{earlier.by.of.ItemPlace(earlier.item)}
			f.Message = write.by.partyName() + " and " + earlier.by.partyName() + " both write " + rules.QuoteText(write.path) + ". They were running at the same time, so the last one wins."
			p.Report(f)
			return
		}
	}
}

func (w party) partyName() string {
	if w.branch != "" {
		return "the agent on branch " + rules.QuoteText(w.branch)
	}
	return whoseName(w.of)
}

// isWaiting reports whether one of two parties waits for the other.
func isWaiting(p *rules.Pass, a, b party) bool {
	if a.of == b.of {
		return waitsFor(a.branch, b.branch)
	}
	return waitsBelow(p, a.of, b.of) || waitsBelow(p, b.of, a.of)
}

// waitsFor reports whether one branch lies below the other, whose agent waits for it.
func waitsFor(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == "" || a == b || strings.HasPrefix(b, a+".")
}

// waitsBelow reports whether a session waits for delegations that lead down to another.
func waitsBelow(p *rules.Pass, above, below *rules.Subject) bool {
	seen := map[*rules.Subject]bool{}
	for s := below; s != nil && !seen[s]; {
		seen[s] = true
		if s == above {
			return true
		}
		d := p.Trace.Callers[s.Session]
		if d == nil || !d.Call().Delegation.Blocking {
			return false
		}
		s = p.SubjectOf(d.Session)
	}
	return false
}
