package cmd_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
)

// What root leaves beside another user's store is that user's: the backup and the receipt
// of a repair, a repaired copy, and what SQLite keeps there.
func TestRootRepairsAnotherUsersStore(t *testing.T) {
	campaign.ShowsNoRace(t)
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	const user, group = 4711, 4712
	home, path := leakyHome(t)
	stream := filepath.Join(home, "stream.ndjson")
	if code, _, stderr := sessctl(t, home, "export", path, "--output", stream); code != 0 {
		t.Fatal(stderr)
	}
	for _, own := range []string{home, path, stream} {
		if err := os.Chown(own, user, group); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"repair", path, "--output", filepath.Join(home, "copy.db")},
		{"repair", stream, "--output", filepath.Join(home, "copy.ndjson")},
		{"repair", path, "--yes"},
	} {
		if code, _, stderr := sessctl(t, home, args...); code != 0 {
			t.Fatalf("%v: code %d, %s", args, code, stderr)
		}
	}
	for _, name := range listing(t, home) {
		info, err := os.Lstat(filepath.Join(home, name))
		if err != nil {
			t.Fatal(err)
		}
		if stat := info.Sys().(*syscall.Stat_t); stat.Uid != user || stat.Gid != group {
			t.Errorf("%s belongs to %d:%d", name, stat.Uid, stat.Gid)
		}
	}
}
