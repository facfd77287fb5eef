package treetest

import (
	"strconv"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/session"
)

// item adds the item that the words describe.
func (r *reader) item(s *session.Session, list []string) {
	if list[0] == "run" && len(list) > 1 {
		s.Runs = append(s.Runs, r.run(list[1:]))
		return
	}
	r.rows++
	it := session.Item{Table: "items", Key: strconv.Itoa(r.rows), Position: int64(len(s.Items)), Body: &session.Body{}}
	first, rest := list[0], list[1:]
	switch {
	case first == "user":
		it.Role = session.User
	case strings.HasPrefix(first, "system"):
		it.Role = session.System
		if task := inside(first); task != "" {
			it.Body.Text = task
			s.Task = session.DigestOf(task)
		}
	case first == "sub":
		it.Kind, it.Child, rest = session.SubSession, strings.Trim(rest[0], "-"), rest[1:]
	case first == "summary":
		it.Kind = session.Summary
	case first == "other":
		it.Kind = session.Other
	case first == "?":
	default:
		it.Role, it.Agent = session.Assistant, strings.Trim(first, "-")
	}
	for _, word := range rest {
		r.word(&it, word)
	}
	finish(&it)
	if s.Tick > 0 {
		it.Position = it.Time.UnixMicro()
	}
	s.Items = append(s.Items, it)
}

var flags = map[string]session.Flags{
	"implicit": session.Implicit, "archived": session.Archived, "synthetic": session.Synthetic,
	"unfinished": session.Unfinished, "blank": session.Blank, "skipped": session.Skipped,
	"compacted": session.Compacted,
}

func (r *reader) word(it *session.Item, word string) {
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
	case strings.HasPrefix(word, "think("):
		it.Body.Reasoning = inside(word)
	case strings.Contains(word, "("):
		it.Calls = append(it.Calls, callOf(word))
	case key == "at":
		it.Time = Start.Add(time.Duration(r.number(value)) * time.Second)
	case key == "pos":
		it.Position = r.number(value)
	case key == "kept":
		it.KeptFrom = r.number(value)
	case key == "branch":
		it.Branch = value
	case key == "run":
		it.Invocation = value
	case key == "scope":
		it.Scope = value
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
		return session.Call{ID: id, Name: tool, Args: inside(word), Delegation: &session.Delegation{
			Agent: name, Task: session.DigestOf(inside(word)), Child: child, Blocking: name == agent,
		}}
	}
	id, tool, named := strings.Cut(head, ":")
	if !named {
		tool = "shell"
	}
	return session.Call{ID: id, Name: tool, Args: inside(word)}
}

// finish sets what follows from the words.
func finish(it *session.Item) {
	if it.Kind == session.Message && it.Body.Text == "" && len(it.Calls)+len(it.Results) == 0 && !it.Flags.Has(session.Blank) {
		it.Body.Text = it.Role.String()
	}
	it.Text = session.DigestOf(it.Body.Text)
	var m session.Meaning
	m.Reset(it.Role, it.Agent)
	m.Add(it.Text)
	m.Add(session.DigestOf(it.Body.Reasoning))
	for _, c := range it.Calls {
		m.Mark('c')
		m.Add(session.DigestOf(c.ID))
		m.Add(session.DigestOf(c.Name))
		m.Add(session.DigestOf(c.Args))
	}
	for i := range it.Results {
		res := &it.Results[i]
		res.Digest = session.DigestOf(res.Text)
		if res.Child != "" && !res.Pending {
			res.Answer = res.Digest
		}
		m.Mark('r')
		m.Add(session.DigestOf(res.CallID))
		m.Add(res.Digest)
	}
	if len(it.Results) == 1 {
		it.Text = it.Results[0].Digest
	}
	if it.Kind == session.Message {
		it.Meaning = m.Digest()
	}
}
