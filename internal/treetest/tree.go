// Package treetest writes session trees in a short notation, for the tests of
// replay, rules and engine.
//
//	P "Fix the build"
//	  user "please"
//	  root "I ask" T1>worker(do it) s1()
//	  worker "doing" at=3
//	  sub C
//	  root <T1 "done" <s1!
//	C<P "Transferred task"
//	  system(do it)
//	  user implicit
//	  worker "doing" at=3
//	  worker "done"
//
// A line at the margin begins a session: its id, then "<" and the recorded
// parent, a quoted title, agent=NAME, agents=NAME,NAME, model=NAME, user=NAME,
// task(TEXT), delegated, deleted, timed (the positions of its items are their times).
// The lines below it are its items. Their first word says what they are:
//
//	user, system       messages; system(TEXT) hands a task to the session
//	sub ID             a sub-session item, "-" for one that lost its reference
//	summary, other     the kinds of these names
//	run ID             no item, but the record of a run: run=INVOCATION
//	                   asked(TEXT) answered(TEXT) at=N until=N open
//	?                  a message of an unknown role
//	any other word     a message of the agent of that name, "-" for one without
//	                   a name: of role tool if it holds a result, else assistant
//
// The other words of an item, in any order:
//
//	"TEXT"             its text, or that of the result before it
//	id() id:tool()     a call of shell, or of another tool
//	id>agent(task)     a call that delegates and waits
//	id>>agent(task)    a call that delegates and goes on
//	id>agent(task)=C   one with which the store keeps the child's id
//	<id                the result of a call, <id! an error, <id~ a placeholder,
//	                   <id? one that waits for approval
//	<id=C              one that names the session that gave it
//	think(TEXT)        reasoning
//	at=N pos=N kept=N  seconds since the start, stored position, kept tail
//	branch=LABEL run=ID scope=ID
//	                   the branch, the invocation and the isolation scope
//	implicit archived synthetic unfinished blank skipped compacted unshown
//
// Messages without text get the name of their role as text, unless they hold
// calls, results or the word blank.
package treetest

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/forest"
)

// Start is the instant that at=0 means.
var Start = time.Date(2026, 2, 14, 9, 0, 0, 0, time.UTC)

// Tree reads a notation that must make exactly one tree.
func Tree(t testing.TB, notation string) *session.Tree {
	t.Helper()
	trees := Trees(t, notation)
	if len(trees) != 1 {
		t.Fatalf("the notation makes %d trees, not one:\n%s", len(trees), notation)
	}
	return trees[0]
}

// Trees reads a notation and groups its sessions as an adapter does.
func Trees(t testing.TB, notation string) []*session.Tree {
	t.Helper()
	r := reader{fail: func(format string, args ...any) { t.Helper(); t.Fatalf(format, args...) }}
	for line := range strings.SplitSeq(notation, "\n") {
		r.readLine(line)
	}
	known := map[string]bool{}
	heads := make([]forest.Head, len(r.sessions))
	for i, s := range r.sessions {
		known[s.ID] = true
		heads[i] = forest.HeadOf(s)
	}
	for _, s := range r.sessions {
		forest.MarkDangling(s, func(id string) bool { return known[id] })
	}
	return forest.GroupHeads(heads)
}

// reader collects sessions line by line.
type reader struct {
	sessions []*session.Session
	rows     int // item keys count through all sessions
	fail     func(format string, args ...any)
}

// words of a line: a quoted text, a word with a part in parentheses, or a word.
var words = regexp.MustCompile(`"[^"]*"|[^\s"(]*\([^)]*\)\S*|\S+`)

func (r *reader) readLine(line string) {
	list := words.FindAllString(line, -1)
	switch {
	case len(list) == 0:
	case strings.TrimLeft(line, " \t") == line:
		r.readSession(list)
	case len(r.sessions) == 0:
		r.fail("the item %q belongs to no session", line)
	default:
		r.readItem(r.sessions[len(r.sessions)-1], list)
	}
}

func (r *reader) readSession(list []string) {
	s := &session.Session{}
	s.ID, s.Parent, _ = strings.Cut(list[0], "<")
	for _, word := range list[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch {
		case word[0] == '"':
			s.Title = strings.Trim(word, `"`)
		case key == "agent":
			s.Agent = value
		case key == "model":
			s.Model = value
		case key == "user":
			s.User = value
		case word == "delegated":
			s.Delegated = true
		case word == "deleted":
			s.Deleted = true
		case word == "timed":
			s.Tick = time.Microsecond
		case key == "agents":
			s.Agents = strings.Split(value, ",")
		case strings.HasPrefix(word, "task("):
			s.Task = session.DigestOf(textInParens(word))
		default:
			r.fail("session %s: what is %q?", s.ID, word)
		}
	}
	r.sessions = append(r.sessions, s)
}

// textInParens is what stands in the parentheses of a word.
func textInParens(word string) string {
	_, rest, _ := strings.Cut(word, "(")
	text, _, _ := strings.Cut(rest, ")")
	return text
}

func (r *reader) readNumber(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		r.fail("%q is no number", text)
	}
	return n
}

// readItem adds the item that the words describe.
func (r *reader) readItem(s *session.Session, list []string) {
	if list[0] == "run" && len(list) > 1 {
		s.Runs = append(s.Runs, r.readRun(list[1:]))
		return
	}
	r.rows++
	it := session.Item{Shared: &session.Shared{Table: "items"}, Key: strconv.Itoa(r.rows), Position: int64(len(s.Items)), Body: &session.Body{}}
	first, rest := list[0], list[1:]
	switch {
	case first == "user":
		it.Role = session.User
	case strings.HasPrefix(first, "system"):
		it.Role = session.System
		if task := textInParens(first); task != "" {
			it.Body.Text = task
			s.Task = session.DigestOf(task)
		}
	case first == "sub":
		it.Kind, it.Own().Child, rest = session.SubSession, strings.Trim(rest[0], "-"), rest[1:]
	case first == "summary":
		it.Kind = session.Summary
	case first == "other":
		it.Kind = session.Other
	case first == "?":
	default:
		it.Role, it.Own().Agent = session.Assistant, strings.Trim(first, "-")
	}
	for _, word := range rest {
		r.readWord(&it, word)
	}
	finishItem(&it)
	if s.Tick > 0 {
		it.Position = it.Time.UnixMicro()
	}
	s.Items = append(s.Items, it)
}

var flags = map[string]session.Flags{
	"unshown": session.Unshown, "implicit": session.Implicit, "archived": session.Archived, "synthetic": session.Synthetic,
	"unfinished": session.Unfinished, "blank": session.Blank, "skipped": session.Skipped,
	"compacted": session.Compacted,
}

func (r *reader) readWord(it *session.Item, word string) {
	key, value, _ := strings.Cut(word, "=")
	switch {
	case word[0] == '"':
		text := strings.Trim(word, `"`)
		if n := len(it.Results); n > 0 {
			it.Results[n-1].Text = text
		} else {
			it.Body.Text = text
		}
	case word[0] == '<':
		it.Role = session.Tool
		it.Results = append(it.Results, resultOf(word[1:]))
	case strings.HasPrefix(word, "refused("):
		it.Own().Refusal, it.Flags = session.RefusalOf(0, textInParens(word)), it.Flags|session.Skipped
	case key == "model":
		it.Own().Model = value
	case strings.HasPrefix(word, "think("):
		it.Body.Reasoning = textInParens(word)
	case strings.Contains(word, "("):
		it.Calls = append(it.Calls, callOf(word))
	case key == "at":
		it.Time = Start.Add(time.Duration(r.readNumber(value)) * time.Second)
	case key == "pos":
		it.Position = r.readNumber(value)
	case key == "kept":
		it.Own().KeptFrom = r.readNumber(value)
	case key == "branch":
		it.Own().Branch = value
	case key == "run":
		it.Own().Invocation = value
	case key == "scope":
		it.Own().Scope = value
	case flags[word] != 0:
		it.Flags |= flags[word]
	default:
		r.fail("what is %q?", word)
	}
}

func resultOf(word string) session.Result {
	word, child, _ := strings.Cut(word, "=")
	id := strings.TrimRight(word, "!~?")
	mark := word[len(id):]
	return session.Result{
		CallID: id, Text: "result of " + id, Child: child,
		IsError:   strings.Contains(mark, "!"),
		Synthetic: strings.Contains(mark, "~"),
		Pending:   strings.Contains(mark, "?"),
	}
}

func callOf(word string) session.Call {
	head, _, _ := strings.Cut(word, "(")
	if id, agent, delegates := strings.Cut(head, ">"); delegates {
		name := strings.TrimPrefix(agent, ">")
		_, child, _ := strings.Cut(word, ")=")
		tool := "transfer_task"
		if name != agent {
			tool = "run_background_agent"
		}
		return session.Call{ID: id, Name: tool, Args: textInParens(word), Delegation: &session.Delegation{
			Agent: name, Task: session.DigestOf(textInParens(word)), Child: child, Blocking: name == agent,
		}}
	}
	id, tool, named := strings.Cut(head, ":")
	if !named {
		tool = "shell"
	}
	return session.Call{ID: id, Name: tool, Args: textInParens(word)}
}

// finishItem sets what follows from the words.
func finishItem(it *session.Item) {
	if it.Kind == session.Message && it.Body.Text == "" && len(it.Calls)+len(it.Results) == 0 && !it.Flags.Has(session.Blank) {
		it.Body.Text = it.Role.String()
	}
	it.Text = session.DigestOf(it.Body.Text)
	var m session.Meaning
	m.Reset(it.Role, it.Agent())
	m.AddDigest(it.Text)
	m.AddDigest(session.DigestOf(it.Body.Reasoning))
	for _, c := range it.Calls {
		m.AddMark('c')
		m.AddTexts(c.ID, c.Name, c.Args)
	}
	for i := range it.Results {
		res := &it.Results[i]
		res.Digest = session.DigestOf(res.Text)
		if res.Child != "" && !res.Pending {
			res.Answer = res.Digest
		}
		m.AddMark('r')
		m.AddDigest(session.DigestOf(res.CallID))
		m.AddDigest(res.Digest)
	}
	if len(it.Results) == 1 {
		it.Text = it.Results[0].Digest
	}
	if it.Kind == session.Message {
		it.Meaning = m.Digest()
	}
}

// readRun reads the record of a run that the words behind "run" describe.
func (r *reader) readRun(list []string) session.Run {
	run := session.Run{ID: list[0], State: "completed"}
	for _, word := range list[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch {
		case strings.HasPrefix(word, "asked("):
			run.Asked = session.DigestOf(textInParens(word))
		case strings.HasPrefix(word, "answered("):
			run.Answered = session.DigestOf(textInParens(word))
		case key == "run":
			run.Invocation = value
		case key == "at":
			run.Began = Start.Add(time.Duration(r.readNumber(value)) * time.Second)
		case key == "until":
			run.Ended = Start.Add(time.Duration(r.readNumber(value)) * time.Second)
		case word == "open":
			run.State, run.Open = "working", true
		default:
			r.fail("run %s: what is %q?", run.ID, word)
		}
	}
	return run
}
