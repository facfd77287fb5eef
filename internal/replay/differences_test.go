package replay_test

import (
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// edited is a notation with one of its parts replaced.
func edited(notation, part, by string) string {
	if !strings.Contains(notation, part) {
		panic("the notation has no " + part)
	}
	return strings.Replace(notation, part, by, 1)
}

func TestCompareNamesDifferences(t *testing.T) {
	runComparisons(t, []compareCase{
		{
			name: "a lost item", recorded: delegated,
			stored: edited(delegated, `  root "fine"`, ``), want: `lost R:P.4 behind P.3`,
		},
		{
			name: "two lost items and one that nobody made",
			recorded: `
P
  user
  root s1()
  root <s1
  root "fine"`,
			stored: `
P
  user
  system "who are you"
  root "fine"`,
			want: `
foreign P.1
lost R:P.1 behind P.0
lost R:P.2 behind P.0`,
		},
		{
			name: "a lost child", recorded: delegated, stored: delegated[:len("\nP\n  user \"go\"\n")] + `  root "I ask" T1>worker(do it)
  root <T1 "done"
  root "fine"`,
			want: `
lost R:P.2 behind P.1
lost R:C.0
lost R:C.1
lost R:C.2
lost R:C.3
lost R:C.4`,
		},
		{
			name: "texts", recorded: delegated,
			stored: edited(edited(delegated, `"go"`, `"stop"`), `root "fine"`, `root "bad"`),
			want: `
altered R:P.0 as P.0 text
altered R:P.4 as P.4 text`,
		},
		{
			name: "calls and their arguments", recorded: delegated,
			stored: edited(edited(delegated, `T1>worker(do it)`, `T1>worker(do more)`), `w1()`, `w1() w2()`),
			want: `
altered R:P.1 as P.1 arguments
altered R:C.2 as C.2 calls`,
		},
		{
			name: "a call that is not there", recorded: delegated, stored: edited(delegated, `"look" w1()`, `"look"`),
			want: `altered R:C.2 as C.2 calls`,
		},
		{
			name: "results, marks, reasoning and agents", recorded: delegated,
			stored: edited(edited(edited(delegated, `worker <w1 "files"`, `beta <w1! "none"`), `user implicit`, `user`), `"look"`, `"look" think(hm)`),
			want: `
altered R:C.1 as C.1 implicit mark
altered R:C.2 as C.2 reasoning
altered R:C.3 as C.3 agent, text, error mark`,
		},
		{
			name: "a reference that leads nowhere", recorded: delegated, stored: edited(delegated, `sub C`, `sub -`),
			want: `altered R:P.2 as P.2 sub-session`,
		},
		{
			name: "an item behind its place", recorded: delegated,
			stored: edited(edited(delegated, "  worker \"look\" w1()\n", ""), `  worker "done"`, "  worker \"done\"\n  worker \"look\" w1()"),
			want:   `misplaced R:C.2 as C.4`,
		},
		{
			name: "an item in another session", recorded: delegated,
			stored: edited(edited(delegated, "  root \"fine\"\n", ""), `  worker "done"`, "  worker \"done\"\n  root \"fine\""),
			want:   `misplaced R:P.4 as C.5`,
		},
		{
			name: "a child's item in its caller's session, but not while it ran", recorded: delegated,
			stored: edited(edited(delegated, "  worker \"look\" w1()\n", ""), `  root "I ask"`, "  worker \"look\" w1()\n  root \"I ask\""),
			want:   `misplaced R:C.2 as P.1`,
		},
	})
}

func TestCompareTakesAsEqual(t *testing.T) {
	parallel := `
P
  user
  root A1>alpha(a) B1>beta(b) s1()
  sub A
  sub B
  root <A1
  root <B1
  root <s1
  root "fine"
A<P
  system(a)
  alpha "done a"
B<P
  system(b)
  beta "done b"`
	runComparisons(t, []compareCase{
		{
			name:     "arguments of one value",
			recorded: "P\n  user\n  root s1({\"a\":1.50,\"b\":[2]}) s2()",
			stored:   "P\n  user\n  root s1({ \"b\": [2], \"a\": 1.50 }) s2({})",
		},
		{
			name: "a result of no words", recorded: "P\n  user\n  root s1()\n  root <s1 \" \"",
			stored: "P\n  user\n  root s1()\n  root <s1 \"(no output)\"",
		},
		{
			name: "an error on record", recorded: delegated + "\n  other", stored: delegated + "\n  other",
		},
		{
			name: "results of a batch in another order", recorded: parallel,
			stored: edited(parallel, "  sub A\n  sub B\n  root <A1\n  root <B1\n  root <s1\n", "  root <s1\n  sub B\n  root <B1\n  sub A\n  root <A1\n"),
		},
		{
			name: "a message that the stream did not tell",
			recorded: `
P
  user
  root blank
  root "and more"`,
			stored: `
P
  user
  root "something"
  root "and more"`,
		},
		{
			name: "what was not finished", recorded: edited(delegated, `root "fine"`, `root "fi" unfinished`), stored: delegated,
		},
		{
			name: "what was not finished in the store", recorded: delegated, stored: edited(delegated, `root "fine"`, `root unfinished`),
			want: `altered R:P.4 as P.4 text`, // it says "assistant", which is no beginning
		},
		{
			name: "runs before and behind", recorded: edited(delegated, `root "fine"`, `root "ok"`),
			stored: `
P
  user "go"
  root "ok"
` + edited(delegated[3:], `root "fine"`, "root \"ok\"\n  other\n  user \"go\"\n  root \"ok\""),
		},
		{
			name: "a background agent's sub-session",
			recorded: `
P
  user
  root B1>>beta(watch)
  root <B1
  root "fine"`,
			stored: `
P
  user
  root B1>>beta(watch)
  root <B1
  sub B
  root "fine"
B<P
  system(watch)
  beta "seen"`,
		},
	})
}

// TestCompareTellsWhoseTheCopyIs: alpha was asked twice and said the same twice.
func TestCompareTellsWhoseTheCopyIs(t *testing.T) {
	children := `
A<P
  system(a)
  alpha "look"
  alpha "done"
B<P
  system(b)
  alpha "look"
  alpha "done"`
	runComparisons(t, []compareCase{
		{
			name: "one after another",
			recorded: `
P
  user
  root A1>alpha(a) B1>alpha(b)
  sub A
  root <A1
  sub B
  root <B1` + children,
			stored: `
P
  user
  root A1>alpha(a) B1>alpha(b)
  alpha "done"
  sub A
  root <A1
  alpha "look"
  sub B
  root <B1` + children,
			want: `
P.1 A1 → A at 3, answered 4, leaked 2=A.2
P.1 B1 → B at 6, answered 7, leaked 5=B.1`,
		},
		{
			name: "at the same time",
			recorded: `
P
  user
  root A1>alpha(a) B1>beta(b)
  sub A
  sub B
  root <A1
  root <B1
A<P
  system(a)
  alpha "look"
  alpha "done"
B<P
  system(b)
  beta "look"
  beta "done"`,
			stored: `
P
  user
  root A1>alpha(a) B1>beta(b)
  beta "look"
  alpha "look"
  beta "done"
  alpha "done"
  sub A
  sub B
  root <A1
  root <B1
A<P
  system(a)
  alpha "look"
  alpha "done"
B<P
  system(b)
  beta "look"
  beta "done"`,
			want: `
P.1 A1 → A at 6, answered 8, leaked 3=A.1 5=A.2
P.1 B1 → B at 7, answered 9, leaked 2=B.1 4=B.2`,
		},
		{
			name: "and the caller says the same",
			recorded: `
P
  user
  alpha A1>alpha(a)
  sub A
  alpha <A1
  alpha "done"
A<P
  alpha "done"`,
			stored: `
P
  user
  alpha A1>alpha(a)
  alpha "done"
  sub A
  alpha <A1
  alpha "done"
A<P
  alpha "done"`,
			want: `P.1 A1 → A at 3, answered 4, leaked 2=A.0`,
		},
	})
}

// TestCompareBelievesTheRecording: Stored takes the answer of the session's new
// agent for a leak, because a result is missing.
func TestCompareBelievesTheRecording(t *testing.T) {
	tree := `
P
  user
  root A1>alpha(a)
  sub A
  beta "I took over"
A<P
  alpha "done"`
	runComparisons(t, []compareCase{{name: "own items", recorded: tree, stored: tree}})
	runCases(t, []replayCase{{name: "alone", tree: tree, want: "P.1 A1 → A at 2, until 4, leaked 3"}})
}

// A result that docker agent cut when it stored it says what its event says, if its ends do.
func TestCompareTakesACutResultAsEqual(t *testing.T) {
	const call = "P\n  user\n  root s1()\n  root <s1"
	whole := "head" + strings.Repeat(" and a long middle", 20) + "tail"
	for stored, want := range map[string]string{
		"head\n[...tool result truncated: middle omitted...]\ntail": "",
		whole: "",
		"head\n[...tool result truncated: middle omitted...]\nend":                      "altered R:P.2 as P.2 text",
		whole[:180] + "\n[...tool result truncated: middle omitted...]\n" + whole[181:]: "altered R:P.2 as P.2 text",
		"head [...tool result truncated: middle omitted...] tail":                       "altered R:P.2 as P.2 text",
	} {
		trees := [2]*session.Tree{treetest.Tree(t, call), treetest.Tree(t, call)}
		for i, text := range []string{whole, stored} {
			trees[i].Sessions[0].Items[2].Results[0].Text = text
		}
		if got := strings.Join(describeComparison(replay.Compare(trees[0], trees[1], dockerAgent)), "; "); got != want {
			t.Errorf("%q: %q, want %q", stored, got, want)
		}
	}
}
