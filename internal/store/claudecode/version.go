package claudecode

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

// generation is a version of Claude Code that was run on damaged sessions, and what it and those
// after it make of the pairs of a request (docs/stores/claude-code.md#what-claude-code-corrects-itself).
type generation struct {
	since   string
	resumes session.Resumption
}

const (
	missing     = "[Tool result missing due to internal error]"
	interrupted = "[Tool call interrupted: the session ended before this call's result was recorded, so its outcome is unknown. Check whether it took effect before relying on it or running it again.]"
	older       = "; versions before 2.1 send what is stored, and the provider refuses that"
)

// generations are in the order of their versions.
var generations = []generation{
	{"0", session.Resumption{
		Sanitiser: &session.Sanitiser{By: "Claude Code 1.0 and 2.0", Always: true, KeepsResults: true},
		Loses:     map[string]string{"SC101": "leaves the call out of requests"},
		Newer: map[string]string{
			"SC103": "Versions 2.1.197 and later leave the result out of requests",
			"SC104": "Versions 2.1.197 and later put it before the user's text that is between",
			"SC106": "Versions 2.1.197 and later send it once",
			"SC201": "Versions 2.1.197 and later leave the second call and its result out of requests",
		},
	}},
	{"2.1", session.Resumption{Sanitiser: sanitiserSince("2.1", ""), Loses: lostSince21}},
	{"2.1.330", session.Resumption{Sanitiser: sanitiserSince("2.1.330", interrupted), Loses: lostSince21}},
}

// sanitiserSince is what 2.1 does, from a version on; tail is the result of a call at the end.
func sanitiserSince(since, tail string) *session.Sanitiser {
	return &session.Sanitiser{By: "Claude Code " + since + " and later", Pairs: "anthropic", Always: true, Hoists: true, Once: true, Tail: tail, Elsewhere: missing}
}

var lostSince21 = map[string]string{
	"SC101": "leaves the call out of requests; 2.1.330 answers one at the end with an error result",
	"SC103": "leaves the result out of requests" + older,
	"SC104": "puts the result before the user's text that is between, and sends an error in its place where an answer is between" + older,
	"SC106": "sends the result once" + older,
	"SC201": "leaves the second call and its result out of requests" + older,
	"SC202": "leaves the second call and its result out of requests",
}

// ResumedBy is what a version makes of the requests of a session that it wrote last: it is the
// one that goes on with it. Nil where no line names one.
func ResumedBy(version string) *session.Resumption {
	var is *session.Resumption
	for i := range generations {
		if version != "" && compareVersions(version, generations[i].since) >= 0 {
			is = &generations[i].resumes
		}
	}
	return is
}

// compareVersions compares numbers between dots; what is none counts as 0, so a version that is
// not known is the oldest.
func compareVersions(a, b string) int {
	numbers := func(version string) (list []int) {
		for part := range strings.SplitSeq(version, ".") {
			n, _ := strconv.Atoi(part)
			list = append(list, n)
		}
		return list
	}
	return slices.Compare(numbers(a), numbers(b))
}
