package shell_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/shell"
	"github.com/sessctl/sessctl/internal/ui"
)

func TestWord(t *testing.T) {
	for in, want := range map[string]string{
		"a/b-c.db": "a/b-c.db", "a b": "'a b'", "it's": `'it'\''s'`, "": "''", "$HOME": "'$HOME'", "~x": "'~x'",
		"=ls": "'=ls'", "a=b%1": "a=b%1", "a!b": "'a!b'", "`id`": `"$(printf %b '\0140id\0140')"`, "--config": "--config",
		"a\nb": `"$(printf %b 'a\0012b')"`, "\u009b2J": `"$(printf %b '\0302\02332J')"`,
	} {
		if got := shell.Word(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

func TestPathIsNoFlag(t *testing.T) {
	for in, want := range map[string]string{
		"-": "-", "-x.db": "./-x.db", "--config=/etc/passwd": "./--config=/etc/passwd", "a/-x": "a/-x", "-a b": "'./-a b'",
	} {
		if got := shell.Path(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

func TestHomeIsShortWhereShellsReadItBack(t *testing.T) {
	for in, want := range map[string]string{
		"/home/me/.cagent/session.db": "~/.cagent/session.db", "/home/me/a b.db": "'/home/me/a b.db'", "/home/mean/a.db": "/home/mean/a.db",
		"/home/me": "/home/me", "-a.db": "./-a.db", "~/a.db": "'~/a.db'",
	} {
		if got := shell.HomePath(in, "/home/me"); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

// wild are texts with what shells, terminals and readers of logs make something of.
func wild() *rapid.Generator[string] {
	odd := []string{
		" ", "  ", "'", `"`, "$", "$(id)", "`", "!", "\\", "\n", "\t", "\r", "\x1b[2J", "\x07", "\u009b", "\u202e", "\u200b", "\ufeff",
		"\U000E0041", "\xff", "-", "--", "=", "%", "*", "?", "[a]", "{a,b}", "~", "#", ";", "&", "|", "<", ">", "(", ")", "##[", "::", "é", "日",
	}
	part := rapid.OneOf(rapid.SampledFrom(odd), rapid.StringMatching(`[a-z0-9]{1,3}`))
	return rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(part, 0, 8).Draw(t, "parts"), "") })
}

func TestShellsReadAWordBack(t *testing.T) {
	shells := installed()
	if len(shells) == 0 {
		t.Skip("no shell is installed")
	}
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(wild(), 1, 20).Draw(t, "texts") // many at once: a process each takes its time
		line, want := "for word in", ""
		for _, text := range texts {
			word := shell.Word(text)
			if ui.Clean(word) != word {
				t.Fatalf("%q: %s changes when it is printed", text, word)
			}
			line += " " + word
			if strings.Contains(word, "printf") {
				text = strings.TrimRight(text, "\n")
			}
			want += text + "\x00"
		}
		for _, sh := range shells {
			out, err := exec.Command(sh, "-c", line+`; do printf '%s\0' "$word"; done`).CombinedOutput()
			if err != nil || !bytes.Equal(out, []byte(want)) {
				t.Fatalf("%s read %s as %q, want %q (%v)", sh, line, out, want, err)
			}
		}
	})
}

// installed are the shells of this machine that know POSIX.
func installed() (list []string) {
	for _, name := range []string{"sh", "dash", "bash", "zsh", "ksh"} {
		if path, err := exec.LookPath(name); err == nil {
			list = append(list, path)
		}
	}
	return list
}
