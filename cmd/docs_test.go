package cmd

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/sessctl/sessctl/internal/config"
	"github.com/sessctl/sessctl/internal/problem"
)

// pages are what people read about the program as it is. The pages of the rules
// and the architecture also tell what is to come.
func pages(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/dev/*.md", "docs/stores/*.md", "docs/skills/*/*.md"} {
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
	delete(texts, filepath.Join("..", "docs", "dev", "architecture.md"))
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
	other := regexp.MustCompile(`(?:docker agent|(?:^|[|$] ?)(?:sudo )?(?:apk|apt|brew|cosign|crush|curl|dnf|docker|git|go|pre-commit)) [^|]*`)
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

func exitCodesPage(t *testing.T) string {
	t.Helper()
	return pages(t)[filepath.Join("..", "docs", "exit-codes.md")]
}

// The codes of each command are those that its help lists.
func TestExitCodesOfEachCommandAreThoseOfThePage(t *testing.T) {
	p, _ := testProgram()
	help, page := map[string]string{}, map[string]string{}
	for _, c := range commands(newRootCommand(p)) {
		_, status, _ := strings.Cut(c.Long, exitTitle)
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

// The page names the schema of every format of a command that is JSON, and there is one.
func TestJSONPageNamesTheSchemaOfEachFormat(t *testing.T) {
	want := map[string]string{}
	p, _ := testProgram()
	for _, c := range commands(newRootCommand(p)) {
		flag := c.Flags().Lookup("format")
		if flag == nil {
			continue
		}
		for _, word := range regexp.MustCompile(`\b(json|ndjson)\b`).FindAllString(flag.Usage, -1) {
			want[c.Name()+" --format "+word] = c.Name() + map[string]string{"ndjson": "-line"}[word]
		}
	}
	got, others := map[string]string{}, 0
	for _, m := range regexp.MustCompile(`(?m)^\| (.*) \| \[(.*)\]\(schema/(.*)\.json\) \|$`).FindAllStringSubmatch(pages(t)[filepath.Join("..", "docs", "json.md")], -1) {
		if what := strings.Trim(m[1], "`"); strings.Contains(what, " --format ") {
			got[what] = m[3]
		} else {
			others++
		}
		if m[2] != m[3] || !slices.Contains(schemaNames(), m[3]) {
			t.Errorf("%s names %s, which is no schema", m[0], m[3])
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want)+others != len(schemaNames()) {
		t.Errorf("%d schemas, and the page has %d (-program +docs/json.md):\n%s", len(schemaNames()), len(got)+others, diff)
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

// TestSettingsPage holds the table of docs/settings.md against the flags of all commands;
// -update writes it.
func TestSettingsPage(t *testing.T) {
	p, _ := testProgram()
	root := newRootCommand(p)
	takers, defaults := map[string][]string{}, map[string]string{}
	for _, c := range commands(root) {
		note := func(f *pflag.Flag) {
			takers[f.Name] = append(takers[f.Name], c.Name())
			defaults[f.Name] = strings.Trim(f.DefValue, "[]")
		}
		c.Flags().VisitAll(note)
		root.PersistentFlags().VisitAll(note)
	}
	table := "| setting | default | commands |\n|---|---|---|\n"
	for _, key := range slices.Sorted(slices.Values(config.Keys())) {
		names := strings.Join(takers[key], ", ")
		if len(takers[key]) == len(commands(root)) {
			names = "all"
		}
		table += strings.ReplaceAll("| `"+key+"` | "+defaults[key]+" | "+names+" |\n", "|  |", "| |")
	}
	path := filepath.Join("..", "docs", "settings.md")
	page := pages(t)[path]
	text, _, _ := strings.Cut(page, "\n| setting |")
	if flag.Lookup("update").Value.String() == "true" { // declared beside the scripts
		if err := os.WriteFile(path, []byte(text+"\n"+table), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(text+"\n"+table, "\n"), strings.Split(page, "\n")); diff != "" {
		t.Errorf("go test ./cmd -run TestSettingsPage -update writes it (-program +docs/settings.md):\n%s", diff)
	}
}

// Whoever installs is told which lines work only from the first release on; the others are
// targets of make that .ci/run makes.
func TestInstallLinesAreMarkedOrRun(t *testing.T) {
	ci, makefile := read(t, ".ci/run"), read(t, "Makefile")
	made, marked := 0, 0
	lines := func(text string) {
		for _, b := range codeBlocks(text) {
			for line := range strings.Lines(b.text) {
				target, isMake := strings.CutPrefix(strings.Split(line, " #")[0], "make ")
				target = strings.TrimSpace(target)
				switch {
				case strings.Contains(line, "from the first release"):
					marked++
				case !isMake:
					t.Errorf("not marked, and not run: %s", line)
				case !strings.Contains(ci, "step make "+target+"\n") && !regexp.MustCompile(`(?m)^demo:.*\b`+target+`\b`).MatchString(makefile):
					t.Errorf(".ci/run does not make %s", target)
				default:
					made++
				}
			}
		}
	}
	_, readme, _ := strings.Cut(read(t, "README.md"), "\n## Install it\n")
	readme, _, _ = strings.Cut(readme, "\n## ")
	lines(readme)
	for _, section := range strings.Split(read(t, "docs/install.md"), "\n## ")[1:] {
		switch heading, _, _ := strings.Cut(section, "\n"); {
		case strings.HasPrefix(section, heading+"\n\n*From the first release.*\n"):
			marked++
		case heading != "Which version is this?":
			lines(section)
		}
	}
	if made < 4 || marked < 8 {
		t.Errorf("%d lines are run, and %d are marked", made, marked)
	}
}

// The example of the page is a configuration file.
func TestSettingsPageShowsAConfiguration(t *testing.T) {
	for _, b := range codeBlocks(pages(t)[filepath.Join("..", "docs", "settings.md")]) {
		file := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(file, []byte(b.text), 0o600); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		code := Main([]string{"config", "--config", file}, strings.NewReader(""), &out, &out, func(string) string { return "" })
		if code != exitOK || !regexp.MustCompile(`(?m)^fail-on +warning +`+regexp.QuoteMeta(file)).MatchString(out.String()) {
			t.Errorf("%d: %s", code, out.String())
		}
	}
}

// The help of a command fits on a screen and a half, and shows every flag and an example.
func TestHelpIsShort(t *testing.T) {
	const most, width = 36, 80
	p, _ := testProgram()
	for _, c := range append(commands(newRootCommand(p)), newRootCommand(p)) {
		var help bytes.Buffer
		getenv := func(name string) string { return map[string]string{"COLUMNS": "80"}[name] }
		args := append(strings.Fields(c.CommandPath())[1:], "--help")
		if code := Main(args, strings.NewReader(""), &help, &help, getenv); code != exitOK {
			t.Fatalf("%v ends with %d", args, code)
		}
		text := help.String()
		if n := strings.Count(text, "\n"); n > most {
			t.Errorf("%v has %d lines, of %d", args, n, most)
		}
		for line := range strings.Lines(text) {
			if len(strings.TrimRight(line, "\n")) > width {
				t.Errorf("%v: longer than %d: %s", args, width, line)
			}
		}
		if !strings.Contains(text, "Usage: sessctl") || !strings.Contains(text, "\n  sessctl ") && c.Name() != "completion" && c.Name() != "version" {
			t.Errorf("%v: no usage or no example:\n%s", args, text)
		}
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(text, "--"+f.Name) && f.Name != "version" {
				t.Errorf("%v: no --%s", args, f.Name)
			}
		})
	}
}
