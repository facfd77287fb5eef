package canonical_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/canonical"
)

// seekOnly hides that a stream can read at an offset.
type seekOnly struct{ io.ReadSeeker }

// many writes a stream of sessions whose items are interleaved, with texts of
// the given size.
func many(sessions, items, size int) string {
	var b strings.Builder
	b.WriteString(header)
	for s := range sessions {
		fmt.Fprintf(&b, `{"type":"session","id":"%d"}`+"\n", s)
	}
	for i := range items {
		for s := range sessions {
			fmt.Fprintf(&b, `{"type":"item","session":"%d","kind":"message","role":"user","text":"%d:%d %s"}`+"\n",
				s, s, i, strings.Repeat("x", size))
		}
	}
	return b.String()
}

// Items are found again wherever their lines are, also with several trees
// being filled at once.
func TestInterleaved(t *testing.T) {
	for _, size := range []int{0, 700, 70_000} {
		text := many(5, 20, size)
		for _, r := range []io.ReadSeeker{strings.NewReader(text), seekOnly{strings.NewReader(text)}} {
			st, err := canonical.Kind.Open(context.Background(), &store.Source{Stream: r}, store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			trees := outlines(t, st)
			var wg sync.WaitGroup
			for _, tree := range trees {
				wg.Go(func() {
					if err := st.Fill(context.Background(), tree); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			for _, tree := range trees {
				for i, it := range tree.Root().Items {
					if want := fmt.Sprintf("%s:%d ", tree.Root().ID, i); !strings.HasPrefix(it.Body.Text, want) {
						t.Fatalf("size %d: item %s has the text %.20q", size, want, it.Body.Text)
					}
				}
			}
		}
	}
}

func TestLineEnds(t *testing.T) {
	want := filled(t, openStream(t, odd))
	for name, text := range map[string]string{
		"CRLF":             strings.ReplaceAll(odd, "\n", "\r\n"),
		"blank lines":      strings.ReplaceAll(odd, "\n", "\n\n \t\n"),
		"byte order mark":  "\xef\xbb\xbf" + odd,
		"no line end":      strings.TrimSuffix(odd, "\n"),
		"indented lines":   strings.ReplaceAll(odd, "\n", " \n  "),
		"white space last": odd + "   ",
	} {
		if diff := cmp.Diff(want, filled(t, openStream(t, text)), sameStream); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A line of 200 MB is read like any other; one beyond the limit is passed over.
func TestLongLines(t *testing.T) {
	if testing.Short() {
		t.Skip("writes files of several hundred MB")
	}
	for _, tt := range []struct {
		name  string
		bytes int
		items int
		fault string
	}{
		{"200 MB", 200_000_000, 2, ""},
		{"beyond the limit", 256 << 20, 1, "Undecodable line lines/3: line 3: the line is longer than 256 MiB\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := longLine(t, tt.bytes)
			st, err := canonical.Kind.Open(context.Background(), &store.Source{Path: f.Name(), Stream: f}, store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := showFaults(st.Facts().Faults); got != tt.fault {
				t.Errorf("faults %q", got)
			}
			s := outlines(t, st)[0].Root()
			if len(s.Items) != tt.items || s.Items[tt.items-1].Role != session.User || len(s.Faults) != 0 {
				t.Errorf("%d items, faults %s", len(s.Items), showFaults(s.Faults))
			}
		})
	}
}

// longLine makes a stream whose first item has a text of n bytes.
func longLine(t *testing.T, n int) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "long.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	const item = `{"type":"item","session":"P","kind":"message","role":"user","text":"`
	_, err = io.WriteString(f, header+sessionP+"\n"+item)
	chunk := strings.Repeat("long text ", 100_000)
	for ; n > 0 && err == nil; n -= len(chunk) {
		_, err = io.WriteString(f, chunk[:min(n, len(chunk))])
	}
	if err == nil {
		_, err = io.WriteString(f, "\"}\n"+item+"\"}\n")
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// failing returns an error from some offset on.
type failing struct {
	*strings.Reader
	from *int64
}

var errDisk = errors.New("input/output error")

func (f failing) Read(p []byte) (int, error) {
	if f.Size()-int64(f.Len()) >= *f.from {
		return 0, errDisk
	}
	return f.Reader.Read(p[:1])
}

func (f failing) ReadAt(p []byte, at int64) (int, error) {
	if at >= *f.from {
		return 0, errDisk
	}
	return f.Reader.ReadAt(p[:min(int64(len(p)), *f.from-at)], at)
}

func TestReadErrors(t *testing.T) {
	text := many(1, 2, 0)
	for _, from := range []int64{0, int64(len(header)) + 5} {
		src := &store.Source{Path: "s.ndjson", Stream: failing{strings.NewReader(text), &from}}
		_, err := canonical.Kind.Open(context.Background(), src, store.Options{})
		if problem.ClassOf(err) != problem.Unreadable || !errors.Is(err, errDisk) {
			t.Errorf("from %d: error %v", from, err)
		}
	}
	from := int64(1 << 40)
	src := &store.Source{Path: "s.ndjson", Stream: failing{strings.NewReader(text), &from}}
	st, err := canonical.Kind.Open(context.Background(), src, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	from = 0
	for _, err := range st.Trees(context.Background()) {
		if problem.ClassOf(err) != problem.Unreadable || !errors.Is(err, errDisk) {
			t.Errorf("trees: error %v", err)
		}
	}
}

// A stream that somebody rewrites between two reads is not mixed up.
func TestChangedMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.ndjson")
	rewrite := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rewrite(many(1, 3, 10))
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	st, err := canonical.Kind.Open(context.Background(), &store.Source{Path: "s.ndjson", Stream: f}, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tree := outlines(t, st)[0]
	rewrite(strings.ReplaceAll(many(1, 3, 10), "xxx", "yyy"))
	err = st.Fill(context.Background(), tree)
	if problem.ClassOf(err) != problem.Unreadable || !strings.Contains(err.Error(), "changed while sessctl read it: line 3") {
		t.Errorf("rewritten: %v", err)
	}
	rewrite(header)
	if err := st.Fill(context.Background(), tree); problem.ClassOf(err) != problem.Unreadable {
		t.Errorf("truncated: %v", err)
	}
}

func TestProgressAndCancel(t *testing.T) {
	text := many(10, 100, 3000)
	var last int64
	opts := store.Options{Progress: func(n int64) {
		if n <= last || n > int64(len(text)) {
			t.Errorf("progress %d behind %d", n, last)
		}
		last = n
	}}
	if _, err := canonical.Kind.Open(context.Background(), source(text), opts); err != nil || last == 0 {
		t.Errorf("progress %d, error %v", last, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := canonical.Kind.Open(ctx, source(text), store.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("open: %v", err)
	}
	st := openStream(t, text)
	for _, err := range st.Trees(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("trees: %v", err)
		}
	}
	if err := st.Fill(ctx, outlines(t, st)[0]); !errors.Is(err, context.Canceled) {
		t.Errorf("fill: %v", err)
	}
}
