package isolation

import (
	"fmt"
	"slices"
	"time"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/delegation"
	"github.com/sessctl/sessctl/internal/session"
)

var limitsExceeded = rules.Rule{
	ID: "SC821", Name: "limits", Severity: rules.Info, Safety: rules.None, Scope: rules.PerTree, Optional: true, Bodies: true, Since: "0.1.0",
	Title: "a sub-session exceeds a limit of steps, size, files or time",
	Run: func(p *rules.Pass) {
		for _, s := range delegation.OwnSpawns(p) {
			for n, limit := range limits {
				if items, what := limit.exceeded(p.Isolation(), &s); what != "" {
					reportLimit(p, &s, n, limit.key, items, what)
				}
			}
		}
	},
}

// limits are what a child is held against. Of one that goes beyond, exceeded gives the
// items of the child that tell it and says by how much.
var limits = []struct {
	key      string // below isolation: in .sessctl.yaml
	exceeded func(*rules.Isolation, *delegation.Spawn) ([]int, string)
}{
	{"max-steps", exceededSteps},
	{"max-tokens-per-step", exceededTokens},
	{"max-output-files", outputFiles},
	{"max-output-bytes", outputBytes},
	{"timeout", exceededTime},
}

func reportLimit(p *rules.Pass, s *delegation.Spawn, n int, key string, items []int, what string) {
	f := p.FindSession(s.Child)
	if len(items) > 0 {
		f = p.FindItems(s.Child, items)
	}
	f.Nth = n
	f.Related = []session.Place{s.From.ItemPlace(s.Item)}
	f.Message = whoseName(s.To) + " " + what + ". The limit is set by isolation: " + key + " in .sessctl.yaml."
	p.Report(f)
}

// exceededSteps counts the messages with calls.
func exceededSteps(l *rules.Isolation, s *delegation.Spawn) ([]int, string) {
	var items []int
	for i, it := range s.To.OwnItems() {
		if len(it.Calls) > 0 {
			items = append(items, i)
		}
	}
	if l.MaxSteps == 0 || len(items) <= l.MaxSteps {
		return nil, ""
	}
	return items[l.MaxSteps:], fmt.Sprintf("takes %s, more than the limit of %d", rules.CountedNoun(len(items), "step"), l.MaxSteps)
}

// bytesPerToken is how many bytes make a token, about: a rule of thumb for English text
// and code. No tokenizer is asked.
const bytesPerToken = 4

// estimateTokens estimates about how many tokens the texts of an item are, calls and results with
// them. Images are no text; where texts are not loaded, items with such are left out.
func estimateTokens(it *session.Item) int {
	if it.Body == nil {
		if it.HasBlock(session.MediaBlock) {
			return 0
		}
		return int(it.Size / bytesPerToken)
	}
	bytes := len(it.Body.Text) + len(it.Body.Reasoning)
	for i := range it.Calls {
		bytes += len(it.Calls[i].Args)
	}
	for i := range it.Results {
		bytes += len(it.Results[i].Text)
	}
	return bytes / bytesPerToken
}

// exceededTokens estimates what each message of the agent and each result of a tool adds to a
// request.
func exceededTokens(l *rules.Isolation, s *delegation.Spawn) ([]int, string) {
	var items []int
	most := 0
	for i, it := range s.To.OwnItems() {
		if n := estimateTokens(it); n > l.MaxTokensPerStep && (it.Role == session.Assistant || it.IsAnswer()) {
			items, most = append(items, i), max(most, n)
		}
	}
	if l.MaxTokensPerStep == 0 || len(items) == 0 {
		return nil, ""
	}
	return items, fmt.Sprintf("has %s of more than %d tokens, the largest about %d", rules.CountedNoun(len(items), "message"), l.MaxTokensPerStep, most)
}

// outputFiles counts the files that a child wrote.
func outputFiles(l *rules.Isolation, s *delegation.Spawn) ([]int, string) {
	files := filesWritten(s.To)
	if l.MaxOutputFiles == 0 || len(files) <= l.MaxOutputFiles {
		return nil, ""
	}
	return itemsOf(files[l.MaxOutputFiles:]), fmt.Sprintf("writes %s, more than the limit of %d", rules.CountedNoun(len(files), "file"), l.MaxOutputFiles)
}

// outputBytes adds up their sizes, where the reader of the store knows them. The limit
// itself is already too much (loom-os/loom c34e1de, ISOLATION.md: AgentLimits).
func outputBytes(l *rules.Isolation, s *delegation.Spawn) ([]int, string) {
	files := filesWritten(s.To)
	var sum int64
	for _, use := range files {
		sum += use.bytes
	}
	if l.MaxOutputBytes == 0 || sum < l.MaxOutputBytes {
		return nil, ""
	}
	return itemsOf(files), fmt.Sprintf("writes %d bytes of files, which must stay below %d", sum, l.MaxOutputBytes)
}

// exceededTime compares how long a delegation took that names no time itself; of one that nobody
// waits for, or that has no result, how long the child did.
func exceededTime(l *rules.Isolation, s *delegation.Spawn) ([]int, string) {
	d := s.Call().Delegation
	took, known := callDuration(s)
	if !known || !d.Blocking {
		took = sessionDuration(s.To)
	}
	if l.Timeout == 0 || d.Timeout > 0 || hasWaited(s) || took <= l.Timeout+timeResolution {
		return nil, ""
	}
	return nil, "takes " + formatSeconds(took) + ", more than the limit of " + formatSeconds(l.Timeout)
}

// sessionDuration is the time from a session's first item to its last, as far as items have
// times.
func sessionDuration(s *rules.Subject) time.Duration {
	var whole span
	for _, it := range s.OwnItems() {
		whole = whole.including(it.Time)
	}
	return whole.last.Sub(whole.first)
}

// filesWritten are the files that a session wrote, each once.
func filesWritten(s *rules.Subject) []fileUse {
	written := slices.DeleteFunc(sessionFiles(s), func(use fileUse) bool { return !use.writes })
	ofEach := lists.GroupBy(written, func(use fileUse) string { return use.path })
	return lists.MapEach(ofEach, func(uses []fileUse) fileUse { return uses[0] })
}

func itemsOf(files []fileUse) []int {
	return rules.SortUnique(lists.MapEach(files, func(use fileUse) int { return use.item }))
}
