package cmd

import (
	"bytes"
	"errors"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/render/checks"
)

// codeBlock is a fenced block of a page.
type codeBlock struct{ language, text string }

func codeBlocks(page string) (blocks []codeBlock) {
	for i, part := range strings.Split("\n"+page, "\n```") {
		if i%2 == 1 {
			language, text, _ := strings.Cut(part, "\n")
			blocks = append(blocks, codeBlock{language, text + "\n"})
		}
	}
	return blocks
}

// callsOf are the arguments of every call of the program on a page.
func callsOf(t *testing.T, page string) (all [][]string) {
	t.Helper()
	for _, b := range codeBlocks(page) {
		if b.language != "yaml" {
			all = append(all, calls(b.text)...)
		}
	}
	for _, document := range yamlOf(t, page) {
		for _, text := range textsOf(document) {
			all = append(all, calls(text)...)
		}
	}
	return slices.DeleteFunc(all, func(args []string) bool { return len(args) == 0 }) // the address of the project
}

// TestCommandLinesOfPages reads every command line of these pages as the program would.
func TestCommandLinesOfPages(t *testing.T) {
	all := pages(t)
	for _, name := range []string{"README.md", "docs/resume.md", "docs/ci.md"} {
		parsed := 0
		for _, args := range callsOf(t, all[filepath.Join("..", filepath.FromSlash(name))]) {
			parseCommand(t, args)
			parsed++
		}
		if parsed == 0 {
			t.Errorf("%s calls sessctl nowhere", name)
		}
	}
	for _, m := range regexp.MustCompile("`(--[^`]+ [^`]+)`").FindAllStringSubmatch(ciPage(t), -1) {
		for _, words := range shellCommands(m[1]) {
			parseCommand(t, append([]string{"check"}, words...))
		}
	}
}

// TestCommandLinesOfTheCIPageRun runs every command line of docs/ci.md in a project with a
// damaged store: each ends with findings or without, as the examples expect.
func TestCommandLinesOfTheCIPageRun(t *testing.T) {
	campaign.ShowsNoRace(t)
	page, folder := ciPage(t), t.TempDir()
	for _, name := range []string{"fixtures", "stores", "data/more", "test-results", "home"} {
		if err := os.MkdirAll(filepath.Join(folder, filepath.FromSlash(name)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	demoStore(t, filepath.Join(folder, "backup.db"))
	for _, name := range []string{"session.db", "fixtures/session.db", "stores/session.db", "data/more/session.db"} {
		if err := os.Link(filepath.Join(folder, "backup.db"), filepath.Join(folder, filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(folder)
	run := func(args []string) (int, string) {
		var out bytes.Buffer
		code := Main(args, strings.NewReader(""), &out, &out, func(string) string { return "" })
		return code, out.String()
	}
	if code, out := run([]string{"check", "backup.db", "--write-baseline", "home/sessions.baseline.json"}); code != exitOK {
		t.Fatalf("%d: %s", code, out)
	}
	ran := 0
	for _, args := range callsOf(t, page) {
		for i, arg := range args {
			args[i] = oneForAll(strings.NewReplacer("$HOME", "home", "$(Build.ArtifactStagingDirectory)", "home").Replace(arg))
		}
		ran++
		if code, out := run(args); code != exitOK && code != exitFindings {
			t.Errorf("sessctl %s ends with %d: %s", strings.Join(args, " "), code, out)
		}
		for _, arg := range args {
			if _, file, ok := strings.Cut(arg, "="); ok {
				if written, err := os.ReadFile(file); err != nil || len(written) == 0 {
					t.Errorf("sessctl %s writes no report: %v", strings.Join(args, " "), err)
				}
			}
		}
	}
	if ran < 10 {
		t.Errorf("only %d command lines were run", ran)
	}
}

// textsOf are all texts of a YAML document.
func textsOf(document any) (texts []string) {
	switch v := document.(type) {
	case string:
		return []string{v}
	case []any:
		for _, one := range v {
			texts = append(texts, textsOf(one)...)
		}
	case map[string]any:
		for _, one := range v {
			texts = append(texts, textsOf(one)...)
		}
	}
	return texts
}

// calls are the arguments of every call of the program in a script: by its name or
// path, as a container, and in the sh step of a pipeline of Jenkins.
func calls(script string) (all [][]string) {
	assignment := regexp.MustCompile(`^\w+=`)
	for _, words := range shellCommands(script) {
		words = slices.DeleteFunc(words, func(w string) bool { return w == "$" })
		for len(words) > 0 && assignment.MatchString(words[0]) {
			words = words[1:]
		}
		image := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "ghcr.io/sessctl/sessctl") })
		switch {
		case len(words) == 0:
		case path.Base(words[0]) == "sessctl":
			all = append(all, words[1:])
		case words[0] == "docker" && image > 0:
			all = append(all, words[image+1:])
		case words[0] == "sh" && len(words) == 2:
			all = append(all, calls(words[1])...)
		}
	}
	return all
}

// shellCommands splits a script into its simple commands and their words, without
// redirections and comments. What a $ stands for stays as it is.
func shellCommands(script string) (commands [][]string) {
	script = strings.ReplaceAll(script, "\\\n", "")
	var words []string
	var word strings.Builder
	inWord, redirected, quote := false, false, rune(0)
	endWord := func() {
		if inWord && !redirected {
			words = append(words, word.String())
		}
		if inWord {
			inWord, redirected = false, false
			word.Reset()
		}
	}
	comment := false
	for _, r := range script + "\n" {
		switch {
		case comment && r != '\n':
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == '#' && !inWord:
			comment = true
		case r == '<' || r == '>':
			if word.String() == "2" {
				word.Reset()
				inWord = false
			}
			endWord()
			redirected = true
		case r == '&' && redirected && !inWord:
			word.WriteRune(r)
			inWord = true
		case strings.ContainsRune("\n;|&", r):
			endWord()
			if len(words) > 0 {
				commands = append(commands, words)
			}
			words, redirected, comment = nil, false, false
		case r == ' ' || r == '\t':
			endWord()
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	return commands
}

// parseCommand reads the arguments of the program as it does itself, to just before it
// opens something.
func parseCommand(t *testing.T, args []string) {
	t.Helper()
	p, _ := testProgram()
	c, rest, err := newRootCommand(p).Find(args)
	if err == nil {
		err = c.ParseFlags(rest)
	}
	if errors.Is(err, pflag.ErrHelp) {
		return
	}
	if err == nil {
		err = c.ValidateArgs(c.Flags().Args())
	}
	if err == nil {
		err = p.loadConfig(c)
	}
	if err == nil && c.Name() == "check" {
		_, err = p.selectedRules()
	}
	if err == nil && c.Name() == "check" {
		_, err = p.parseJudge()
	}
	if err == nil && p.config.Since != "" {
		_, err = parseSince(oneForAll(p.config.Since), time.Now())
	}
	if err == nil && p.config.Shard != "" && p.config.Shard != "I/N" {
		_, err = parseShard(oneForAll(p.config.Shard))
	}
	if err != nil {
		t.Errorf("sessctl %s: %v", strings.Join(args, " "), err)
		return
	}
	for _, report := range p.config.Report {
		format, file, _ := strings.Cut(report, "=")
		if file == "" || checks.FindFormat(format) == nil && format != "FORMAT" {
			t.Errorf("sessctl %s: the report %s", strings.Join(args, " "), report)
		}
	}
}

// oneForAll puts 1 in the place of everything that a shell or a workflow fills in.
func oneForAll(word string) string {
	return regexp.MustCompile(`\$\(\(.*?\)\)|\$\{\{.*?\}\}|\$\w+`).ReplaceAllString(word, "1")
}

func TestShellCommands(t *testing.T) {
	tests := []struct {
		script string
		want   [][]string
	}{
		{"a b  c\n\td", [][]string{{"a", "b", "c"}, {"d"}}},
		{`a 'b c' "d 'e'"f`, [][]string{{"a", "b c", "d 'e'f"}}},
		{"a | b && c || d; e", [][]string{{"a"}, {"b"}, {"c"}, {"d"}, {"e"}}},
		{"a >out 2>&1 b < in # c\nd", [][]string{{"a", "b"}, {"d"}}},
		{"a \\\n  b", [][]string{{"a", "b"}}},
		{`a "$((X + 1))/$Y"`, [][]string{{"a", "$((X + 1))/$Y"}}},
		{"a ''", [][]string{{"a", ""}}},
		{"# only this", nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, shellCommands(tt.script)); diff != "" {
			t.Errorf("%q: %s", tt.script, diff)
		}
	}
	const jenkins = `sh '"$X/sessctl" check a --report junit=b.xml'` + "\nA=1 ./sessctl ls\ndocker run x ghcr.io/sessctl/sessctl:1 check b\n"
	want := [][]string{{"check", "a", "--report", "junit=b.xml"}, {"ls"}, {"check", "b"}}
	if diff := cmp.Diff(want, calls(jenkins)); diff != "" {
		t.Error(diff)
	}
}
