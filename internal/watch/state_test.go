package watch

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// found is a finding: its fingerprint, and a star for each item that it is about.
func found(word string) *check.Finding {
	name := strings.TrimRight(word, "*")
	f := &check.Finding{Fingerprint: name}
	f.Rule, f.Severity, f.Items = &rules.Rule{ID: "SC" + name}, rules.Error, make([]int, len(word)-len(name))
	return f
}

// looked is a look at trees: "root sub: finding finding". A root in brackets is in use.
func looked(whole bool, writer session.Writer, trees ...string) *Look {
	look := &Look{Store: &session.Store{Writer: writer}, Whole: whole, Own: whole}
	for _, text := range trees {
		ids, list, _ := strings.Cut(text, ":")
		words := strings.Fields(ids)
		t := Tree{Root: strings.Trim(words[0], "[]"), Subs: words[1:], InUse: words[0][0] == '['}
		for _, word := range strings.Fields(list) {
			t.Found = append(t.Found, found(word))
		}
		if t.Root == "store" {
			look.Itself = t.Found
		} else {
			look.Trees = append(look.Trees, t)
		}
	}
	return look
}

func told(events []Event) (words []string) {
	for _, e := range events {
		word := string(e.Kind)
		if e.Finding != nil {
			word += fmt.Sprintf(" %s%s", e.Finding.Fingerprint, strings.Repeat("*", len(e.Finding.Items)))
		}
		words = append(words, strings.TrimSpace(word+" "+e.Session))
	}
	return words
}

func TestLooksTellWhatIsNewAndGone(t *testing.T) {
	const dead, live = session.WriterDead, session.WriterLive
	tests := []struct {
		name  string
		first *Look
		then  *Look
		gone  []string
		want  []string
		left  string // fingerprints, sorted
	}{
		{"nothing", looked(true, dead, "a: 1"), looked(true, dead, "a: 1"), nil, nil, "1"},
		{"one more", looked(true, dead, "a: 1"), looked(true, dead, "a: 1 2"), nil, []string{"found 2"}, "1 2"},
		{"one gone", looked(true, dead, "a: 1 2"), looked(true, dead, "a: 2"), nil, []string{"gone 1"}, "2"},
		{"another part stays", looked(true, dead, "a: 1", "b: 2"), looked(false, dead, "b: 3"), nil, []string{"found 3", "gone 2"}, "1 3"},
		{"a whole look drops what is not there", looked(true, dead, "a: 1", "b: 2"), looked(true, dead, "b: 2"), nil, []string{"gone 1"}, "2"},
		{"a session is gone", looked(true, dead, "a: 1", "b: 2"), looked(false, dead), []string{"a"}, []string{"gone 1"}, "2"},
		{"about more", looked(true, dead, "a: 1*"), looked(false, dead, "a: 1**"), nil, []string{"worse 1**"}, "1"},
		{"about less", looked(true, dead, "a: 1**"), looked(false, dead, "a: 1*"), nil, nil, "1"},
		{"two of one fingerprint", looked(true, dead, "a: 1* 1*"), looked(false, dead, "a: 1* 1* 1*"), nil, []string{"found 1*"}, "1 1 1"},
		{"one of two is gone", looked(true, dead, "a: 1* 1**"), looked(false, dead, "a: 1**"), nil, []string{"gone 1*"}, "1"},
		{"a tree becomes a part of another", looked(true, dead, "a: 1", "b:"), looked(false, dead, "b a: 1"), nil, nil, "1"},
		{"a part becomes a tree", looked(true, dead, "b a: 1"), looked(true, dead, "a: 1", "b:"), nil, nil, "1"},
		{"the store itself", looked(true, dead, "store: 1"), looked(true, dead, "store: 2"), nil, []string{"found 2", "gone 1"}, "2"},
		{"not by a look at a part", looked(true, dead, "store: 1", "a:"), looked(false, dead, "a:"), nil, nil, "1"},
		{"in use", looked(true, dead, "a:"), looked(true, live, "a:"), nil, []string{"in-use"}, ""},
		{"a session in use", looked(true, dead, "a:"), looked(false, dead, "[a]:"), nil, []string{"in-use a"}, ""},
		{"and left", looked(true, live, "[a]:", "b:"), looked(false, dead, "a:"), nil, []string{"left a", "left"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &seen{}
			s.takeLook(tt.first, nil)
			if diff := cmp.Diff(tt.want, told(s.takeLook(tt.then, tt.gone))); diff != "" {
				t.Error(diff)
			}
			var left []string
			for _, f := range s.tally().Findings {
				left = append(left, f.Fingerprint)
			}
			slices.Sort(left)
			if got := strings.Join(left, " "); got != tt.left {
				t.Errorf("left: %q, want %q", got, tt.left)
			}
		})
	}
}
