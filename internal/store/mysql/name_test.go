//go:build unix

package mysql_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/store/mysql"
	servers "github.com/sessctl/sessctl/internal/store/server"
)

// TestNames: a name has host, database and socket, and neither role nor password.
func TestNames(t *testing.T) {
	for word, want := range map[string]string{
		"mysql://me:p%40s%3As%2F@h/db":             "mysql://h/db",
		"mariadb://h:3307/db":                      "mysql://h:3307/db",
		"mysql://h:3306/db?ssl-mode=REQUIRED":      "mysql://h/db",
		"mysql://[::1]:3307/db":                    "mysql://[::1]:3307/db",
		"mysql://me@/a%20b?socket=/run/x.sock":     "mysql:///a%20b?socket=/run/x.sock",
		"mysql://me@h/db?sslMode=VERIFY_IDENTITY":  "mysql://h/db",
		"mysql://me:12345@retword@h/db?socket=/s2": "mysql:///db?socket=/s2",
	} {
		name, _, err := mysql.RegisterName(word)
		if err != nil || name != want {
			t.Errorf("%s: %q, %v", word, name, err)
		}
		if again, _, err := mysql.RegisterName(name); err != nil || again != name {
			t.Errorf("%s: %q, %v", name, again, err)
		}
	}
	for _, path := range []string{"a.db", "./10:30@host.db", `C:\mysql\a.db`, "mysql.db", "mysql-dump/a.db", "mysql/a.db", "-", "user:id", "mysqldump:x"} {
		if mysql.IsMistyped(path) || mysql.IsName(path) {
			t.Errorf("%s is taken for an address", path)
		}
	}
	for _, word := range []string{"jdbc:mysql://h/db", "r2dbc:mariadb://h/db", "MySQL://h/db", "mysql:/h/db", "mysqlx://h/db", "me:x@tcp(h:3306)/db"} {
		if !mysql.IsMistyped(word) {
			t.Errorf("%s is not taken for a mistyped address", word)
		}
	}
}

// TestOptionFile: what the client's users have in ~/.my.cnf and in its variables holds, the
// address before the file and the file before the variables.
func TestOptionFile(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	path := filepath.Join(home, ".my.cnf")
	write := func(text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name, file string
		mode       os.FileMode
		env        map[string]string
		word, want string
		role, note string
	}{
		{"all from the file", "# mine\n[mysqld]\nport=1\n[client]\nuser = \"rea der\"\npassword='s3cretword' # it\nhost=db.example\nport=3310\ndatabase=agents\n", 0o600, nil, "mysql:", "mysql://db.example:3310/agents", "rea der", ""},
		{"the address wins", "[client]\nuser=reader\nhost=db.example\ndatabase=agents\n", 0o600, nil, "mysql://me@h1/x", "mysql://h1/x", "me", ""},
		{"variables", "", 0o600, map[string]string{"MYSQL_HOST": "h2", "MYSQL_TCP_PORT": "3311", "MYSQL_PWD": "s3cretword"}, "mysql:///y", "mysql://h2:3311/y", "", ""},
		{"the file before the variables", "[client]\nhost=h3\n", 0o600, map[string]string{"MYSQL_HOST": "h2"}, "mysql:///z", "mysql://h3/z", "", ""},
		{"a socket", "[client]\nsocket=/run/x.sock\n", 0o600, nil, "mysql:///v", "mysql:///v?socket=/run/x.sock", "", ""},
		{"others can read it", "[client]\npassword=s3cretword\nhost=h4\n", 0o644, nil, "mysql:///w", "mysql://h4/w", "", "can read the option file"},
		{"others can write to it", "[client]\nhost=h5\n", 0o666, nil, "mysql:///u", "mysql://127.0.0.1/u", "", "was not used"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			write(tt.file, tt.mode)
			for name, value := range tt.env {
				t.Setenv(name, value)
			}
			name, note, err := mysql.RegisterName(tt.word)
			if err != nil || name != tt.want || !strings.Contains(note, tt.note) || tt.note == "" && note != "" || strings.Contains(name+note, "s3cret") {
				t.Errorf("%q, %q, %v", name, note, err)
			}
			if role := servers.RoleOf(name); tt.role != "" && role != tt.role {
				t.Errorf("role %q", role)
			}
		})
	}
}
