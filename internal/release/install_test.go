//go:build unix

package release

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// installation is one run of install.sh.
type installation struct {
	shell    []string
	download string   // curl or wget
	without  []string // programs that the machine lacks
	system   string   // what uname -s and uname -m say; "" for the truth
	env      []string
}

// run runs the script on a machine that has what it needs and nothing else, and
// returns the folder that the program should be in.
func (i installation) run(t *testing.T, r *release) (folder, output string, err error) {
	t.Helper()
	machine, temp := t.TempDir(), t.TempDir()
	folder = filepath.Join(t.TempDir(), "some bin")
	for _, name := range []string{"mktemp", "rm", "tar", "gzip", "unzip", "cut", "sha256sum", "shasum", "mkdir", "cp", "chmod", "mv", "uname", i.download} {
		path, err := exec.LookPath(name)
		if err != nil && (name == "sha256sum" || name == "shasum" || name == "unzip") {
			continue
		}
		if err != nil {
			t.Skipf("%s is not installed", name)
		}
		if !slices.Contains(i.without, name) && os.Symlink(path, filepath.Join(machine, name)) != nil {
			t.Fatal("no link to " + path)
		}
	}
	if system, arch, ok := strings.Cut(i.system, " "); ok {
		uname := filepath.Join(machine, "uname")
		script := "#!/bin/sh\ncase $1 in -s) echo " + system + ";; -m) echo " + arch + ";; esac\n"
		if os.Remove(uname) != nil || os.WriteFile(uname, []byte(script), 0o755) != nil {
			t.Fatal("no uname")
		}
	}
	shell := i.shell
	if shell == nil {
		shell = []string{"sh"}
	}
	path, err := exec.LookPath(shell[0])
	if err != nil {
		t.Skipf("%s is not installed", shell[0])
	}
	command := exec.Command(path, append(slices.Clone(shell[1:]), filepath.Join("..", "..", "install.sh"))...)
	command.Env = append([]string{"PATH=" + machine, "TMPDIR=" + temp, "RELEASES_URL=" + r.url, "BIN_DIR=" + folder}, i.env...)
	out, err := command.CombinedOutput()
	if left, _ := filepath.Glob(filepath.Join(temp, "*")); len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
	return folder, string(out), err
}

func TestInstallScript(t *testing.T) {
	r := serveRelease(t)
	tests := []struct {
		name   string
		run    installation
		system string // whose program is installed
	}{
		{"sh and curl", installation{download: "curl"}, ""},
		{"wget", installation{download: "wget"}, ""},
		{"dash", installation{shell: []string{"dash"}, download: "curl"}, ""},
		{"busybox", installation{shell: []string{"busybox", "sh"}, download: "wget"}, ""},
		{"bash", installation{shell: []string{"bash", "--posix"}, download: "curl"}, ""},
		{"zsh", installation{shell: []string{"zsh", "--emulate", "sh"}, download: "curl"}, ""},
		{"a version", installation{download: "curl", env: []string{"VERSION=" + releaseVersion}}, ""},
		{"a tag", installation{download: "curl", env: []string{"VERSION=v" + releaseVersion}}, ""},
		{"Linux", installation{download: "curl", system: "Linux aarch64"}, "linux_arm64"},
		{"macOS", installation{download: "curl", system: "Darwin arm64"}, "darwin_arm64"},
		{"macOS on Intel", installation{download: "curl", system: "Darwin x86_64"}, "darwin_amd64"},
		{"Windows", installation{download: "curl", system: "MINGW64_NT-10.0-26100 x86_64"}, "windows_amd64"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := exec.LookPath("unzip"); err != nil && tt.name == "Windows" {
				t.Skip("unzip is not installed")
			}
			folder, output, err := tt.run.run(t, r)
			if err != nil {
				t.Fatalf("%v: %s", err, output)
			}
			installed := filepath.Join(folder, "sessctl")
			want := "sessctl " + releaseVersion + " is installed: " + installed
			if !strings.Contains(output, want) || !strings.Contains(output, "is not in PATH") {
				t.Errorf("it says %q", output)
			}
			if tt.system == "" {
				if out, err := exec.Command(installed, "--version").CombinedOutput(); !strings.HasPrefix(string(out), "sessctl "+releaseVersion+" ") {
					t.Errorf("%q, %v", out, err)
				}
				return
			}
			entries, _ := os.ReadDir(folder)
			if len(entries) != 1 {
				t.Fatalf("%d files are installed", len(entries))
			}
			if data, _ := os.ReadFile(filepath.Join(folder, entries[0].Name())); string(data) != tt.system {
				t.Errorf("%.20q is installed", data)
			}
		})
	}
}

func TestInstallScriptRefuses(t *testing.T) {
	whole, spoiled := serveRelease(t), serveRelease(t)
	spoiled.spoil()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "sessctl"), 0o700); err != nil {
		t.Fatal(err)
	}
	half := serveRelease(t)
	half.files["checksums.txt"] = []byte("0123  sessctl_1.2.3_plan9_amd64.tar.gz\n4567  sessctl_1.2.3_lin")
	sums := []string{"sha256sum", "shasum"}
	tests := []struct {
		name string
		from *release
		run  installation
		want string
	}{
		{"another archive", spoiled, installation{}, `is not what checksums.txt of the release says. It was not installed`},
		{"a version that is none", whole, installation{env: []string{"VERSION=9.9.9"}}, `/v9.9.9/checksums.txt could not be fetched.\n  If the message above says 404, .* set VERSION to one of those at http`},
		{"another system", whole, installation{system: "SunOS i86pc"}, `there is no release for SunOS on i86pc.\n  With Go: go install`},
		{"a folder that is none", whole, installation{env: []string{"BIN_DIR=" + file + "/bin"}}, `cannot be written to.\n  Set BIN_DIR`},
		{"a folder in the place of the program", whole, installation{env: []string{"BIN_DIR=" + folder}}, `/sessctl is a folder, so the program cannot be put there`},
		{"half of the checksums", half, installation{}, `checksums.txt of the release latest lists no archive for \w+.\n  Try again`},
		{"no network", &release{url: "http://127.0.0.1:1"}, installation{}, `(?s)curl: \(7\).* could not be fetched.\n .* see whether the network is there`},
		{"nothing to verify with", whole, installation{without: sums}, `so a download cannot be verified`},
		{"nothing to download with", whole, installation{without: []string{"curl"}}, `neither curl nor wget is there`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.run.download = "curl"
			folder, output, err := tt.run.run(t, tt.from)
			if err == nil || !regexp.MustCompile(tt.want).MatchString(output) {
				t.Errorf("%v: %s", err, output)
			}
			if entries, err := os.ReadDir(folder); len(entries) > 0 {
				t.Errorf("%v (%v) is installed", entries, err)
			}
		})
	}
}

// A program that is replaced stays as it was when the new one is refused.
func TestInstallScriptLeavesTheOldProgramWhenItRefuses(t *testing.T) {
	r := serveRelease(t)
	folder := t.TempDir()
	installed := filepath.Join(folder, "sessctl")
	at := installation{download: "curl", env: []string{"BIN_DIR=" + folder}}
	if err := os.WriteFile(installed, []byte("old"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		spoil bool
		want  []byte
	}{{true, []byte("old")}, {false, builtProgram(t)}} {
		from := r
		if step.spoil {
			from = serveRelease(t)
			from.spoil()
		}
		_, output, _ := at.run(t, from)
		data, err := os.ReadFile(installed)
		if !bytes.Equal(data, step.want) {
			t.Errorf("%d bytes, %v: %s", len(data), err, output)
		}
	}
	if info, err := os.Stat(installed); err != nil || info.Mode().Perm() != fs.FileMode(0o755) {
		t.Errorf("%v, %v on %s", info.Mode(), err, runtime.GOOS)
	}
}

// Jobs of one machine install at the same time, and none finds the file of another.
func TestInstallScriptRunsBesideItself(t *testing.T) {
	r := serveRelease(t)
	folder := t.TempDir()
	t.Run("at once", func(t *testing.T) {
		for i := range 4 {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				if _, output, err := (installation{download: "curl", env: []string{"BIN_DIR=" + folder}}).run(t, r); err != nil {
					t.Errorf("%v: %s", err, output)
				}
			})
		}
	})
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	if data, err := os.ReadFile(filepath.Join(folder, "sessctl")); !bytes.Equal(data, builtProgram(t)) {
		t.Errorf("%d bytes are installed, %v", len(data), err)
	}
}
