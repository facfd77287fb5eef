package repair_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/canonical"
	"github.com/sessctl/sessctl/internal/store/registry"
)

const streamHeader = `{"type":"header","format":"sessctl.canonical/1","writer":"dead"}` + "\n"

// fataler is what the helpers need of *testing.T and *rapid.T.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func must(t fataler, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// streamRepair is a stream that was repaired into a new file.
type streamRepair struct {
	plan    *repair.Plan
	found   *check.Result
	receipt *repair.Receipt // nil when there was nothing to do
	out     string          // the new file's text; that of the stream when there was nothing to do
}

// kept lists everything that left the stream, as text.
func (r *streamRepair) kept() string {
	var b strings.Builder
	if r.receipt != nil {
		for _, batch := range r.receipt.Batches {
			for _, k := range batch.Kept {
				b.WriteString(k.Text + string(k.Base64) + "\n")
			}
		}
	}
	return b.String()
}

// repairStream plans the repair of a stream and writes the new file.
func repairStream(t fataler, text string, judge rules.Judge) *streamRepair {
	t.Helper()
	r, err := tryStream(text, judge)
	must(t, err)
	return r
}

func tryStream(text string, judge rules.Judge) (*streamRepair, error) {
	return tryStreamWith(text, repair.Options{Judge: judge})
}

func tryStreamWith(text string, opts repair.Options) (*streamRepair, error) {
	folder, err := os.MkdirTemp("", "stream-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path, out := filepath.Join(folder, "in.ndjson"), filepath.Join(folder, "out.ndjson")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, err
	}
	st, err := openStream(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = st.Close() }()
	ctx := context.Background()
	r := &streamRepair{out: text}
	opts.Prologue = canonical.Kind.Prologue
	r.plan, r.found, err = repair.MakePlan(ctx, st, opts)
	if err != nil || r.plan.IsEmpty() {
		return r, err
	}
	a := repair.Apply{Receipt: filepath.Join(folder, "receipt.json"), Prologue: canonical.Kind.Prologue}
	if r.receipt, err = a.Output(ctx, canonical.Kind, st, r.plan, out); err != nil {
		return r, fmt.Errorf("%w\nafter %s", err, fixesOf(r.plan))
	}
	if before, err := os.ReadFile(path); err != nil || string(before) != text {
		return r, fmt.Errorf("the stream itself was changed (%v)", err)
	}
	written, err := os.ReadFile(out)
	r.out = string(written)
	return r, err
}

func openStream(path string) (store.Store, error) {
	opened, err := registry.Open(context.Background(), path, "canonical", nil, store.Options{})
	if err != nil {
		return nil, err
	}
	return opened.Store, nil
}

// readStream reads all sessions of a stream with their bodies, by id.
func readStream(t fataler, text string) map[string]*session.Session {
	t.Helper()
	st, err := canonical.Kind.Open(context.Background(), &store.Source{
		Path: "stream", Stream: strings.NewReader(text), Bytes: int64(len(text)),
	}, store.Options{})
	must(t, err)
	sessions := map[string]*session.Session{}
	for tree, err := range st.Trees(context.Background()) {
		must(t, err)
		must(t, st.Fill(context.Background(), tree))
		for _, s := range tree.Sessions {
			sessions[s.ID] = s
		}
	}
	return sessions
}

// exportStream writes what a store holds as a stream.
func exportStream(t fataler, st store.Store) string {
	t.Helper()
	var out strings.Builder
	w, err := canonical.NewWriter(&out, canonical.HeaderOf(st), canonical.WriteOptions{})
	must(t, err)
	for tree, err := range st.Trees(context.Background()) {
		must(t, err)
		must(t, st.Fill(context.Background(), tree))
		for _, s := range tree.Sessions {
			must(t, w.WriteSession(s))
		}
	}
	must(t, w.Flush())
	return out.String()
}

// repairTwice repairs a stream and makes sure that a second repair has nothing to
// do and that the same repair gives the same bytes.
func repairTwice(t fataler, text string) *streamRepair {
	t.Helper()
	return repairTwiceFor(t, text, rules.Judge{})
}

// repairTwiceFor does the same as requests are judged.
func repairTwiceFor(t fataler, text string, judge rules.Judge) *streamRepair {
	t.Helper()
	r := repairStream(t, text, judge)
	if again := repairStream(t, text, judge); again.out != r.out {
		t.Fatalf("two repairs differ:\n%s\nand\n%s\nof\n%s", r.out, again.out, text)
	}
	second := repairStream(t, r.out, judge)
	if !second.plan.IsEmpty() {
		t.Fatalf("a second plan has %s\nafter %s\non\n%s\nof\n%s", fixesOf(second.plan), fixesOf(r.plan), r.out, text)
	}
	if left, found := rulesOf(r.plan.Findings), rulesOf(second.found.Findings); left != found {
		t.Fatalf("the plan leaves %s, and a check finds %s\nafter %s\non\n%s\nof\n%s", left, found, fixesOf(r.plan), r.out, text)
	}
	return r
}

// rulesOf counts findings by rule.
func rulesOf(found []*check.Finding) string {
	count := map[string]int{}
	for _, f := range found {
		count[f.Rule.ID]++
	}
	return fmt.Sprint(count)
}

func fixesOf(p *repair.Plan) string {
	var b strings.Builder
	for _, t := range p.Trees {
		for _, f := range t.Fixes {
			fmt.Fprintf(&b, "%d %s %s:%d %s; ", f.Round, f.Rule, f.Session, f.Item, f.Title)
		}
	}
	return b.String()
}
