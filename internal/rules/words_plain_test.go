package rules_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sessctl/sessctl/docs"
	"github.com/sessctl/sessctl/internal/rules"
)

// clumsy are words of the code and shapes of sentences that stop a reader
// (docs/dev/architecture.md, Vocabulary, says what is said in their place).
var clumsy = regexp.MustCompile(`(?i)\b(` + strings.Join([]string{
	`stands? (again|apart|as|at|before|behind|beside|between|directly|elsewhere|for|in|on|there|too|within|without)`, `stand-ins?`, `behind`,
	`twins?`, `parts? (it|that call|the call|call|its|them) from`, `is of no`, `(it|which|that|this) (is|are) no`, `is no (agent|JSON|known|list|Unicode)`, `of which`, `judge[ds]?`, `hints? at`,
	`cache is void`, `(writer|runtime) is (dead|gone)`, `for the moment when`, `only what`, `shown to no`, `no model sees`, `does no longer`,
	`^let `, `whose it is cannot`,
	`parted`, `(is|are) void`, `alone minds?`, `minds? it`, `(is|are) not asked`, `(is|are) not on record`, `tells? of it`, `leaves the store for`, `(in|out of) view`, `goes by`,
}, `|`) + `)\b`)

// longest is how many characters a first sentence may have, what it quotes not counted:
// lists of findings show that one alone.
const longest = 115

// sayPlainly holds the words of findings.
func sayPlainly(t *testing.T, found []*rules.Finding) {
	t.Helper()
	for _, f := range found {
		said := []string{f.Message, f.Discreet, f.Sent}
		for _, fix := range f.Fixes {
			said = append(said, fix.Title)
		}
		for _, text := range said {
			if word := clumsy.FindString(rules.WithoutValues(text)); word != "" {
				t.Errorf("%s says %q: %s", f.Rule.ID, word, text)
			}
		}
		first, rest, more := strings.Cut(rules.WithoutValues(f.Message), ". ")
		switch {
		case first == "" || utf8.RuneCountInString(first) > longest || strings.Count(first, "(") != strings.Count(first, ")"):
			t.Errorf("%s has this first sentence: %s", f.Rule.ID, first)
		case more != strings.HasSuffix(f.Message, "."):
			t.Errorf("%s ends several sentences with a period and one without: %s", f.Rule.ID, f.Message)
		case strings.Contains(rest, ".."):
			t.Errorf("%s ends a sentence twice: %s", f.Rule.ID, f.Message)
		}
	}
}

// TestPlainWordsInTheSource: what no test prints is held as well.
func TestPlainWordsInTheSource(t *testing.T) {
	folders := []string{"*", ".", "../view", "../replay", "../recording", "../render/views", "../render/replays"}
	literals := 0
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if lit, is := n.(*ast.BasicLit); is && lit.Kind == token.STRING {
					literals++
					text, _ := strconv.Unquote(lit.Value)
					if word := clumsy.FindString(text); word != "" {
						t.Errorf("%s says %q: %s", set.Position(lit.Pos()), word, text)
					}
				}
				return true
			})
		}
	}
	if literals < 1000 {
		t.Errorf("only %d texts were read", literals)
	}
}

// TestPlainWordsOnThePages holds the rule pages, of which `explain` prints all.
func TestPlainWordsOnThePages(t *testing.T) {
	pages, err := docs.Rules.ReadDir("rules")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		text, err := docs.Rules.ReadFile("rules/" + page.Name())
		if err != nil {
			t.Fatal(err)
		}
		prose := strings.Join(strings.Fields(fenced.ReplaceAllString(string(text), "")), " ")
		for _, at := range clumsy.FindAllStringIndex(prose, -1) {
			t.Errorf("%s: …%s…", page.Name(), prose[max(0, at[0]-60):min(len(prose), at[1]+40)])
		}
	}
}

// fenced is what a page shows of a screen or of a provider's answer, or names as code.
var fenced = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
