package cmd_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/cmd"
)

// BenchmarkViewBranch views a session of 100,000 events for one viewer, beside an
// export of it: a view should take at most twice the time.
func BenchmarkViewBranch(b *testing.B) {
	path := filepath.Join(b.TempDir(), "long.ndjson")
	writeLongSession(b, path, 100_000)
	for _, args := range [][]string{
		{"export", path},
		{"view", path, "long", "--branch", "orch.writer"},
		{"view", path, "long", "--branch", "orch.writer", "--format", "json"},
		{"view", path, "long", "--branch", "orch.writer", "--format", "json", "--full"},
		{"view", path, "long", "--all"},
	} {
		b.Run(args[0]+" "+strings.Join(args[2:], " "), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if code := cmd.Main(args, strings.NewReader(""), io.Discard, io.Discard, func(string) string { return "" }); code != 0 {
					b.Fatalf("exit code %d", code)
				}
			}
		})
	}
}

// writeLongSession writes one session in which four agents answer question after
// question, three of them on branches.
func writeLongSession(b *testing.B, path string, events int) {
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(file)
	_, _ = fmt.Fprintln(w, `{"type":"header","format":"sessctl.canonical/1","kind":"my-runtime","branch_model":"path","writer":"dead"}`)
	_, _ = fmt.Fprintln(w, `{"type":"session","id":"long","agent":"orch"}`)
	text := strings.Repeat("something was said ", 10)
	for n := 0; n < events; n += 8 {
		item := `{"type":"item","session":"long","kind":"message","invocation":"run-` + fmt.Sprint(n) + `",`
		_, _ = fmt.Fprintf(w, "%s\"role\":\"user\",\"text\":%q}\n", item, text)
		for _, agent := range []string{"researcher", "writer"} {
			mine := fmt.Sprintf(`%s"agent":%q,"branch":"orch.%s",`, item, agent, agent)
			_, _ = fmt.Fprintf(w, "%s\"role\":\"assistant\",\"calls\":[{\"id\":\"c%d%s\",\"name\":\"search\",\"args\":\"{}\"}]}\n", mine, n, agent)
			_, _ = fmt.Fprintf(w, "%s\"role\":\"tool\",\"results\":[{\"call\":\"c%d%s\",\"text\":%q}]}\n", mine, n, agent, text)
			_, _ = fmt.Fprintf(w, "%s\"role\":\"assistant\",\"text\":%q}\n", mine, text)
		}
		_, _ = fmt.Fprintf(w, "%s\"role\":\"assistant\",\"agent\":\"orch\",\"text\":%q}\n", item, text)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := file.Close(); err != nil {
		b.Fatal(err)
	}
}
