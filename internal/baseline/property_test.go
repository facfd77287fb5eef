package baseline_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/baseline"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
)

var severities = []rules.Severity{rules.Info, rules.Warning, rules.Error}

// run are the results of a run over a few stores. Each finding of a store has its
// own fingerprint; stores share fingerprints, as copies of a store do, and names.
func run(t *rapid.T) []*check.Result {
	paths := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a.db", "b.db", "x/a.db", "/srv/x/a.db", "y/x/b.db"}), 1, 3, rapid.ID).Draw(t, "stores")
	var results []*check.Result
	for _, path := range paths {
		r := &check.Result{Store: &session.Store{Path: path}}
		for n := range rapid.IntRange(0, 5).Draw(t, "findings") {
			r.Findings = append(r.Findings, finding(t, fmt.Sprintf("%016x", n)))
		}
		results = append(results, r)
	}
	return results
}

func finding(t *rapid.T, fingerprint string) *check.Finding {
	f := &check.Finding{
		Defect: rules.Defect{
			Rule:     rapid.SampledFrom(catalogue.All).Draw(t, "rule"),
			Severity: rapid.SampledFrom(severities).Draw(t, "severity"),
			Count:    rapid.IntRange(0, 3).Draw(t, "count"),
			Items:    make([]int, rapid.IntRange(0, 3).Draw(t, "items")),
			Message:  rapid.String().Draw(t, "message"),
		},
		Fingerprint: fingerprint,
	}
	if rapid.Bool().Draw(t, "in a session") {
		f.Session, f.Root = "child", &check.Head{ID: "root"}
	}
	return f
}

// everything is a run that looks at all there is.
var everything = baseline.Looked{Rules: catalogue.All, Deep: true, Texts: true, Itself: true}

// written writes the findings and reads them again.
func written(t *rapid.T, results []*check.Result) *baseline.File {
	file, err := baseline.Decode(encodeJSON(t, results))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func encodeJSON(t *rapid.T, results []*check.Result) []byte {
	var out bytes.Buffer
	if err := baseline.New(baseline.Tool{Name: "sessctl", Version: "1.2.3"}, results).Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// compared compares a run with a file: how many findings it knows, how many it does
// not know, and how many of its entries are gone.
func compared(file *baseline.File, results []*check.Result) (known, fresh, gone int) {
	var paths []string
	for _, r := range results {
		paths = append(paths, r.Store.Path)
	}
	c := baseline.NewComparison(file, paths)
	for _, r := range results {
		c.CompareStore(r, everything)
		fresh += len(check.FreshFindings(r.Findings))
	}
	return c.Known, fresh, c.CountGone()
}

func count(results []*check.Result) int {
	n := 0
	for _, r := range results {
		n += len(r.Findings)
	}
	return n
}

// chosen is a store with findings, nil where no store has any.
func chosen(t *rapid.T, results []*check.Result) *check.Result {
	with := slices.DeleteFunc(slices.Clone(results), func(r *check.Result) bool { return len(r.Findings) == 0 })
	if len(with) == 0 {
		return nil
	}
	return rapid.SampledFrom(with).Draw(t, "store")
}

func TestEverythingWrittenIsKnownAndNothingGone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		results := run(t)
		file := written(t, results)
		if known, fresh, gone := compared(file, results); known != count(results) || fresh != 0 || gone != 0 {
			t.Errorf("of %d findings %d are known, %d are new, %d are gone", count(results), known, fresh, gone)
		}
		if c := baseline.NewComparison(file, nil); c.CountOpen() != count(results) {
			t.Errorf("%d of %d entries are open before anything was looked at", c.CountOpen(), count(results))
		}
	})
}

func TestOneFindingLessIsOneGone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		results := run(t)
		file := written(t, results)
		r := chosen(t, results)
		if r == nil {
			t.Skip("no findings")
		}
		at := rapid.IntRange(0, len(r.Findings)-1).Draw(t, "finding")
		r.Findings = slices.Delete(r.Findings, at, at+1)
		if known, fresh, gone := compared(file, results); known != count(results) || fresh != 0 || gone != 1 {
			t.Errorf("of %d findings %d are known, %d are new, %d are gone", count(results), known, fresh, gone)
		}
	})
}

func TestOneFindingMoreIsOneNew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		results := run(t)
		file := written(t, results)
		r := rapid.SampledFrom(results).Draw(t, "store")
		r.Findings = append(r.Findings, finding(t, "another"))
		if known, fresh, gone := compared(file, results); known != count(results)-1 || fresh != 1 || gone != 0 {
			t.Errorf("of %d findings %d are known, %d are new, %d are gone", count(results), known, fresh, gone)
		}
	})
}

func TestAFindingThatGotWorseIsNewAndNotGone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		results := run(t)
		file := written(t, results)
		r := chosen(t, results)
		if r == nil {
			t.Skip("no findings")
		}
		f := rapid.SampledFrom(r.Findings).Draw(t, "finding")
		was := f.Extent()
		if f.Severity < rules.Error && rapid.Bool().Draw(t, "worse") {
			f.Severity++
		} else {
			f.Count = was.Items + 1
		}
		known, fresh, gone := compared(file, results)
		if known != count(results)-1 || fresh != 1 || gone != 0 {
			t.Errorf("of %d findings %d are known, %d are new, %d are gone", count(results), known, fresh, gone)
		}
		if f.Was == nil || *f.Was != was {
			t.Errorf("the baseline knows it as %v, and it says %v", was, f.Was)
		}
	})
}

func TestTheSameFindingsMakeTheSameFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		results := run(t)
		first := encodeJSON(t, results)
		again := rapid.Permutation(results).Draw(t, "stores")
		for _, r := range again {
			r.Findings = rapid.Permutation(r.Findings).Draw(t, "findings")
		}
		if second := encodeJSON(t, again); !bytes.Equal(first, second) {
			t.Errorf("first\n%s\nthen\n%s", first, second)
		}
	})
}
