package render_test

import (
	"fmt"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

// viewCase is a tree of the golden files, as docker agent's with Anthropic's model
// unless it says otherwise.
type viewCase struct {
	name    string
	tree    string
	session string // to show, "" for the root
	writer  session.Writer
	other   bool // of another runtime
	profile string
	edit    func(*session.Tree)
}

// id is a session id as docker agent makes them.
func id(start string) string { return start + "-0000-4000-8000-000000000000" }

var viewCases = []viewCase{
	{name: "nested", tree: `
` + id("1f0c9e2a") + ` "Optimize my Dockerfile"
  user "Optimize my Dockerfile"
  root "I look at it first." F1:shell({"cmd":"find . -name Dockerfile*","cwd":"."})
  root <F1 "./Dockerfile"
  root H1:handoff({"agent":"coder"})
  root <H1 "The agent root handed off the conversation to you."
  coder T1>worker({"agent":"worker","task":"Read the Dockerfile"}) S1:shell({})
  sub ` + id("43b02aea") + `
  coder <T1 "It has 40 lines."
  coder <S1! "sh: not found"
  coder "Your Dockerfile has been optimized."
` + id("43b02aea") + `<` + id("1f0c9e2a") + ` "Transferred task"
  system(Read the Dockerfile)
  user implicit "Please proceed."
  worker T2>grand({"agent":"grand","task":"Count the lines"})
  sub ` + id("77aa0000") + `
  worker <T2 "40"
  worker "It has 40 lines."
` + id("77aa0000") + `<` + id("43b02aea") + ` "Transferred task"
  system(Count the lines)
  user implicit "Please proceed."
  grand think(It is long.) W1:read_file({"path":"./Dockerfile","limit":40})
  grand <W1 "FROM alpine"
  grand "40"
`},
	{name: "leak_with_twin", tree: `
` + id("1f0c9e2a") + ` "Optimize my Dockerfile"
  user "Optimize my Dockerfile"
  root "I ask." T1>worker({"agent":"worker","task":"Read it"})
  worker "I start by reading the file." W1:read_file({"path":"./Dockerfile"})
  worker "Done."
  sub ` + id("43b02aea") + `
  root <T1 "Done."
  root "It is done."
` + id("43b02aea") + `<` + id("1f0c9e2a") + ` "Transferred task"
  system(Read it)
  user implicit "Please proceed."
  worker "I start by reading the file." W1:read_file({"path":"./Dockerfile"})
  worker <W1 "FROM alpine"
  worker "Done."
`},
	{name: "leak_without_child", tree: `
P "Delegation that failed"
  user "please"
  root T1>worker({"agent":"worker","task":"Read it"})
  worker "starting" W1()
  root <T1! "Error calling tool: all models failed"
  root "It failed."
`},
	{name: "leak_undecidable", tree: `
P
  user
  root T1>root({"task":"again"})
  root "mine or the child's"
  root <T1 "done"
`},
	{name: "two_transfers", tree: `
P "Two delegations in one message"
  user
  root "both" T1>alpha({"agent":"alpha","task":"A"}) T2>beta({"agent":"beta","task":"B"})
  alpha "alpha done"
  sub A
  root <T1 "alpha done"
  beta "beta done"
  sub B
  root <T2 "beta done"
  root "Finished."
A<P "Transferred task"
  system(A)
  user implicit
  alpha "alpha done"
B<P "Transferred task"
  system(B)
  user implicit
  beta "beta done"
`},
	{name: "same_agent_twice", tree: `
P "The same worker twice"
  user
  root "first" T1>alpha({"agent":"alpha","task":"A"})
  sub A
  root <T1 "done"
  root "again" T2>alpha({"agent":"alpha","task":"A"})
  sub B
  root <T2 "done"
  root "Finished."
A<P "Transferred task"
  system(A)
  user implicit
  alpha "done"
B<P "Transferred task"
  system(A)
  user implicit
  alpha "done"
`},
	{name: "misplaced_results", tree: `
P "Results out of place"
  user "go"
  root <E1 "before its call"
  root L1:slow() D1:twice() C1:conflict() E1:early() S1:shadowed()
  root <D1 "once"
  root <D1 "once"
  root <C1 "this"
  root <C1 "that"
  root <S1~ "No result provided"
  user "and?"
  root <L1 "late" <S1 "real"
  root <X1! "of a call that is gone"
  root "hm" Q1()
  root <Q1? "waiting for approval"
  root "done"
`},
	{name: "openai", tree: `
P "Another dialect" model=gpt-4o
  user
  root call_1()
  root "no result"
`},
	{name: "killed", writer: session.WriterDead, tree: `
P "Killed while it streamed"
  user
  root "I ask." T1>worker({"agent":"worker","task":"do it"})
  worker "starting"
  worker "partial answer that nev" unfinished
`},
	{name: "live", writer: session.WriterLive, tree: `
P "Still running"
  user
  root A1() B1:read_file({"path":"a"})
  root <A1 "ok"
`},
	{name: "summary", tree: `
P "Summarised"
  user "one"
  root "two"
  summary "The user counts."
  user "three"
  root "four" A1()
  root <A1 "five"
  root "six"
  summary "Still counting." kept=5
  user "seven"
  root "" blank
  root think(Only thoughts.) blank
  summary
`},
	{name: "summary_other_runtime", other: true, tree: `
P "Summarised, in another runtime"
  user "one"
  summary "One."
  root "two" blank
  user archived "gone"
  system "be brief"
  root A1()
  root <A1 "x"
`},
	{name: "cycle", tree: `
A<B "First"
  user
  root T1>worker({"agent":"worker","task":"x"})
  sub B
  root <T1 "done"
B<A "Second"
  user
  worker "done"
  sub A
`},
	{name: "references", tree: `
P "References of all kinds"
  user
  root T1>worker({"agent":"worker","task":"x"}) T2>>idler({"agent":"idler","task":"y"})
  sub C
  root <T1 "done"
  root <T2 "Background task started."
  sub gone
  sub C
  other
  ? "of an unknown role"
C<P "Transferred task"
  system(x)
  user implicit
  worker "done"
D<P "Background agent task"
  system(y)
  user implicit
  idler "idle"
E<P "Nobody knows"
  system(z)
  user implicit
  stranger "who am I"
`},
	{name: "sub_session", session: "C", tree: `
P "Parent with a defect"
  user
  root T1>worker({"agent":"worker","task":"x"})
  worker "leaked"
  sub C
  root <T1 "done"
C<P "Transferred task"
  system(x)
  user implicit
  worker "done"
`},
	{name: "long_child", tree: `
P "A long sub-session"
  user
  root T1>worker({"agent":"worker","task":"x"})
  sub C
  root <T1 "done"
  root "That was long."
C<P "Transferred task"
  system(x)
  user implicit
` + repeated(12, `  worker "step %[1]d" W%[1]d()
  worker <W%[1]d "ok"
`) + `  worker <X9 "of no call"
` + repeated(12, `  worker "then %[1]d" V%[1]d()
  worker <V%[1]d "ok"
`) + `  worker "done"
`},
	{name: "deep", tree: deep(14)},
	{name: "wide_characters", tree: `
P "日本語のタイトル 👩‍👩‍👧‍👦 and Ünïcödé, long enough to be cut somewhere near the end of the line"
  user "幅の広い文字は二列を取るので、切り詰める場所を間違えやすい。これはとても長い文です。まだ続きます。"
  エージェントの名前 "👩‍👩‍👧‍👦 👍🏽 é 🇩🇪 emoji" A1:検索({"query":"東京の天気はどうですか、明日も晴れますか、それとも雨が降りますか"})
  エージェントの名前 <A1 "晴れ ☀️"
`},
	{name: "hostile_text", tree: `
P
  user
  root "x" A1:shell({"cmd":"x"})
  root <A1 "x"
  summary "x"
  other
`, edit: hostile},
	{name: "long_names", tree: `
P "Names of three hundred characters"
  user
  ` + strings.Repeat("agent-", 50) + ` T1>` + strings.Repeat("worker-", 43) + `({"task":"x"}) A1:` + strings.Repeat("tool_", 60) + `({"a":1})
  ` + strings.Repeat("worker-", 43) + ` "leaked"
  ` + strings.Repeat("agent-", 50) + ` <A1 "ok"
`},
	{name: "empty", tree: "P\n"},
	{name: "adjusted", tree: adjustable, profile: "mistral"},
	{name: "responses", tree: adjustable, profile: "openai-responses"},
	{name: "gemini", tree: adjustable, profile: "gemini", other: true},
	{name: "long_reference", tree: strings.Replace(adjustable, "read.file", strings.Repeat("read.file/", 20), 1), profile: "bedrock"},
}

// adjustable has ids, names, roles and blank messages that not every provider
// takes as they are.
const adjustable = `
P "What no provider takes as it is"
  user "go"
  user "on"
  root "I look." call.1:shell({"cmd":"ls"}) call.2:read.file({"path":"a"})
  root <call.1 "a" <call.2! "no such file"
  user "and now?"
  root blank
  system "be brief"
  root "ok"
`

func repeated(n int, form string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, form, i)
	}
	return b.String()
}

// deep is a chain of delegations of n levels.
func deep(n int) string {
	var b strings.Builder
	for i := range n {
		parent := ""
		if i > 0 {
			parent = fmt.Sprintf("<S%d", i-1)
		}
		fmt.Fprintf(&b, "S%d%s \"Level %d\"\n  user implicit \"go on\"\n", i, parent, i)
		if i+1 < n {
			fmt.Fprintf(&b, "  a%[1]d T%[1]d>a%[2]d({\"agent\":\"a%[2]d\",\"task\":\"task %[2]d\"})\n  sub S%[2]d\n  a%[1]d <T%[1]d \"done\"\n", i, i+1)
		}
		fmt.Fprintf(&b, "  a%d \"done\"\n", i)
	}
	return b.String()
}

// hostile puts text that would drive a terminal or a Markdown renderer into
// every place that holds text.
func hostile(tree *session.Tree) {
	const bad = "\x1b[31mred\x1b[0m\x07\r\n\x1b]8;;http://x\x1b\\link \u202eright to left\u2028\x9b1m \xff\xfe" +
		"\n# heading @someone #1 :smile: *bold* _it_ `code` ```\nfence\n``` <script>alert(1)</script> [a](http://b) ![i](x) | c | www.d.e $x$"
	s := tree.Root()
	s.ID, s.Title = "P\x1b[2J", bad
	for i := range s.Items {
		it := &s.Items[i]
		it.Own().Agent = strings.ReplaceAll(it.Agent(), "root", "ro\x1b[1mot")
		it.Body.Text, it.Body.Reasoning = bad, bad
		for n := range it.Calls {
			it.Calls[n].Name, it.Calls[n].ID = bad, bad
			it.Calls[n].Args = `{"cmd":"` + "\\u001b[31m" + `"` + bad
		}
		for n := range it.Results {
			it.Results[n].Text, it.Results[n].CallID, it.Body.Text = bad, bad, ""
		}
		if it.Kind == session.Other {
			it.Body.Raw = []byte(`{"message":"\u001b[31mall models failed","code":"model_error"}`)
		}
	}
}
