package treetest

import (
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/session"
)

// run is the record of a run that the words behind "run" describe.
func (r *reader) run(list []string) session.Run {
	run := session.Run{ID: list[0], State: "completed"}
	for _, word := range list[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch {
		case strings.HasPrefix(word, "asked("):
			run.Asked = session.DigestOf(inside(word))
		case strings.HasPrefix(word, "answered("):
			run.Answered = session.DigestOf(inside(word))
		case key == "run":
			run.Invocation = value
		case key == "at":
			run.Began = Start.Add(time.Duration(r.number(value)) * time.Second)
		case key == "until":
			run.Ended = Start.Add(time.Duration(r.number(value)) * time.Second)
		case word == "open":
			run.State, run.Open = "working", true
		default:
			r.fail("run %s: what is %q?", run.ID, word)
		}
	}
	return run
}
