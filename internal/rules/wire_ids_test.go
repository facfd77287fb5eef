package rules_test

import (
	"regexp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/rules"
)

func TestWireIDsLeaveWhatFits(t *testing.T) {
	sent := rules.FindProfile("anthropic").WireIDs([]string{"a.b", "a:b", "a_b", "toolu_1"}, false)
	if sent["a_b"] != "a_b" || sent["toolu_1"] != "toolu_1" {
		t.Errorf("ids that fit were changed: %v", sent)
	}
	if !regexp.MustCompile(`^a_b_[0-9a-f]{8}$`).MatchString(sent["a.b"]) || sent["a.b"] == sent["a:b"] {
		t.Errorf("a.b, a:b and a_b are %v", sent)
	}
}

func TestWireIDsOfToolsThatTheProviderRan(t *testing.T) {
	sent := rules.FindProfile("anthropic").WireIDs([]string{"srvtoolu_1", "ws-1", "ws_1"}, true)
	form := regexp.MustCompile(`^srvtoolu_[a-zA-Z0-9_]+$`)
	for id, name := range sent {
		if !form.MatchString(name) || id == "srvtoolu_1" && name != id {
			t.Errorf("%q is sent as %q", id, name)
		}
	}
}

// TestWireNamesKeepConversationsApart: whatever ids or names a conversation has,
// each one gets a form that the provider takes, and no two the same.
func TestWireNamesKeepConversationsApart(t *testing.T) {
	wild := rapid.OneOf(rapid.StringMatching(`[a-c.:_é ]{0,4}`), rapid.StringN(0, 90, -1), rapid.StringMatching(`[a-z]{9}`))
	check(t, func(rt *rapid.T) {
		p := rapid.SampledFrom(rules.Profiles).Draw(rt, "profile")
		ids := rapid.SliceOfN(wild, 1, 20).Draw(rt, "ids")
		// what another conversation would have been sent may be an id of this one
		sent := p.WireIDs(ids, false)
		for _, id := range slices.Clone(ids) {
			if rapid.Bool().Draw(rt, "taken") {
				ids = append(ids, sent[id])
			}
		}
		wireMap(rt, p.CallID, ids, p.WireIDs(ids, false))
		wireMap(rt, p.ToolName, ids, p.WireNames(ids))
	})
}

func wireMap(t *rapid.T, form *rules.Form, texts []string, sent map[string]string) {
	var names []string
	for _, text := range texts {
		name, known := sent[text]
		fits := rules.FitsForm(form, text)
		if !known || fits && name != text || !rules.FitsForm(form, name) {
			t.Fatalf("%q is sent as %q", text, name)
		}
	}
	for _, name := range sent {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != len(sent) {
		t.Fatalf("two of %q are sent as one: %q", texts, sent)
	}
}
