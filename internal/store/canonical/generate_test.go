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
		Thinking: rapid.SampledFrom([]session.Tristate{session.Unsaid, session.Yes, session.No}).Draw(t, "thinking"),
		Unstored: rapid.Bool().Draw(t, "unstored"),
		Agents:   rapid.SliceOfN(aName, 0, 2).Draw(t, "agents"),
		Forked:   rapid.Bool().Draw(t, "forked"),

		Delegated: rapid.Bool().Draw(t, "delegated"), Deleted: rapid.Bool().Draw(t, "deleted"),
		Workspace: aName.Draw(t, "workspace"), Version: aName.Draw(t, "version"), Inseparable: aName.Draw(t, "inseparable"),
		Writer: rapid.SampledFrom([]session.Writer{session.WriterUnknown, session.WriterLive, session.WriterDead}).Draw(t, "writer"),
		Raw:    []byte(aRecord.Draw(t, "session record")),
	}
	count := rapid.IntRange(0, 5).Draw(t, "items")
	for j := range count {
		it := drawItem(t, n)
		it.Own().Table, it.Key, it.Position = "rows", fmt.Sprint(i, "/", j), int64(j)
		s.Items = append(s.Items, it)
	}
	drawTask(t, s)
	drawRuns(t, s)
	return s
}

// drawRuns gives the session runs for what some of its items say.
func drawRuns(t *rapid.T, s *session.Session) {
	for i := range s.Items {
		if rapid.IntRange(0, 4).Draw(t, "run") == 0 {
			s.Runs = append(s.Runs, session.Run{
				ID: fmt.Sprint(s.ID, "-", i), State: aName.Draw(t, "state"), Open: rapid.Bool().Draw(t, "open"), Invocation: aName.Draw(t, "invocation"),
				Asked: session.DigestOf(s.Items[i].Body.Text), Answered: session.DigestOf(s.Items[0].Body.Text),
				Began: aTime.Draw(t, "began"), Ended: aTime.Draw(t, "ended"),
			})
		}
	}
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
		Kind:   rapid.SampledFrom([]session.Kind{session.Message, session.Message, session.Message, session.SubSession, session.Summary, session.Other}).Draw(t, "kind"),
		Shared: &session.Shared{Branch: rapid.SampledFrom([]string{"", "root.a", `{"tokens":[1,3]}`, `{"active_forks":{"1":[[0],3]}}`, `{"other":1}`, "{"}).Draw(t, "branch"), Invocation: aName.Draw(t, "invocation"), Scope: aName.Draw(t, "scope"), Node: aName.Draw(t, "node")},
		Time:   aTime.Draw(t, "time"),
		Body:   &session.Body{Raw: []byte(aRecord.Draw(t, "record"))},
	}
	if rapid.IntRange(0, 4).Draw(t, "output") == 0 {
		it.SetOutputs([]session.Output{{
			Path: aText.Draw(t, "path"), Real: aName.Draw(t, "real"), Outside: rapid.Bool().Draw(t, "outside"),
			Bytes: rapid.Int64Range(0, 9).Draw(t, "bytes"), Hash: rapid.Bool().Draw(t, "hash"),
		}})
	}
	for _, f := range []session.Flags{session.Implicit, session.Archived, session.Synthetic, session.Unfinished, session.Skipped, session.EmptyCalls,
		session.Rewound, session.Compacted, session.Unshown, session.SummaryTurn} {
		if rapid.IntRange(0, 4).Draw(t, "flag") == 0 {
			it.Flags |= f
		}
	}
	switch it.Kind {
	case session.Message:
		drawMessage(t, &it)
	case session.SubSession:
		it.Own().Child = anID(n).Draw(t, "child")
		if !exists(it.Child(), n) {
			it.Flags |= session.Dangling | session.Skipped
		}
	case session.Summary:
		it.Body.Text = aText.Draw(t, "summary")
		it.Text = session.DigestOf(it.Body.Text)
		it.Own().KeptFrom = rapid.Int64Range(0, 9).Draw(t, "kept")
	}
	return it
}

func drawMessage(t *rapid.T, it *session.Item) {
	it.Role = rapid.SampledFrom([]session.Role{session.User, session.Assistant, session.Tool, session.System}).Draw(t, "role")
	if it.Role == session.Assistant || it.Role == session.Tool {
		it.Own().Agent = aName.Draw(t, "agent")
	}
	it.Own().Model = aName.Draw(t, "model")
	if it.Role == session.Tool {
		drawResult(t, it)
	} else {
		it.Body.Text, it.Body.Reasoning = aText.Draw(t, "text"), aText.Draw(t, "reasoning")
		it.Text = session.DigestOf(it.Body.Text)
		it.Flags |= session.TextFlags(it.Body.Text)
	}
	if it.Role == session.Assistant {
		it.Calls = rapid.SliceOfN(rapid.Custom(drawCall), 0, 2).Draw(t, "calls")
	}
	drawBlocks(t, it)
	drawSize(t, it)
	holds := len(it.Calls) > 0 || len(it.Results) > 0 || it.HasBlock(session.MediaBlock) || it.HasBlock(session.UnknownBlock)
	if holds || strings.TrimSpace(it.Body.Text) != "" {
		return
	}
	it.Flags |= session.Blank
	if it.Role != session.Assistant && it.Body.Text == "" && rapid.Bool().Draw(t, "null") {
		it.Flags |= session.NullText
	}
}

func drawResult(t *rapid.T, it *session.Item) {
	result := session.Result{
		CallID: aName.Draw(t, "call"), Name: aName.Draw(t, "tool"), Text: aText.Draw(t, "result"),
		Child: aName.Draw(t, "child of the result"), Correlation: aName.Draw(t, "correlation"), Question: drawQuestion(t),
		IsError: rapid.Bool().Draw(t, "error"), Pending: rapid.Bool().Draw(t, "pending"), Server: rapid.Bool().Draw(t, "server"),
	}
	result.Null = result.Text == "" && rapid.Bool().Draw(t, "null")
	result.Digest = session.DigestOf(result.Text)
	result.Synthetic = session.IsPlaceholder(result.Text)
	it.Results = []session.Result{result}
	it.Text = result.Digest
}

// drawSize gives the item the size of its texts, or one that counts more.
func drawSize(t *rapid.T, it *session.Item) {
	it.Size = int64(len(it.Body.Text) + len(it.Body.Reasoning))
	for i := range it.Calls {
		it.Size += int64(len(it.Calls[i].Args))
	}
	for i := range it.Results {
		it.Size += int64(len(it.Results[i].Text))
	}
	if it.HasBlock(session.MediaBlock) {
		it.Size += rapid.Int64Range(0, 1e9).Draw(t, "media bytes")
	}
}

// drawBlocks lists all parts of the message in some order, with what blocks
// tell, or no parts where there is nothing to tell.
func drawBlocks(t *rapid.T, it *session.Item) {
	var list []session.Block
	if it.Body.Text != "" {
		list = append(list, session.Block{Kind: session.TextBlock, Blank: strings.TrimSpace(it.Body.Text) == ""})
	}
	for i := range it.Calls {
		list = append(list, session.Block{Kind: session.CallBlock, Nth: i, ID: aName.Draw(t, "item id"), With: aName.Draw(t, "with"), Signature: aSignature.Draw(t, "signature")})
	}
	for i := range it.Results {
		list = append(list, session.Block{Kind: session.ResultBlock, Nth: i, Cached: rapid.Bool().Draw(t, "cached")})
	}
	reasoning := rapid.IntRange(0, 2).Draw(t, "blocks of reasoning")
	if it.Body.Reasoning != "" {
		reasoning = max(reasoning, 1)
	}
	for range reasoning {
		b := session.Block{Kind: session.ReasoningBlock, ID: aName.Draw(t, "reasoning id"), Signature: aSignature.Draw(t, "signature")}
		b.Empty = rapid.Bool().Draw(t, "empty")
		b.Unsigned = b.Signature == 0 && rapid.Bool().Draw(t, "unsigned")
		if reasoning == 1 {
			b.Text = session.DigestOf(it.Body.Reasoning)
		}
		list = append(list, b)
	}
	if rapid.IntRange(0, 3).Draw(t, "media") == 0 {
		list = append(list, session.Block{Kind: session.MediaBlock, Name: rapid.SampledFrom([]string{"", "image", "audio"}).Draw(t, "kind of media"), Width: rapid.IntRange(0, 9000).Draw(t, "width"),
			Media: rapid.SampledFrom([]string{"", "image/png", "image/svg+xml"}).Draw(t, "label"), Is: rapid.SampledFrom([]string{"", "image/gif"}).Draw(t, "bytes tell"),
			Bytes: rapid.Int64Range(0, 9).Draw(t, "bytes"), Broken: rapid.Bool().Draw(t, "broken"), Unsent: rapid.Bool().Draw(t, "unsent"), In: rapid.IntRange(0, len(it.Results)).Draw(t, "in")})
	}
	if rapid.IntRange(0, 6).Draw(t, "unknown") == 0 {
		list = append(list, session.Block{Kind: session.UnknownBlock, Name: rapid.SampledFrom([]string{"", "widget", "unknown"}).Draw(t, "type")})
	}
	if len(list) > 1 {
		list = rapid.Permutation(list).Draw(t, "order")
	}
	it.Blocks = list
	if !tells(it) {
		it.Blocks = nil
	}
}

// tells reports whether the blocks say more than a text, calls and results.
func tells(it *session.Item) bool {
	last := session.TextBlock
	for _, b := range it.Blocks {
		if b != (session.Block{Kind: b.Kind, Nth: b.Nth, Blank: b.Blank}) || b.Kind < last || b.Kind == session.ReasoningBlock || b.Kind > session.ResultBlock {
			return true
		}
		last = b.Kind
	}
	return false
}

func drawQuestion(t *rapid.T) session.Question {
	return session.Question{Child: aName.Draw(t, "child of the question"), Run: aName.Draw(t, "run of the question")}
}

func drawCall(t *rapid.T) session.Call {
	c := session.Call{
		ID:   aName.Draw(t, "id"),
		Name: rapid.SampledFrom([]string{"shell", "transfer_task", "task", "run_background_agent"}).Draw(t, "tool"),
		Args: rapid.SampledFrom([]string{"", "{", `{"agent":"w","task":"do\nit"}`, `{"request":"go","n":12.5e3,"deep":[{"k":"v"}]}`,
			`{ "prompt": "p\u00e9", "big": 12345678901234567890 }`, `{"a":1,"a":2}`, `[1]`, `"{}"`, "{} "}).Draw(t, "args"),
		Server: rapid.Bool().Draw(t, "server"), Question: drawQuestion(t),
	}
	c.Form = session.FormOf(c.Args)
	switch rapid.IntRange(0, 3).Draw(t, "delegation") {
	case 0:
		c.Delegation = session.DelegationFor(c.Name, c.Args)
	case 1:
		c.Delegation = &session.Delegation{Agent: aName.Draw(t, "agent"), Child: aName.Draw(t, "child"), Blocking: rapid.Bool().Draw(t, "blocking"), Apart: rapid.Bool().Draw(t, "apart"),
			Run: aName.Draw(t, "run"), Likely: rapid.Bool().Draw(t, "likely"), Correlation: aName.Draw(t, "correlation"),
			Tools: rapid.SampledFrom([][]string{nil, {"shell"}}).Draw(t, "tools"), Timeout: time.Duration(rapid.IntRange(0, 2).Draw(t, "timeout")) * time.Second}
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
	aSignature = rapid.Custom(func(t *rapid.T) session.Digest {
		return session.DigestOf(rapid.SampledFrom([]string{"", "", "sig", "nature"}).Draw(t, "signature text"))
	})
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
