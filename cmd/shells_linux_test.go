package cmd_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
)

// completions are what a person types, and what the shell then runs, argument by
// argument, when Tab was pressed.
var completions = []struct {
	typed, runs string
	files       bool // the shell looks for files itself; fish does not sort them out
}{
	{"explain leak-du", "[explain] [leak-duplicate]", false},
	{"check --select SC701,leak-so", "[check] [--select] [SC701,leak-sole-copy]", false},
	{"check --profile anthropic,gem", "[check] [--profile] [anthropic,gemini]", false},
	{"check --format nd", "[check] [--format] [ndjson]", false},
	{"check --report ndj", "[check] [--report] [ndjson=]", false},
	{"check --report json=fol", "[check] [--report] [json=folder/]", false},
	{"check --report json=folder/o", "[check] [--report] [json=folder/out.json]", false},
	{"check --shard 1/", "[check] [--shard] [1/]", false},
	{"check case.ndjson --session ab", "[check] [case.ndjson] [--session] [abc]", false},
	{"check 'c*.ndjson' --session ab", "[check] [c*.ndjson] [--session] [abc]", false},
	{"check case.ndjson --session tw", "[check] [case.ndjson] [--session] [tw]", false},
	{"check case.ndjson --session ev", "[check] [case.ndjson] [--session] [ev]", false},
	{"check --report sarif=ev", "[check] [--report] [sarif=ev]", false},
	{"view case.ndjson abc --agent ev", "[view] [case.ndjson] [abc] [--agent] [ev]", false},
	{"check broken.db --session ab", "[check] [broken.db] [--session] [ab]", false},
	{"repair --allow prune,sp", "[repair] [--allow] [prune,split]", false},
	{"view case.ndjson ab", "[view] [case.ndjson] [abc]", false},
	{"view case.ndjson abc --agent ro", "[view] [case.ndjson] [abc] [--agent] [root]", false},
	{"view case.ndjson abc --branch ro", "[view] [case.ndjson] [abc] [--branch] [root.worker]", false},
	{"check cas", "[check] [case.ndjson]", true},
	{"undo case.db.s", "[undo] [case.db.sessctl-20261120T214500Z.receipt.json]", true},
}

// shellHome is a home with stores and with a sessctl that completes as the real one and
// else says which arguments it got.
func shellHome(t *testing.T) (home, path string) {
	t.Helper()
	program, err := exec.LookPath("sessctl")
	if err != nil {
		t.Fatal(err)
	}
	home = t.TempDir()
	for name, text := range map[string]string{
		"case.ndjson": `{"type":"header","format":"sessctl.canonical/1","branch_model":"path"}
{"type":"session","id":"abc","title":"A: \"title\" $(touch pwned) ` + "`touch pwned`" + `"}
{"type":"item","session":"abc","kind":"message","role":"user","text":"x"}
{"type":"item","session":"abc","kind":"message","role":"assistant","agent":"root","branch":"root.worker","text":"x"}
{"type":"item","session":"abc","kind":"message","role":"assistant","agent":"evil$(touch pwned)-1","text":"x"}
{"type":"item","session":"abc","kind":"message","role":"assistant","agent":"evil$(touch pwned)-2","text":"x"}
{"type":"session","id":"two words"}
{"type":"session","id":"evil$(touch pwned)-1","title":"x"}
{"type":"session","id":"evil$(touch pwned)-2","title":"x"}
`,
		"case.txt": "", "broken.db": "SQLite format 3\x00",
		"case.db.sessctl-20261120T214500Z.receipt.json": "{}",
		"folder/out.json":        "{}",
		"evil$(touch pwned)-1.x": "", "evil$(touch pwned)-2.x": "",
		"bin/sessctl": fmt.Sprintf("#!/bin/sh\ncase $1 in __complete|completion) exec '%s' \"$@\";; esac\nprintf RAN\nfor a; do printf ' [%%s]' \"$a\"; done\necho .\n", program),
	} {
		file := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return home, filepath.Join(home, "bin") + ":" + os.Getenv("PATH")
}

// interactive types every line and Tab into a shell at a terminal, and returns what
// it ran.
func interactive(t *testing.T, shell ...string) (home string, ran []string) {
	t.Helper()
	home, path := shellHome(t)
	person, program := pseudoTerminal(t)
	c := exec.Command(shell[0], shell[1:]...)
	c.Dir, c.Stdin, c.Stdout, c.Stderr = home, program, program, program
	c.Env = []string{"HOME=" + home, "ZDOTDIR=" + home, "PATH=" + path, "TERM=xterm", "COLUMNS=200", "LANG=C.UTF-8"}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_ = program.Close()
	const patience = 5 * time.Minute // until a shell that waits for ever is ended
	watchdog := time.AfterFunc(patience, func() { _ = c.Process.Kill() })
	defer watchdog.Stop()

	var shown bytes.Buffer
	waitFor := func(n int) {
		buffer := make([]byte, 4096)
		for strings.Count(shown.String(), "RAN") < n || !strings.HasSuffix(strings.TrimRight(lastLine(shown.String()), "\r\n"), ".") {
			got, err := person.Read(buffer)
			shown.Write(buffer[:got])
			if err != nil {
				t.Fatalf("the shell ended (%v):\n%s", err, shown.String())
			}
		}
	}
	write := func(text string) {
		if _, err := person.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	write("sessctl ready\n")
	waitFor(1)
	for i, tt := range completions {
		write("sessctl " + tt.typed + "\t\n")
		waitFor(i + 2)
	}
	write("exit\n")
	_ = person.SetReadDeadline(time.Now().Add(patience))
	_, _ = shown.ReadFrom(person) // to the end of the terminal, which is an error
	_ = c.Wait()                  // its exit code is that of the last command
	for line := range strings.Lines(shown.String()) {
		if _, args, found := strings.Cut(line, "RAN "); found {
			ran = append(ran, strings.TrimSuffix(strings.TrimRight(args, "\r\n"), "."))
		}
		if strings.Contains(line, "sessctl: ") || strings.Contains(line, "Completion ended") {
			t.Errorf("the shell shows what nobody asked for: %s", line)
		}
	}
	return home, ran[1:]
}

// lastLine is the last line that shows what ran.
func lastLine(text string) string {
	at := strings.LastIndex(text, "RAN")
	if at < 0 {
		return ""
	}
	line, _, _ := strings.Cut(text[at:], "\n")
	return line
}

// same compares what ran, and looks for what an id or a title started.
func same(t *testing.T, home string, ran []string) {
	t.Helper()
	var want []string
	for _, tt := range completions {
		want = append(want, tt.runs)
	}
	if diff := cmp.Diff(want, ran); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
	if _, err := os.Stat(filepath.Join(home, "pwned")); err == nil {
		t.Error("the shell ran what a session is called")
	}
}

func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("there is no %s here", name)
		}
	}
}

func TestBashCompletes(t *testing.T) {
	campaign.ShowsNoRace(t)
	needs(t, "bash")
	const library = "/usr/share/bash-completion/bash_completion"
	if _, err := os.Stat(library); err != nil {
		t.Skip("bash-completion is not installed here")
	}
	rc := filepath.Join(t.TempDir(), "rc")
	if err := os.WriteFile(rc, []byte("PS1='$ '\nsource "+library+"\nsource <(sessctl completion bash)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	home, ran := interactive(t, "bash", "--noprofile", "--rcfile", rc, "-i")
	same(t, home, ran)
}

func TestZshCompletes(t *testing.T) {
	campaign.ShowsNoRace(t)
	needs(t, "zsh")
	home, ran := interactive(t, "zsh", "-f", "-i", "-c", "print -r -- 'PS1=\"$ \"; autoload -Uz compinit; compinit -u -D; source <(sessctl completion zsh)' > .zshrc; exec zsh -d -i")
	same(t, home, ran)
}

// Fish tells what it would offer without a terminal.
func TestFishCompletes(t *testing.T) {
	campaign.ShowsNoRace(t)
	needs(t, "fish")
	home, path := shellHome(t)
	var ran, want []string
	for _, tt := range completions {
		if tt.files {
			continue
		}
		c := exec.Command("fish", "--no-config", "-c", "sessctl completion fish | source; complete --escape -C 'sessctl "+strings.ReplaceAll(tt.typed, "'", `\'`)+"'")
		c.Dir, c.Env = home, []string{"HOME=" + home, "PATH=" + path, "LANG=C.UTF-8"}
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		word := tt.runs[strings.LastIndexByte(tt.runs, '[')+1 : len(tt.runs)-1]
		typed := tt.typed[strings.LastIndexByte(tt.typed, ' ')+1:]
		offered, _, _ := strings.Cut(strings.TrimRight(string(out), "\n"), "\t")
		if word == typed { // nothing fits
			word = ""
		}
		want, ran = append(want, word), append(ran, strings.ReplaceAll(offered, `\`, ""))
	}
	if diff := cmp.Diff(want, ran); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
	if _, err := os.Stat(filepath.Join(home, "pwned")); err == nil {
		t.Error("the shell ran what a session is called")
	}
}

// No PowerShell is at hand where this was written: what is tested is that its script
// registers itself and asks the program.
func TestPowerShellScriptAsksTheProgram(t *testing.T) {
	campaign.ShowsNoRace(t)
	out, err := exec.Command("sessctl", "completion", "powershell").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"Register-ArgumentCompleter -CommandName 'sessctl'", "$Program __complete $Arguments"} {
		if !bytes.Contains(out, []byte(part)) {
			t.Errorf("the script lacks %q", part)
		}
	}
}
