package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/sessctl/sessctl/cmd"
)

const epoch = "1772359200" // 2026-03-01

// written are the files of a run by their paths, man pages without compression.
func written(t *testing.T) map[string]string {
	t.Helper()
	folder := t.TempDir()
	if err := writePages(folder, "1.2.3", epoch); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		if path.Ext(name) == ".gz" {
			z, err := gzip.NewReader(bytes.NewReader(data))
			if err != nil {
				return err
			}
			if data, err = io.ReadAll(z); err != nil {
				return err
			}
		}
		files[name] = string(data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestEveryCommandHasAPageThatTellsAllItsFlags(t *testing.T) {
	files := written(t)
	for _, c := range availableCommands(cmd.CommandTree()) {
		text := files["man/"+pageName(c)+".1.gz"]
		if !strings.HasPrefix(text, ".nh\n.TH \""+strings.ToUpper(pageName(c))+`" "1" "2026-03-01" "sessctl 1.2.3"`) {
			t.Errorf("%s: the page begins with %.60q", c.CommandPath(), text)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if entry := ".TP\n\\fB" + strings.ReplaceAll("--"+f.Name, "-", `\-`) + "\\fP"; f.Shorthand == "" && !strings.Contains(text, entry) {
				t.Errorf("%s: the page does not tell of --%s", c.CommandPath(), f.Name)
			}
		})
		if strings.Contains(c.Long, "EXIT STATUS") && !strings.Contains(text, ".SH EXIT STATUS\n.TP\n\\fB0\\fP") {
			t.Errorf("%s: the page has no exit status", c.CommandPath())
		}
	}
}

func TestShellsTakeTheCompletions(t *testing.T) {
	files := written(t)
	for file, shell := range map[string][]string{
		"sessctl.bash": {"bash", "-n"},
		"_sessctl":     {"zsh", "-n"},
		"sessctl.fish": {"fish", "--no-execute"},
		"sessctl.ps1":  {"pwsh", "-NoProfile", "-Command", "$null = [scriptblock]::Create([Console]::In.ReadToEnd())"},
	} {
		t.Run(file, func(t *testing.T) {
			text := files["completions/"+file]
			if !strings.Contains(text, "__complete") {
				t.Errorf("it does not ask the program: %.200s", text)
			}
			if _, err := exec.LookPath(shell[0]); err != nil {
				t.Skipf("no %s: %v", shell[0], err)
			}
			run := exec.Command(shell[0], shell[1:]...)
			run.Stdin = strings.NewReader(text)
			if out, err := run.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestPagesHaveNoWarnings holds the pages against the programs that show them on
// Linux, macOS and BSD.
func TestPagesHaveNoWarnings(t *testing.T) {
	files := written(t)
	for _, reader := range [][]string{
		{"mandoc", "-T", "lint", "-W", "warning"},
		{"groff", "-ww", "-man", "-K", "utf8", "-T", "utf8", "-z"},
	} {
		t.Run(reader[0], func(t *testing.T) {
			if _, err := exec.LookPath(reader[0]); err != nil {
				t.Skipf("no %s: %v", reader[0], err)
			}
			for name, text := range files {
				if path.Ext(name) != ".gz" {
					continue
				}
				run := exec.Command(reader[0], reader[1:]...)
				run.Stdin = strings.NewReader(text)
				if out, err := run.CombinedOutput(); err != nil || len(out) > 0 {
					t.Errorf("%s: %v\n%s", name, err, out)
				}
			}
		})
	}
}

func TestCaskInstallsEveryPage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Casks []struct{ Manpages []string } `yaml:"homebrew_casks"`
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	var want []string
	for name := range written(t) {
		if strings.HasPrefix(name, "man/") {
			want = append(want, name)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, config.Casks[0].Manpages); diff != "" {
		t.Errorf("homebrew_casks.manpages in .goreleaser.yaml (-pages +cask):\n%s", diff)
	}
}

func TestPage(t *testing.T) {
	c := &cobra.Command{
		Use:     "tool [FILE...]",
		Short:   "Do `this` or that",
		Long:    "Look at STORE.sessctl-TIME, at `a --b 'c'` and at\n.hidden files; SESSCTL_DO is --do.\n\n\tcat ~/x\n\t.dot\n\nEXIT STATUS\n    0  done\n  130  interrupted\n\nWith 130, nothing.",
		Example: "  tool -1 'a\\b'\n  tool --do NAME | jq .x",
		RunE:    func(*cobra.Command, []string) error { return nil },
	}
	c.Flags().StringP("do", "d", "all", "take this `NAME`")
	want := `.nh
.TH "TOOL" "1" "2026-03-01" "sessctl 1.2.3" "User Commands"

.SH NAME
tool \- Do \fBthis\fR or that


.SH SYNOPSIS
\fBtool [FILE...] [flags]\fP


.SH DESCRIPTION
Look at STORE.sessctl\-TIME, at \fBa \-\-b \(aqc\(aq\fR and at
\&.hidden files; SESSCTL_DO is \-\-do.

.EX
cat \(ti/x
\&.dot
.EE


.SH OPTIONS
.TP
\fB\-d\fP, \fB\-\-do\fP \fINAME\fP
take this NAME (default all)

.TP
\fB\-h\fP, \fB\-\-help\fP
help for tool


.SH EXIT STATUS
.TP
\fB0\fP
done

.TP
\fB130\fP
interrupted

.PP
With 130, nothing.


.SH EXAMPLES
.EX
tool \-1 \(aqa\\b\(aq
tool \-\-do NAME | jq .x
.EE


.SH SEE ALSO
https://github.com/sessctl/sessctl
`
	if diff := cmp.Diff(want, string(manPage(c, "1.2.3", time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPagesAreDatedOrNotWritten(t *testing.T) {
	folder := t.TempDir()
	err := writePages(folder, "1.2.3", "")
	if err == nil || !strings.Contains(err.Error(), "SOURCE_DATE_EPOCH") {
		t.Errorf("want an error about SOURCE_DATE_EPOCH, got %v", err)
	}
	if entries, _ := os.ReadDir(folder); len(entries) > 0 {
		t.Errorf("there are files: %v", entries)
	}
}
