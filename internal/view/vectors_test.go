package view_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// checkStart compares an error with the beginning of the one that is expected.
func checkStart(t *testing.T, got, want string) {
	t.Helper()
	if !strings.HasPrefix(got, want) || (got == "") != (want == "") {
		t.Errorf("error %q, want %q", got, want)
	}
}

// pairingRules are what the verdict on calls and results is about.
var pairingRules = []string{"SC101", "SC102", "SC103", "SC104", "SC105", "SC106", "SC107", "SC112"}

type vector struct {
	ID, Encoding, Mode string
	Messages           json.RawMessage
	Expect             map[string]struct{ Verdict, Rule, Confidence string }
}

// The verdict on the neutral conversations is the one that was collected for
// every provider, as far as it is about calls and results and the evidence is
// firm.
func TestVectors(t *testing.T) {
	for _, vec := range readVectors(t) {
		for profile, want := range vec.Expect {
			judged := want.Verdict == "accept" || want.Verdict == "reject" && slices.Contains(pairingRules, want.Rule)
			if vec.Encoding != "neutral" || want.Confidence == "low" || !judged {
				continue
			}
			t.Run(vec.ID+" "+profile, func(t *testing.T) {
				judge := rules.Judge{Profiles: []*rules.Profile{rules.FindProfile(profile)}, AsIs: vec.Mode == "as-is"}
				r := builtFor(t, &session.Tree{Sessions: []*session.Session{vectorSession(t, vec.Messages)}}, judge).Request
				if refusal := r.FirstRefusal(); (refusal == nil) != (want.Verdict == "accept") {
					t.Errorf("refused with %+v, want %s", refusal, want.Verdict)
				}
			})
		}
	}
}

func readVectors(t *testing.T) []vector {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "vectors", "provider.json"))
	if os.IsNotExist(err) {
		t.Skip("the shared vectors are not beside this checkout (../shared/vectors/provider.json)")
	}
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Vectors []vector }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file.Vectors
}

func vectorSession(t *testing.T, data json.RawMessage) *session.Session {
	t.Helper()
	var messages []struct {
		Role, Text string
		Calls      []struct{ ID, Name, Args string }
		Results    []struct {
			ID, Text                  string
			Error, Synthetic, Pending bool
		}
	}
	if err := json.Unmarshal(data, &messages); err != nil {
		t.Fatal(err)
	}
	s := &session.Session{ID: "P"}
	for i, m := range messages {
		it := session.Item{
			Shared: &session.Shared{Table: "items", Agent: "root"}, Key: strconv.Itoa(i), Role: session.ParseRole(m.Role),
			Text: session.DigestOf(m.Text), Body: &session.Body{Text: m.Text},
		}
		for _, c := range m.Calls {
			it.Calls = append(it.Calls, session.Call{ID: c.ID, Name: c.Name, Args: c.Args})
		}
		for _, r := range m.Results {
			it.Results = append(it.Results, session.Result{
				CallID: r.ID, Text: r.Text, Digest: session.DigestOf(r.Text), IsError: r.Error, Synthetic: r.Synthetic, Pending: r.Pending,
			})
		}
		s.Items = append(s.Items, it)
	}
	return s
}
