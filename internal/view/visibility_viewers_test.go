package view_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/view"
)

// Spring AI Session stores no names of agents: there, a branch says who runs on it.
func TestAgentsThatOnlyBranchesName(t *testing.T) {
	nameless := strings.NewReplacer(`"agent":"a",`, "", `"agent":"user",`, "").Replace(stream(byPath, `user -
		a orch
		a orch.researcher
		a p.q.researcher
		a researchers
		user orch.researcher`))
	tests := []struct {
		name, stream, agent string
		want                []string
	}{
		{"the last segment is the agent", nameless, "researcher", []string{"orch.researcher researcher 4", "p.q.researcher researcher 2"}},
		{"a branch of one segment", nameless, "orch", []string{"orch orch 2"}},
		{"a name that is stored goes before", stream(byPath, "b orch.a\na orch.b"), "a", []string{"orch.b a 1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, v := range look(t, read(t, tt.stream), view.Question{Agent: tt.agent}).Viewers {
				got = append(got, fmt.Sprint(v.Branch, " ", v.Agent, " ", v.Sees[0]))
			}
			if strings.Join(got, ", ") != strings.Join(tt.want, ", ") {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Sets are no names; a question for somebody else is answered with the names that there are.
func TestNamesThatBranchesGive(t *testing.T) {
	nameless := strings.ReplaceAll(stream(byPath, "a -\na orch.researcher\na {\"tokens\":[1]}"), `"agent":"a",`, "")
	_, err := view.BuildVisibility(read(t, nameless), view.Question{Agent: "writer"})
	p, ok := errors.AsType[*problem.Error](err)
	if !ok || p.Next != "Its agents: researcher." {
		t.Errorf("got %+v", err)
	}
}
