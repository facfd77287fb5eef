package view_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
	"github.com/sessctl/sessctl/internal/view"
)

// finding is one of a rule that depends on the provider, as Mistral judges it.
func finding(rule string, severity rules.Severity, err, sent string, items ...int) *check.Finding {
	return &check.Finding{
		Defect: rules.Defect{
			Rule:   &rules.Rule{ID: rule, Name: "name", Profiled: true},
			Items:  items,
			Sent:   sent,
			Judged: []rules.Judgement{{Profile: rules.FindProfile("mistral"), Severity: severity, Error: err}},
			Place:  session.Place{Session: "P"},
		},
	}
}

// objected is the request to Mistral of a session that ends in a result, with
// the findings.
func objected(t *testing.T, store session.Store, findings ...*check.Finding) *view.Request {
	t.Helper()
	tree := treetest.Tree(t, "P\n  user\n  root abcdefgh1()\n  root <abcdefgh1")
	store.Title = "my runtime"
	return view.BuildView(view.Input{
		Store: &store, Tree: tree, Findings: append([]*check.Finding{}, findings...), Session: "P", Request: true, Judge: judgeOf("mistral"),
	}).Request
}

// The verdict is on what is stored: an adapter's adjustment is said besides.
func TestObjections(t *testing.T) {
	const refused = "Unexpected role 'user' after role 'tool'"
	adapts := session.Store{Requests: session.Requests{Adapts: map[string]string{"SC305": "puts an answer between them"}}}
	tests := []struct {
		name     string
		store    session.Store
		findings []*check.Finding
		mark     string // item 2's
		verdict  []string
		words    string // about the adjustment
	}{
		{name: "nothing", verdict: []string{"The next request would be accepted."}},
		{
			name: "an adapter has to see to it", findings: []*check.Finding{finding("SC305", rules.Error, refused, "a one-word answer between them", 2)},
			mark: " ~", verdict: []string{"The next request would be rejected as it is stored: " + refused, "An adapter for mistral can send it with 1 adjustment (marked ~)."},
			words: "SC305 an adapter for mistral has to send a one-word answer between them; as stored it is refused with: " + refused,
		},
		{
			name: "an adapter should", findings: []*check.Finding{finding("SC305", rules.Warning, "", "a one-word answer between them", 2)},
			mark: " ~", verdict: []string{
				"The next request would be accepted.",
				"Some models or servers of mistral may refuse it: SC305",
				"An adapter for mistral can send it with 1 adjustment (marked ~).",
			},
			words: "SC305 an adapter for mistral should send a one-word answer between them; as stored some models or servers refuse it",
		},
		{
			name: "an adapter may", findings: []*check.Finding{finding("SC305", rules.Info, "", "a one-word answer between them", 2)},
			mark: " ~", verdict: []string{"The next request would be accepted."},
			words: "SC305 an adapter for mistral may send a one-word answer between them",
		},
		{
			name: "the runtime does", store: adapts, findings: []*check.Finding{finding("SC305", rules.Info, "", "a one-word answer between them", 2)},
			mark: " ~", verdict: []string{"The next request would be accepted after 1 adjustment, which my runtime makes by itself."},
			words: "SC305 my runtime puts an answer between them",
		},
		{
			name: "both", store: adapts,
			findings: []*check.Finding{
				finding("SC305", rules.Info, "", "a one-word answer between them", 2), finding("SC203", rules.Error, "", "another id", 1, 2),
			},
			mark: " ~", verdict: []string{
				"The next request would be rejected as it is stored: SC203 (the error text of mistral is not known)",
				"An adapter for mistral can send it with 1 adjustment (marked ~); my runtime makes 1 more by itself.",
			},
		},
		{
			name: "nothing else can be sent", findings: []*check.Finding{finding("SC303", rules.Error, "No thinking", "", 2)},
			mark: " !", verdict: []string{"The next request would be rejected: No thinking"},
		},
		{
			name: "in words that nobody knows", findings: []*check.Finding{finding("SC303", rules.Error, "", "", 2)},
			mark: " !", verdict: []string{"The next request would be rejected: SC303 (the error text of mistral is not known)"},
		},
		{
			name: "some would refuse it", findings: []*check.Finding{finding("SC604", rules.Warning, "too large", "")},
			verdict: []string{"The next request would be accepted.", "Some models or servers of mistral may refuse it: too large"},
		},
		{
			name: "worth knowing", findings: []*check.Finding{finding("SC205", rules.Info, "", "", 2)},
			verdict: []string{"The next request would be accepted."},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := objected(t, tt.store, tt.findings...)
			if got, want := requestLines(r)[3], "2 2 tool"+tt.mark; got != want {
				t.Errorf("%q, want %q", got, want)
			}
			if diff := cmp.Diff(tt.verdict, r.Verdict()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if tt.words == "" {
				return
			}
			if got := r.Parts[3].Adjusted[0].Words(r); got != tt.words {
				t.Errorf("%q, want %q", got, tt.words)
			}
		})
	}
}

// What is about the request as a whole stands at its first part, and what is
// about history stands nowhere.
func TestPlacesOfObjections(t *testing.T) {
	whole := objected(t, session.Store{}, finding("SC307", rules.Error, "no user", ""))
	if lines := requestLines(whole); lines[0] != "- - system !" {
		t.Errorf("%q", lines)
	}
	tree := treetest.Tree(t, "P\n  user\n  summary \"s\"\n  user")
	r := view.BuildView(view.Input{
		Store: &session.Store{}, Tree: tree, Session: "P", Request: true, Judge: judgeOf("mistral"),
		Findings: []*check.Finding{finding("SC303", rules.Error, "No thinking", "", 0)},
	}).Request
	if r.FirstRefusal() != nil {
		t.Errorf("history is refused: %+v", r.FirstRefusal())
	}
}

// Whatever a runtime sees to by itself is shown too, when nobody named a
// profile and the check is silent about it.
func TestAskedWithoutAProfile(t *testing.T) {
	r := built(t, treetest.Tree(t, "P model=claude-opus-4-1\n  user\n  root blank\n  user")).Request
	const want = "SC401 docker agent leaves blank messages out"
	p := &r.Parts[2]
	if len(p.Adjusted) != 1 || p.Adjusted[0].Words(r) != want || !p.Unsent {
		t.Errorf("%+v, want %s", p.Adjusted, want)
	}
}

// What a runtime sees to for some providers is said of those only.
func TestAdaptedForSomeProfiles(t *testing.T) {
	store := session.Store{Requests: session.Requests{Adapts: map[string]string{"SC305 mistral": "puts an answer between them"}}}
	found := finding("SC305", rules.Info, "", "", 2)
	r := objected(t, store, found)
	if a := r.Parts[3].Adjusted; len(a) != 1 || !a[0].Runtime || r.Eased != 1 {
		t.Errorf("%+v", a)
	}
	store.Adapts = map[string]string{"SC305 kimi": "puts an answer between them"}
	found.Sent = "a one-word answer between them"
	if a := objected(t, store, found).Parts[3].Adjusted; len(a) != 1 || a[0].Runtime {
		t.Errorf("%+v", a)
	}
}

// A result within its call's message is refused once, where it is refused at all.
func TestResultWithinItsCallsMessage(t *testing.T) {
	for profile, want := range map[string][][]string{
		"anthropic":        {{"SC108"}},
		"bedrock":          {{"SC108"}},
		"generic":          nil,
		"gemini":           nil,
		"openai-responses": nil,
	} {
		tree := treetest.Tree(t, "P\n  user\n  root A() <A\n  user")
		tree.Root().Items[1].Role = session.Assistant
		r := builtFor(t, tree, judgeOf(profile)).Request
		var got [][]string
		for i := range r.Parts {
			for _, refused := range r.Parts[i].Rejected {
				got = append(got, refused.Rules)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", profile, diff)
		}
		if refusal := r.FirstRefusal(); refusal != nil && refusal.Error == "" {
			t.Errorf("%s: no words", profile)
		}
		if r.Masking == nil || len(r.Masking.Invented) != 1 || r.Masking.Dropped != nil {
			t.Errorf("%s: docker agent sees no result there, whoever gets the request: %+v", profile, r.Masking)
		}
	}
}

// A blank message that nobody leaves out is sent, and refused.
func TestBlankMessageIsRefused(t *testing.T) {
	tree := treetest.Tree(t, "P model=claude-opus-4-1\n  user\n  root blank\n  user")
	r := view.BuildView(view.Input{Store: &session.Store{Title: "my runtime"}, Tree: tree, Session: "P", Request: true}).Request
	p := &r.Parts[2]
	if p.Unsent || p.Role != "assistant" || len(p.Rejected) != 1 || !slices.Contains(p.Rejected[0].Rules, "SC401") {
		t.Errorf("%+v", p)
	}
}

// Ids that the provider does not take get others, the same at the call and at
// its result; the view keeps the stored ones.
func TestRenamings(t *testing.T) {
	r := builtFor(t, treetest.Tree(t, "P\n  user\n  root read.0()\n  root <read.0"), judgeOf("mistral")).Request
	call, result := &r.Parts[2], &r.Parts[3]
	if len(call.Renamed) != 1 || len(result.Renamed) != 1 || call.Renamed[0] != result.Renamed[0] {
		t.Fatalf("%+v, %+v", call.Renamed, result.Renamed)
	}
	if got := call.Renamed[0]; got.From != "read.0" || len(got.To) != 9 || call.Row.Calls[0].ID != "read.0" {
		t.Errorf("%+v", got)
	}
	if said := strings.Join(r.Verdict(), " "); !strings.Contains(said, "rejected as it is stored") || !strings.Contains(said, "can send it with 2 adjustments") {
		t.Errorf("%q", said)
	}
}

// What is encrypted is sent, whatever it says; what does not decode beside it is not.
func TestEncryptedMessagesAreSent(t *testing.T) {
	tree := treetest.Tree(t, "P\n  user\n  root \"a\"\n  root \"b\"")
	s := tree.Root()
	s.Items[1].Kind, s.Items[2].Kind = session.Other, session.Other
	s.Faults = append(s.Faults, session.Fault{Kind: session.SchemaUnknown, Item: -1, Count: 1, Harmless: true}, session.Fault{Kind: session.Undecodable, Item: 2, Detail: "no JSON"})
	r := built(t, tree).Request
	sealed, broken := &r.Parts[2], &r.Parts[3]
	if sealed.Unsent || sealed.Row.Label != "an encrypted message" || !broken.Unsent {
		t.Errorf("%+v, %+v", sealed, broken)
	}
}
