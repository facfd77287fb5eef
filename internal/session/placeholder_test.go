package session_test

import (
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

// TestIsPlaceholder has the texts as the programs write them, whole.
func TestIsPlaceholder(t *testing.T) {
	for writer, text := range map[string]string{
		"sessctl":           session.SyntheticPrefix + "No result was recorded for this call.",
		"tau":               "Tool call interrupted by user",
		"pydantic-ai":       "The tool call was interrupted before a result was produced.",
		"deepagents":        "Tool call shell with id call_1 was cancelled - another message came in before it could be completed.",
		"deepagents, args":  "Tool call shell with id call_1 could not be executed - arguments were malformed or truncated.",
		"OpenClaw":          "[openclaw] missing tool result in session history; inserted synthetic error result for transcript repair.",
		"lossless-claw":     "[lossless-claw] missing tool result in session history; inserted synthetic error result for transcript repair.",
		"Codex":             "aborted",
		"opencode":          "Tool execution aborted",
		"opencode, replay":  "[Tool execution was interrupted]",
		"librefang":         "[Tool execution was interrupted or lost]",
		"librefang, turn":   "[tool interrupted: turn aborted before this call could execute]",
		"Roo Code":          "Tool execution was interrupted before completion.",
		"Roo Code, resumed": "Task was interrupted before this tool call could be completed.",
		"Qwen Code": "Tool execution result was not recorded — likely interrupted by network failure, abort, or process exit. " +
			"Treat as failure and retry if needed.",
		"docker agent":        "No result provided",
		"docker agent v1.7.3": "(tool execution failed)",
		"LiteLLM":             "[System: Tool execution skipped/interrupted by user. No result provided for tool 'shell'.]",
		"Claude Code":         "[Tool result missing due to internal error]",
		"llumiverse":          `[Tool interrupted: The user stopped the operation before "shell" could execute.]`,
		"Strands Agents":      "Tool was interrupted.",
		"with white space":    "\nNo result provided \n",
	} {
		if !session.IsPlaceholder(text) {
			t.Errorf("%s: %q is not taken as a placeholder", writer, text)
		}
	}
}

// TestRealOutcomesAreNoPlaceholders has results that look like one: a person
// decided, a tool did answer, or real output quotes a placeholder.
func TestRealOutcomesAreNoPlaceholders(t *testing.T) {
	for _, text := range []string{
		"", " ", ".", "ok",
		"The user rejected the tool call.",
		"The tool call was canceled by the user.",
		"aborted by user after 3.1s",
		"fatal: rebase aborted",
		"Aborted",
		"No result provided, because the query matched nothing.",
		"error: No result provided",
		"command timed out after 30 s",
		"The user doesn't want to proceed with this tool use.",
		"The tool execution failed",
		"log.py:12: Tool was interrupted. Restarting.",
		strings.Repeat("x", 380) + "Tool call interrupted by user",
		"grep: " + strings.Repeat("y", 400) + session.SyntheticPrefix,
	} {
		if session.IsPlaceholder(text) {
			t.Errorf("%.60q is taken as a placeholder", text)
		}
	}
}
