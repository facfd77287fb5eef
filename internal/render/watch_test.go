package render

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/watch"
)

// TestWatchBreaksLinesBetweenWords: at a terminal, what is longer than a line goes on below the
// first words; in a pipe each event is a line.
func TestWatchBreaksLinesBetweenWords(t *testing.T) {
	found := &check.Finding{Defect: rules.Defect{Rule: catalogue.FindRule("SC701"), Severity: rules.Error, Place: session.Place{Session: "8d72c79c"}, Items: []int{4, 5}}}
	long := *found
	found.Message, long.Message = "it is short", "2 messages of sub-agent worker are stored twice: in sub-session 43b02aea, where they belong, and here"
	now := time.Date(2026, 2, 3, 10, 15, 2, 0, time.Local) //nolint:gosmopolitan // as it is printed
	events := []watch.Event{
		{Kind: watch.Found, Finding: found}, {Kind: watch.Gone, Finding: &long},
		{Kind: watch.Unreadable, Err: errors.New("the folder in which it was is no longer there, and nothing else of it is left")},
	}
	print := func(terminal bool) string {
		var out strings.Builder
		screen := ui.NewScreen(&out, ui.ColorNever, func(name string) string { return map[string]string{"COLUMNS": "80"}[name] })
		screen.Terminal = terminal
		write := WatchText(WatchOptions{Screen: screen, Several: true, Unread: func(_ string, err error) Unread { return Unread{Message: err.Error()} }})
		for _, e := range events {
			e.Time, e.Path = now, "some.db"
			if err := write(e); err != nil {
				t.Fatal(err)
			}
		}
		return out.String()
	}
	want := `10:15:02  new   error SC701  8d72c79c:4-5  it is short  in some.db
10:15:02  gone  error SC701  8d72c79c:4-5
          2 messages of sub-agent worker are stored twice: in sub-session
          43b02aea, where they belong, and here
          in some.db
10:15:02  cannot read some.db: the folder in which it was is no longer there,
          and nothing else of it is left.
`
	if got := print(true); got != want {
		t.Errorf("at a terminal:\n%s", got)
	}
	if got := print(false); strings.Count(got, "\n") != len(events) || !strings.Contains(got, "  "+long.Message+"  in some.db\n") {
		t.Errorf("in a pipe:\n%s", got)
	}
}
