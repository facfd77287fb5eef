package changes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

func text(s string) *string { return &s }

// everyStep has one step of each kind.
var everyStep = []repair.Step{
	{Op: session.RemoveTwin, Session: "parent00", Item: 2, Role: session.Assistant, Agent: "worker", Text: "I read it first,\nthen I write it again, smaller", Calls: []string{"shell", "read_file"}, Twin: &session.Place{Session: "child000", Item: 2}},
	{Op: session.Quarantine, Session: "parent00", Item: 3, Role: session.Tool, Call: "toolu_1", Text: "FROM golang"},
	{Op: session.Quarantine, Session: "parent00", Item: 4, Role: session.Assistant, Agent: "worker", Text: "Done.", Twin: &session.Place{Session: "child000", Item: 9}},
	{Op: session.Move, Session: "parent00", Item: 5, Role: session.User, Text: "go on", To: "child000", After: 4},
	{Op: session.Move, Session: "parent00", Item: 7, Role: session.Tool, Call: "toolu_2", To: "parent00", After: 5},
	{Op: session.Move, Session: "parent00", Item: 8, Role: session.Tool, Call: "toolu_3", To: "parent00", After: -1},
	{Op: session.Create, Item: -1, To: "parent00", Child: "newchild", Agent: "worker"},
	{Op: session.Insert, Session: "newchild", Item: -1, Role: session.System, After: -1},
	{Op: session.Insert, Session: "parent00", Item: -1, Kind: session.SubSession, Child: "newchild", After: 1},
	{Op: session.Insert, Session: "parent00", Item: -1, Role: session.Tool, Call: "toolu_4", Text: "[sessctl] none", After: 9},
	{Op: session.Set, Session: "parent00", Item: -1, Field: "title", Value: text("")},
	{Op: session.Set, Session: "parent00", Item: 3, Field: "agent_name", Value: text("root")},
	{Op: session.Set, Session: "parent00", Item: -1, Field: "parent_id"},
	{Op: session.Quarantine, Session: "parent00", Item: 11, Kind: session.Other},
	{Op: session.Quarantine, Session: "parent00", Item: 12, Kind: session.Summary, Text: "so far"},
	{Op: session.Set, Session: "parent00", Item: 13, Part: "/calls/1", Call: "c1", Field: session.FieldCallID, Value: text("c1_dup1")},
	{Op: session.Set, Session: "parent00", Item: 14, Role: session.Tool, Part: "/results/0", Call: "c1", Field: session.FieldResultID, Value: text("c1_dup1")},
	{Op: session.Set, Session: "parent00", Item: 15, Part: "/blocks/2", Field: session.FieldBlockID},
	{Op: session.Set, Session: "parent00", Item: 16, Part: "/blocks/2", Field: session.FieldBlockID, Value: text("fc_2")},
	{Op: session.Set, Session: "parent00", Item: 17, Role: session.Assistant, Field: session.FieldText, Value: text("")},
	{Op: session.Wrap, Session: "parent00", Item: 18, Part: "/calls/0", Call: "c1"},
	{Op: session.Scrub, Session: "parent00", Item: 19},
	{Op: session.Move, Session: "parent00", Item: 20, Role: session.User, Part: "/results/0", Rest: true, Call: "c1", To: "parent00", After: 1},
	{Op: session.Quarantine, Session: "parent00", Item: 21, Role: session.Assistant, Agent: "worker", Calls: []string{"shell"}, Part: "/results/1", Rest: true, Call: "c2", Text: "old"},
	{Op: session.Move, Session: "parent00", Item: 22, Role: session.User, Part: "/results/0", Call: "c1", To: "parent00", After: 1},
	{Op: session.Set, Session: "parent00", Item: 23, Part: "/calls/0", Field: session.FieldCallID, Value: text("call_1_0")},
	{Op: session.Set, Session: "parent00", Item: 24, Role: session.Tool, Part: "/results/0", Field: session.FieldResultID, Value: text("call_1_0")},
	{Op: session.Quarantine, Session: "parent00", Item: 25, Role: session.Tool},
}

// stepLines are steps on a screen.
func stepLines(steps []repair.Step, content bool, width int) string {
	var list document.Changes
	for i := range steps {
		list = append(list, stepChange(&steps[i], content))
	}
	return document.UnstyledLines(document.Document{list}, width)
}

func TestStepsSayWhatHappensToWhichItem(t *testing.T) {
	want := `    − parent00:2   worker message + shell, read_file  same as child000:2
    − parent00:3   result of toolu_1                  to the receipt
    − parent00:4   worker message                     to the receipt; also in child000:9
    → parent00:5   user message                       to child000
    → parent00:7   result of toolu_2                  after message 5
    → parent00:8   result of toolu_3                  to the start
    + newchild     new sub-session for worker         below parent00
    + newchild     task and start message             at the start
    + parent00     reference to sub-session newchild  after message 1
    + parent00     result of toolu_4                  after message 9
    ~ parent00     title → ""
    ~ parent00:3   agent_name → "root"
    ~ parent00     parent_id → NULL
    − parent00:11  record                             to the receipt
    − parent00:12  summary                            to the receipt
    ~ parent00:13  call c1 gets the id c1_dup1
    ~ parent00:14  the result of c1 will answer call c1_dup1
    ~ parent00:15  the provider's id is removed from a part
    ~ parent00:16  a part gets the provider's id fc_2
    ~ parent00:17  the blank text is removed
    ~ parent00:18  the arguments of call c1 are put into an object, as text
    ~ parent00:19  invalid bytes are replaced with U+FFFD
    → parent00:20  only the result of c1              after message 1
    − parent00:21  only the result of c2              to the receipt
    → parent00:22  result of c1                       after message 1
    ~ parent00:23  call (no id) gets the id call_1_0
    ~ parent00:24  the result of (no id) will answer call call_1_0
    − parent00:25  result of (no id)                  to the receipt
`
	if diff := cmp.Diff(want, stepLines(everyStep, false, 100)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got := stepLines(everyStep, true, 120)
	for _, want := range []string{
		`worker: "I read it first, then I wri…" + shell, read_file `, `result of toolu_1: "FROM golang"`, `user: "go on"`, `summary: "so far"`, `only the result of c2: "old"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in\n%s", want, got)
		}
	}
}

func TestStepsFitTheirWidthAndKeepTheirPlaces(t *testing.T) {
	long := slices.Clone(everyStep)
	for i := range long {
		long[i].Agent = strings.Repeat("漢字", 40)
		long[i].Text = "\x1b[31m\u202e" + strings.Repeat("long ", 1000)
	}
	for _, width := range []int{40, 60, 80, 100} {
		for line := range strings.Lines(stepLines(long, true, width)) {
			line = strings.TrimSuffix(line, "\n")
			if lipgloss.Width(line) > width || strings.ContainsAny(line, "\x1b\u202e") {
				t.Errorf("width %d: %q", width, line)
			}
			if !regexp.MustCompile(`^    [−→+~] (parent00|newchild)(:\d+)?  `).MatchString(line) {
				t.Errorf("width %d: the place is not whole: %q", width, line)
			}
		}
	}
}

// aPlan has a tree with as many fixes as asked for, of one step each.
func aPlan(fixes int, safety rules.Safety, op session.Op) *repair.Plan {
	tree := &repair.Tree{Root: "parent00", Title: "A title\x1b[2J", First: []repair.FirstChange{{Place: session.Place{Session: "parent00", Item: 2}}, {Place: session.Place{Session: "child000"}}}}
	for i := range fixes {
		tree.Fixes = append(tree.Fixes, repair.Fix{
			Rule: "SC701", Place: session.Place{Session: "parent00", Item: i}, Fix: rules.Fix{
				Title: "remove it", Safety: safety,
				Edits: []session.Edit{{Op: op, Ref: session.Ref{Table: "items", Key: "1"}, Value: text("")}},
			}, Steps: []repair.Step{everyStep[0]},
		})
	}
	return &repair.Plan{Schema: repair.PlanSchema, Trees: []*repair.Tree{tree}}
}

// printed is what a repair prints for a plan and an outcome.
func printed(t *testing.T, format string, opts render.RepairOptions, plan *repair.Plan, left []*check.Finding, o render.Outcome) string {
	t.Helper()
	var out bytes.Buffer
	opts.Screen = ui.NewScreen(&out, ui.ColorNever, func(string) string { return "" })
	w := NewRepairWriter(format, opts)
	if err := w.Plan(plan, &session.Store{Path: "s.db", Title: "docker agent", Advice: []string{"Upgrade."}}, left); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestLargePlansStayReadable(t *testing.T) {
	got := printed(t, "text", render.RepairOptions{MaxSteps: 3}, aPlan(2000, rules.Kept, session.RemoveTwin), nil, render.Outcome{})
	if strings.Count(got, "− parent00:2") != 3 || !strings.Contains(got, "…and 1,997 more steps (--max-findings 0 shows all)") {
		t.Errorf("got\n%s", got)
	}
	got = printed(t, "text", render.RepairOptions{}, aPlan(200, rules.Kept, session.RemoveTwin), nil, render.Outcome{})
	if strings.Count(got, "− parent00:2") != 200 || strings.Contains(got, "more") {
		t.Errorf("without a limit: got %d steps", strings.Count(got, "− parent00:2"))
	}
}

// The plan for one session fits a terminal of 24 lines, however many messages leaked.
func TestThePlanForASessionIsOneScreen(t *testing.T) {
	plan := aPlan(1, rules.Kept, session.RemoveTwin)
	fix := &plan.Trees[0].Fixes[0]
	for range 27 {
		fix.Steps, fix.Edits = append(fix.Steps, everyStep[0]), append(fix.Edits, fix.Edits[0])
	}
	got := printed(t, "text", render.RepairOptions{MaxSteps: 100}, plan, nil, render.Outcome{})
	if n := strings.Count(got, "\n"); n > 18 || !strings.Contains(got, "\n    …and 23 more steps (--max-findings 0 shows all)\n") {
		t.Errorf("%d lines:\n%s", n, got)
	}
	if got := printed(t, "text", render.RepairOptions{MaxSteps: 10}, plan, nil, render.Outcome{}); strings.Count(got, "more step") != 1 {
		t.Errorf("steps are counted twice:\n%s", got)
	}
	if got := printed(t, "text", render.RepairOptions{}, plan, nil, render.Outcome{}); strings.Count(got, "− parent00:2") != 28 {
		t.Errorf("--max-findings 0 does not show all steps:\n%s", got)
	}
}

func TestTheTallySaysWhatLeavesTheStore(t *testing.T) {
	edited := aPlan(2, rules.Lossless, session.Wrap) // two edits of one item
	edited.Trees = append(edited.Trees, aPlan(2, rules.Lossless, session.Wrap).Trees[0])
	for i := range edited.Trees[1].Fixes {
		edited.Trees[1].Fixes[i].Edits[0].Ref.Key = "2"
	}
	mixed := aPlan(2, rules.Lossless, session.Move)
	mixed.Trees = append(mixed.Trees, aPlan(1, rules.Kept, session.Quarantine).Trees[0], aPlan(2, rules.Kept, session.RemoveTwin).Trees[0])
	results, both := aPlan(2, rules.Kept, session.Quarantine), aPlan(3, rules.Kept, session.Quarantine)
	for i := range results.Trees[0].Fixes {
		results.Trees[0].Fixes[i].Edits[0].Ref.Pointer = "/results/0"
	}
	both.Trees[0].Fixes[0].Edits[0].Ref.Pointer = "/results/0"
	for want, plan := range map[string]*repair.Plan{
		"2 changes in 1 session: 2 results will be moved to the receipt.":                                                         results,
		"3 changes in 1 session: 2 messages and 1 result will be moved to the receipt.":                                           both,
		"1 change in 1 session: every message stays in the store.":                                                                aPlan(1, rules.Lossless, session.Move),
		"1 change in 1 session: 1 message will be moved to the receipt.":                                                          aPlan(1, rules.Kept, session.Quarantine),
		"1 change in 1 session: 1 duplicate will be removed, the original stays.":                                                 aPlan(1, rules.Kept, session.RemoveTwin),
		"2 changes in 1 session: 2 duplicates will be removed, the originals stay.":                                               aPlan(2, rules.Kept, session.RemoveTwin),
		"5 changes in 3 sessions: 2 duplicates will be removed, the originals stay; 1 message will be moved to the receipt.":      mixed,
		"1 change in 1 session: every message stays in the store. 1 message will be changed; the receipt keeps the original.":     aPlan(1, rules.Lossless, session.Wrap),
		"4 changes in 2 sessions: every message stays in the store. 2 messages will be changed; the receipt keeps the originals.": edited,
	} {
		got := printed(t, "text", render.RepairOptions{}, plan, nil, render.Outcome{})
		if !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

func TestARepairSaysWhatItLeaves(t *testing.T) {
	left := []*check.Finding{{Defect: rules.Defect{Rule: catalogue.FindRule("SC003"), Severity: rules.Error}}, {Defect: rules.Defect{Rule: catalogue.FindRule("SC015"), Severity: rules.Info}}}
	opts := render.RepairOptions{Check: "sessctl check s.db"}
	got := printed(t, "text", opts, &repair.Plan{}, left, render.Outcome{})
	want := "There is nothing that sessctl can repair.\nNot repaired: 1 error, 1 info (see `sessctl check s.db --deep`)\n"
	if !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s", got)
	}
	left[0].Fixes = []rules.Fix{{Allow: []string{"split", "guesses"}, Edits: []session.Edit{{}}}}
	if got := printed(t, "text", opts, &repair.Plan{}, left, render.Outcome{}); !strings.HasSuffix(got, "With --allow split,guesses, 1 of these would be repaired (SC003).\n") {
		t.Errorf("got\n%s", got)
	}
	got = printed(t, "text", opts, &repair.Plan{Refused: []repair.Refused{{Root: "parent00", Why: "its repair would bring SC101"}}}, nil, render.Outcome{})
	if want := "There is nothing to repair.\nSession parent00 will not be repaired: its repair would bring SC101.\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s", got)
	}
	got = strings.Join(strings.Fields(printed(t, "text", opts, aPlan(1, rules.Kept, session.Set), left, render.Outcome{})), " ")
	if want := "After this repair, 1 error, 1 info will remain (see `sessctl check s.db --deep`)"; !strings.Contains(got, want) {
		t.Errorf("%q is missing in\n%s", want, got)
	}
	opts.Quiet = true
	if got := printed(t, "text", opts, &repair.Plan{}, left, render.Outcome{Next: []render.Command{{Line: "x"}}}); got != "" {
		t.Errorf("--quiet: got\n%s", got)
	}
}

// TestARepairSaysWhoseRequestIsStillRefused: what is left may be a warning, and the exit
// code 0.
func TestARepairSaysWhoseRequestIsStillRefused(t *testing.T) {
	gemini := rules.FindProfile("gemini")
	refused := func(id string) *check.Finding {
		return &check.Finding{
			Defect: rules.Defect{
				Rule:          catalogue.FindRule("SC102"),
				Severity:      rules.Warning,
				Profile:       gemini,
				ProviderError: "no",
				Judged:        []rules.Judgement{{Profile: gemini, Severity: rules.Warning, Error: "no"}},
				Place:         session.Place{Session: id},
			},
		}
	}
	left := []*check.Finding{refused("a"), refused("a"), {Defect: rules.Defect{Rule: catalogue.FindRule("SC015"), Place: session.Place{Session: "b"}}}, refused("c")}
	opts := render.RepairOptions{Check: "sessctl check s.db"}
	if got := printed(t, "text", opts, &repair.Plan{}, left, render.Outcome{}); !strings.HasSuffix(got, "The provider refuses the next request of a, c.\nIf docker agent has stopped, --assume-dead repairs what it left unfinished.\n") ||
		!strings.Contains(got, "sessctl repairs nothing here while docker agent may be running.") {
		t.Errorf("got\n%s", got)
	}
	left = append(left, refused("d"), refused("e"), refused("f"))
	some := &repair.Plan{Trees: []*repair.Tree{{Root: "z"}}}
	if got := printed(t, "text", opts, some, left, render.Outcome{}); !strings.Contains(got, "would still refuse the next request of a, c, d and 2 other sessions\n  because of what remains.\n") {
		t.Errorf("got\n%s", got)
	}
	if got := printed(t, "json", opts, &repair.Plan{}, left, render.Outcome{}); !strings.Contains(got, `"refused": 5`) {
		t.Errorf("got\n%s", got)
	}
}

func TestWhatWasLeftOutIsSaid(t *testing.T) {
	plan := aPlan(1, rules.Kept, session.RemoveTwin)
	o := render.Outcome{
		Applied: true, Backup: "/b", Ledger: &repair.Ledger{},
		LeftOut: []repair.LeftOut{{Root: plan.Trees[0].Root, Why: "no place for it", Next: "report it"}, {Root: "other000", Why: "why"}},
	}
	got := strings.Join(strings.Fields(printed(t, "text", render.RepairOptions{MaxSteps: 1}, plan, nil, o)), " ")
	for _, want := range []string{
		"Session parent00 could not be repaired and is as it was before: no place for it. Report it.",
		"…and 1 more session that could not be repaired (--format json lists all)",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	o.Left = []*check.Finding{{Defect: rules.Defect{Severity: rules.Error}}}
	got = strings.Join(strings.Fields(printed(t, "json", render.RepairOptions{}, plan, nil, o)), "")
	if !strings.Contains(got, `"left_out":[{"root":"`+plan.Trees[0].Root+`","why":"noplaceforit","next":"reportit"},{"root":"other000","why":"why"}],"left":{"errors":1,`) {
		t.Errorf("got %s", got)
	}
}

// Triggers that the runtime does not make are named before anything is changed.
func TestTriggersAreSaid(t *testing.T) {
	text := document.UnstyledLines(document.Document{triggerList([]session.Trigger{{Name: "tr7", Table: "items", When: "after insert"}, {Name: "a\x1b", Table: "b"}})}, 500)
	want := `The database has 2 triggers that its runtime did not create: tr7 (after insert on items), a\x1b (on b). A session is not repaired if`
	if !strings.HasPrefix(text, want) {
		t.Errorf("got %s", text)
	}
	if text := document.UnstyledLines(document.Document{triggerList(nil)}, 80); text != "" {
		t.Errorf("got %s", text)
	}
}

func TestTheLedgerIsShown(t *testing.T) {
	o := render.Outcome{
		Applied: true, Backup: "/b", Receipt: "/b.receipt.json", Next: []render.Command{{Line: "sessctl undo /b.receipt.json"}},
		Ledger: &repair.Ledger{Before: 2397, After: 2396, Synthetic: 3, Quarantined: 1, Removed: 3, Edited: 2},
	}
	got := printed(t, "text", render.RepairOptions{Quiet: true}, aPlan(1, rules.Kept, session.RemoveTwin), nil, o)
	want := "✓ backed up ✓ applied ✓ verified: 2,397 of 2,397 messages accounted for,\n3 added, 2 changed\nBackup: /b\nUndo with: sessctl undo /b.receipt.json\n"
	if !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s", got)
	}
}

// What a change costs is said of every session, with the thinking that comes after it.
func TestTheCostIsSaid(t *testing.T) {
	plan, signed := aPlan(1, rules.Lossless, session.Move), 7
	plan.Trees[0].First[0].Signed = &signed
	got := strings.Join(strings.Fields(printed(t, "text", render.RepairOptions{MaxSteps: 3}, plan, nil, render.Outcome{})), " ")
	want := "Cost: the next request misses the prompt cache from message 2 on (once). Message 7 holds signed thinking: " +
		"the newest Claude models refuse it after a change before it (SC505). Cost: the next request of child000 misses the prompt cache from message 0 on (once)."
	if !strings.Contains(got, want) {
		t.Errorf("%q is missing in\n%s", want, got)
	}
	if got := printed(t, "json", render.RepairOptions{}, plan, nil, render.Outcome{}); strings.Count(got, `"signed":7`)+strings.Count(got, `"signed": 7`) != 1 {
		t.Errorf("signed is not there once:\n%s", got)
	}
}

// What only adds at the end costs nothing, and says so.
func TestWhatOnlyAddsIsTold(t *testing.T) {
	plan := aPlan(1, rules.Lossless, session.Insert)
	plan.Trees[0].Appends = true
	got := strings.Join(strings.Fields(printed(t, "text", render.RepairOptions{MaxSteps: 3}, plan, nil, render.Outcome{})), " ")
	if !strings.Contains(got, "Only adds messages at the end; no stored message changes.") || strings.Contains(got, "Cost:") {
		t.Errorf("got\n%s", got)
	}
}

// Thinking that moves into a session has the number of the place that it leaves.
func TestThinkingThatMovesIsNamedWhereItIsStored(t *testing.T) {
	plan, signed := aPlan(1, rules.Lossless, session.Move), 7
	plan.Trees[0].First = []repair.FirstChange{{Place: session.Place{Session: "child000", Item: 4}, Signed: &signed, SignedIn: "parent00"}}
	got := strings.Join(strings.Fields(printed(t, "text", render.RepairOptions{}, plan, nil, render.Outcome{Applied: true, Ledger: &repair.Ledger{}})), " ")
	if want := "Message 7 of parent00 holds signed thinking"; !strings.Contains(got, want) {
		t.Errorf("%q is missing in\n%s", want, got)
	}
}

// What was allowed and is left all the same is not offered once more.
func TestARepairOffersNoWordThatWasGiven(t *testing.T) {
	needs := func(words ...string) *check.Finding {
		f := &check.Finding{Defect: rules.Defect{Rule: catalogue.FindRule("SC707"), Severity: rules.Error}}
		f.Fixes = []rules.Fix{{Title: "Split it.", Allow: words, Edits: []session.Edit{{}}}}
		return f
	}
	left := []*check.Finding{needs("split"), needs("guesses", "split")}
	for _, tt := range []struct {
		given []string
		want  string
	}{
		{nil, "With --allow split, 1 of these would be repaired (SC707).\nWith --allow guesses,split, 1 of these would be repaired (SC707).\n"},
		{[]string{"split"}, "With --allow guesses,split, 1 of these would be repaired (SC707).\n"},
		{[]string{"split", "guesses"}, ""},
	} {
		got := printed(t, "text", render.RepairOptions{Check: "sessctl check s.db", Allowed: tt.given}, &repair.Plan{}, left, render.Outcome{})
		offers := got[strings.Index(got, "check s.db`)\n")+len("check s.db`)\n"):]
		if offers != tt.want || strings.Contains(got, "unless you allow it") != (tt.want != "") {
			t.Errorf("given %v:\n%s", tt.given, got)
		}
	}
}

func TestTheDocumentHoldsThePlanAsItIsSaved(t *testing.T) {
	plan := aPlan(1, rules.Kept, session.Set)
	left := []*check.Finding{{Defect: rules.Defect{Severity: rules.Error}}, {Defect: rules.Defect{Severity: rules.Warning}}, {Defect: rules.Defect{Severity: rules.Warning}}}
	got := printed(t, "json", render.RepairOptions{Tool: render.Tool{Name: "sessctl"}}, plan, left, render.Outcome{ExitCode: 1})
	var document struct {
		Schema   string
		Plan     *repair.Plan
		Applied  bool
		Left     struct{ Errors, Warnings, Infos int }
		ExitCode int `json:"exit_code"`
	}
	if err := json.Unmarshal([]byte(got), &document); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("sessctl.repair/1 false {1 2 0} 1 %q", "")
	value := document.Plan.Trees[0].Fixes[0].Edits[0].Value
	if value == nil {
		t.Fatal(`the value "" has become NULL`)
	}
	if line := fmt.Sprintf("%s %v %v %d %q", document.Schema, document.Applied, document.Left, document.ExitCode, *value); line != want {
		t.Errorf("got %s, want %s", line, want)
	}
}
