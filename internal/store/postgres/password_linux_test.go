package postgres_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	program "github.com/sessctl/sessctl/cmd"
)

// TestPasswordIsAsked: at a terminal a missing password is asked for, and never shown.
func TestPasswordIsAsked(t *testing.T) {
	url := locked(t)
	for _, tt := range []struct {
		typed string
		code  int
	}{{"pa55!word\n", 1}, {"wrong\n", 3}, {"\n", 3}} {
		person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
		if err != nil {
			t.Skip("no pseudo-terminals here: ", err)
		}
		var unlock, number int32
		for request, value := range map[uintptr]*int32{syscall.TIOCSPTLCK: &unlock, syscall.TIOCGPTN: &number} {
			if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, person.Fd(), request, uintptr(unsafe.Pointer(value))); errno != 0 {
				t.Fatal(errno)
			}
		}
		terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
		if err != nil {
			t.Fatal(err)
		}
		shown := make(chan string)
		go func() {
			var all bytes.Buffer
			buf, typed := make([]byte, 4096), false
			for {
				n, err := person.Read(buf)
				all.Write(buf[:n])
				if !typed && bytes.Contains(all.Bytes(), []byte("Password of role locked")) {
					typed = true
					for echoes(person) { // it is turned off behind the question
						time.Sleep(10 * time.Millisecond)
					}
					_, _ = io.WriteString(person, tt.typed)
				}
				if err != nil {
					shown <- all.String()
					return
				}
			}
		}()
		env := func(name string) string { return map[string]string{"HOME": t.TempDir(), "TERM": "xterm"}[name] }
		var out bytes.Buffer
		code := program.Main([]string{"check", "--format", "json", url}, terminal, &out, terminal, env)
		_ = terminal.Close()
		text := <-shown
		_ = person.Close()
		if code != tt.code || strings.Contains(text+out.String(), strings.TrimSpace(tt.typed)) && tt.typed != "\n" || strings.Count(text, "Password of role") != 1 {
			t.Errorf("%q: exit code %d\n%s%s", tt.typed, code, text, out.String())
		}
	}
}

// echoes reports whether a terminal shows what is typed.
func echoes(terminal *os.File) bool {
	var settings syscall.Termios
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, terminal.Fd(), syscall.TCGETS, uintptr(unsafe.Pointer(&settings)))
	return errno == 0 && settings.Lflag&syscall.ECHO != 0
}

// locked is a database for a role with a password.
func locked(t *testing.T) string {
	t.Helper()
	url, _ := load(t, "adk-go-2.2.0")
	execute(t, url, "create role locked login password 'pa55!word'", "grant select on all tables in schema public to locked")
	t.Cleanup(func() { execute(t, url, "drop owned by locked", "drop role locked") })
	return asRole(url, "locked")
}

// TestPasswordFile: a file is used that nobody else can read.
func TestPasswordFile(t *testing.T) {
	url := locked(t)
	file := filepath.Join(t.TempDir(), "pass file")
	if err := os.WriteFile(file, []byte("*:*:*:locked:pa55!word\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PGPASSFILE", file)
	inURL := url + "&passfile=" + strings.ReplaceAll(file, " ", "%20")
	for _, tt := range []struct {
		mode os.FileMode
		name string
		code int
		note bool
	}{{0o600, url, 1, false}, {0o644, url, 3, true}, {0o660, inURL, 3, true}, {0o400, inURL, 1, false}, {0o644, strings.Replace(url, "locked@", "postgres@", 1), 1, false}} {
		if err := os.Chmod(file, tt.mode); err != nil {
			t.Fatal(err)
		}
		out, errors, code := sessctl(t, "check", "--format", "json", tt.name)
		if code != tt.code || strings.Contains(flat(errors), "was not used, because other users") != tt.note {
			t.Errorf("%o, %s: exit code %d\n%.200s%s", tt.mode, tt.name, code, out, errors)
		}
	}
}
