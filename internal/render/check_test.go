package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
)

func TestPlaceIsOneWordThatGreps(t *testing.T) {
	tests := []struct {
		finding check.Finding
		want    string
	}{
		{check.Finding{Defect: rules.Defect{Items: []int{2, 3, 6, 8, 9, 10}, Place: session.Place{Session: "1f0c9e2a-0000-4000-8000-000000000000"}}}, "1f0c9e2a:2-3,6,8-10"},
		{check.Finding{Defect: rules.Defect{Items: []int{0}, Place: session.Place{Session: "short"}}}, "short:0"},
		{check.Finding{Defect: rules.Defect{Place: session.Place{Session: "short"}}}, "short"},
		{check.Finding{Row: "lines/5"}, "store:lines/5"},
		{check.Finding{Defect: rules.Defect{Items: []int{1}, Place: session.Place{Session: "a\x1b[m"}}}, `a\x1b[m:1`},
	}
	for _, tt := range tests {
		if got := FindingPlace(&tt.finding); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestProviderErrorTakesTwoLines(t *testing.T) {
	long := strings.Repeat("word ", 100)
	finding := func(text string) *check.Finding {
		return &check.Finding{Defect: rules.Defect{Rule: catalogue.FindRule("SC101"), Severity: rules.Error, ProviderError: text}}
	}
	leads := func(f *check.Finding) string {
		_, leads, _ := strings.Cut(document.UnstyledLines(document.Document{NewFinding(f, "It is.", true)}, 80), "It is.\n")
		return leads
	}
	got := leads(finding(long))
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	if len(lines) != 2 || !strings.HasSuffix(lines[1], "…") || strings.HasSuffix(lines[1], "……") {
		t.Errorf("got\n%s", got)
	}
	for _, l := range lines {
		if n := len([]rune(l)); n > 80 {
			t.Errorf("%d columns: %s", n, l)
		}
	}
	named := finding(long + "toolu_1. " + long)
	named.Call = "toolu_1"
	if got := leads(named); strings.Count(got, "\n") != 2 || !strings.HasSuffix(got, " … toolu_1…\n") {
		t.Errorf("the call is cut:\n%s", got)
	}
	if got := leads(finding("short")); got != "    → the next request fails with: short\n" {
		t.Errorf("got %q", got)
	}
}

func TestLimitHidesTheOldestSessions(t *testing.T) {
	rule := &rules.Rule{ID: "SC701"}
	var all []*check.Finding
	for day := range 5 { // as a store has them: the oldest first
		root := &check.Head{ID: strconv.Itoa(day), Created: time.Date(2026, 3, day+1, 0, 0, 0, 0, time.UTC)}
		for item := range 2 {
			all = append(all, &check.Finding{Defect: rules.Defect{Rule: rule, Place: session.Place{Session: root.ID, Item: item}}, Root: root})
		}
	}
	all = append(all, &check.Finding{Defect: rules.Defect{Rule: rule, Place: session.Place{Session: "undated"}}, Root: &check.Head{ID: "undated"}}, &check.Finding{Defect: rules.Defect{Rule: rule}})
	shown, left := LimitFindings(all, 4)
	var got []string
	for _, f := range shown {
		got = append(got, f.Session+":"+strconv.Itoa(f.Item))
	}
	want := []string{"3:0", "4:0", "4:1", ":0"}
	if !slices.Equal(got, want) || left[0].findings != 8 || len(left[0].sessions) != 5 {
		t.Errorf("shown %q, want %q; hidden %v", got, want, left[0])
	}
}

func TestLimitCountsWhatItHides(t *testing.T) {
	a, b := catalogue.FindRule("SC015"), catalogue.FindRule("SC701")
	var all []*check.Finding
	for _, s := range []string{"1", "2", "2", "3", ""} {
		all = append(all, &check.Finding{Defect: rules.Defect{Rule: a, Place: session.Place{Session: s}}}, &check.Finding{Defect: rules.Defect{Rule: b, Place: session.Place{Session: s}}})
	}
	shown, left := LimitFindings(all[:9], 2) // five of a, four of b
	if len(shown) != 4 || len(left) != 2 || left[0].findings != 3 || left[1].findings != 2 {
		t.Fatalf("got %d shown, %d rules hidden", len(shown), len(left))
	}
	if got, want := left[0].Words(), "…and 3 more of SC015 time-goes-back in 2 sessions (all of them: --max-findings 0)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if shown, left := LimitFindings(all, 0); len(shown) != len(all) || left != nil {
		t.Errorf("0 is no limit: got %d of %d", len(shown), len(all))
	}
}

func TestARowCountsEachSessionOfALoopOnce(t *testing.T) {
	a, b := &session.Session{ID: "a"}, &session.Session{ID: "b", Agent: "worker"}
	a.Children, b.Children = []*session.Session{b}, []*session.Session{a}
	row := RowOf(&session.Tree{Sessions: []*session.Session{a, b}}, []*check.Finding{
		{Defect: rules.Defect{Rule: catalogue.FindRule("SC706"), Severity: rules.Error, Place: session.Place{Session: "b"}}},
		{Defect: rules.Defect{Rule: catalogue.FindRule("SC015"), Severity: rules.Info, Place: session.Place{Session: "a"}}},
	}, false)
	if row.Subs != 1 || row.Children[0].Subs != 1 || row.Agents[0] != "worker" {
		t.Errorf("got %+v", row)
	}
	if !strings.Contains(row.worstHealth().Text, "1 error") || !strings.Contains(row.Children[0].worstHealth().Text, "1 error") {
		t.Errorf("health: got %q and %q", row.worstHealth().Text, row.Children[0].worstHealth())
	}
}

// TestAForkIsASessionOfItsOwn: it is of one tree with the original, whose sub-session its call
// names, and what is found in one is not counted in the other.
func TestAForkIsASessionOfItsOwn(t *testing.T) {
	child := &session.Session{ID: "child", Parent: "a", Delegated: true}
	lost := &session.Session{ID: "lost", Delegated: true}
	a, fork := &session.Session{ID: "a", Children: []*session.Session{child}}, &session.Session{ID: "fork"}
	var rows []string
	for _, part := range (&session.Tree{Sessions: []*session.Session{a, child, fork, lost}}).Conversations() {
		row := RowOf(part, []*check.Finding{
			{Defect: rules.Defect{Rule: catalogue.FindRule("SC706"), Severity: rules.Error, Place: session.Place{Session: "fork"}}},
		}, false)
		rows = append(rows, fmt.Sprint(row.ID, row.Subs, row.Health[rules.Error]))
	}
	if got := strings.Join(rows, " "); got != "a2 0 fork0 1" {
		t.Errorf("got %q", got)
	}
}
