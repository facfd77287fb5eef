package document_test

import (
	"crypto/sha256"
	"encoding/base64"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/ui"
)

var update = flag.Bool("update", false, "write the golden files")

// embedded are the style and the script of a page, which no golden file has.
var embedded = regexp.MustCompile(`(?s)<(style|script)>(.*?)</(?:style|script)>`)

// hash is what a policy calls a style or a script by.
var hash = regexp.MustCompile(`sha256-[A-Za-z0-9+/=]+`)

func TestAPage(t *testing.T) {
	page := printed(t, "html", 80, everything("a_b <i>&\"'"))
	policy := page[strings.Index(page, "<meta http-equiv"):][:500]
	for _, element := range embedded.FindAllStringSubmatch(page, -1) {
		sum := sha256.Sum256([]byte(element[2]))
		if source := element[1] + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, source) {
			t.Errorf("the policy has no %s: %s", source, policy)
		}
	}
	if !strings.Contains(policy, `"default-src 'none';`) || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy allows more than the page has: %s", policy)
	}
	got := hash.ReplaceAllString(embedded.ReplaceAllString(page, "<$1></$1>"), "sha256-")
	path := filepath.Join("testdata", "page.html")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// markup are the tags of a page and their attributes, each once. A "<" or a quotation mark of a
// text would be one of them.
func markup(page string) []string {
	var all []string
	for _, tag := range regexp.MustCompile(`(?s)<[^>]*>`).FindAllString(embedded.ReplaceAllString(page, ""), -1) {
		all = append(all, regexp.MustCompile(`^</?[a-z0-9!]*`).FindString(tag))
		for _, attribute := range regexp.MustCompile(`\s([^\s="]+)="`).FindAllStringSubmatch(tag, -1) {
			all = append(all, attribute[1])
		}
		if rest := regexp.MustCompile(`="[^"]*"`).ReplaceAllString(tag, ""); strings.ContainsAny(rest, `"'`) {
			all = append(all, rest)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Whatever a store holds, it is text on a page: no element, no attribute, no address.
func TestAnyTextIsTextOnAPage(t *testing.T) {
	known := markup(printed(t, "html", 80, append(everything("x"), document.Source{What: "long", Text: strings.Repeat("x\n", 20)})))
	rapid.Check(t, func(r *rapid.T) {
		said := rapid.OneOf(
			rapid.String(),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
			rapid.SampledFrom([]string{
				"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, `' onload='alert(1)`, "javascript:alert(1)", "</style></script><script>",
				"-->", "<!--", "{{.}}", "&lt;b&gt;", "\u202eabc\u2066", "\xff\xfe", "</svg><script>", "]]>", "\x00",
			}),
		).Draw(r, "said")
		doc := append(everything(said), document.Paragraph{{Role: document.Link, Text: said, URL: said}})
		page := printed(t, "html", 80, doc)
		if !utf8.ValidString(page) || strings.ContainsFunc(page, func(c rune) bool { return c != '\n' && ui.IsUnsafe(c) }) {
			r.Fatalf("a page of %q is not safe", said)
		}
		for _, name := range markup(page) {
			if !slices.Contains(known, name) {
				r.Fatalf("%q becomes %q", said, name)
			}
		}
		for _, address := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			if strings.Contains(strings.ToLower(address[1]), "javascript:") {
				r.Fatalf("%q becomes the address %q", said, address[1])
			}
		}
	})
}
