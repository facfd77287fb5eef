package baseline_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/baseline"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
)

// inSession is a finding of a session, ofStore one of a store itself.
func inSession(fingerprint, rule, root string) *check.Finding {
	return &check.Finding{Defect: rules.Defect{Rule: catalogue.FindRule(rule), Severity: rules.Warning, Items: []int{1, 2}, Place: session.Place{Session: root}}, Fingerprint: fingerprint, Root: &check.Head{ID: root}}
}

func ofStore(fingerprint, rule string) *check.Finding {
	return &check.Finding{Defect: rules.Defect{Rule: catalogue.FindRule(rule), Severity: rules.Error, Message: "it is damaged"}, Fingerprint: fingerprint}
}

func result(path string, findings ...*check.Finding) *check.Result {
	return &check.Result{Store: &session.Store{Path: path}, Findings: findings}
}

var tool = baseline.Tool{Name: "sessctl", Version: "1.2.3"}

func TestTheFileHasOneFindingALine(t *testing.T) {
	var out bytes.Buffer
	err := baseline.New(tool, []*check.Result{
		result("b.db", ofStore("f3", "SC001")),
		result("c.db"),
		result("a.db", inSession("f2", "SC701", "R2"), inSession("f1", "SC701", "R1"), inSession("f0", "SC101", "R1")),
	}).Write(&out)
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "schema": "sessctl.baseline/1",
  "tool": {"name":"sessctl","version":"1.2.3"},
  "stores": [
    "a.db",
    "b.db",
    "c.db"
  ],
  "findings": [
    {"fingerprint":"f0","rule":"SC101","severity":"warning","store":"a.db","root":"R1","session":"R1","items":2,"message":""},
    {"fingerprint":"f1","rule":"SC701","severity":"warning","store":"a.db","root":"R1","session":"R1","items":2,"message":""},
    {"fingerprint":"f2","rule":"SC701","severity":"warning","store":"a.db","root":"R2","session":"R2","items":2,"message":""},
    {"fingerprint":"f3","rule":"SC001","severity":"error","store":"b.db","items":0,"message":"it is damaged"}
  ]
}
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhereAFindingIsKnown(t *testing.T) {
	tests := []struct {
		name    string
		written []*check.Result
		now     *check.Result
		known   bool
	}{
		{"a session, wherever its store lies", []*check.Result{result("old/a.db", inSession("f", "SC701", "R"))}, result("/new/b.db", inSession("f", "SC701", "R")), true},
		{"a store, in another folder", []*check.Result{result("old/a.db", ofStore("f", "SC001"))}, result("/new/a.db", ofStore("f", "SC001")), true},
		{"another store", []*check.Result{result("a.db", ofStore("f", "SC001"))}, result("b.db", ofStore("f", "SC001")), false},
		{"a store of the same name, of which nothing was written",
			[]*check.Result{result("x/a.db", ofStore("f", "SC001")), result("y/a.db", ofStore("g", "SC002"))}, result("/srv/x/a.db", ofStore("f", "SC001")), true},
	}
	for _, tt := range tests {
		c := baseline.NewComparison(baseline.New(tool, tt.written), []string{tt.now.Store.Path})
		c.CompareStore(tt.now, everything)
		if got := tt.now.Findings[0].Known; got != tt.known {
			t.Errorf("%s: known is %v", tt.name, got)
		}
	}
}

// TestEachStoreHasItsOwnEntries: an entry stands for one finding of one store.
func TestEachStoreHasItsOwnEntries(t *testing.T) {
	f := func(rule string) *check.Finding { return inSession("f", rule, "R") }
	tests := []struct {
		name    string
		written []*check.Result
		now     []*check.Result
		known   []int // findings of each store
	}{
		{"the other store is damaged", []*check.Result{result("one.db", f("SC701")), result("two.db")}, []*check.Result{result("one.db"), result("two.db", f("SC701"))}, []int{0, 0}},
		{"the other store of one name", []*check.Result{result("x/s.db", ofStore("f", "SC003")), result("y/s.db")},
			[]*check.Result{result("x/s.db", ofStore("f", "SC003")), result("y/s.db", ofStore("f", "SC003"))}, []int{1, 0}},
		{"the other store, alone and elsewhere", []*check.Result{result("x/s.db", f("SC701")), result("y/s.db")}, []*check.Result{result("/ci/y/s.db", f("SC701"))}, []int{0}},
		{"a copy", []*check.Result{result("one.db", f("SC701"))}, []*check.Result{result("one.db", f("SC701")), result("copy.db", f("SC701"))}, []int{1, 0}},
		{"a copy, and the store has another name", []*check.Result{result("one.db", f("SC701"))}, []*check.Result{result("new.db", f("SC701")), result("copy.db", f("SC701"))}, []int{1, 0}},
		{"one of several has another name", []*check.Result{result("one.db"), result("two.db", f("SC701"))}, []*check.Result{result("one.db"), result("new.db", f("SC701"))}, []int{0, 1}},
		{"a finding more with the same fingerprint", []*check.Result{result("one.db", f("SC701"))}, []*check.Result{result("one.db", f("SC701"), f("SC701"))}, []int{1}},
		{"the store itself, with another name", []*check.Result{result("one.db", ofStore("f", "SC001"), f("SC701"))}, []*check.Result{result("new.db", ofStore("f", "SC001"), f("SC701"))}, []int{1}},
	}
	for _, tt := range tests {
		var paths []string
		for _, r := range tt.now {
			paths = append(paths, r.Store.Path)
		}
		c := baseline.NewComparison(baseline.New(tool, tt.written), paths)
		for i, r := range tt.now {
			c.CompareStore(r, everything)
			if got := len(r.Findings) - len(check.FreshFindings(r.Findings)); got != tt.known[i] {
				t.Errorf("%s: %d findings of %s are known, want %d", tt.name, got, r.Store.Path, tt.known[i])
			}
		}
	}
}

// TestAFindingThatCountsMoreIsNew: what a finding counts and does not name counts, too.
func TestAFindingThatCountsMoreIsNew(t *testing.T) {
	was, is := ofStore("f", "SC003"), ofStore("f", "SC003")
	was.Count, is.Count = 2, 3
	file := baseline.New(tool, []*check.Result{result("a.db", was)})
	for _, f := range []*check.Finding{was, is} {
		baseline.NewComparison(file, []string{"a.db"}).CompareStore(result("a.db", f), everything)
	}
	if !was.Known || is.Known || is.Was == nil || is.Was.Items != 2 {
		t.Errorf("of 2: known is %v; of 3: known is %v, and the baseline knows %v", was.Known, is.Known, is.Was)
	}
}

// TestWhatIsGone writes a finding of each kind and looks for them in a store that has
// none: in how much of it decides what is gone.
func TestWhatIsGone(t *testing.T) {
	written := []*check.Result{
		result("a.db", ofStore("f1", "SC001"), inSession("f2", "SC701", "R1"), inSession("f3", "SC003", "R2"), inSession("f4", "SC801", "R2")),
		result("b.db", inSession("f5", "SC701", "R9")),
	}
	with := func(change func(*baseline.Looked)) baseline.Looked {
		looked := everything
		change(&looked)
		return looked
	}
	tests := []struct {
		name   string
		store  string
		roots  []*check.Head
		looked baseline.Looked
		gone   int
	}{
		{"all of it", "/srv/a.db", nil, everything, 4},
		{"another store", "c.db", nil, everything, 0},
		{"not to its end", "a.db", nil, with(func(l *baseline.Looked) { l.Broken = true }), 0},
		{"some rules", "a.db", nil, with(func(l *baseline.Looked) { l.Rules = []*rules.Rule{catalogue.FindRule("SC701")} }), 1},
		{"not deep", "a.db", nil, with(func(l *baseline.Looked) { l.Deep = false }), 3},
		{"without texts", "a.db", nil, with(func(l *baseline.Looked) { l.Texts = false }), 3},
		{"some sessions", "a.db", []*check.Head{{ID: "R2"}}, with(func(l *baseline.Looked) { l.Part, l.Itself = true, false }), 2},
		{"no session", "a.db", nil, with(func(l *baseline.Looked) { l.Part = true }), 1},
	}
	for _, tt := range tests {
		c := baseline.NewComparison(baseline.New(tool, written), []string{tt.store})
		now := result(tt.store)
		now.Roots = tt.roots
		c.CompareStore(now, tt.looked)
		if c.CountGone() != tt.gone || c.CountOpen() != 5-tt.gone {
			t.Errorf("%s: %d are gone and %d are open, want %d gone of 5", tt.name, c.CountGone(), c.CountOpen(), tt.gone)
		}
	}
	c := baseline.NewComparison(baseline.New(tool, written), []string{"a.db"})
	incomplete := result("a.db")
	incomplete.Incomplete = "a page is damaged"
	if c.CompareStore(incomplete, everything); c.CountGone() != 0 {
		t.Errorf("%d are gone from a store that is incomplete", c.CountGone())
	}
}

func TestWrongFiles(t *testing.T) {
	const entry = `{"fingerprint":"f","rule":"SC701","severity":"error","store":"a.db","items":1,"message":""}`
	tests := []struct{ name, text, want string }{
		{"empty", " \n", "it is empty"},
		{"no JSON", "{\n<<<<<<< HEAD\n", "line 2 is not valid JSON"},
		{"cut off", "{\n\"schema\":\"sessctl.baseline/1\",\n\"findings\":[", "line 3 is not valid JSON"},
		{"a list", "[]", "line 1 is not of the form sessctl.baseline/1"},
		{"another type", "{\"schema\":\"sessctl.baseline/1\",\n\"findings\":[{\"items\":\"two\"}]}", "line 2 is not of the form sessctl.baseline/1"},
		{"no schema", "{}", "it has no schema"},
		{"a report", `{"schema":"sessctl.check/1"}`, `its schema is "sessctl.check/1", not "sessctl.baseline/1"`},
		{"a later one", `{"schema":"sessctl.baseline/2","findings":{}}`, `a later version of sessctl wrote it, in the form "sessctl.baseline/2"`},
		{"a strange one", `{"schema":"sessctl.baseline/x"}`, `there is no version "sessctl.baseline/x" of it`},
		{"no fingerprint", `{"schema":"sessctl.baseline/1","findings":[` + entry + `,{"severity":"error"}]}`, "entry 2 has no fingerprint"},
		{"a severity that is none", strings.Replace(`{"schema":"sessctl.baseline/1","findings":[`+entry+`]}`, `"error"`, `"fatal"`, 1), `entry 1 has the severity "fatal"`},
	}
	path := filepath.Join(t.TempDir(), "baseline.json")
	for _, tt := range tests {
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := baseline.Read(path)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want %q and the path", tt.name, err, tt.want)
		}
		if problem.ClassOf(err) != problem.Usage {
			t.Errorf("%s: its class is %d", tt.name, problem.ClassOf(err))
		}
	}
	for _, missing := range []string{filepath.Join(path, "..", "other.json"), filepath.Dir(path)} {
		if _, err := baseline.Read(missing); problem.ClassOf(err) != problem.Usage {
			t.Errorf("%s: got %v", missing, err)
		}
	}
}

func TestUnknownKeysArePassedOver(t *testing.T) {
	file, err := baseline.Decode([]byte(`{"schema":"sessctl.baseline/1","why":"known since March","findings":[
		{"fingerprint":"f","severity":"warning","items":2,"ticket":[4711]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	now := result("any.db", inSession("f", "SC701", "R"))
	baseline.NewComparison(file, []string{"any.db"}).CompareStore(now, everything)
	if !now.Findings[0].Known {
		t.Error("the finding is not known")
	}
}

// FuzzDecode: whatever is in a file, it is refused with a sentence or can be used and
// written again.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"schema":"sessctl.baseline/1","stores":["c.db",""],"findings":[{"fingerprint":"f","rule":"SC701","severity":"info","store":"a\\b/c.db","items":-1}]}`))
	f.Add([]byte(`{"schema":"sessctl.baseline/99999999999999999999"}`))
	f.Add([]byte("{\"schema\":\"sessctl.baseline/1\",\"findings\":[{\"fingerprint\":\"\xff\",\"severity\":\"error\"}]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := baseline.Decode(data)
		if err != nil {
			if err.Error() == "" || strings.HasSuffix(err.Error(), ".") {
				t.Errorf("the error is %q", err)
			}
			return
		}
		baseline.NewComparison(file, []string{"c.db"}).CompareStore(result("c.db", inSession("f", "SC701", "R")), everything)
		var out bytes.Buffer
		if err := file.Write(&out); err != nil {
			t.Fatal(err)
		}
		again, err := baseline.Decode(out.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if len(again.Stores) != len(file.Stores) {
			t.Errorf("%d stores, and %d when written again", len(file.Stores), len(again.Stores))
		}
		if len(again.Findings) != len(file.Findings) {
			t.Errorf("%d entries, and %d when written again", len(file.Findings), len(again.Findings))
		}
	})
}
