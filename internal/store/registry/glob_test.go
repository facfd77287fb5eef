package registry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/ui"
)

func TestAlternatives(t *testing.T) {
	tests := map[string]int{
		"*.db": 1, "{a}": 1, "{a,b}": 2, "{a,b}/{c,d,e}": 6, "{a,{b,c}d{e,f}}": 5, "a,b": 1, "}{a,b": 2, "{a,b}{c": 2, "{,}": 2,
		strings.Repeat("{a,b}", 13):             1 << 13,
		strings.Repeat("{a,b}", 14):             mostAlternatives + 1,
		strings.Repeat("{a,b}", 200):            mostAlternatives + 1,
		"{" + strings.Repeat("a,", 20_000):      mostAlternatives + 1,
		"[{]" + strings.Repeat("{a,b}", 14):     mostAlternatives + 1,
		"{" + strings.Repeat("{a,b}", 14) + "}": mostAlternatives + 1,
	}
	if filepath.Separator != '\\' {
		tests[`\{a,b}`], tests[`{a\,b}`] = 1, 1
	}
	for pattern, want := range tests {
		if got := countAlternatives(pattern); got != want {
			t.Errorf("%.40s: got %d, want %d", pattern, got, want)
		}
	}
}

func TestTheCIPageTellsTheLimitOfBraces(t *testing.T) {
	page, err := os.ReadFile("../../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	want := "a pattern with more than " + ui.Number(mostAlternatives) + " is refused"
	if !strings.Contains(strings.Join(strings.Fields(string(page)), " "), want) {
		t.Errorf("docs/ci.md does not say: %s", want)
	}
}

// The rest has slashes, whatever separates folders.
func TestSplitPattern(t *testing.T) {
	tests := []struct {
		pattern    string
		separator  byte
		base, rest string
	}{
		{`dir/*.db`, '/', "dir", "*.db"},
		{`dir\*.db`, '\\', "dir", "*.db"},
		{`C:\a b\{x,y}\**\*.db`, '\\', "C:/a b", "{x,y}/**/*.db"},
		{`C:/mixed\*.db`, '\\', "C:/mixed", "*.db"},
		{`\\server\share\*.db`, '\\', "//server/share", "*.db"},
		{`\*.db`, '\\', "/", "*.db"},
		{`dir\*x/*.db`, '/', "dir*x", "*.db"},   // \ takes the meaning from *
		{`dir\*x\*.db`, '\\', "dir", "*x/*.db"}, // \ separates folders
		{`dir/[*]x/*.db`, '/', "dir", "[*]x/*.db"},
	}
	for _, tt := range tests {
		if base, rest := splitPattern(tt.pattern, tt.separator); base != tt.base || rest != tt.rest {
			t.Errorf("%s: got %q and %q, want %q and %q", tt.pattern, base, rest, tt.base, tt.rest)
		}
	}
}
