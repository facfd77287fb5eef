package rules_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/branch"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// labelled draws a session of agents on random branches.
func labelled(t *rapid.T, segments ...string) *session.Session {
	s := &session.Session{ID: "P"}
	label := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(segments), 0, 4).Draw(t, "segments"), ".")
	})
	for n := rapid.IntRange(0, 12).Draw(t, "items"); n > 0; n-- {
		it := session.Item{
			Shared: &session.Shared{Table: "items", Agent: "root", Branch: label.Draw(t, "branch"), Invocation: rapid.SampledFrom([]string{"1", "2"}).Draw(t, "run")}, Key: fmt.Sprint(n), Role: session.Assistant, Text: 1,
		}
		if rapid.IntRange(0, 5).Draw(t, "user") == 0 {
			it.Role, it.Own().Agent = session.User, ""
		}
		s.Items = append(s.Items, it)
	}
	return s
}

// foundBy are the items that each finding of a rule names.
func foundBy(store *session.Store, s *session.Session, rule string) [][]int {
	var items [][]int
	for _, f := range findAll(store, []*session.Tree{{Sessions: []*session.Session{s}}}) {
		if f.Rule.ID == rule {
			items = append(items, f.Items)
		}
	}
	return items
}

func sees(viewer, event string) bool {
	visible, _ := branch.Path{}.Visible(branch.Viewer{Label: viewer}, branch.Event{Label: event})
	return visible
}

// TestGapsAreWhatLaterAgentsCannotSee asks of every event and every agent that ran
// behind it.
func TestGapsAreWhatLaterAgentsCannotSee(t *testing.T) {
	check(t, func(t *rapid.T) {
		segments := [][]string{{"p", "a", "b"}, {"p1", "p2", "a", "b@1", ""}}
		s := labelled(t, rapid.SampledFrom(segments).Draw(t, "names")...)
		store := &session.Store{Reader: session.Reader{ForeignText: rapid.Bool().Draw(t, "foreign text")}}
		paired := !slices.ContainsFunc(s.Items, func(it session.Item) bool { return retoldText(&it) && strings.Count(it.Branch(), ".")%2 == 0 })
		var want []int
		for x := range s.Items {
			for y := x + 1; y < len(s.Items); y++ {
				if gap(s, x, y, paired, store.ForeignText) {
					want = append(want, x)
					break
				}
			}
		}
		if diff := cmp.Diff(want, slices.Concat(foundBy(store, s, "SC713")...)); diff != "" {
			t.Errorf("hidden events: want (-), got (+):\n%s%s", diff, branchesOf(s))
		}
	})
}

// retoldText reports whether a gap is looked for behind an item.
func retoldText(it *session.Item) bool {
	return it.Role == session.Assistant && it.Branch() != "" && !strings.Contains(it.Branch(), "@") && !slices.Contains(strings.Split(it.Branch(), "."), "")
}

func gap(s *session.Session, x, y int, paired, foreign bool) bool {
	a, b := &s.Items[x], &s.Items[y]
	if !retoldText(a) || !retoldText(b) || a.Invocation() != b.Invocation() || sees(b.Branch(), a.Branch()) {
		return false
	}
	if sees(a.Branch(), b.Branch()) {
		return foreign
	}
	from, to := strings.Split(a.Branch(), "."), strings.Split(b.Branch(), ".")
	depth := 0
	for from[depth] == to[depth] {
		depth++
	}
	if paired {
		return depth%2 == 0 || again(s, x, y, from[:depth])
	}
	if depth == len(from)-1 || depth == len(to)-1 {
		return false
	}
	below := func(it *session.Item, path []string) bool {
		return retoldText(it) && it.Invocation() == a.Invocation() && strings.HasPrefix(it.Branch(), strings.Join(path[:depth+1], ".")+".")
	}
	for i := range s.Items {
		if i > y && below(&s.Items[i], from) || i < x && below(&s.Items[i], to) {
			return false
		}
		for j := range i {
			if below(&s.Items[i], from) && below(&s.Items[j], to) {
				return false
			}
		}
	}
	return true
}

// again reports whether a parallel agent ran more than once from one event to
// another: something of the level on which it stands came between.
func again(s *session.Session, x, y int, parallel []string) bool {
	level, inside := strings.Join(parallel[:len(parallel)-1], "."), strings.Join(parallel, ".")+"."
	for z := x + 1; z < y; z++ {
		it := &s.Items[z]
		speaks := retoldText(it) || it.Role == session.Assistant && it.Branch() == ""
		if speaks && it.Invocation() == s.Items[x].Invocation() && sees(it.Branch(), level) && (it.Branch() != "" || level == "") && !strings.HasPrefix(it.Branch(), inside) {
			return true
		}
	}
	return false
}

// TestPrefixPairsAreFoundInAnyOrder compares every two labels.
func TestPrefixPairsAreFoundInAnyOrder(t *testing.T) {
	check(t, func(t *rapid.T) {
		s := labelled(t, "a", "a!", "aa", "a-b", "b", "a@1", "a@11")
		store := &session.Store{}
		if rapid.Bool().Draw(t, "older readers") {
			store.PrefixReaders = "older readers"
		}
		var ambiguous []int
		leaked := map[string]bool{}
		for x, a := range s.Items {
			pair, leak := false, map[string][]int{}
			for y, b := range s.Items {
				if !beginsWithin(b.Branch(), a.Branch()) {
					continue
				}
				key := a.Branch() + " " + b.Branch()
				pair = true
				for z, c := range s.Items {
					if store.PrefixReaders != "" && c.Branch() == a.Branch() && z < y && b.Role == session.Assistant && !slices.Contains(leak[key], z) {
						leak[key] = append(leak[key], z)
					}
				}
				if leak[key] == nil {
					leak[key] = []int{}
				}
			}
			quiet := false
			for key, items := range leak {
				slices.Sort(items)
				if len(items) > 0 {
					leaked[fmt.Sprint(key, items)] = true
				} else {
					quiet = true
				}
			}
			if pair && quiet {
				ambiguous = append(ambiguous, x)
			}
		}
		if diff := cmp.Diff(ambiguous, slices.Concat(foundBy(store, s, "SC711")...)); diff != "" {
			t.Errorf("ambiguous items: want (-), got (+):\n%s%s", diff, branchesOf(s))
		}
		if got := len(foundBy(store, s, "SC722")); got != len(leaked) {
			t.Errorf("%d pairs leaked, want %v\n%s", got, leaked, branchesOf(s))
		}
	})
}

// beginsWithin reports whether a label begins with another's text and ends it
// within a segment that is no numbered run.
func beginsWithin(long, short string) bool {
	if short == "" || !strings.HasPrefix(long, short) || sees(long, short) {
		return false
	}
	return !strings.Contains(strings.Split(long, ".")[strings.Count(short, ".")], "@")
}

// TestPatternsAreWhatLikeReadsOtherwise filters as SQLite does.
func TestPatternsAreWhatLikeReadsOtherwise(t *testing.T) {
	check(t, func(t *rapid.T) {
		s := labelled(t, "a_b", "aXb", "axb", "_", "é", "A_B", "c%", `d\`, "dd", "B")
		var want []int
		for i, it := range s.Items {
			odd := strings.ContainsAny(it.Branch(), `%\`)
			for _, other := range s.Items {
				// What is below the other branch is asked, too.
				odd = odd || it.Branch() != "" && other.Branch() != "" &&
					like(other.Branch()+".", it.Branch()+".%") && other.Branch() != it.Branch() && !strings.HasPrefix(other.Branch(), it.Branch()+".")
			}
			if odd {
				want = append(want, i)
			}
		}
		got := slices.Concat(foundBy(&session.Store{Reader: session.Reader{LikeFilter: true}}, s, "SC724")...)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("want (-), got (+):\n%s%s", diff, branchesOf(s))
		}
	})
}

// like is LIKE of SQLite, which has no escape and overlooks case.
func like(text, pattern string) bool {
	pattern = regexp.QuoteMeta(pattern)
	pattern = strings.NewReplacer("_", ".", "%", ".*").Replace(pattern)
	return regexp.MustCompile(`(?is)^` + pattern + `$`).MatchString(text)
}

func branchesOf(s *session.Session) string {
	var b strings.Builder
	for i := range s.Items {
		fmt.Fprintf(&b, "%d %s %q run %s\n", i, s.Items[i].Role, s.Items[i].Branch(), s.Items[i].Invocation())
	}
	return b.String()
}

// TestARepairOfBranchesSettles holds that a second repair finds nothing to do.
func TestARepairOfBranchesSettles(t *testing.T) {
	check(t, func(t *rapid.T) {
		s := labelled(t, "orch", "orchestra", "root", "")
		s.Agents = []string{"root", "orchestra"}
		for i := range s.Items {
			if s.Items[i].Agent() != "" {
				s.Items[i].Own().Agent = rapid.SampledFrom([]string{"root", "orchestra"}).Draw(t, "agent")
			}
			if rapid.IntRange(0, 4).Draw(t, "summary") == 0 {
				s.Items[i].Kind, s.Items[i].Role, s.Items[i].Own().Agent = session.Summary, session.NoRole, ""
			}
		}
		store := &session.Store{Reader: session.Reader{RootSummaries: rapid.Bool().Draw(t, "root summaries")}}
		fixed := func(f *rules.Finding) bool {
			return slices.ContainsFunc(f.Fixes, func(fix rules.Fix) bool { return len(fix.Edits) > 0 && (f.Rule.ID == "SC710" || f.Rule.ID == "SC712") })
		}
		after, _ := repaired(t, store, &session.Tree{Sessions: []*session.Session{s}})
		if left := slices.DeleteFunc(findAll(store, []*session.Tree{after}), func(f *rules.Finding) bool { return !fixed(f) }); len(left) > 0 {
			t.Errorf("a repair leaves:\n%s%s", messages(left), branchesOf(after.Root()))
		}
	})
}
