package postgres_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/store/postgres"
)

// TestSoundNames: what keeps passwords from being printed refuses no sound address, and no
// path of a file for one.
func TestSoundNames(t *testing.T) {
	for word, want := range map[string]string{
		"postgres://me:p%40s%3As%2F@h/db":                   "postgres://h/db",
		"postgres://h1:5433,h2:5433/db":                     "postgres://h1:5433/db",
		"postgres://[::1]:5433/db":                          "postgres://[::1]:5433/db",
		"postgres://h/a%40b?user=me@server":                 "postgres://h/a@b",
		"host=h user=me@server dbname=a@b password='p@s:s'": "postgres://h/a@b",
		"postgres://me@/db?host=/run/x&search_path=a":       "postgres:///db?host=/run/x&search_path=a",
	} {
		if name, _, err := postgres.RegisterName(word); err != nil || name != want {
			t.Errorf("%s: %q, %v", word, name, err)
		}
	}
	for _, path := range []string{"a.db", "./10:30@host.db", `C:\Users\me@x\a.db`, "/home/me@x/10:30.db", "dir/10:30@x.db", "me@host", "user:id", "**/*.db", "postgres.db", "pg_dump/a.db", "postgres/a.db", "-"} {
		if secret, sure := postgres.FindMistypedPassword(path); sure || secret != "" {
			t.Errorf("%s is taken for an address with the password %q", path, secret)
		}
	}
}
