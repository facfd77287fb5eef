package docs_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// root is the folder of the project.
var root = os.DirFS("..")

// files are the texts of the project with these endings, by their paths from its root.
func files(t *testing.T, endings ...string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := fs.WalkDir(root, ".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "bin", "bench", "demo", "dist", "share"}, file) || strings.HasSuffix(file, "/testdata"):
			return fs.SkipDir
		case entry.IsDir() || !slices.Contains(endings, path.Ext(file)):
			return nil
		}
		text, err := fs.ReadFile(root, file)
		texts[file] = string(text)
		return err
	})
	if err != nil || len(texts) == 0 {
		t.Fatalf("%d files: %v", len(texts), err)
	}
	return texts
}

// prose are the lines of a page outside of its code blocks, by their numbers.
func prose(page string) map[int]string {
	lines, inBlock := map[int]string{}, false
	for i, line := range strings.Split(page, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			inBlock = !inBlock
		} else if !inBlock {
			lines[i+1] = line
		}
	}
	return lines
}

// anchors are the names that GitHub gives to the headings of a page.
func anchors(page string) []string {
	var names []string
	for i, lines := 1, prose(page); i <= strings.Count(page, "\n"); i++ {
		heading := regexp.MustCompile(`^#+ `).ReplaceAllString(lines[i], "")
		if heading == lines[i] {
			continue
		}
		heading = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`).ReplaceAllString(heading, "$1")
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, heading)
		for n, first := 1, name; slices.Contains(names, name); n++ {
			name = first + "-" + strconv.Itoa(n)
		}
		names = append(names, name)
	}
	return names
}

// leads reports whether a path from the root, with or without an anchor, leads somewhere.
func leads(pages map[string]string, target string) bool {
	file, anchor, _ := strings.Cut(target, "#")
	if _, err := fs.Stat(root, file); err != nil {
		return false
	}
	return anchor == "" || slices.Contains(anchors(pages[file]), anchor)
}

func TestLinksOfPagesLeadSomewhere(t *testing.T) {
	pages := files(t, ".md")
	for file, page := range pages {
		for number, line := range prose(page) {
			for _, m := range regexp.MustCompile(`\]\(([^) ]+)\)`).FindAllStringSubmatch(line, -1) {
				target := path.Join(path.Dir(file), m[1])
				if strings.HasPrefix(m[1], "#") {
					target = file + m[1]
				}
				if !strings.Contains(m[1], "://") && !leads(pages, target) {
					t.Errorf("%s:%d: the link %s leads nowhere", file, number, m[1])
				}
			}
		}
	}
}

// Comments, messages, scripts and other pages name pages by their paths from the root.
func TestPagesThatAreNamedAreThere(t *testing.T) {
	pages := files(t, ".md")
	named := regexp.MustCompile(`(?:^|[^\w/.-]|sessctl/blob/[^/ ]+/)(docs/[\w/.-]+\.md(?:#[\w-]+)?)`)
	anyPage := regexp.MustCompile(`/[A-Z]+\.md`) // docs/stores/KIND.md
	found := 0
	for file, text := range files(t, ".md", ".go", ".yml", ".yaml", ".sh", ".txtar", "") {
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			found++
			if !leads(pages, m[1]) && (path.Base(m[1]) == "README.md" || !anyPage.MatchString(m[1])) {
				t.Errorf("%s names %s, which is not there", file, m[1])
			}
		}
	}
	if found == 0 {
		t.Error("no page is named anywhere")
	}
}

// A sentence begins a line, and a line breaks before column 100, so that a change shows as the
// sentences that it changes. Tables, links to pictures and lone words are as long as they are.
func TestLinesOfPages(t *testing.T) {
	sentence := regexp.MustCompile(`^[^` + "`" + `(]*[a-z]{3}[.!?] [A-Z][a-z]+ `)
	for file, page := range files(t, ".md") {
		for number, line := range prose(page) {
			text := strings.TrimLeft(line, " ")
			switch {
			case strings.HasPrefix(text, "|"), strings.HasPrefix(text, "!["), strings.HasPrefix(text, "#"):
			case utf8.RuneCountInString(line) > 100 && strings.Contains(text, " "):
				t.Errorf("%s:%d is longer than 100 columns", file, number)
			case sentence.MatchString(text):
				t.Errorf("%s:%d: a sentence begins within the line", file, number)
			}
		}
	}
}
