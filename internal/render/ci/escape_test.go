package ci

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// nasty is text with what formats have a meaning for, and bytes of no text at all.
var nasty = rapid.OneOf(
	rapid.StringMatching(`[%:,\r\n=\[\]#|<>&"'\\*_@\x60 a0-]*`),
	rapid.String(),
	rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	rapid.SampledFrom([]string{"]]>", "\ufffe", "\uffff", "\x00", "\x1b[31m", "\u202e", "::error::x", "##[group]x"}),
)

// runner takes the escapes of a workflow command back, as actions/runner does
// (ActionCommand.cs): those of its properties, those of its message, "%" last.
func runner(line string) (level string, properties map[string]string, message string) {
	info, message, _ := strings.Cut(strings.TrimPrefix(line, "::"), "::")
	level, words, _ := strings.Cut(info, " ")
	properties = map[string]string{}
	for word := range strings.SplitSeq(words, ",") {
		name, value, _ := strings.Cut(word, "=")
		properties[name] = back(value, "%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%")
	}
	return level, properties, back(message, "%0D", "\r", "%0A", "\n", "%25", "%")
}

func back(text string, pairs ...string) string {
	for i := 0; i < len(pairs); i += 2 {
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}

func TestAWorkflowCommandIsOneLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		file, title, message := nasty.Draw(t, "file"), nasty.Draw(t, "title"), nasty.Draw(t, "message")
		line, isLine := strings.CutSuffix(workflowCommand("warning", file, title, message), "\n")
		if !isLine || strings.ContainsAny(line, "\r\n") {
			t.Fatalf("not one line: %q", line)
		}
		level, properties, got := runner(line)
		if level != "warning" || properties["file"] != file || properties["title"] != title || got != message || len(properties) != 2 {
			t.Fatalf("got %q, %q, %q of %q", level, properties, got, line)
		}
	})
}

// drawn is a run whose every text is nasty.
func drawn(t *rapid.T, form func(render.CheckOptions) render.CheckWriter) string {
	text := func(name string) string { return nasty.Draw(t, name) }
	root := &check.Head{ID: text("id"), Title: text("title")}
	f := &check.Finding{
		Defect: rules.Defect{
			Rule:          catalogue.FindRule("SC101"),
			Severity:      rules.Error,
			Items:         []int{1},
			Message:       text("message"),
			Profile:       rules.FindProfile("anthropic"),
			ProviderError: text("error"),
			Sent:          text("sent"),
			Place:         session.Place{Session: root.ID, Item: 1},
		},
		Root: root,
	}
	quiet := *f
	quiet.Severity, quiet.Session, quiet.Root, quiet.Row = rules.Info, "", nil, text("row")
	var out bytes.Buffer
	w := form(render.CheckOptions{
		Screen: ui.NewScreen(&out, ui.ColorNever, func(string) string { return "" }), Folder: "/work", Started: time.Unix(0, 0),
		Fails: func(f *check.Finding) bool { return f.Severity == rules.Error },
	})
	w.Unread(render.Unread{Store: "first" + text("unread"), Message: "reason" + text("reason"), Next: text("next")})
	store := &session.Store{Path: "second" + text("path"), Title: text("kind"), Kind: text("kind"), Advice: []string{text("advice")}}
	result := &check.Result{Store: store, Trees: 1, Roots: []*check.Head{root}, Findings: []*check.Finding{f, &quiet}}
	if err := w.Store(result, 0); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(render.Ending{Next: []render.Command{{Line: text("command"), Why: "why"}}, Baseline: &render.Baseline{Path: text("baseline")}}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestAnyTextIsValidXML(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawn(t, JUnit)
		var document junitSuites
		if err := xml.Unmarshal([]byte(text), &document); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if len(document.Suites) != 2 || len(document.Suites[1].Cases) != 2 || document.Suites[1].Failures != 1 {
			t.Fatalf("got\n%s", text)
		}
	})
}

// TestAnyTextIsACommandOrTheSummary: no stored text begins a line for GitHub.
func TestAnyTextIsACommandOrTheSummary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := strings.Split(strings.TrimSuffix(drawn(t, GitHub), "\n"), "\n")
		if len(lines) != 4 { // the store that was not read, two findings, the summary
			t.Fatalf("%d lines: %q", len(lines), lines)
		}
		for i, level := range []string{"error", "error", "notice"} {
			if got, _, _ := runner(lines[i]); got != level {
				t.Fatalf("line %d is no %s: %q", i, level, lines[i])
			}
		}
	})
}

// TestTheFileOfAnAnnotationIsClean: GitHub shows it as it is.
func TestTheFileOfAnAnnotationIsClean(t *testing.T) {
	var out bytes.Buffer
	w := GitHub(render.CheckOptions{Screen: ui.NewScreen(&out, ui.ColorNever, func(string) string { return "" })})
	w.Unread(render.Unread{Store: "a\u202eb\xff.db", Message: "reason"})
	if err := w.Close(render.Ending{}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), `::error file=a\u202eb\xff.db,`) {
		t.Errorf("got %q", out.String())
	}
}

// TestAnyTextKeepsItsCellOfATable counts the bars that end cells.
func TestAnyTextKeepsItsCellOfATable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := 0
		for line := range strings.Lines(drawn(t, NewPage("markdown"))) {
			if !strings.HasPrefix(line, "| ") {
				continue
			}
			rows++
			bars := 0
			for i := range len(line) {
				escapes := 0
				for j := i - 1; line[i] == '|' && j >= 0 && line[j] == '\\'; j-- {
					escapes++
				}
				if line[i] == '|' && escapes%2 == 0 {
					bars++
				}
			}
			if bars != 5 {
				t.Fatalf("%d bars in %q", bars, line)
			}
		}
		if rows != 6 { // two tables, each with its head
			t.Fatalf("%d rows", rows)
		}
	})
}
