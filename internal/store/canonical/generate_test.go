package canonical_test

import (
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/session"
)

// drawStore draws sessions as the adapter of another store yields them, with
// bodies: outlines and bodies agree, as the model demands.
func drawStore(t *rapid.T) []*session.Session {
	n := rapid.IntRange(1, 4).Draw(t, "sessions")
	list := make([]*session.Session, n)
	for i := range list {
		list[i] = drawSession(t, i, n)
	}
	return list
}

func drawSession(t *rapid.T, i, n int) *session.Session {
	s := &session.Session{
		ID: fmt.Sprint(i), Parent: anID(n).Draw(t, "parent"), App: aText.Draw(t, "app"), User: aText.Draw(t, "user"),
		Title: aText.Draw(t, "title"), Agent: aName.Draw(t, "agent"), Model: aName.Draw(t, "model"),
		Created: aTime.Draw(t, "created"), Updated: aTime.Draw(t, "updated"),
		Raw: []byte(aRecord.Draw(t, "session record")),
	}
	count := rapid.IntRange(0, 5).Draw(t, "items")
	for j := range count {
		it := drawItem(t, n)
		it.Table, it.Key, it.Position = "rows", fmt.Sprint(i, "/", j), int64(j)
		s.Items = append(s.Items, it)
	}
	drawTask(t, s)
	return s
}

// drawTask gives the session a task that one of its items says, or none.
func drawTask(t *rapid.T, s *session.Session) {
	if len(s.Items) == 0 || rapid.Bool().Draw(t, "no task") {
		return
	}
	body := rapid.SampledFrom(s.Items).Draw(t, "task from").Body
	_, rest, _ := strings.Cut(body.Text, "<task>\n")
	task, _, tagged := strings.Cut(rest, "\n</task>")
	if !tagged {
		task = body.Text
	}
	s.Task = session.DigestOf(task)
}

func drawItem(t *rapid.T, n int) session.Item {
	it := session.Item{
		Kind:       rapid.SampledFrom([]session.Kind{session.Message, session.Message, session.Message, session.SubSession, session.Summary, session.Other}).Draw(t, "kind"),
		Branch:     rapid.SampledFrom([]string{"", "root.a", `{"tokens":[1,3]}`, `{"active_forks":{"1":[[0],3]}}`, `{"other":1}`, "{"}).Draw(t, "branch"),
		Invocation: aName.Draw(t, "invocation"),
		Time:       aTime.Draw(t, "time"),
		Body:       &session.Body{Raw: []byte(aRecord.Draw(t, "record"))},
	}
	for _, f := range []session.Flags{session.Implicit, session.Archived, session.Synthetic, session.Unfinished, session.Skipped} {
		if rapid.IntRange(0, 4).Draw(t, "flag") == 0 {
			it.Flags |= f
		}
	}
	switch it.Kind {
	case session.Message:
		drawMessage(t, &it)
	case session.SubSession:
		it.Child = anID(n).Draw(t, "child")
		if !exists(it.Child, n) {
			it.Flags |= session.Dangling | session.Skipped
		}
	case session.Summary:
		it.Body.Text = aText.Draw(t, "summary")
		it.Text = session.DigestOf(it.Body.Text)
		it.KeptFrom = rapid.Int64Range(0, 9).Draw(t, "kept")
	}
	return it
}

func drawMessage(t *rapid.T, it *session.Item) {
	it.Role = rapid.SampledFrom([]session.Role{session.User, session.Assistant, session.Tool, session.System}).Draw(t, "role")
	if it.Role == session.Assistant || it.Role == session.Tool {
		it.Agent = aName.Draw(t, "agent")
	}
	if it.Role == session.Tool {
		result := session.Result{
			CallID: aName.Draw(t, "call"), Name: aName.Draw(t, "tool"), Text: aText.Draw(t, "result"),
			IsError: rapid.Bool().Draw(t, "error"), Pending: rapid.Bool().Draw(t, "pending"),
		}
		result.Digest = session.DigestOf(result.Text)
		result.Synthetic = session.IsPlaceholder(result.Text)
		it.Results = []session.Result{result}
		it.Text = result.Digest
		return
	}
	it.Body.Text, it.Body.Reasoning = aText.Draw(t, "text"), aText.Draw(t, "reasoning")
	it.Text = session.DigestOf(it.Body.Text)
	if it.Role == session.Assistant {
		it.Calls = rapid.SliceOfN(rapid.Custom(drawCall), 0, 2).Draw(t, "calls")
	}
	media := rapid.IntRange(0, 3).Draw(t, "media") == 0
	if strings.TrimSpace(it.Body.Text) == "" && len(it.Calls) == 0 && !media {
		it.Flags |= session.Blank
	}
}

func drawCall(t *rapid.T) session.Call {
	c := session.Call{
		ID:   aName.Draw(t, "id"),
		Name: rapid.SampledFrom([]string{"shell", "transfer_task", "task", "run_background_agent"}).Draw(t, "tool"),
		Args: rapid.SampledFrom([]string{"", "{", `{"agent":"w","task":"do\nit"}`, `{"request":"go","n":12.5e3,"deep":[{"k":"v"}]}`,
			`{ "prompt": "p\u00e9", "big": 12345678901234567890 }`, `{"a":1,"a":2}`}).Draw(t, "args"),
	}
	switch rapid.IntRange(0, 3).Draw(t, "delegation") {
	case 0:
		c.Delegation = session.DelegationFor(c.Name, c.Args)
	case 1:
		c.Delegation = &session.Delegation{Agent: aName.Draw(t, "agent"), Child: aName.Draw(t, "child"), Blocking: rapid.Bool().Draw(t, "blocking")}
	case 2:
		if strings.Contains(c.Args, `"go"`) {
			c.Delegation = &session.Delegation{Task: session.DigestOf("go")}
		}
	}
	return c
}

var (
	aName = rapid.SampledFrom([]string{"", "a", "b", "worker", "Coding agent", "ü\u2028\"\\\x00"})
	aText = rapid.OneOf(
		rapid.SampledFrom([]string{"", " \n", "do\nit", "go", "Team.\n<task>\ndo\nit\n</task>\nend", "No result provided", "aborted", "[sessctl] no result"}),
		rapid.StringN(0, 12, -1).Filter(func(s string) bool { return strings.ToValidUTF8(s, "") == s }),
	)
	aRecord = rapid.SampledFrom([]string{"", `{}`, `{"a": [1, 12345678901234567890, "\u00e9\/"]}`, `"text"`, "no JSON", "\xff", `{"k":1,"k":2}`, "1,2"})
	aTime   = rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.Bool().Draw(t, "no time") {
			return time.Time{}
		}
		zone := time.FixedZone("", rapid.IntRange(-50_000, 50_000).Draw(t, "zone"))
		return time.Unix(rapid.Int64Range(-1e9, 9e9).Draw(t, "second"), rapid.Int64Range(0, 999_999_999).Draw(t, "nano")).In(zone)
	})
)

// anID is empty, one of n sessions, or one that does not exist.
func anID(n int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		if i := rapid.IntRange(-1, n).Draw(t, "id"); i >= 0 {
			return fmt.Sprint(i)
		}
		return ""
	})
}

func exists(id string, n int) bool {
	for i := range n {
		if fmt.Sprint(i) == id {
			return true
		}
	}
	return false
}
