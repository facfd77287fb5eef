package session

import "strings"

// SyntheticPrefix begins the text of every result that sessctl adds, because
// most stores have no field to mark one with.
const SyntheticPrefix = "[sessctl] "

// placeholders are the texts that runtimes and clients write for a result that
// they do not have. A real result always wins over one of them.
var placeholders = []string{
	"Tool call interrupted by user",                  // tau
	"No result provided",                             // docker agent, several providers' adapters
	"(tool execution failed)",                        // docker agent v1.7.3
	"aborted",                                        // Codex
	"Tool execution aborted",                         // opencode
	"[Tool result missing due to internal error]",    // Claude Code
	"Tool result was not recorded",                   // Qwen Code
	"missing tool result in session history",         // OpenClaw
	"was cancelled - another message came in before", // deepagents
}

// IsPlaceholder reports whether the text of a result is a known stand-in for a
// result that its writer did not have.
func IsPlaceholder(text string) bool {
	if strings.HasPrefix(text, SyntheticPrefix) {
		return true
	}
	if len(text) > 400 { // real output that quotes one of the texts
		return false
	}
	for _, p := range placeholders {
		if text == p || len(p) > 20 && strings.Contains(text, p) {
			return true
		}
	}
	return false
}
