package render_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/render/replays"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/ui"
)

// replayForms are the golden files of a scene.
var replayForms = []struct {
	suffix, format string
	width          int
	terminal       bool
}{
	{".60.txt", "text", narrow, false},
	{".80.txt", "text", 80, false},
	{".120.txt", "text", 120, false},
	{".80.table.txt", "table", 80, false},
	{".120.table.txt", "table", 120, false},
	{".80.terminal.table.txt", "table", 80, true},
	{".json", "json", 80, false},
	{".ndjson", "ndjson", 80, false},
	{".mmd", "mermaid", 80, false},
}

// writer prints the scene to out.
func (s *scene) writer(out *bytes.Buffer, format string, width int, color ui.ColorMode) render.ReplayWriter {
	screen := ui.NewScreen(out, color, func(name string) string {
		return map[string]string{"COLUMNS": strconv.Itoa(width)}[name]
	})
	screen.Terminal = s.terminal
	return replays.NewReplayWriter(format, render.ReplayOptions{
		Screen: screen, Tool: render.Tool{Name: "sessctl", Version: "test"}, Path: "run.jsonl", Model: s.model,
		All: s.all, Quiet: s.quiet, Live: s.live,
	})
}

func (s *scene) print(t *testing.T, format string, width int, color ui.ColorMode) string {
	t.Helper()
	var out bytes.Buffer
	w := s.writer(&out, format, width, color)
	s.play(t, w)
	if err := w.Close(render.ReplayEnd{Findings: s.findings, ExitCode: len(s.findings), Next: s.next}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// play hands the events over, all in one variable, as a reader does.
func (s *scene) play(t *testing.T, w render.ReplayWriter) {
	t.Helper()
	var x taken
	for i := range s.events {
		x = s.events[i]
		if err := w.Event(&x.event, &x.step); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReplay(t *testing.T) {
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			for _, form := range replayForms {
				s.terminal = form.terminal
				got := s.print(t, form.format, form.width, ui.ColorNever)
				goldenIn(t, "replay", s.name+form.suffix, got)
				safe(t, got)
				if form.format == "text" || form.terminal {
					fits(t, got, form.width)
				}
				if strings.Contains(got, secret) {
					t.Errorf("%s tells what was said:\n%s", form.suffix, got)
				}
			}
		})
	}
}

// TestAReplayInColourSaysTheSame compares what a screen with colours shows.
func TestAReplayInColourSaysTheSame(t *testing.T) {
	style := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for _, s := range scenes {
		for _, format := range []string{"text", "table"} {
			coloured, plain := s.print(t, format, 80, ui.ColorAlways), s.print(t, format, 80, ui.ColorNever)
			if !style.MatchString(coloured) {
				t.Errorf("%s has no colour in %s", s.name, format)
			}
			if style.ReplaceAllString(coloured, "") != plain {
				t.Errorf("%s differs in %s:\n%s\n%s", s.name, format, coloured, plain)
			}
		}
	}
}

var diagramLines = map[string]*regexp.Regexp{
	"participant": regexp.MustCompile(`^    participant (p\d+) as .*\S.*$`),
	"arrow":       regexp.MustCompile(`^    (p\d+)(->>|-->>)([+-]?)(p\d+): .*\S.*$`),
	"note":        regexp.MustCompile(`^    Note over (p\d+): .*\S.*$`),
	"deactivate":  regexp.MustCompile(`^    deactivate (p\d+)$`),
}

// TestAReplayAsADiagramParses holds each line against the grammar of a sequence
// diagram: participants are there before they speak, and each activation ends once.
func TestAReplayAsADiagramParses(t *testing.T) {
	for _, s := range scenes {
		lines := strings.Split(strings.TrimSuffix(s.print(t, "mermaid", 80, ui.ColorNever), "\n"), "\n")
		if lines[0] != "sequenceDiagram" {
			t.Errorf("%s begins with %q", s.name, lines[0])
		}
		known, active := map[string]bool{}, map[string]int{}
		for _, line := range lines[1:] {
			var is string
			var m []string
			for name, pattern := range diagramLines {
				if found := pattern.FindStringSubmatch(line); found != nil {
					is, m = name, found
				}
			}
			switch is {
			case "participant":
				known[m[1]] = true
			case "arrow":
				active[m[4]] += map[string]int{"+": 1}[m[3]]
				active[m[1]] -= map[string]int{"-": 1}[m[3]]
				m = []string{"", m[1], m[4]}
			case "deactivate":
				active[m[1]]--
			case "":
				t.Fatalf("%s: this is no line of a diagram: %q", s.name, line)
			}
			for _, p := range m[1:] {
				if !known[p] || active[p] < 0 {
					t.Errorf("%s: a participant that is not there, or not active: %q", s.name, line)
				}
			}
			plainText(t, line)
		}
		for p, n := range active {
			if n != 0 {
				t.Errorf("%s: %s is active at the end", s.name, p)
			}
		}
	}
}

// plainText checks that nothing behind the colon or the name means something to
// Mermaid.
func plainText(t *testing.T, line string) {
	t.Helper()
	_, text, ok := strings.Cut(line, ": ")
	if !ok {
		_, text, _ = strings.Cut(line, " as ")
	}
	text = regexp.MustCompile(`#\d+;|<br/>`).ReplaceAllString(text, "")
	if strings.ContainsAny(text, "<>|@%{}[]:;#") || regexp.MustCompile(`(?i)\bend\b`).MatchString(text) {
		t.Errorf("not escaped: %s", line)
	}
}

// TestRowsAreNotHeldBack feeds events whose rows do not fold: what has been printed
// of them cannot be in memory.
func TestRowsAreNotHeldBack(t *testing.T) {
	const events, buffer = 20_000, 200 << 10
	for _, format := range []string{"text", "table", "json", "ndjson", "mermaid"} {
		var out bytes.Buffer
		var s scene
		w := s.writer(&out, format, 80, ui.ColorNever)
		for i := range events {
			x := heard(int64(i+1), recording.MessageAdded, nil, replay.OwnID, about(fmt.Sprint(i)))
			if err := w.Event(&x.event, &x.step); err != nil {
				t.Fatal(err)
			}
		}
		before := out.Len()
		if err := w.Close(render.ReplayEnd{}); err != nil {
			t.Fatal(err)
		}
		if held := out.Len() - before; before < 2*buffer || held > buffer {
			t.Errorf("%s: %d of %d bytes were held back until the end", format, held, out.Len())
		}
	}
}

func TestRowsAppearWhenTheyHappen(t *testing.T) {
	for _, format := range []string{"text", "table", "json", "ndjson", "mermaid"} {
		for _, s := range []scene{{events: delegation[:10], live: true}, {events: delegation[:10], terminal: true}} {
			var out bytes.Buffer
			s.play(t, s.writer(&out, format, 80, ui.ColorNever))
			if !strings.Contains(out.String(), "r1") {
				t.Errorf("%s: the delegation is not there yet:\n%s", format, out.String())
			}
		}
	}
}

// TestColumnsShareTheScreen: no text may touch the next column, at any width.
func TestColumnsShareTheScreen(t *testing.T) {
	for _, s := range scenes {
		s.terminal = true
		for width := narrow; width <= 200; width++ {
			fits(t, s.print(t, "text", width, ui.ColorNever), width)
			fits(t, s.print(t, "table", width, ui.ColorNever), width)
		}
	}
}

// TestATableInAPipeIsALineARow: and says all that it has to say of it.
func TestATableInAPipeIsALineARow(t *testing.T) {
	s := scene{model: recording.ByDepth, events: oddities, quiet: true}
	got := s.print(t, "table", narrow, ui.ColorNever)
	if n := strings.Count(got, "\n"); n != 19 { // 18 rows below the names
		t.Errorf("there are %d lines:\n%s", n, got)
	}
	for _, words := range []string{
		"calls " + longCall + ", c;2 #end", "; session-id model: skip, stream of a sub-session\n", "of line 13 was never closed\n", "; agent gamma\n", "xx\n",
	} {
		if !strings.Contains(got, words) {
			t.Errorf("%q is not there:\n%s", words, got)
		}
	}
}

// TestWhatIsStoredIsDrawnOnce: as an arrow, though the models disagree about it.
func TestWhatIsStoredIsDrawnOnce(t *testing.T) {
	s := scene{model: recording.ByDepth, events: oddities[2:9]}
	got := s.print(t, "mermaid", 80, ui.ColorNever)
	if strings.Count(got, "token_usage") != 1 || strings.Count(got, "user_message") != 1 {
		t.Errorf("got:\n%s", got)
	}
}

func TestAPieceIsPrintedAsIfItStoodAlone(t *testing.T) {
	for _, played := range scenes {
		s := scene{model: played.model, all: true, quiet: true}
		alone, want := s, ""
		for i, x := range played.events {
			for n := range 3 { // of which the number may get another digit
				x.event.Line = int64(9_999 + 3*i + n)
				s.events, alone.events = append(s.events, x), []taken{x}
				_, row, _ := strings.Cut(alone.print(t, "text", 80, ui.ColorAlways), "\n")
				want += row
			}
		}
		if _, got, _ := strings.Cut(s.print(t, "text", 80, ui.ColorAlways), "\n"); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", played.name, got, want)
		}
	}
}
