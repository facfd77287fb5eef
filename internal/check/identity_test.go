package check_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// TestFingerprintsOfFaults: which faults are the same to a baseline.
func TestFingerprintsOfFaults(t *testing.T) {
	first := session.Fault{Kind: session.BadMetadata, Item: -1, Ref: session.Ref{Table: "sessions", Key: "P"}, Field: "permissions"}
	orphans := session.Fault{Kind: session.OrphanRecord, Item: -1, Ref: session.Ref{Session: "gone", Table: "items", Key: "1"}, Count: 3}
	tests := []struct {
		name   string
		fault  session.Fault
		change func(*session.Fault)
		same   bool
	}{
		{"another text", first, func(f *session.Fault) { f.Detail = "it is no JSON" }, true},
		{"another field of the record", first, func(f *session.Fault) { f.Field = "attributes" }, false},
		{"another record", first, func(f *session.Fault) { f.Ref.Key = "Q" }, false},
		{"the first of the orphans is gone", orphans, func(f *session.Fault) { f.Ref.Key, f.Count = "5", 2 }, true},
		{"orphans of another session", orphans, func(f *session.Fault) { f.Ref.Session = "lost" }, false},
	}
	for _, tt := range tests {
		changed := tt.fault
		tt.change(&changed)
		if got := faultOf(t, tt.fault).Fingerprint == faultOf(t, changed).Fingerprint; got != tt.same {
			t.Errorf("%s: the same is %v", tt.name, got)
		}
	}
	if found := faultOf(t, orphans); found.Count != 3 || found.Extent().Items != 3 || found.Row != "items/1" {
		t.Errorf("got %+v", found)
	}
}

// faultOf is the finding about a fault of a store.
func faultOf(t *testing.T, f session.Fault) *check.Finding {
	t.Helper()
	r := run(t, &memory{facts: session.Store{Condition: session.Condition{Faults: []session.Fault{f}}}}, check.Options{})
	if len(r.Findings) != 1 {
		t.Fatalf("%d findings", len(r.Findings))
	}
	return r.Findings[0]
}

// TestFingerprintsOfStreams: where keys are places in the store, what stands before a
// session does not change its findings, and another item of it has another.
func TestFingerprintsOfStreams(t *testing.T) {
	found := func(before, item string) *check.Finding {
		st := &memory{facts: session.Store{Keys: session.Keys{CountsKeys: true}}, trees: treetest.Trees(t, "P\n  user\n  root <z1\n  root <z2\n  root \"ok\"")}
		for i := range st.trees[0].Root().Items {
			it := &st.trees[0].Root().Items[i]
			it.Key = before + it.Key
		}
		for _, f := range run(t, st, check.Options{Rules: []*rules.Rule{catalogue.FindRule("SC103")}}).Findings {
			if f.Call == item {
				return f
			}
		}
		t.Fatal("no finding")
		return nil
	}
	first, behind, other := found("1", "z1"), found("2", "z1"), found("1", "z2")
	if first.Fingerprint != behind.Fingerprint {
		t.Error("the fingerprint is another one behind other items")
	}
	if first.Fingerprint == other.Fingerprint {
		t.Error("another item has the same fingerprint")
	}
	if first.Identity() == behind.Identity() {
		t.Error("within a store, keys tell records apart")
	}
}

// TestTheFirstOfAGroupDoesNotNameIt: deleting it does not make the rest new.
func TestTheFirstOfAGroupDoesNotNameIt(t *testing.T) {
	of := func(positions ...int64) string {
		trees := treetest.Trees(t, "P\n  user\n  root \"a\"\n  root \"b\"\n  root \"c\"")
		for i, p := range positions {
			trees[0].Root().Items[i].Position = p
		}
		r := run(t, &memory{trees: trees}, check.Options{Rules: []*rules.Rule{catalogue.FindRule("SC011")}})
		if len(r.Findings) != 1 {
			t.Fatalf("%d findings", len(r.Findings))
		}
		return r.Findings[0].Fingerprint
	}
	if of(1, 1, 1, 4) != of(1, 2, 2, 4) {
		t.Error("it has another fingerprint")
	}
}
