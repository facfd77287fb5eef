package cmd

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/sessctl/sessctl/internal/problem"
)

// pages are what people read about the program as it is. The pages of the rules
// and the architecture also tell what is to come.
func pages(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/stores/*.md"} {
		paths, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			texts[path] = string(text)
		}
	}
	delete(texts, filepath.Join("..", "docs", "architecture.md"))
	return texts
}

func TestPagesNameOnlyCommandsAndFlagsThatThereAre(t *testing.T) {
	p, _ := testProgram()
	root := newRootCommand(p)
	names := []string{"help", "completion"}
	flags := []string{"help", "version"}
	note := func(f *pflag.Flag) { flags = append(flags, f.Name) }
	root.PersistentFlags().VisitAll(note)
	for _, c := range commands(root) {
		names = append(names, c.Name())
		c.Flags().VisitAll(note)
	}
	command := regexp.MustCompile(`(?:^|[|$] ?)sessctl ([a-z]+)`)
	option := regexp.MustCompile(`(?:^| )--([a-z][a-z-]+)`)
	// What another program is called with is its own matter, up to the next pipe.
	other := regexp.MustCompile(`(?:docker agent|(?:^|[|$] ?)(?:sudo )?(?:apk|apt|brew|cosign|curl|dnf|docker|git|go|pre-commit)) [^|]*`)
	for path, text := range pages(t) {
		for _, typed := range whatToType(text) {
			for _, m := range command.FindAllStringSubmatch(typed, -1) {
				if !slices.Contains(names, m[1]) {
					t.Errorf("%s: there is no command %q: %s", path, m[1], typed)
				}
			}
			for _, m := range option.FindAllStringSubmatch(other.ReplaceAllString(typed, ""), -1) {
				if !slices.Contains(flags, m[1]) {
					t.Errorf("%s: no command has the flag --%s: %s", path, m[1], typed)
				}
			}
		}
	}
}

// whatToType are the code spans of a page, and the lines of its code blocks that
// call the program.
func whatToType(text string) []string {
	span := regexp.MustCompile("`([^`]+)`")
	var typed []string
	inBlock := false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "```"):
			inBlock = !inBlock
		case inBlock && strings.Contains(line, "sessctl "):
			typed = append(typed, line)
		case !inBlock:
			for _, m := range span.FindAllStringSubmatch(line, -1) {
				typed = append(typed, m[1])
			}
		}
	}
	return typed
}

func TestLinksBetweenPagesLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^):#]+)[)#]`) // and not https:
	for path, text := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target := filepath.Join(filepath.Dir(path), filepath.FromSlash(m[1]))
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: %v", path, m[1], err.(*fs.PathError).Err)
			}
		}
	}
}

func exitCodesPage(t *testing.T) string {
	t.Helper()
	return pages(t)[filepath.Join("..", "docs", "exit-codes.md")]
}

// The codes of each command are those that its help lists.
func TestExitCodesOfEachCommandAreThoseOfThePage(t *testing.T) {
	p, _ := testProgram()
	help, page := map[string]string{}, map[string]string{}
	for _, c := range commands(newRootCommand(p)) {
		_, status, _ := strings.Cut(c.Long, "EXIT STATUS\n")
		var codes []string
		for _, m := range regexp.MustCompile(`(?m)^ +(\d+)  `).FindAllStringSubmatch(status, -1) {
			codes = append(codes, m[1])
		}
		help[c.Name()] = strings.Join(codes, ", ")
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `(.+)` \\| ([0-9, ]+) \\|$").FindAllStringSubmatch(exitCodesPage(t), -1) {
		page[m[1]] = m[2]
	}
	if diff := cmp.Diff(help, page); diff != "" {
		t.Errorf("(-help +docs/exit-codes.md):\n%s", diff)
	}
}

// Every format of a command that is JSON has a section, and every section a command.
func TestJSONPageHasASectionForEachFormat(t *testing.T) {
	var formats, sections []string
	p, _ := testProgram()
	for _, c := range commands(newRootCommand(p)) {
		flag := c.Flags().Lookup("format")
		if flag == nil {
			continue
		}
		for _, word := range regexp.MustCompile(`\b(json|ndjson)\b`).FindAllString(flag.Usage, -1) {
			formats = append(formats, c.Name()+" --format "+word)
		}
	}
	page := pages(t)[filepath.Join("..", "docs", "json.md")]
	for _, m := range regexp.MustCompile(`(?m)^## (\w+ --format \w+)$`).FindAllStringSubmatch(page, -1) {
		sections = append(sections, m[1])
	}
	slices.Sort(formats)
	slices.Sort(sections)
	if diff := cmp.Diff(formats, sections); diff != "" {
		t.Errorf("(-program +docs/json.md):\n%s", diff)
	}
}

func TestExitCodesAreThoseOfTheirPage(t *testing.T) {
	var got, want []string
	row := regexp.MustCompile(`(?m)^\| (\d+) \|`)
	text := exitCodesPage(t)
	for _, m := range row.FindAllStringSubmatch(text, -1) {
		got = append(got, m[1])
	}
	want = append(want, strconv.Itoa(exitOK))
	for _, m := range meanings {
		want = append(want, strconv.Itoa(m.code))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-program +docs/exit-codes.md):\n%s", diff)
	}
	for _, class := range []problem.Class{problem.Usage, problem.Unreadable, problem.RolledBack, problem.Busy} {
		if !regexp.MustCompile(`(?m)^(\| )?` + strconv.Itoa(int(class)) + ` `).MatchString(text) {
			t.Errorf("docs/exit-codes.md does not explain %d", class)
		}
	}
}

// TestCommandsPage holds docs/commands.md, which is the help of all commands;
// -update writes it.
func TestCommandsPage(t *testing.T) {
	var out bytes.Buffer
	out.WriteString("# Commands\n\nWhat `--help` prints. Every flag is a setting, too: see [config](#sessctl-config).\n")
	p, _ := testProgram()
	for _, c := range commands(newRootCommand(p)) {
		var help bytes.Buffer
		getenv := func(name string) string { return map[string]string{"COLUMNS": "100"}[name] }
		if code := Main([]string{c.Name(), "--help"}, strings.NewReader(""), &help, &help, getenv); code != exitOK {
			t.Fatalf("%s --help ends with %d", c.Name(), code)
		}
		out.WriteString("\n## sessctl " + c.Name() + "\n\n```\n" + help.String() + "```\n")
	}
	path := filepath.Join("..", "docs", "commands.md")
	if flag.Lookup("update").Value.String() == "true" { // declared beside the scripts
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(out.String(), "\n")); diff != "" {
		t.Errorf("docs/commands.md is out of date; go test ./cmd -update writes it (-page +program):\n%s", diff)
	}
}
