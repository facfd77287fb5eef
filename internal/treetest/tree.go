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
		r.line(line)
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
	return forest.Group(heads)
}

// reader collects sessions line by line.
type reader struct {
	sessions []*session.Session
	rows     int // item keys count through all sessions
	fail     func(format string, args ...any)
}

// words of a line: a quoted text, a word with a part in parentheses, or a word.
var words = regexp.MustCompile(`"[^"]*"|[^\s"(]*\([^)]*\)\S*|\S+`)

func (r *reader) line(line string) {
	list := words.FindAllString(line, -1)
	switch {
	case len(list) == 0:
	case strings.TrimLeft(line, " \t") == line:
		r.session(list)
	case len(r.sessions) == 0:
		r.fail("the item %q belongs to no session", line)
	default:
		r.item(r.sessions[len(r.sessions)-1], list)
	}
}

func (r *reader) session(list []string) {
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
			s.Task = session.DigestOf(inside(word))
		default:
			r.fail("session %s: what is %q?", s.ID, word)
		}
	}
	r.sessions = append(r.sessions, s)
}

// inside is what stands in the parentheses of a word.
func inside(word string) string {
	_, rest, _ := strings.Cut(word, "(")
	text, _, _ := strings.Cut(rest, ")")
	return text
}

func (r *reader) number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		r.fail("%q is no number", text)
	}
	return n
}
