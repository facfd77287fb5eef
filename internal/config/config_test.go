package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/sessctl/sessctl/internal/config"
	"github.com/sessctl/sessctl/internal/problem"
)

// flags are those of a command, parsed from arguments.
func flags(t *testing.T, args ...string) *pflag.FlagSet {
	t.Helper()
	f := pflag.NewFlagSet("test", pflag.ContinueOnError)
	f.Bool("help", false, "")
	f.Bool("deep", false, "")
	f.StringSlice("select", nil, "")
	f.Uint("max-findings", 100, "")
	config.AddChoice(f, "fail-on", "error", []string{"error", "warning", "info", "never"}, "")
	config.AddChoice(f, "format", "text", []string{"text", "json"}, "")
	config.AddChoice(f, "store", "", []string{"docker-agent"}, "")
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	return f
}

// inFolder changes to a new folder with the files given as name and content.
func inFolder(t *testing.T, files ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for i := 0; i < len(files); i += 2 {
		if err := os.MkdirAll(filepath.Dir(files[i]), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(files[i], []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func env(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

func load(t *testing.T, getenv map[string]string, args ...string) *config.Config {
	t.Helper()
	c, err := config.Load(flags(t, args...), env(getenv), "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFlagBeatsEnvironmentBeatsFileBeatsDefault(t *testing.T) {
	inFolder(t, ".sessctl.yaml", "fail-on: info\n")
	variable := map[string]string{"SESSCTL_FAIL_ON": "warning"}
	tests := []struct {
		name         string
		env          map[string]string
		args         []string
		want, source string
	}{
		{"flag", variable, []string{"--fail-on", "never"}, "never", "--fail-on"},
		{"environment", variable, nil, "warning", "SESSCTL_FAIL_ON"},
		{"file", nil, nil, "info", ".sessctl.yaml"},
		{"a flag equal to the default is still a flag", variable, []string{"--fail-on=error"}, "error", "--fail-on"},
		{"an empty variable is not set", map[string]string{"SESSCTL_FAIL_ON": ""}, nil, "info", ".sessctl.yaml"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := load(t, tt.env, tt.args...)
			if c.FailOn != tt.want || c.Sources["fail-on"] != tt.source {
				t.Errorf("got %q from %s, want %q from %s", c.FailOn, c.Sources["fail-on"], tt.want, tt.source)
			}
		})
	}
	inFolder(t)
	if c := load(t, nil); c.FailOn != "error" || c.MaxFindings != 100 || c.Sources["fail-on"] != "default" {
		t.Errorf("default: got %q and %d from %s", c.FailOn, c.MaxFindings, c.Sources["fail-on"])
	}
}

func TestTypesOfSettings(t *testing.T) {
	inFolder(t, ".sessctl.yaml", "select: [SC7, tool.orphan-result]\ndeep: true\nmax-findings: 0\n")
	c := load(t, nil)
	if !reflect.DeepEqual(c.Select, []string{"SC7", "tool.orphan-result"}) || !c.Deep || c.MaxFindings != 0 {
		t.Errorf("file: got %q, %v, %d", c.Select, c.Deep, c.MaxFindings)
	}
	c = load(t, map[string]string{"SESSCTL_SELECT": "SC1,SC2", "SESSCTL_DEEP": "false", "SESSCTL_MAX_FINDINGS": "7"})
	if !reflect.DeepEqual(c.Select, []string{"SC1", "SC2"}) || c.Deep || c.MaxFindings != 7 {
		t.Errorf("environment: got %q, %v, %d", c.Select, c.Deep, c.MaxFindings)
	}
	c = load(t, nil, "--select", "SC3,SC4", "--select", "SC5", "--deep=false", "--max-findings", "8")
	if !reflect.DeepEqual(c.Select, []string{"SC3", "SC4", "SC5"}) || c.Deep || c.MaxFindings != 8 {
		t.Errorf("flags: got %q, %v, %d", c.Select, c.Deep, c.MaxFindings)
	}
}

func TestTheFirstFileThatExistsIsRead(t *testing.T) {
	const local, home = ".sessctl.yaml", "xdg/sessctl/config.yaml"
	inFolder(t, home, "fail-on: info\n", "named.yaml", "fail-on: never\n")
	getenv := map[string]string{"XDG_CONFIG_HOME": "xdg"}
	if c := load(t, getenv); c.FailOn != "info" || c.File != filepath.FromSlash(home) {
		t.Errorf("the user's file: got %q of %s", c.FailOn, c.File)
	}
	if err := os.WriteFile(local, []byte("fail-on: warning\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c := load(t, getenv); c.FailOn != "warning" || c.File != local {
		t.Errorf("the local file: got %q of %s", c.FailOn, c.File)
	}
	getenv["SESSCTL_CONFIG"] = "named.yaml"
	if c := load(t, getenv); c.FailOn != "never" || c.File != "named.yaml" {
		t.Errorf("the named file: got %q of %s", c.FailOn, c.File)
	}
	c, err := config.Load(flags(t), env(getenv), local)
	if err != nil || c.File != local {
		t.Errorf("--config: got %v, %v", c, err)
	}
}

func TestWrongSettingsSayWhereTheyStand(t *testing.T) {
	tests := []struct {
		name, file string
		env        map[string]string
		want       string
	}{
		{"unknown key", "fial-on: error\n", nil, ".sessctl.yaml:1: unknown setting \"fial-on\""},
		{"unknown keys, nested", "rules:\n  SC701: error\nx.y: 1\n", nil, ".sessctl.yaml:1: unknown setting \"rules\""},
		{"word outside the choice", "fail-on: eror\n", nil, `fail-on in .sessctl.yaml:1 is "eror": use error, warning, info or never`},
		{"in the environment", "", map[string]string{"SESSCTL_FAIL_ON": "all"}, `fail-on in SESSCTL_FAIL_ON is "all"`},
		{"unknown kind of store", "store: oracle\n", nil, `store in .sessctl.yaml:1 is "oracle": use docker-agent`},
		{"no boolean", "deep: perhaps\n", nil, `deep in .sessctl.yaml:1 is "perhaps": use true or false`},
		{"no number", "", map[string]string{"SESSCTL_MAX_FINDINGS": "-1"}, `max-findings in SESSCTL_MAX_FINDINGS is "-1": use a whole number`},
		{"a number below 0", "max-findings: -5\n", nil, `max-findings in .sessctl.yaml:1 is "-5": use a whole number from 0 on`},
		{"a number beyond all", "", map[string]string{"SESSCTL_MAX_FINDINGS": "18446744073709551615"}, `use a whole number from 0 on`},
		{"a number that is none", "max-findings: 1.5\n", nil, `max-findings in .sessctl.yaml:1 is "1.5": use a whole number`},
		{"no list", "select: {a: 1}\n", nil, "select in .sessctl.yaml:1 is"},
		{"no YAML", "fail-on: [\n", nil, ".sessctl.yaml cannot be read: yaml:"},
		{"unknown key of a section", "isolation: {max-step: 3}\n", nil, ".sessctl.yaml:1: unknown setting \"isolation.max-step\""},
		{"no number in a section", "isolation: {max-steps: few}\n", nil, `isolation.max-steps in .sessctl.yaml:1 is "few": use a whole number`},
		{"a time without a unit", "isolation: {timeout: 60}\n", nil, `isolation.timeout in .sessctl.yaml:1 is "60": use a time with its unit`},
		{"a time in the environment", "", map[string]string{"SESSCTL_ISOLATION_TIMEOUT": "soon"}, `isolation.timeout in SESSCTL_ISOLATION_TIMEOUT is "soon"`},
		{"a section that is none", "isolation: true\n", nil, `.sessctl.yaml:1: isolation is "true", but it is a section`},
		{"a time below 0", "isolation: {timeout: -5s}\n", nil, `isolation.timeout in .sessctl.yaml:1 is "-5s": use a time with its unit (60s, 5m), from 0 on`},
		{"text", "some text\n", nil, ".sessctl.yaml cannot be read: it is not a list of settings of the form KEY: VALUE"},
		{"a format that no command has", "format: xml\n", nil, `format in .sessctl.yaml:1 is "xml": use text or json`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inFolder(t, ".sessctl.yaml", tt.file)
			_, err := config.Load(flags(t), env(tt.env), "")
			if problem.ClassOf(err) != problem.Usage || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want a usage problem with %q", err, tt.want)
			}
		})
	}
	inFolder(t)
	for _, path := range []string{"missing.yaml", "."} {
		if _, err := config.Load(flags(t), env(nil), path); problem.ClassOf(err) != problem.Usage {
			t.Errorf("--config %s: got %v, want a usage problem", path, err)
		}
	}
}

func TestSettingsOfASection(t *testing.T) {
	inFolder(t, ".sessctl.yaml", "isolation:\n  enabled: true\n  max-steps: 40\n  timeout: 5m\n  shared-paths: [docs, vendor]\n")
	c := load(t, map[string]string{"SESSCTL_ISOLATION_MAX_STEPS": "7", "SESSCTL_ISOLATION_PASSAGE": "0"})
	want := config.Isolation{Enabled: true, MaxSteps: 7, Timeout: 5 * time.Minute, SharedPaths: []string{"docs", "vendor"}}
	if !reflect.DeepEqual(c.Isolation, want) {
		t.Errorf("got %+v", c.Isolation)
	}
	for key, source := range map[string]string{
		"isolation.enabled": ".sessctl.yaml", "isolation.max-steps": "SESSCTL_ISOLATION_MAX_STEPS",
		"isolation.passage": "SESSCTL_ISOLATION_PASSAGE", "isolation.max-output-files": "",
	} {
		if c.Sources[key] != source {
			t.Errorf("%s comes from %q", key, c.Sources[key])
		}
	}
}

func TestASectionWithoutSettings(t *testing.T) {
	inFolder(t, ".sessctl.yaml", "isolation:\n  # enabled: true\n")
	if c := load(t, nil); !reflect.DeepEqual(c.Isolation, config.Isolation{}) {
		t.Errorf("got %+v", c.Isolation)
	}
}

func TestAFormatOfAnotherCommandIsPassedOver(t *testing.T) {
	inFolder(t, ".sessctl.yaml", "format: table\n")
	if c := load(t, nil); c.Format != "text" || c.Sources["format"] != "default" {
		t.Errorf("got %q from %s", c.Format, c.Sources["format"])
	}
	if c := load(t, map[string]string{"SESSCTL_FORMAT": "json"}); c.Format != "json" {
		t.Errorf("got %q", c.Format)
	}
}

func TestSettingsOfOtherCommandsArePassedOver(t *testing.T) {
	inFolder(t, ".sessctl.yaml", "redact: true\ndeep: true\n")
	c := load(t, map[string]string{"SESSCTL_OUTPUT": "x"})
	if c.Redact || c.Output != "" || !c.Deep {
		t.Errorf("redact %v, output %q, deep %v: the command has a flag for deep only", c.Redact, c.Output, c.Deep)
	}
	if c.File != ".sessctl.yaml" || c.Sources["redact"] != "" || c.Sources["deep"] != ".sessctl.yaml" {
		t.Errorf("file %q, sources %v", c.File, c.Sources)
	}
}

// A pipe that nobody named would keep the program waiting.
func TestOnlyRegularFilesAreFound(t *testing.T) {
	inFolder(t)
	if err := os.Mkdir(".sessctl.yaml", 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(flags(t), env(nil), ""); problem.ClassOf(err) != problem.Usage || !strings.Contains(err.Error(), "it is a folder") {
		t.Errorf("got %v", err)
	}
}

// One that the user names is none, either.
func TestAPipeIsNoConfiguration(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("pipes have no path here")
	}
	inFolder(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = errors.Join(r.Close(), w.Close()) }()
	_, err = config.Load(flags(t), env(nil), fmt.Sprintf("/dev/fd/%d", r.Fd()))
	if problem.ClassOf(err) != problem.Usage || !strings.Contains(err.Error(), "it is a named pipe") {
		t.Errorf("got %v", err)
	}
}

func TestAWrongFlagSaysWhatToUse(t *testing.T) {
	f := flags(t)
	err := f.Parse([]string{"--fail-on", "always"})
	if err == nil || !strings.Contains(err.Error(), "use error, warning, info or never") {
		t.Errorf("got %v", err)
	}
}
