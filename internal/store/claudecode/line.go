package claudecode

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/store/filelog"
)

// line is what is read of a line, whatever its type.
type line struct {
	Type      string         `json:"type"`
	Subtype   string         `json:"subtype"`
	UUID      string         `json:"uuid"`
	Session   string         `json:"sessionId"`
	Snapshot  string         `json:"messageId"` // of a line of the type file-history-snapshot
	Parent    string         `json:"parentUuid"`
	Logical   string         `json:"logicalParentUuid"` // of a compaction: the last line before it
	Sidechain bool           `json:"isSidechain"`
	Time      string         `json:"timestamp"`
	Version   string         `json:"version"`
	Folder    string         `json:"cwd"`
	Meta      bool           `json:"isMeta"`
	Summary   bool           `json:"isCompactSummary"`
	APIError  bool           `json:"isApiErrorMessage"`
	Status    int            `json:"apiErrorStatus"`
	Rendered  string         `json:"renderedRole"` // of an attachment
	Source    string         `json:"sourceToolAssistantUUID"`
	Agent     string         `json:"agentId"`
	Outcome   jsontext.Value `json:"toolUseResult"`
	Message   jsontext.Value `json:"message"`
	Content   jsontext.Value `json:"content"` // of a line of the type system
	Compact   jsontext.Value `json:"compactMetadata"`
	Leaf      string         `json:"leafUuid"`
	Title     string         `json:"customTitle"`
	Named     string         `json:"aiTitle"`
	About     jsontext.Value `json:"summary"` // of a line of the type summary: the title of a branch
}

// kind is the type of a line.
type kind uint8

// The types of lines that are read; others with an identifier belong to the chain, and
// those without one are housekeeping.
const (
	unreadable kind = iota
	user
	assistant
	system
	unsaid // no record of what was said: attachments are texts of the vendor, and files that the user named

	boundary   = "compact_boundary" // the subtype of a system line
	lastPrompt = "last-prompt"      // the type of a line outside the chain that names where it ends
)

func kindOf(name string) kind {
	if i := slices.Index([]string{"user", "assistant", "system"}, name); i >= 0 {
		return user + kind(i)
	}
	return unsaid
}

// message is a request's or an answer's message, or one block of it.
type message struct {
	ID      string         `json:"id"`
	Role    string         `json:"role"`
	Model   string         `json:"model"`
	Content jsontext.Value `json:"content"`
}

// block is an element of a message's content, with the members of all types.
type block struct {
	Type      string         `json:"type"`
	Text      string         `json:"text"`
	Thinking  string         `json:"thinking"`
	Signature string         `json:"signature"`
	Data      string         `json:"data"`
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Input     jsontext.Value `json:"input"`
	CallID    string         `json:"tool_use_id"`
	Content   jsontext.Value `json:"content"`
	IsError   bool           `json:"is_error"`
	Source    struct {
		Type  string `json:"type"`
		Media string `json:"media_type"`
		Data  string `json:"data"`
		URL   string `json:"url"`
	} `json:"source"`
	Cached jsontext.Value `json:"cache_control"`
}

// outcome is what Claude Code keeps of a result for itself, where the tool was a sub-agent.
type outcome struct {
	Status string `json:"status"`
	Agent  string `json:"agentId"`
	call   filelog.Name
}

// preserved are the messages that a compaction sends again behind its summary.
type preserved struct {
	Messages struct {
		UUIDs []string `json:"uuids"`
	} `json:"preservedMessages"`
}

// parseLine reads a line; said is its message where it has one.
func parseLine(text []byte) (l line, said message, wrong string) {
	err := jsonscan.Exact.Unmarshal(text, &l)
	if k := kindOf(l.Type); err == nil && (k == user || k == assistant) {
		if len(l.Message) == 0 {
			return l, said, `it has no "message"`
		}
		err = jsonscan.Exact.Unmarshal(l.Message, &said)
	}
	switch {
	case err == nil:
		return l, said, ""
	case len(bytes.Trim(text, "\x00")) == 0:
		return l, said, "it holds nothing but NUL bytes"
	}
	return l, said, jsonscan.DescribeError(err, kindTitle)
}

// parseBlocks parses the parts of a message: a text stands for one block of text.
func parseBlocks(content jsontext.Value) (list []block, ok bool) {
	switch content.Kind() {
	case '"':
		var text string
		ok = jsonscan.Exact.Unmarshal(content, &text) == nil
		return []block{{Type: "text", Text: text}}, ok
	case '[':
		return list, jsonscan.Exact.Unmarshal(content, &list) == nil
	}
	return nil, len(content) == 0 || content.Kind() == 'n'
}

// textOf is the text of a result, the media that it has besides, and whether its list has a
// blank text, which is no part of that.
func textOf(content jsontext.Value) (text string, media []block, blank bool) {
	parts, _ := parseBlocks(content)
	var texts []string
	for _, p := range parts {
		switch {
		case p.isBlank() && content.Kind() == '[':
			blank = true
		case p.Type == "text":
			texts = append(texts, p.Text)
		default:
			media = append(media, p)
		}
	}
	return strings.Join(texts, "\n"), media, blank
}

// hasLoneSurrogate reports whether a line has an escape that is half of a character.
func hasLoneSurrogate(text []byte) bool {
	if !bytes.Contains(text, []byte(`\ud`)) && !bytes.Contains(text, []byte(`\uD`)) {
		return false
	}
	return !jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true))
}
