package adk

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

const corpus = "../../../../shared/corpus/adk"

// dump makes a database of a recorded dump.
func dump(t *testing.T, name string) string {
	t.Helper()
	script, err := os.ReadFile(filepath.Join(corpus, name))
	if err != nil {
		t.Skip("the shared corpus is not beside this checkout (../shared/corpus/adk)")
	}
	return database(t, string(script))
}

func TestRecordedDatabases(t *testing.T) {
	for _, tc := range []struct {
		name, generation string
		sessions, items  int
	}{
		{"adk-go-v1.5.0-observed.sqlite.sql", "G1", 1, 3},
		{"adk-go-v2.2.0-observed.sqlite.sql", "G2", 11, 62},
		{"adk-go-v2.2.0-observed-interrupted.sqlite.sql", "G2", 2, 7},
	} {
		t.Run(tc.name, func(t *testing.T) {
			facts, sessions := read(t, dump(t, tc.name))
			items := 0
			for _, s := range sessions {
				items += len(s.Items)
				for _, f := range s.Faults {
					t.Errorf("%s: %+v", s.ID, f)
				}
				for i := range s.Items {
					if s.Items[i].Kind != session.Message {
						t.Errorf("%s: item %d is a %s", s.ID, i, s.Items[i].Kind)
					}
				}
			}
			if facts.Generation != tc.generation || len(sessions) != tc.sessions || items != tc.items || len(facts.Faults) > 0 || facts.ReadOnly != "" {
				t.Errorf("got %d sessions with %d items, facts %+v", len(sessions), items, facts)
			}
		})
	}
}

// TestRecordedSessions prints recorded sessions as the model has them.
func TestRecordedSessions(t *testing.T) {
	_, sessions := read(t, dump(t, "adk-go-v2.2.0-observed.sqlite.sql"))
	for id, want := range map[string]string{
		"s-seqpar": `message/user text=go
message/assistant agent=a branch=p1.a text=A says
message/assistant agent=b branch=p1.b text=B says
message/assistant agent=e branch=p2.e text=E says
message/assistant agent=d branch=p2.d text=D says
message/assistant agent=r text=R says`,
		"s-lr": `message/user text=x
message/assistant agent=root call(ID approve {"Q":"1"} waits)
message/tool agent=root result(ID approve {"status":"pending"})
message/assistant agent=root text=waiting
message/user text=hi?
message/assistant agent=root text=hello again`,
		"s-toolerr": `message/user text=x
message/assistant agent=root call(ID slow {"Q":"1"})
message/tool agent=root result(ID slow {"error":"context canceled"} error)`,
		"s-xfer": `message/user text=pay
message/assistant agent=root call(ID transfer_to_agent {"agent_name":"billing"})
message/tool agent=root result(ID transfer_to_agent )
message/assistant agent=billing text=billing here
message/user text=more
message/assistant agent=billing text=again billing`,
	} {
		var lines []string
		for i := range sessions[id].Items {
			it := sessions[id].Items[i]
			it.Own().Invocation = ""
			for n := range it.Calls {
				it.Calls[n].ID = "ID"
			}
			for n := range it.Results {
				it.Results[n].CallID = "ID"
			}
			lines = append(lines, outline(it, nil))
		}
		if got := strings.Join(lines, "\n"); got != want {
			t.Errorf("%s is\n%s", id, got)
		}
	}
}
