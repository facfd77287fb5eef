package repair_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/store/canonical"
)

// reusedAndLate is a session with an id that comes back in a later turn (SC202)
// and a result that comes late (SC104).
const reusedAndLate = streamHeader + `{"type":"session","id":"P","agent":"root","model":"%s"}
{"type":"item","session":"P","kind":"message","role":"user","text":"q"}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","calls":[{"id":"a","name":"shell","args":"{}"}]}
{"type":"item","session":"P","kind":"message","role":"tool","agent":"root","results":[{"call":"a","text":"one"}]}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","calls":[{"id":"a","name":"shell","args":"{}"}]}
{"type":"item","session":"P","kind":"message","role":"user","text":"and hurry"}
{"type":"item","session":"P","kind":"message","role":"tool","agent":"root","results":[{"call":"a","text":"two"}]}
{"type":"item","session":"P","kind":"message","role":"assistant","agent":"root","text":"end"}
`

// What every provider that was asked accepts is no damage: it stays unless its
// rule was named.
func TestWhatTheProviderAcceptsStays(t *testing.T) {
	tests := []struct {
		name     string
		model    string // of the session
		profiles string // that were asked for
		rules    string // whose fixes are made, "" for all
		named    bool
		want     string // the rules of the fixes
	}{
		{name: "ids may come back", profiles: "kimi", want: "SC104"},
		{name: "results may come late", profiles: "openai-responses", want: "SC202"},
		{name: "by the session's own hint", model: "kimi-k2", want: "SC104"},
		{name: "one of two minds", profiles: "kimi,openai-responses", want: "SC202 SC104"},
		{name: "nobody knows", want: "SC202 SC104"},
		{name: "a named rule", profiles: "kimi", rules: "SC202", named: true, want: "SC202"},
		{name: "the beginning of its id", profiles: "kimi", rules: "SC2", named: true, want: "SC202"},
		{name: "another named rule", profiles: "kimi", rules: "SC104", named: true, want: "SC104"},
		{name: "all but one", profiles: "kimi", rules: "SC202", want: ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "in.ndjson")
			must(t, os.WriteFile(path, fmt.Appendf(nil, reusedAndLate, tt.model), 0o600))
			st, err := openStream(path)
			must(t, err)
			defer func() { _ = st.Close() }()
			opts := repair.Options{Named: tt.named, Prologue: canonical.Kind.Prologue}
			for name := range strings.SplitSeq(tt.profiles, ",") {
				if profile := rules.FindProfile(name); profile != nil {
					opts.Judge.Profiles = append(opts.Judge.Profiles, profile)
				}
			}
			if tt.rules != "" {
				opts.Rules, err = catalogue.SelectRules([]string{tt.rules}, nil)
				must(t, err)
			}
			plan, _, err := repair.MakePlan(context.Background(), st, opts)
			must(t, err)
			var got []string
			for _, tree := range plan.Trees {
				for _, f := range tree.Fixes {
					got = append(got, f.Rule)
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got fixes of %v, want %s", got, tt.want)
			}
			left := 0
			for _, f := range plan.Findings {
				if f.Rule.ID == "SC104" || f.Rule.ID == "SC202" {
					left++
				}
			}
			if opts.Rules == nil && len(got)+left != 2 {
				t.Errorf("%d fixes and %d findings that are left, want 2 together", len(got), left)
			}
		})
	}
}
