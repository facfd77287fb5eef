package document

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/sessctl/sessctl/internal/ui"
)

//go:embed html
var pageFiles embed.FS

var (
	pageTemplates = sync.OnceValue(func() *template.Template {
		return template.Must(template.New("").Funcs((&htmlPage{}).templateFuncs()).ParseFS(pageFiles, "html/*.html"))
	})

	style, stylePolicy   = embedFile("style", "html/page.css")
	script, scriptPolicy = embedFile("script", "html/page.js")

	// policy lets a page run its own script and style, and load nothing.
	policy = template.HTML(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ` + scriptPolicy +
		`; style-src ` + stylePolicy + `; base-uri 'none'; form-action 'none'">`)
)

// embedFile is a file as an element of a page, and the source that a policy names it by.
func embedFile(element, file string) (template.HTML, string) {
	text, err := pageFiles.ReadFile(file)
	if err != nil { // it is embedded
		panic(err)
	}
	sum := sha256.Sum256(text)
	return template.HTML("<" + element + ">" + string(text) + "</" + element + ">"), "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// HTML prints a page for a browser: one file that needs no other and asks for nothing. A page
// is one document.
func HTML(w io.Writer) Printer {
	return func(doc Document) error {
		h := &htmlPage{reasons: map[string]int{}}
		var err error
		if h.templates, err = pageTemplates().Clone(); err != nil {
			return err
		}
		h.templates.Funcs(h.templateFuncs())
		if h.Body, err = h.renderSections(doc); err != nil {
			return err
		}
		return h.templates.ExecuteTemplate(w, "page", h)
	}
}

// htmlPage is a page that is being printed.
type htmlPage struct {
	Title    string
	Body     template.HTML
	Contents []Heading
	Viewers  Viewers
	Reasons  []string // for which viewers saw items, and did not

	templates *template.Template
	reasons   map[string]int // indexes of Reasons
	parts     int            // that began
}

// templateFuncs are what the templates call.
func (h *htmlPage) templateFuncs() template.FuncMap {
	return template.FuncMap{
		"policy": func() template.HTML { return policy }, "style": func() template.HTML { return style }, "script": func() template.HTML { return script },
		"blocks": h.renderBlocks, "seen": h.encodeSeen, "lanes": lanesOf, "role": func(r Role) string { return roleNames[r] },
		"clean": ui.Clean, "lines": func(text string) string { return strings.Join(ui.CleanLines(text), "\n") },
		"kind":    func(k Kind) string { return kinds[k].word },
		"sign":    func(k Kind) string { return kinds[k].sign },
		"quote":   func(q Quote) string { return q.In(Columns) },
		"excerpt": func(text string) string { return ui.Excerpt(text, Columns) },
		"percent": barPercent,
		"rest":    func(n int) int { return n % laneColors },
		"result":  func(text string) Source { return Source{What: "result", Text: text} },
		"long":    func(text string) bool { return len(text) > 600 || strings.Count(text, "\n") > 8 },
	}
}

// roleNames are the classes of roles; those of elements are told in the template of texts.
var roleNames = [...]string{
	Strong: "strong", Lead: "strong", Emphasis: "em", Name: "code", Code: "code", Place: "code", Quiet: "quiet", Good: "good", Info: "info", Notice: "warning", Bad: "error", Link: "link",
	Marked: "",
}

// renderSections prints the blocks of a page. A heading begins a section, within that of the one
// above it; no level is left out.
func (h *htmlPage) renderSections(doc Document) (template.HTML, error) {
	var b strings.Builder
	top, open := 0, 0
	for _, block := range doc {
		if heading, is := block.(Heading); is {
			if h.Title == "" {
				h.Title, top = ui.Excerpt(heading.Text.String(), 70), heading.Level
			}
			level := min(heading.Level-top+1, open+1)
			if open > 0 {
				level = max(level, 2)
			}
			for ; open >= level; open-- {
				b.WriteString("</section>\n")
			}
			open = level
			b.WriteString("<section>")
			heading.Level, heading.At = level, cmp.Or(heading.At, "part-"+strconv.Itoa(h.parts))
			h.parts++
			if block = heading; level == 2 {
				h.Contents = append(h.Contents, heading)
			}
		}
		if viewers, is := block.(Viewers); is {
			h.Viewers = viewers
		}
		text, err := h.renderBlocks([]Block{block})
		if err != nil {
			return "", err
		}
		b.WriteString(string(text))
	}
	b.WriteString(strings.Repeat("</section>\n", open))
	return template.HTML(b.String()), nil
}

// renderBlocks prints blocks, each with the template that is called as its type.
func (h *htmlPage) renderBlocks(list []Block) (template.HTML, error) {
	var b bytes.Buffer
	for _, block := range list {
		if v := reflect.ValueOf(block); v.Kind() == reflect.Slice && v.Len() == 0 {
			continue
		}
		if err := h.templates.ExecuteTemplate(&b, reflect.TypeOf(block).Name(), block); err != nil {
			return "", err
		}
	}
	return template.HTML(b.String()), nil
}

// encodeSeen encodes what viewers saw of an item: for each yes or no, and the number of the reason.
func (h *htmlPage) encodeSeen(list []Seen) string {
	words := make([]string, len(list))
	for i, s := range list {
		n, known := h.reasons[s.Why]
		if !known {
			n = len(h.Reasons)
			h.reasons[s.Why], h.Reasons = n, append(h.Reasons, ui.Clean(s.Why))
		}
		words[i] = map[bool]string{true: "y", false: "n"}[s.Visible] + strconv.Itoa(n)
	}
	return strings.Join(words, " ")
}

// barPercent is how long the bar of a row is: its number, against the largest of the table.
func barPercent(t Table, row []Text) string {
	number := func(row []Text) float64 {
		n, _ := strconv.ParseFloat(strings.ReplaceAll(row[2].String(), ",", ""), 64)
		return n
	}
	most := 1.0
	for _, other := range t.Rows {
		most = max(most, number(other))
	}
	return fmt.Sprintf("%.1f%%", 100*number(row)/most)
}
