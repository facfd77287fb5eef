package cmd

import (
	"bytes"
	"encoding/xml"
	"flag"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
)

// pictured are the command lines of docs/picture.svg, typed where the sample database of
// `make demo` is session.db. What they print may hold neither the time nor a duration.
var pictured = []string{"sessctl why session.db"}

// TestPicture holds docs/picture.svg, which the README shows, against what the program
// prints; -update (make picture) writes it.
func TestPicture(t *testing.T) {
	campaign.ShowsNoRace(t)
	holdPicture(t, "picture.svg", strings.Join(pictured, "; "), 80, func() string {
		var screen bytes.Buffer
		getenv := func(name string) string { return map[string]string{"COLUMNS": "80", "TERM": "xterm"}[name] }
		for _, line := range pictured {
			fmt.Fprintf(&screen, "\x1b[1m$ %s\x1b[m\n", line)
			Main(append(strings.Fields(line)[1:], "--color", "always"), strings.NewReader(""), &screen, &screen, getenv)
		}
		return screen.String()
	})
}

// TestPictureOfTheBrowser does so with docs/browse.svg, a frame of the browser.
func TestPictureOfTheBrowser(t *testing.T) {
	campaign.ShowsNoRace(t)
	const columns = 120
	holdPicture(t, "browse.svg", "sessctl browse session.db", columns, func() string {
		u := browsing(t, columns, 26, "session.db")
		u.Type("enter", "n")
		return u.Model.View().Content
	})
}

// holdPicture compares a picture of docs with what is drawn where the sample database is session.db.
func holdPicture(t *testing.T, name, title string, columns int, draw func() string) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	demoStore(t, filepath.Join(folder, "session.db"))
	t.Chdir(folder)
	got := svg(t, draw(), title, columns)
	if flag.Lookup("update").Value.String() == "true" { // declared beside the scripts
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(got, "\n"), strings.Split(string(want), "\n")); diff != "" {
		t.Errorf("make picture writes %s anew (-program +picture):\n%s", path, diff)
	}
}

// demoStore makes the sample database of `make demo`.
func demoStore(t *testing.T, path string) {
	t.Helper()
	demo := exec.Command("go", "run", "./internal/tools/demo", path)
	demo.Dir = ".."
	if out, err := demo.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// The colours of a terminal on a light and on a dark page, by the numbers of ANSI.
const pictureStyle = `text { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 14px; white-space: pre; fill: #1f2328 }
rect { fill: #f6f8fa; stroke: #d1d9e0 }
.s1 { font-weight: bold } .s2 { fill: #59636e } .s3 { font-style: italic } .s4 { text-decoration: underline }
.s31 { fill: #cf222e } .s32 { fill: #116329 } .s33 { fill: #7d4e00 } .s34 { fill: #0969da } .s35 { fill: #8250df } .s36 { fill: #1b7c83 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } rect { fill: #0d1117; stroke: #3d444d }
.s2 { fill: #9198a1 }
.s31 { fill: #ff7b72 } .s32 { fill: #56d364 } .s33 { fill: #e3b341 } .s34 { fill: #79c0ff } .s35 { fill: #d2a8ff } .s36 { fill: #76e3ea }
}`

// svg draws what was printed on a terminal: text as text, words at their columns and as wide
// as their characters, whatever font there is.
func svg(t *testing.T, printed, title string, columns int) string {
	t.Helper()
	const column, row, margin = 8.4, 19.0, 16.0
	lines := strings.Split(strings.TrimRight(printed, "\n"), "\n")
	var out strings.Builder
	width, height := float64(columns)*column+2*margin, row*float64(len(lines))+2*margin
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" role="img" xml:space="preserve">`, width, height, width)
	fmt.Fprintf(&out, "\n<title>%s</title>\n<style>\n%s\n</style>\n", html.EscapeString(title), pictureStyle)
	out.WriteString(`<rect x="0.5" y="0.5" width="99.8%" height="99.8%" rx="8"/>` + "\n")
	sequence := regexp.MustCompile(`^\x1b\[([0-9;]*)m`)
	stretch, words := regexp.MustCompile(`^[^\x1b]+`), regexp.MustCompile(`[^ ]+( [^ ]+)*`)
	var style []string // lasts over the end of a line
	for i, line := range lines {
		for at := 0; line != ""; {
			if m := sequence.FindStringSubmatch(line); m != nil {
				style = styled(t, style, m[1])
				line = line[len(m[0]):]
				continue
			}
			text := stretch.FindString(line)
			if text == "" {
				t.Fatalf("no escape sequence that a picture shows: %q", line)
			}
			line = line[len(text):]
			for _, w := range words.FindAllStringIndex(text, -1) {
				word, from := text[w[0]:w[1]], at+utf8.RuneCountInString(text[:w[0]])
				fmt.Fprintf(&out, `<text x="%.1f" y="%.1f" textLength="%.1f"%s>%s</text>`+"\n", margin+column*float64(from),
					margin+row*(float64(i)+0.75), column*float64(utf8.RuneCountInString(word)), class(style), html.EscapeString(word))
			}
			if at += utf8.RuneCountInString(text); at > columns {
				t.Errorf("line %d is longer than %d columns: %s", i+1, columns, lines[i])
			}
		}
	}
	return out.String() + "</svg>\n"
}

// styled is a style after a sequence of ANSI's Select Graphic Rendition.
func styled(t *testing.T, style []string, sequence string) []string {
	t.Helper()
	for _, code := range strings.Split(sequence, ";") {
		switch {
		case code == "" || code == "0":
			style = nil
		case !strings.Contains(pictureStyle, ".s"+code+" {"):
			t.Errorf("a picture does not show the style %q", code)
		case !slices.Contains(style, "s"+code):
			style = append(slices.Clone(style), "s"+code)
		}
	}
	return style
}

func class(style []string) string {
	if style == nil {
		return ""
	}
	return ` class="` + strings.Join(style, " ") + `"`
}

func TestSVGShowsEveryCharacterInItsStyle(t *testing.T) {
	drawn := svg(t, "\x1b[1;31merror\x1b[m <a&b>  x\n  \x1b[2mdim\nstill dim\x1b[0m.\n", "", 80)
	var document struct {
		Text []struct {
			X     string `xml:"x,attr"`
			Y     string `xml:"y,attr"`
			Class string `xml:"class,attr"`
			Text  string `xml:",chardata"`
		} `xml:"text"`
	}
	if err := xml.Unmarshal([]byte(drawn), &document); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range document.Text {
		got = append(got, strings.Join([]string{d.X, d.Y, d.Class, d.Text}, "|"))
	}
	want := []string{
		"16.0|30.2|s1 s31|error", "66.4|30.2||<a&b>", "125.2|30.2||x", "32.8|49.2|s2|dim", "16.0|68.2|s2|still dim", "91.6|68.2||.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
