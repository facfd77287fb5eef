package claudecode

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/docedit"
)

// isBlank reports whether a part is a text without anything in it but white space.
func (b *block) isBlank() bool { return b.Type == "text" && strings.TrimSpace(b.Text) == "" }

func allBlank(parts []block) bool {
	return !slices.ContainsFunc(parts, func(p block) bool { return !p.isBlank() })
}

// namingLine is the line that names an item: one of those that a repair of blank texts and of
// reasoning leaves.
func (c *chain) namingLine(lines []int) int {
	said := slices.DeleteFunc(slices.Clone(lines), func(i int) bool { return c.nodes[i].blank || c.nodes[i].thinks })
	if len(said) == 0 {
		said = lines
	}
	return slices.Min(said)
}

// The releases that changed what stands beside a blank message of the user, of those that were run.
const (
	firstReminding = "2.1.259" // sends an attachment with the renderedRole "user" as a text of the user
	firstBare      = "2.1.268" // puts no reminder before the first message
)

// sendsBlank reports whether the version that wrote the newest line sends a blank text beside
// other content: see docs/stores/claude-code.md for how that was measured.
func (c *chain) sendsBlank(role session.Role, text string) bool {
	if role == session.User {
		return compareVersions(c.version, "2.1.152") < 0
	}
	return text == "" && compareVersions(c.version, "2.1.277") < 0 || compareVersions(c.version, "2.1.123") < 0
}

// findUnsent finds the user's blank messages that are left out. Claude Code joins what stands
// between two answers to one message, and leaves blank texts out of a list of texts: a blank
// message is sent only as the one text of such a message (docs/stores/claude-code.md).
func (c *chain) findUnsent(list []int) {
	if compareVersions(c.version, "2.1.152") < 0 {
		return
	}
	sent := slices.DeleteFunc(slices.Clone(list), func(i int) bool { return !c.nodes[i].active })
	slices.SortStableFunc(sent, func(a, b int) int { return cmp.Compare(c.nodes[a].rank, c.nodes[b].rank) })
	var blanks []int
	joined := compareVersions(c.version, firstBare) < 0 // a reminder stands before the first message
	failed := false
	end := func() {
		for _, i := range blanks {
			c.nodes[i].unsent = joined || len(blanks) > 1
		}
		blanks, joined, failed = nil, false, false
	}
	for _, i := range sent {
		switch n := &c.nodes[i]; {
		case n.kind == assistant && n.failed:
			failed = true
		case n.kind == assistant && !n.blank:
			end()
		case n.kind == user && n.blank:
			blanks, joined = append(blanks, i), joined || n.listed
		case n.kind == user, n.reminds && compareVersions(c.version, firstReminding) >= 0:
			joined = true
		}
	}
	joined = joined || failed // with the next prompt: else Claude Code puts an answer of its own between
	end()
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
		line := f.currentLine(i)
		_, said, _ := parseLine(line)
		if text := dropBlank(line, "/message/content", said.Content); !bytes.Equal(text, line) {
			f.texts[i] = text
		}
	}
	return nil
}

// currentLine is what a line says by now.
func (f *rewrite) currentLine(i int) []byte {
	if text, less := f.texts[i]; less {
		return text
	}
	return f.storedLine(i)
}

// editBlocks leaves blocks of an item out, and shows U+0000 in what is sent. A line that says nothing
// then leaves.
func (f *rewrite) editBlocks(lines []int, c *change.Item) error {
	notes := map[int][]byte{} // in the place of blocks; nil for nothing
	for n, note := range c.OmissionNotes() {
		if notes[n] = nil; note != "" {
			notes[n] = fmt.Appendf(nil, `{"type":"text","text":%s}`, docedit.QuoteText(note))
		}
	}
	if len(notes) == 0 && !c.Shown {
		return nil
	}
	at := 0
	for _, i := range lines {
		if f.nodes[i].length == 0 || f.runOf(i) != nil {
			return problem.New(problem.RolledBack, "", "line %d shares its line, or is too long: it cannot be changed", f.nodes[i].number)
		}
		at = f.editLine(i, at, notes, c.Shown)
	}
	return nil
}

// editLine edits one line, from the block with this index in the item on, and returns the next.
func (f *rewrite) editLine(i, at int, notes map[int][]byte, shown bool) (next int) {
	line := f.storedLine(i)
	set := func(pointer string, value []byte) {
		if text, err := jsonedit.SetValue(line, pointer, value); err == nil { // it was read before
			line = text
		}
	}
	_, said, _ := parseLine(line)
	parts, _ := parseBlocks(said.Content)
	var gone []string
	for n := range parts {
		p, pointer := &parts[n], fmt.Sprintf("/message/content/%d", n)
		if said.Content.Kind() != '[' {
			pointer = "/message/content"
		}
		if raw, _ := jsonedit.RawValue(line, pointer); shown && !p.isReasoning() {
			set(pointer, jsonedit.ShowNUL(raw))
		}
		if f.nodes[i].again && p.Type == "tool_use" {
			continue
		}
		for _, inner := range p.blocksWithin() {
			switch note, leaves := notes[at]; {
			case leaves && inner >= 0:
				set(fmt.Sprintf("%s/content/%d", pointer, inner), note)
			case leaves && note != nil:
				set(pointer, note)
			case leaves:
				gone = append(gone, pointer)
			}
			at++
		}
	}
	for _, pointer := range slices.Backward(gone) {
		set(pointer, nil)
	}
	switch {
	case len(gone) > 0 && len(gone) == len(parts):
		f.removeLine(i)
	case !bytes.Equal(line, f.storedLine(i)):
		f.texts[i] = line
	}
	return at
}

// blocksWithin are the blocks that a part is read as: the media in a result, by their places in
// its list, and itself, as -1.
func (b *block) blocksWithin() (list []int) {
	if strings.HasSuffix(b.Type, "tool_result") {
		inner, _ := parseBlocks(b.Content)
		for n := range inner {
			if inner[n].isMedia() {
				list = append(list, n)
			}
		}
	}
	return append(list, -1)
}

func (b *block) isMedia() bool     { return b.Type == "image" || b.Type == "document" }
func (b *block) isReasoning() bool { return b.Type == "thinking" || b.Type == "redacted_thinking" }

// dropBlank takes the blank texts out of a list of parts, and out of those in results, which
// may have no list.
func dropBlank(line []byte, pointer string, list jsontext.Value) []byte {
	set := func(pointer string, value []byte) {
		if text, err := jsonedit.SetValue(line, pointer, value); err == nil { // it was read before
			line = text
		}
	}
	if list.Kind() != '[' {
		return line
	}
	parts, _ := parseBlocks(list)
	for n, p := range slices.Backward(parts) {
		at := fmt.Sprintf("%s/%d", pointer, n)
		inner, _ := parseBlocks(p.Content)
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
