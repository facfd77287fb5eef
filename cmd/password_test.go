package cmd_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
)

// TestNoMistypedPasswordIsPrinted: the password in an address of a server that is none is
// nowhere, whatever is wrong with it and whatever the command.
func TestNoMistypedPasswordIsPrinted(t *testing.T) {
	t.Setenv("PGCONNECT_TIMEOUT", "1")
	t.Chdir(t.TempDir())
	schemes := []string{"postgres://", "postgresql://", "POSTGRES://", "postgres//", "postgres:/", "postgres:", "postgres:///", "postgress://", "pg://", "jdbc:postgresql://", "//", "", " postgres://", "postgresql:\\\\",
		"mysql://", "mariadb://", "MYSQL://", "mysql//", "mysql:/", "mysql:", "jdbc:mysql://", "jdbc:mariadb://", " mysql://"}
	passwords := []string{"s3cretword", "s3c:retword", "s3c@retword", "s3c/retword", "12345/retword", "12345@retword", "12345?retword", "12345#retword", "s3c?ret=word", "s3c#retword", "s3c%retword", "s3c retword", "s3c'retword", "s3c\\retword", "s3c[retword", "s3c:re@t/word"}
	rests := []string{"@127.0.0.1:1/db", "@127.0.0.1/db?port=1", "@127.0.0.1:1", "@/db?host=/nowhere"}
	var words []string
	for _, scheme := range schemes {
		for _, password := range passwords {
			for _, rest := range rests {
				words = append(words, scheme+"user:"+password+rest, scheme+":"+password+rest)
			}
		}
	}
	for _, password := range passwords {
		words = append(words, "hots=127.0.0.1 password="+password, "PASSWORD="+password+";Host=127.0.0.1", "postgres//127.0.0.1/db?user=u&password="+password, "host=user:"+password+"@127.0.0.1 port=1",
			"mysql://user:"+password, "mysql://h/db?password="+password, "user:"+password+"@tcp(127.0.0.1:1)/db", "user:"+password+"@unix(/nowhere)/db", "user=user:"+password+" host=/nowhere", "dbname=postgres://user:"+password+"@127.0.0.1 host=/nowhere", "postgres//user:"+password, "postgres://user%3A"+strings.ReplaceAll(password, "/", "%2F")+"@127.0.0.1:1/db")
	}
	commands := [][]string{{"check"}, {"check", "--format", "json", "--quiet"}, {"ls"}, {"why"}, {"view"}, {"repair"}, {"undo"}, {"export", "--output"}, {"diff", "x.db"}, {"check", "--baseline"}, {"why", "--format", "json"}, {"check", "x.db"}, {"nonsense"}}
	stride := campaign.Stride(5, 1)
	for i, word := range words {
		if i%stride != 0 {
			continue
		}
		for j, command := range commands {
			if (i+j)%6 > 0 && j > 0 { // each with check, and with a sixth of the others
				continue
			}
			args := append(slices.Clone(command), word)
			if command[0] == "view" {
				args = append(args, "session")
			}
			_, stdout, stderr := run(t, args...)
			printed := stdout + stderr
			for _, part := range []string{"retword", "re@t/word", "ret=word", "s3c"} {
				if strings.Contains(printed, part) {
					t.Errorf("sessctl %q prints %q:\n%s", args, part, printed)
					break
				}
			}
		}
	}
	t.Log(fmt.Sprint(len(words), " forms"))
	for _, id := range []string{"google:joe@example.com", "google:joe@example.com/1"} { // may be an id
		if code, _, stderr := run(t, "view", id); strings.Contains(stderr, "joe") || strings.Contains(stderr, "server") {
			t.Errorf("exit code %d\n%s", code, stderr)
		}
	}
}
