//go:build unix

package claudecode_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
)

// TestSpecialFiles: nothing waits for a pipe or a socket, wherever it lies, and what should
// have been a transcript or the folder of a project is told.
func TestSpecialFiles(t *testing.T) {
	home := recorded(t, "damaged-dup-result", t.TempDir())
	project := filepath.Join(home, "projects", "-srv-demo-proj")
	t.Chdir(project) // the path of a socket has to be short
	sub := "00000012-0000-4000-8000-000000000012/subagents"
	elsewhere := t.TempDir()
	for _, err := range []error{
		os.MkdirAll(sub, 0o700), os.MkdirAll("../../sessions", 0o700),
		os.Symlink(elsewhere, "../linked"), os.Symlink("nowhere", "../dangling"),
		os.Symlink(elsewhere, "elsewhere"), // below a project nothing is looked for in folders
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"pipe.jsonl", "../../sessions/1.json", sub + "/agent-a.jsonl", sub + "/agent-b.meta.json", "../../.credentials.json", "../../history.jsonl", "../pipe"} {
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	socket, err := net.Listen("unix", "socket.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	child := strings.Replace(asked, `"isSidechain":false`, `"isSidechain":true`, 1) + "\n"
	if err := os.WriteFile(filepath.Join(sub, "agent-b.jsonl"), []byte(child), 0o600); err != nil {
		t.Fatal(err)
	}
	o := openTranscripts(t, home)
	said := map[string]string{}
	for _, tree := range filled(t, o) {
		for _, f := range check.RunTree(o.Facts(), tree, catalogue.UsualRules(), rules.Judge{}) {
			if f.Rule.ID == "SC010" {
				said[f.Session] += f.Message
			}
		}
	}
	want := map[string]string{
		"pipe":    "projects/-srv-demo-proj/pipe.jsonl cannot be read: it is not a regular file",
		"socket":  "projects/-srv-demo-proj/socket.jsonl cannot be read: it is not a regular file",
		"agent-a": "projects/-srv-demo-proj/" + sub + "/agent-a.jsonl cannot be read: it is not a regular file",
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Error(diff)
	}
	if is := o.Facts().Incomplete; !strings.HasPrefix(is, "1 folders could not be read; the first: ") || !strings.Contains(is, "projects/linked") {
		t.Errorf("%q", is)
	}
	if plan, receipt, err := repairtest.Repair(home); err != nil || receipt == nil {
		t.Errorf("the session was not repaired: %v, %+v", err, plan.Refused)
	}
}
