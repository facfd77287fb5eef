package claudecode

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
)

// isBlank reports whether a part is a text without anything in it but white space.
func (b *block) isBlank() bool { return b.Type == "text" && strings.TrimSpace(b.Text) == "" }

func allBlank(parts []block) bool {
	return !slices.ContainsFunc(parts, func(p block) bool { return !p.isBlank() })
}

// first is the line that names an item: one of those that a repair of blank texts leaves.
func (c *chain) first(lines []int) int {
	said := slices.DeleteFunc(slices.Clone(lines), func(i int) bool { return c.nodes[i].blank })
	if len(said) == 0 {
		said = lines
	}
	return slices.Min(said)
}

// sendsBlank reports whether the version that wrote the newest line sends a blank text beside
// other content: see docs/stores/claude-code.md for how that was measured.
func (c *chain) sendsBlank(role session.Role, text string) bool {
	if role == session.User {
		return compareVersions(c.version, "2.1.152") < 0
	}
	return text == "" && compareVersions(c.version, "2.1.277") < 0 || compareVersions(c.version, "2.1.123") < 0
}

// dropBlanks takes the blank texts out of lines. A line that is nothing else leaves.
func (f *rewrite) dropBlanks(lines []int) error {
	for _, i := range lines {
		if f.nodes[i].length == 0 || f.runOf(i) != nil {
			return problem.New(problem.RolledBack, "", "line %d shares its line, or is too long: its texts cannot be changed", f.nodes[i].number)
		}
		if f.nodes[i].blank {
			f.removeLine(i)
			continue
		}
		_, said, _ := parse(f.line(i))
		if text := dropBlank(f.line(i), "/message/content", said.Content); !bytes.Equal(text, f.line(i)) {
			f.texts[i] = text
		}
	}
	return nil
}

// dropBlank takes the blank texts out of a list of parts, and out of those in results, which
// may have no list.
func dropBlank(line []byte, pointer string, list jsontext.Value) []byte {
	set := func(pointer string, value []byte) {
		if text, err := jsonedit.Set(line, pointer, value); err == nil { // it was read before
			line = text
		}
	}
	if list.Kind() != '[' {
		return line
	}
	parts, _ := blocks(list)
	for n, p := range slices.Backward(parts) {
		at := fmt.Sprintf("%s/%d", pointer, n)
		inner, _ := blocks(p.Content)
		switch {
		case p.isBlank():
			set(at, nil)
		case p.Content.Kind() == '[' && len(inner) > 0 && allBlank(inner):
			set(at+"/content", []byte(`""`))
		default:
			line = dropBlank(line, at+"/content", p.Content)
		}
	}
	return line
}
