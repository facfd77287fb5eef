package canonical_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/canonical"
	"github.com/sessctl/sessctl/internal/store/forest"
	"github.com/sessctl/sessctl/internal/treetest"
)

// What a store's own adapter and the reader of its export may say differently:
// row keys, positions, the stored bytes, and the value of a Meaning.
var sameOutlines = cmp.Options{
	treetest.AlikeShared, cmpopts.IgnoreFields(session.Shared{}, "Table"), cmpopts.IgnoreFields(session.Item{}, "Key", "Position", "Meaning"),
	cmpopts.IgnoreFields(session.Body{}, "Raw"),
	cmpopts.IgnoreFields(session.Session{}, "Raw", "Children", "Faults"),
	cmpopts.EquateEmpty(),
}

// sameStream compares all that a stream says; rows are numbered anew where
// lines were left out.
var sameStream = cmp.Options{
	treetest.AlikeShared, cmpopts.IgnoreFields(session.Item{}, "Key"),
	cmpopts.IgnoreFields(session.Fault{}, "Ref", "Detail"), // row and line
	cmpopts.EquateEmpty(),
}

// Reading an exported store gives the outlines and bodies of the store.
func TestExportOfAnotherStore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawStore(t)
		trees := group(list)
		if ambiguous(list) {
			t.Skip("the trees depend on the order in which sessions are stored")
		}
		text := hashLine(t, canonical.Header{Kind: "other"}, trees, canonical.WriteOptions{})
		st := openStream(t, text)
		if f := showFaults(st.Facts().Faults); f != "" {
			t.Fatalf("faults: %s in\n%s", f, text)
		}
		read := filled(t, st)
		countSignatures(trees)
		countSignatures(read)
		if diff := cmp.Diff(trees, read, sameOutlines); diff != "" {
			t.Fatalf("(-store +export):\n%s\n%s", diff, text)
		}
		if again := export(t, st, canonical.WriteOptions{}); again != text {
			t.Fatalf("exported again:\n%s\nbefore:\n%s", again, text)
		}
	})
}

// countSignatures replaces signatures by numbers: where the record does not have
// the text of one, the export has another.
func countSignatures(trees []*session.Tree) {
	numbers := map[session.Digest]session.Digest{0: 0}
	for _, tree := range trees {
		for _, s := range tree.Sessions {
			for i := range s.Items {
				for j := range s.Items[i].Blocks {
					signature := &s.Items[i].Blocks[j].Signature
					if _, known := numbers[*signature]; !known {
						numbers[*signature] = session.Digest(len(numbers))
					}
					*signature = numbers[*signature]
				}
			}
		}
	}
}

// ambiguous reports whether the place of a session in its tree depends on the
// stored order, which an export replaces by the order of the tree: parents in a
// loop are cut at the first of them, and a session without a recorded parent
// belongs to the first that refers to it. Nothing is lost, but the trees differ.
func ambiguous(list []*session.Session) bool {
	referrers := map[string]map[string]bool{}
	for _, s := range list {
		for _, f := range s.Faults {
			if f.Kind == session.ParentCycle {
				return true
			}
		}
		for i := range s.Items {
			if c := s.Items[i].Child(); c != "" {
				if referrers[c] == nil {
					referrers[c] = map[string]bool{}
				}
				referrers[c][s.ID] = true
			}
		}
	}
	for _, from := range referrers {
		if len(from) > 1 {
			return true
		}
	}
	return false
}

func group(list []*session.Session) []*session.Tree {
	heads := make([]forest.Head, len(list))
	for i, s := range list {
		heads[i] = forest.HeadOf(s)
	}
	return forest.GroupHeads(heads)
}

// A redacted export has the outlines of the export: they differ in digests only,
// and the same things are equal to each other.
func TestRedactedExport(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawStore(t)
		trees := group(list)
		if ambiguous(list) {
			t.Skip("items are counted in the order of the trees")
		}
		plain := openStream(t, hashLine(t, canonical.Header{}, trees, canonical.WriteOptions{}))
		direct := hashLine(t, canonical.Header{}, trees, canonical.WriteOptions{Redact: true})
		viaStream := export(t, plain, canonical.WriteOptions{Redact: true})
		want, wantTasks := shape(filled(t, plain))
		for _, text := range []string{direct, viaStream} {
			got, gotTasks := shape(filled(t, openStream(t, text)))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("(-plain +redacted):\n%s\n%s", diff, text)
			}
			after := map[int]int{}
			redacted := equalities(filled(t, openStream(t, text)))
			for i, n := range equalities(filled(t, plain)) {
				if m, seen := after[n]; seen && m != redacted[i] {
					t.Fatalf("texts that were equal differ:\n%s", text)
				}
				after[n] = redacted[i]
			}
			for pair := range wantTasks {
				if !gotTasks[pair] {
					t.Fatalf("%v handed the same task, and no longer:\n%s", pair, text)
				}
			}
		}
	})
}

// shape writes outlines without what redaction changes, and lists which
// sessions and calls have the same task.
func shape(trees []*session.Tree) (lines []string, sameTask map[[2]string]bool) {
	tasks := map[session.Digest][]string{}
	task := func(d session.Digest, owner string) bool {
		if d != 0 {
			tasks[d] = append(tasks[d], owner)
		}
		return d != 0
	}
	for _, tree := range trees {
		for _, s := range tree.Sessions {
			lines = append(lines, fmt.Sprintf("session %q < %q %q %q %q %d %d %v %v %v %d %t %t %q", s.ID, s.Parent, s.App, s.Agent, s.Model,
				len(s.User), len(s.Title), s.Created, s.Updated, task(s.Task, s.ID), s.Thinking, s.Unstored, s.Forked, s.Agents))
			for i := range s.Items {
				lines = append(lines, shapeItem(&s.Items[i]))
				for j, c := range s.Items[i].Calls {
					if c.Delegation != nil {
						lines = append(lines, fmt.Sprint(c.Delegation.Agent, c.Delegation.Child, c.Delegation.Blocking,
							task(c.Delegation.Task, fmt.Sprint(s.ID, ":", i, ":", j))))
					}
				}
			}
		}
	}
	sameTask = map[[2]string]bool{}
	for _, owners := range tasks {
		for _, a := range owners {
			for _, b := range owners {
				sameTask[[2]string{a, b}] = true
			}
		}
	}
	return lines, sameTask
}

func shapeItem(it *session.Item) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %v %v %b %d %v %q %q %q %q %q %d size %d", it.Key, it.Kind, it.Role, it.Flags, it.Position, it.Time,
		it.Agent(), it.Model(), it.Branch(), it.Invocation(), it.Child(), it.KeptFrom(), it.Size)
	fmt.Fprintf(&b, " text %v %d reasoning %d", it.Text != 0, len(it.Body.Text), len(it.Body.Reasoning))
	for _, c := range it.Calls {
		fmt.Fprintf(&b, " call %q %q %d %d %t", c.ID, c.Name, len(c.Args), c.Form, c.Server)
	}
	for _, r := range it.Results {
		fmt.Fprintf(&b, " result %q %q %d %v %v %v %v %v", r.CallID, r.Name, len(r.Text), r.IsError, r.Synthetic, r.Pending, r.Null, r.Server)
	}
	for _, block := range it.Blocks {
		fmt.Fprintf(&b, " block %v %d %q %q %d text %t signed %t %t %t %t %dx%d %t %q %q %d %t %d", block.Kind, block.Nth, block.ID, block.With, len(block.Name),
			block.Text != 0, block.Signature != 0, block.Unsigned, block.Blank, block.Cached, block.Width, block.Height,
			block.Empty, block.Media, block.Is, block.Bytes, block.Broken, block.In)
	}
	return b.String()
}
