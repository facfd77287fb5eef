package errtext_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/errtext"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// TestWhatSessctlItselfPrintsIsRecognised holds the table against the texts of the
// profiles, whole and as a shell leaves them in double quotes.
func TestWhatSessctlItselfPrintsIsRecognised(t *testing.T) {
	said := rules.Said{Message: 12, Block: 3, ID: "c1, toolu_01Y2", Name: "read", N: 46}
	for _, p := range rules.Profiles {
		for _, key := range slices.Sorted(maps.Keys(p.Errors)) {
			template, text := p.Errors[key], p.ErrorText(key, said)
			rule, _, _ := strings.Cut(key, " ")
			for _, text := range []string{text, withoutBacktickedWords(text)} {
				e := errtext.ParseAnswer(text)
				if e.Kind != errtext.Refused && e.Kind != errtext.TooLong || !slices.Contains(e.Rules, rule) || !slices.Contains(e.Profiles, p.Name) {
					t.Errorf("%s, %s: %s with the rules %v, of %v:\n%s", p.Name, key, e.Kind, e.Rules, e.Profiles, text)
				}
				if want := strings.Contains(template, "{id}"); want != slices.Equal(e.IDs, []string{"c1", "toolu_01Y2"}) {
					t.Errorf("%s, %s: the ids are %q:\n%s", p.Name, key, e.IDs, text)
				}
				want := errtext.Error{Message: -1, Block: -1}
				if strings.Contains(template, "{message}") {
					want.Message = 12
				}
				if strings.Contains(template, "{block}") {
					want.Block = 3
				} else if strings.Contains(template, "content.0.") {
					want.Block = 0
				}
				if e.Message != want.Message || e.Block != want.Block {
					t.Errorf("%s, %s: message %d, block %d:\n%s", p.Name, key, e.Message, e.Block, text)
				}
			}
			if e := errtext.ParseAnswer(text); !strings.HasPrefix(text, strings.TrimSuffix(e.Text, ".")) && !strings.HasSuffix(text, e.Text) {
				t.Errorf("%s, %s is shown as\n%q, is\n%q", p.Name, key, e.Text, text)
			}
		}
	}
}

var backticked = regexp.MustCompile("`[^`]*`")

// withoutBacktickedWords is what a shell makes of a text in double quotes.
func withoutBacktickedWords(text string) string { return backticked.ReplaceAllString(text, "") }

// TestTheTableNamesRulesAndProfilesThatExist: a slip of the pen would never be noticed.
func TestTheTableNamesRulesAndProfilesThatExist(t *testing.T) {
	for _, row := range errtext.Table() {
		if row.Kind == errtext.Unknown || len(row.Wordings) == 0 {
			t.Errorf("the row of %v, %v has the kind %s and %d wordings", row.Rules, row.Profiles, row.Kind, len(row.Wordings))
		}
		if row.From == "" || !strings.HasSuffix(row.Meaning, ".") || row.Next != "" && !strings.HasSuffix(row.Next, ".") {
			t.Errorf("%s: from %q, meaning %q, next %q", row.Wordings[0], row.From, row.Meaning, row.Next)
		}
		for _, kind := range row.Stores {
			if kind != "none" && !slices.ContainsFunc(registry.Kinds, func(k store.Kind) bool { return k.Name == kind }) {
				t.Errorf("%s: there is no kind of store %s", row.Wordings[0], kind)
			}
		}
		for _, id := range row.Rules {
			if catalogue.FindRule(id) == nil {
				t.Errorf("%s does not exist", id)
			}
		}
		for _, name := range row.Profiles {
			if rules.FindProfile(name) == nil {
				t.Errorf("the profile %s does not exist", name)
			}
		}
	}
}

// TestEveryWordingIsRecognisedAsItsOwnRow: none is hidden by one above it.
func TestEveryWordingIsRecognisedAsItsOwnRow(t *testing.T) {
	gaps := strings.NewReplacer("*", "17 x", "{id}", "call_7", "~", "")
	for _, row := range errtext.Table() {
		for _, wording := range row.Wordings {
			e := errtext.ParseAnswer(gaps.Replace(wording))
			if e.Kind != row.Kind || !slices.Equal(e.Rules, row.Rules) || !slices.Equal(e.Profiles, row.Profiles) {
				t.Errorf("%s: %s, %v, %v", wording, e.Kind, e.Rules, e.Profiles)
			}
			if strings.Contains(wording, "{id}") && !slices.Equal(e.IDs, []string{"call_7"}) {
				t.Errorf("%s: the ids %q", wording, e.IDs)
			}
		}
	}
}

// catalogued is the collection of literal texts of providers, beside the module.
const catalogued = "../../../shared/formats/provider-rules.md"

// TestEveryTextOfTheCollectionIsRecognised reads the tables of sections 1.1 to 1.9.
func TestEveryTextOfTheCollectionIsRecognised(t *testing.T) {
	page, err := os.ReadFile(catalogued)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the collection of provider texts is not beside the module")
	}
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for line := range strings.SplitSeq(string(page), "\n") {
		cells := strings.Split(line, " | ")
		if !collected.MatchString(line) || len(cells) < 4 {
			continue
		}
		for _, quoted := range quotations.FindAllStringSubmatch(cells[2], -1) {
			text := strings.TrimSpace(quoted[1] + quoted[2])
			if len(text) < 18 || fragments[text] {
				continue
			}
			read++
			text = holes.Replace(text)
			for _, text := range []string{text, withoutBacktickedWords(text)} {
				if e := errtext.ParseAnswer(text); e.Kind != errtext.Refused && e.Kind != errtext.TooLong {
					t.Errorf("%s: %s: %s", cells[0], e.Kind, text)
				}
			}
		}
	}
	if read < 70 {
		t.Errorf("only %d texts were found", read)
	}
}

var (
	collected  = regexp.MustCompile(`^\| ((?:ANT|BDR|OAC|OAR|GEM|MIS|DSK|KIM|GEN)-\d\d) `)
	quotations = regexp.MustCompile("``(.*?)``|`([^`]+)`")
	holes      = strings.NewReplacer("messages.N", "messages.4", "content.M", "content.0", "<ids>", "toolu_01A, toolu_01B", "<id>", "toolu_01A", "K `", "2 `", "index N", "index 4", "position N", "position 4")
)

// fragments are the parts of texts and names of fields among the collected texts.
var fragments = map[string]bool{
	"server_tool_use.id … '^srvtoolu_[a-zA-Z0-9_]+$'": true, "tools.N.custom.name … {1,128}$": true, "…for many-image requests: 2000 pixels": true,
	"messages[9].tool_calls[0].function.name": true, "string_above_max_length": true, "content[].thinking": true, "<400> InternalError.Algo.InvalidParameter: …": true,
}
