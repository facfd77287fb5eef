package rules_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/docs"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/rules/damage"
)

func TestIDsAreSortedAndNamesUnique(t *testing.T) {
	form := regexp.MustCompile(`^SC\d{3}$`)
	names := map[string]bool{}
	for i, r := range catalogue.All {
		if !form.MatchString(r.ID) || i > 0 && catalogue.All[i-1].ID >= r.ID {
			t.Errorf("%s is out of order or of another form", r.ID)
		}
		if r.Name == "" || names[r.Name] {
			t.Errorf("%s: the name %q is taken", r.ID, r.Name)
		}
		names[r.Name] = true
		if r.Title == "" || strings.HasSuffix(r.Title, ".") || r.Since == "" {
			t.Errorf("%s lacks a title (without a final dot) or a version", r.ID)
		}
		if (r.Run == nil) != (r == damage.RuleCrashed()) || (r.Scope == 0) != (r.Run == nil) {
			t.Errorf("%s is never run", r.ID)
		}
	}
}

// headings are the sections of every page, in order.
var headings = []string{"What it finds", "Why it matters", "Example", "Repair", "What it costs", "False alarms", "Sources"}

func TestEveryRuleHasAPageThatAgreesWithIt(t *testing.T) {
	for _, r := range catalogue.All {
		t.Run(r.ID, func(t *testing.T) {
			page, err := r.Page()
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(page, "\n")
			if want := "# " + r.ID + " " + r.Name; lines[0] != want {
				t.Errorf("the first line is %q, not %q", lines[0], want)
			}
			for _, want := range []string{"- Severity: " + r.Severity.String(), "- Repair: " + r.RepairText(), "- Since: " + r.Since} {
				if !slices.Contains(lines, want) {
					t.Errorf("the head lacks the line %q", want)
				}
			}
			var found []string
			for _, line := range lines {
				if title, ok := strings.CutPrefix(line, "## "); ok {
					found = append(found, title)
				}
				if len([]rune(line)) > 80 && !strings.HasPrefix(line, "|") {
					t.Errorf("longer than a terminal: %s", line)
				}
			}
			if diff := cmp.Diff(headings, found); diff != "" {
				t.Errorf("headings: %s", diff)
			}
			for _, id := range regexp.MustCompile(`SC\d{3}`).FindAllString(page, -1) {
				if catalogue.FindRule(id) == nil {
					t.Errorf("the page refers to %s, which does not exist", id)
				}
			}
		})
	}
}

func TestEveryPageIsOfARule(t *testing.T) {
	pages, err := fs.Glob(docs.Rules, "rules/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if id := strings.TrimSuffix(filepath.Base(page), ".md"); catalogue.FindRule(id) == nil {
			t.Errorf("%s is the page of no rule", page)
		}
	}
}

// TestTheIndexListsAllRules reads the table of docs/rules/README.md, whose last
// column is the first paragraph of each page.
func TestTheIndexListsAllRules(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "rules", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for line := range strings.SplitSeq(string(data), "\n") {
		if strings.HasPrefix(line, "| [SC") {
			got = append(got, line)
		}
	}
	for _, r := range catalogue.All {
		page, err := r.Page()
		if err != nil {
			t.Fatal(err)
		}
		summary := strings.ReplaceAll(strings.Split(page, "\n\n")[1], "\n", " ")
		want = append(want, "| ["+r.ID+"]("+r.ID+".md) | "+r.Name+" | "+r.Severity.String()+" | "+r.RepairText()+" | "+summary+" |")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the table should be (-), is (+):\n%s", diff)
	}
}

func TestEveryRuleHasATestOfItsOwn(t *testing.T) {
	for _, r := range catalogue.All {
		if r.Run == nil {
			continue
		}
		name := strings.ToLower(r.ID) + "_" + strings.ReplaceAll(r.Name, "-", "_") + "_test.go"
		if _, err := os.Stat(name); err != nil {
			t.Errorf("%s has no %s", r.ID, name)
		}
	}
}

func TestFindTakesIDsAndNamesInAnyCase(t *testing.T) {
	for word, want := range map[string]string{"SC701": "SC701", "sc701": "SC701", "Leak-Duplicate": "SC701", "SC7": "", "": "", "nonsense": ""} {
		got := ""
		if r := catalogue.FindRule(word); r != nil {
			got = r.ID
		}
		if got != want {
			t.Errorf("Find(%q) is %q, want %q", word, got, want)
		}
	}
}

func TestSelectTakesIDsNamesAndPrefixes(t *testing.T) {
	for _, tc := range []struct {
		name              string
		selected, ignored []string
		want, fails       string
	}{
		{name: "all that run when nobody names any", want: "all"},
		{name: "one id", selected: []string{"sc103"}, want: "SC103"},
		{name: "a name", selected: []string{"orphan-result"}, want: "SC103"},
		{name: "a prefix without one of its rules", selected: []string{"SC10"}, ignored: []string{"SC103", "late-result"}, want: "SC101 SC102 SC105 SC106 SC107 SC108 SC109"},
		{name: "catalogue order, whatever the order of words", selected: []string{"SC701", "SC001"}, want: "SC001 SC701"},
		{name: "a word that is no rule", selected: []string{"SC9"}, fails: `there is no rule "SC9"`},
		{name: "an ignored word that is no rule", ignored: []string{"leaks"}, fails: `there is no rule "leaks"`},
		{name: "an empty word", selected: []string{""}, fails: `there is no rule ""`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			chosen, err := catalogue.SelectRules(tc.selected, tc.ignored)
			if tc.fails != "" {
				if err == nil || err.Error() != tc.fails {
					t.Errorf("the error is %v, want %s", err, tc.fails)
				}
				return
			}
			var ids []string
			for _, r := range chosen {
				ids = append(ids, r.ID)
			}
			if got := strings.Join(ids, " "); got != tc.want && (tc.want != "all" || len(ids) != len(catalogue.UsualRules())) {
				t.Errorf("chose %s, want %s (%v)", got, tc.want, err)
			}
		})
	}
}
