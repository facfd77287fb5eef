package pairs

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var idFormat = rules.Rule{
	ID: "SC203", Name: "id-format", Severity: rules.Error, Safety: rules.None, Scope: rules.PerTree, Profiled: true, Wire: true, Since: "0.1.0",
	Title: "call ids have a form that the provider refuses",
	Run: rules.VisitJudged(func(p *rules.Pass, j rules.Judged) {
		refused := sentCalls(j.Subject, func(c *session.Call) bool { return c.ID != "" && !rules.FitsForm(j.Profile.IDForm(c.Server), c.ID) })
		long := sentCalls(j.Subject, func(c *session.Call) bool { return j.Profile.LongID > 0 && len(c.ID) > j.Profile.LongID })
		switch {
		case len(refused) > 0:
			reportIDs(p, j, refused, rules.Error, "%s %s an id that "+j.Profile.Title+" refuses: %s")
		case len(long) > 0:
			reportIDs(p, j, long, rules.Warning, "%s %s an id of more than "+strconv.Itoa(j.Profile.LongID)+" characters, which older models refuse: %s")
		}
	}),
}

// sentCalls are the calls of the next request that are chosen.
func sentCalls(s *rules.Subject, chosen func(*session.Call) bool) []pairing.Occurrence {
	var list []pairing.Occurrence
	for i, it := range s.SentItems() {
		for n := range it.Calls {
			if chosen(&it.Calls[n]) {
				list = append(list, pairing.Occurrence{Item: i, Nth: n})
			}
		}
	}
	return list
}

func reportIDs(p *rules.Pass, j rules.Judged, at []pairing.Occurrence, severity rules.Severity, message string) {
	f := findNames(p, j, at, severity, message, func(c *session.Call) string { return c.ID })
	f.Sent = quotedShort(sentID(j, j.CallAt(at[0]))) + " as the id of the first of these calls and of its result"
	p.Report(f)
}

// sentID is the id that an adapter sends for one that the provider does not take,
// or that it takes although it is long.
func sentID(j rules.Judged, c *session.Call) string {
	alike := sentCalls(j.Subject, func(other *session.Call) bool { return other.Server == c.Server })
	ids := lists.MapEach(alike, func(at pairing.Occurrence) string { return j.CallAt(at).ID })
	return rules.SentFor(j.Profile.IDForm(c.Server), c.ID, ids)
}

// findNames starts the one finding about calls of a session whose ids or names a
// provider does not take, or only its newer models do, which is a warning; the
// message is about the calls, the verb and the values.
func findNames(p *rules.Pass, j rules.Judged, at []pairing.Occurrence, severity rules.Severity, message string, value func(*session.Call) string) rules.Finding {
	f := p.FindCall(j.Subject, at[0], j.CallAt(at[0]).ID)
	f.Profile, f.Severity, f.Count = j.Profile, severity, len(at)
	f.Items = slices.Compact(lists.MapEach(at, func(o pairing.Occurrence) int { return o.Item }))
	var values []string
	seen := map[string]bool{}
	for _, o := range at {
		if v := value(j.CallAt(o)); !seen[v] {
			seen[v] = true
			values = append(values, quotedShort(v))
		}
	}
	const shown = 3
	if more := len(values) - shown; more > 0 {
		values = append(values[:shown], rules.CountedNoun(more, "other"))
	}
	f.Message = fmt.Sprintf(message, rules.CountedNoun(len(at), "call"), rules.VerbForm(len(at), "has", "have"), rules.JoinWords(values))
	if severity != rules.Error {
		return f // the table has the words of the newer models
	}
	said := j.CallSaid(j.Profile, at[0])
	said.N = len(value(j.CallAt(at[0])))
	f.ProviderError = j.Profile.ErrorText(p.Rule.ID, said)
	if server := p.Rule.ID + " server"; j.CallAt(at[0]).Server && j.Profile.Errors[server] != "" {
		f.ProviderError = j.Profile.ErrorText(server, said)
	}
	return f
}

// quotedShort quotes the beginning of a name, which may be of any length.
func quotedShort(name string) string {
	const enough = 64
	if runes := []rune(name); len(runes) > enough {
		return rules.QuoteText(string(runes[:enough])) + "…"
	}
	return rules.QuoteText(name)
}
