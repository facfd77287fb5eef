package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// compareCase is a recording, a store, and how they differ: what leaked in the
// form of describe, without delegations that leaked nothing, then the differences
// in that of describeDifferences.
type compareCase struct{ name, recorded, stored, want string }

func runComparisons(t *testing.T, cases []compareCase) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c := replay.Compare(treetest.Tree(t, tc.recorded), treetest.Tree(t, tc.stored), dockerAgent)
			checkSteps(t, c.Trace)
			var want []string
			for line := range strings.SplitSeq(tc.want, "\n") {
				if line = strings.TrimSpace(line); line != "" {
					want = append(want, line)
				}
			}
			if diff := cmp.Diff(want, describeComparison(c)); diff != "" {
				t.Errorf("want (-), got (+):\n%s\nrecorded:%s\nstored:%s", diff, tc.recorded, tc.stored)
			}
		})
	}
}

func describeComparison(c *replay.Comparison) []string {
	var lines []string
	for line := range strings.Lines(describe(c.Trace)) {
		if strings.Contains(line, ", leaked ") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return append(lines, describeDifferences(c)...)
}

// describeDifferences prints differences, one a line: lost with the place behind
// which the item should stand, altered and misplaced with the stored place.
//
//	lost R:P.3 behind P.2
//	altered R:P.1 as P.1 text
func describeDifferences(c *replay.Comparison) []string {
	var lines []string
	for _, d := range c.Differences {
		line := map[replay.DifferenceKind]string{
			replay.Lost: "lost", replay.Foreign: "foreign", replay.Altered: "altered", replay.Misplaced: "misplaced",
		}[d.Kind]
		if d.Recorded != nil {
			line += fmt.Sprintf(" R:%s.%d", d.Recorded.ID, d.RecordedItem)
		}
		switch {
		case d.Stored == nil:
		case d.Kind == replay.Lost:
			line += fmt.Sprintf(" behind %s.%d", d.Stored.ID, d.StoredItem)
		case d.Kind == replay.Foreign:
			line += fmt.Sprintf(" %s.%d", d.Stored.ID, d.StoredItem)
		default:
			line += fmt.Sprintf(" as %s.%d", d.Stored.ID, d.StoredItem)
		}
		lines = append(lines, strings.TrimSpace(line+" "+strings.Join(d.What, ", ")))
	}
	return lines
}

const delegated = `
P
  user "go"
  root "I ask" T1>worker(do it)
  sub C
  root <T1 "done"
  root "fine"
C<P
  system(do it)
  user implicit
  worker "look" w1()
  worker <w1 "files"
  worker "done"`

func TestCompareFindsWhatLeaked(t *testing.T) {
	child := delegated[strings.Index(delegated, "C<P"):]
	runComparisons(t, []compareCase{
		{name: "nothing", recorded: delegated, stored: delegated},
		{
			name: "some of it", recorded: delegated,
			stored: `
P
  user "go"
  root "I ask" T1>worker(do it)
  worker "look" w1()
  worker "done"
  sub C
  root <T1 "done"
  root "fine"
` + child,
			want: `P.1 T1 → C at 4, answered 5, leaked 2=C.2 3=C.4`,
		},
		{
			name:     "and a result took over the row of a silent child",
			recorded: strings.Replace(delegated, `  worker "done"`, `  worker think(hm) blank`, 1),
			stored: `
P
  user "go"
  root "I ask" T1>worker(do it)
  worker "look" w1()
  worker <T1 "done"
  sub C
  root "fine"
` + strings.Replace(child, `  worker "done"`, `  worker think(hm) blank`, 1),
			want: `
P.1 T1 → C at 4, answered 3, leaked 2=C.2
altered R:P.3 as P.3 agent`,
		},
		{
			name: "of a child that failed and was not stored",
			recorded: `
P
  user "go"
  root T1>worker(do it)
  root <T1! "failed"
  root "pity"
C<P
  worker "look" w1() unfinished
  worker <w1 "files" unfinished
  worker "half an ans" unfinished`,
			stored: `
P
  user "go"
  root T1>worker(do it)
  worker "look" w1()
  worker "half" unfinished
  root <T1! "failed"
  root "pity"`,
			want: `
P.1 T1 → none, answered 4, leaked 2 3
lost R:C.1`,
		},
		{
			name: "of two children of one agent that failed",
			recorded: `
P
  user "go"
  root T1>worker(do it)
  root <T1! "failed"
  root T2>worker(do it)
  root <T2! "failed"
C<P
  worker "half" unfinished
D<P
  worker "half" unfinished`,
			stored: `
P
  user "go"
  root T1>worker(do it)
  worker "half"
  root <T1! "failed"
  root T2>worker(do it)
  worker "half"
  root <T2! "failed"`,
			want: `
P.1 T1 → none, answered 3, leaked 2
P.4 T2 → none, answered 6, leaked 5`,
		},
		{
			name: "from a sub-session of a sub-session that was not stored",
			recorded: `
P
  user
  root T1>worker(do it)
  sub C
  root <T1
C<P
  system(do it)
  worker "I ask" T2>beta(part)
  worker <T2! "failed"
  worker "done"
D<C
  beta "half" unfinished`,
			stored: `
P
  user
  root T1>worker(do it)
  worker "I ask" T2>beta(part)
  beta "half"
  worker "done"
  sub C
  root <T1
C<P
  system(do it)
  worker "I ask" T2>beta(part)
  worker <T2! "failed"
  worker "done"`,
			want: `P.1 T1 → C at 5, answered 6, leaked 2=C.1 3/2 4=C.3`,
		},
		{
			name: "and the call of what leaked is nowhere",
			recorded: `
P
  user
  root T1>worker(do it)
C<P
  worker T2>beta(part) unfinished
D<C
  beta "half" unfinished`,
			stored: `
P
  user
  root T1>worker(do it)
  beta "half"`,
			want: `
P.1 T1 → none, until 3, leaked 2
lost R:C.0`,
		},
	})
}

// BenchmarkCompare compares sessions of 20,000 messages: of which nothing is
// equal, in which everything stands the other way round, and of few texts.
func BenchmarkCompare(b *testing.B) {
	const size = 20_000
	texts := map[string][2]func(i int) int{
		"nothing equal": {func(i int) int { return i }, func(i int) int { return size + i }},
		"reversed":      {func(i int) int { return i }, func(i int) int { return size - i }},
		"few texts":     {func(i int) int { return i % 7 }, func(i int) int { return i * i % 11 }},
		"a part":        {func(i int) int { return i % 50 }, func(i int) int { return i/3 + i%5 }},
	}
	for name, text := range texts {
		for _, flags := range []session.Flags{0, session.Unfinished} {
			recorded, stored := flat(size, flags, text[0]), flat(size, flags, text[1])
			b.Run(fmt.Sprintf("%s/unfinished=%t", name, flags != 0), func(b *testing.B) {
				for b.Loop() {
					replay.Compare(recorded, stored, dockerAgent)
				}
			})
		}
	}
}

// flat is a tree of one session of messages.
func flat(size int, flags session.Flags, text func(i int) int) *session.Tree {
	s := &session.Session{ID: "P"}
	for i := range size {
		s.Items = append(s.Items, session.Item{Role: session.Assistant, Shared: &session.Shared{Agent: "root"}, Flags: flags, Body: &session.Body{Text: fmt.Sprint(text(i), ".")}})
	}
	return &session.Tree{Sessions: []*session.Session{s}}
}

// dockerAgent is how docker agent stores results.
var dockerAgent = &session.Runtime{NoOutput: "(no output)", OmittedOutput: "\n[...tool result truncated: middle omitted...]\n"}
