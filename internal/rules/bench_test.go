package rules_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
)

// BenchmarkShapes runs all rules over sessions of the shapes that cost most, at
// two lengths: what an item costs must be about the same at both.
func BenchmarkShapes(b *testing.B) {
	for _, shape := range []struct {
		name string
		long int
		make func(items int) *session.Session
	}{
		{"orphan results", 20_000, orphans},
		{"unknown parts", 20_000, unknownParts},
		{"one id in one turn", 12_000, oneTurn},
		{"calls without an id", 20_000, nameless},
		{"ten ids and late results", 100_000, lateResults},
		{"healthy", 100_000, healthy},
	} {
		for _, items := range []int{shape.long / 5, shape.long} {
			tree := &session.Tree{Sessions: []*session.Session{shape.make(items)}}
			for _, profile := range []string{"generic", "anthropic"} {
				b.Run(fmt.Sprintf("%s/%d/%s", shape.name, items, profile), func(b *testing.B) {
					judge := rules.Judge{Profiles: []*rules.Profile{rules.FindProfile(profile)}}
					for b.Loop() {
						findFor(&session.Store{Writer: session.WriterDead}, []*session.Tree{tree}, judge)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*items), "ns/item")
				})
			}
		}
	}
}

// BenchmarkRules runs each rule alone over a healthy session.
func BenchmarkRules(b *testing.B) {
	tree := &session.Tree{Sessions: []*session.Session{healthy(100_000)}}
	judge := rules.Judge{Profiles: []*rules.Profile{rules.FindProfile("generic")}}
	for _, r := range catalogue.All {
		if r.Run == nil {
			continue
		}
		b.Run(r.ID, func(b *testing.B) {
			pass := rules.NewPass(&session.Store{}, tree, judge, func(*rules.Finding) {})
			for b.Loop() {
				pass.Run(r)
			}
		})
	}
}

// sessionOf is a session of messages, in the order given.
func sessionOf(items []session.Item) *session.Session {
	s := &session.Session{ID: "P", Items: items}
	for i := range items {
		items[i].Own().Table, items[i].Key, items[i].Position = "items", strconv.Itoa(i), int64(i)
	}
	return s
}

func says(role session.Role) session.Item {
	return session.Item{Role: role, Text: session.DigestOf("so")}
}

func callsTool(ids ...string) session.Item {
	it := session.Item{Role: session.Assistant, Shared: &session.Shared{Agent: "root"}}
	for _, id := range ids {
		it.Calls = append(it.Calls, session.Call{ID: id, Name: "shell"})
	}
	return it
}

func answers(id string) session.Item {
	text := session.DigestOf("done")
	return session.Item{Role: session.Tool, Shared: &session.Shared{Agent: "root"}, Text: text, Results: []session.Result{{CallID: id, Digest: text}}}
}

// healthy is questions, calls with their results, and answers.
func healthy(items int) *session.Session {
	var list []session.Item
	for len(list) < items {
		id := fmt.Sprintf("toolu_%08d", len(list))
		list = append(list, says(session.User), callsTool(id), answers(id), says(session.Assistant))
	}
	return sessionOf(list)
}

// orphans is results of calls that nobody made.
func orphans(items int) *session.Session {
	list := []session.Item{says(session.User)}
	for len(list) < items {
		list = append(list, answers("gone_"+strconv.Itoa(len(list))))
	}
	return sessionOf(list)
}

// unknownParts is messages with a part of an unknown type; a fault tells of every
// second one.
func unknownParts(items int) *session.Session {
	s := sessionOf(make([]session.Item, items))
	for i := range s.Items {
		it := &s.Items[i]
		it.Role, it.Blocks = session.User, []session.Block{{Kind: session.UnknownBlock, Name: "hologram"}}
		if i%2 == 0 {
			s.Faults = append(s.Faults, session.Fault{Kind: session.UnknownPart, Ref: s.ItemRef(i), Item: i, Field: "hologram"})
		}
	}
	return s
}

// oneTurn is one message of calls that share an id, with their results.
func oneTurn(items int) *session.Session {
	list := []session.Item{says(session.User), callsTool(repeat("c1", items/2)...)}
	for range items / 2 {
		list = append(list, answers("c1"))
	}
	return sessionOf(list)
}

// nameless is one message of calls without an id, and calls without an id in
// messages of their own with a result each.
func nameless(items int) *session.Session {
	list := []session.Item{says(session.User), callsTool(repeat("", items/2)...)}
	for len(list) < items/2 {
		list = append(list, says(session.User), callsTool(""), answers(""))
	}
	return sessionOf(list)
}

// lateResults is calls with ids that come back all the time, each answered two
// messages too late.
func lateResults(items int) *session.Session {
	var list []session.Item
	for len(list) < items {
		id := "shell:" + strconv.Itoa(len(list)/3%10)
		list = append(list, callsTool(id), says(session.User), answers(id))
	}
	return sessionOf(list)
}

func repeat(id string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = id
	}
	return list
}
