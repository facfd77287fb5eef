package rules

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/session"
)

var idFormat = Rule{
	ID: "SC203", Name: "id-format", Severity: Error, Safety: None, Scope: PerTree, Profiled: true, Wire: true, Since: "0.1.0",
	Title: "ids of calls have a form that the provider refuses",
	Run: func(p *Pass) {
		for j := range p.judged() {
			refused := j.sentCalls(func(c *session.Call) bool { return c.ID != "" && !fits(j.Profile.idForm(c.Server), c.ID) })
			long := j.sentCalls(func(c *session.Call) bool { return j.Profile.LongID > 0 && len(c.ID) > j.Profile.LongID })
			switch {
			case len(refused) > 0:
				reportIDs(p, j, refused, Error, "%s %s an id that "+j.Profile.Title+" does not take: %s")
			case len(long) > 0:
				reportIDs(p, j, long, Warning, "%s %s an id that "+fmt.Sprintf("older models refuse, of more than %d characters", j.Profile.LongID)+": %s")
			}
		}
	},
}

// sentCalls are the calls of the next request that are chosen.
func (s *Subject) sentCalls(chosen func(*session.Call) bool) []pairing.Occurrence {
	var list []pairing.Occurrence
	for i, it := range s.sent() {
		for n := range it.Calls {
			if chosen(&it.Calls[n]) {
				list = append(list, pairing.Occurrence{Item: i, Nth: n})
			}
		}
	}
	return list
}

func reportIDs(p *Pass, j Judged, at []pairing.Occurrence, severity Severity, message string) {
	f := p.findNames(j, at, severity, message, func(c *session.Call) string { return c.ID })
	f.Sent = quotedShort(j.sentID(j.call(at[0]))) + " as the id of the first of these calls and of its result"
	p.Report(f)
}

// sentID is the id that an adapter sends for one that the provider does not take,
// or that it takes although it is long.
func (j Judged) sentID(c *session.Call) string {
	var ids []string
	for _, at := range j.sentCalls(func(other *session.Call) bool { return other.Server == c.Server }) {
		ids = append(ids, j.call(at).ID)
	}
	return sentFor(j.Profile.idForm(c.Server), c.ID, ids)
}

// findNames starts the one finding about calls of a session whose ids or names a
// provider does not take, or only its newer models do, which is a warning; the
// message is about the calls, the verb and the values.
func (p *Pass) findNames(j Judged, at []pairing.Occurrence, severity Severity, message string, value func(*session.Call) string) Finding {
	f := p.findCall(j.Subject, at[0], j.call(at[0]).ID)
	f.Profile, f.Severity, f.Items = j.Profile, severity, nil
	f.Count = len(at)
	var values []string
	seen := map[string]bool{}
	for _, o := range at {
		if n := len(f.Items); n == 0 || f.Items[n-1] != o.Item {
			f.Items = append(f.Items, o.Item)
		}
		if v := value(j.call(o)); !seen[v] {
			seen[v] = true
			values = append(values, quotedShort(v))
		}
	}
	const shown = 3
	if more := len(values) - shown; more > 0 {
		values = append(values[:shown], count(more, "other"))
	}
	f.Message = fmt.Sprintf(message, count(len(at), "call"), verb(len(at), "has", "have"), list(values))
	if severity != Error {
		return f // the table has the words of the newer models
	}
	said := j.callSaid(j.Profile, at[0])
	said.N = len(value(j.call(at[0])))
	f.ProviderError = j.Profile.Error(p.rule.ID, said)
	if server := p.rule.ID + " server"; j.call(at[0]).Server && j.Profile.Errors[server] != "" {
		f.ProviderError = j.Profile.Error(server, said)
	}
	return f
}

// quotedShort quotes the beginning of a name, which may be of any length.
func quotedShort(name string) string {
	const enough = 64
	if runes := []rune(name); len(runes) > enough {
		return quoted(string(runes[:enough])) + "…"
	}
	return quoted(name)
}
