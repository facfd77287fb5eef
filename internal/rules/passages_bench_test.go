package rules_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
)

// BenchmarkPassages looks for the parent's history in prompts where it costs most: all
// children hold the same passage, which the parent says all the time, before it asks
// them or only afterwards. What a child costs must be about the same for many.
func BenchmarkPassages(b *testing.B) {
	rule := catalogue.FindRule("SC801")
	for _, when := range []string{"before", "behind"} {
		for _, children := range []int{500, 2000} {
			b.Run(fmt.Sprintf("%s/%d", when, children), func(b *testing.B) {
				tree := repeating(children, when == "before")
				b.ReportAllocs()
				for b.Loop() {
					rules.NewPass(&session.Store{}, tree, rules.Judge{}, func(*rules.Finding) {}).Run(rule)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*children), "ns/child")
			})
		}
	}
}

// repeating is a parent that says one thing again and again, and children that begin
// with it besides their goal.
func repeating(children int, before bool) *session.Tree {
	const chorus = "over and over "
	says := func(role session.Role, agent, text string) session.Item {
		return session.Item{Role: role, Shared: &session.Shared{Agent: agent}, Text: session.DigestOf(text), Meaning: session.DigestOf(agent + text), Body: &session.Body{Text: text}}
	}
	history := says(session.Assistant, "root", strings.Repeat(chorus, 10*children))
	parent := []session.Item{says(session.User, "", "go")}
	if before {
		parent = append(parent, history)
	}
	for n := range children {
		task := "goal " + strconv.Itoa(n)
		call := session.Call{ID: "T" + strconv.Itoa(n), Name: "transfer_task", Args: task, Delegation: &session.Delegation{
			Agent: "worker", Task: session.DigestOf(task), Child: "C" + strconv.Itoa(n), Blocking: true,
		}}
		parent = append(parent, session.Item{Role: session.Assistant, Shared: &session.Shared{Agent: "root"}, Calls: []session.Call{call}, Body: &session.Body{}})
	}
	if !before {
		parent = append(parent, history)
	}
	root := sessionOf(parent)
	tree := &session.Tree{Sessions: []*session.Session{root}}
	for n := range children {
		c := sessionOf([]session.Item{
			says(session.User, "", "goal "+strconv.Itoa(n)+" "+strings.Repeat(chorus, 40)), says(session.Assistant, "worker", "done"),
		})
		c.ID = "C" + strconv.Itoa(n)
		root.Children, tree.Sessions = append(root.Children, c), append(tree.Sessions, c)
	}
	return tree
}
