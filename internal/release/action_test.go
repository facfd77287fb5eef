//go:build unix

package release

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// action is action.yml as a runner of GitHub reads it.
type action struct {
	Inputs  map[string]struct{ Description, Default string }
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []actionStep
	}
}

type actionStep struct {
	ID, Name, Shell, Run string
	Uses                 string // another action, which a test does not run
	With                 map[string]string
	Env                  map[string]string
}

func readAction(t *testing.T) *action {
	t.Helper()
	var a action
	readYAML(t, "../../action.yml", &a)
	return &a
}

// runner is a machine that runs the action, job after job.
type runner struct {
	release *release
	work    string // where the steps start
	temp    string
	cache   string
	path    []string // folders before those of the system
}

func newRunner(t *testing.T) *runner {
	t.Helper()
	return &runner{release: serveRelease(t), work: t.TempDir(), temp: t.TempDir(), cache: t.TempDir()}
}

// ran is what came of a run of the action.
type ran struct {
	code    int
	log     string
	outputs map[string]string
	summary string
}

var expression = regexp.MustCompile(`^\$\{\{ (inputs|steps\.\w+\.outputs)\.([a-z-]+) }}$`)

// run runs the steps as a runner does: each as a script of its own, with the
// environment that docs.github.com lists, until one fails; then come the outputs.
func (r *runner) run(t *testing.T, inputs map[string]string) ran {
	t.Helper()
	a, result := readAction(t), ran{outputs: map[string]string{}}
	files := t.TempDir()
	outputs, path, summary := filepath.Join(files, "output"), filepath.Join(files, "path"), filepath.Join(files, "summary")
	here, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range a.Runs.Steps {
		if step.Uses != "" {
			continue
		}
		for _, file := range []string{outputs, path, summary} {
			if err := appendTo(file, ""); err != nil {
				t.Fatal(err)
			}
		}
		added, _ := os.ReadFile(path)
		folders := slices.Concat(strings.Fields(string(added)), r.path, []string{os.Getenv("PATH")})
		env := []string{
			"PATH=" + strings.Join(folders, string(filepath.ListSeparator)), "HOME=" + filepath.Join(r.work, "h&m"),
			"RUNNER_TEMP=" + r.temp, "RUNNER_TOOL_CACHE=" + r.cache, "RUNNER_OS=Linux", "RUNNER_ARCH=X64", "GITHUB_ACTIONS=true", "CI=true",
			"GITHUB_ACTION_PATH=" + here, "GITHUB_WORKSPACE=" + r.work,
			"GITHUB_OUTPUT=" + outputs, "GITHUB_PATH=" + path, "GITHUB_STEP_SUMMARY=" + summary, "RELEASES_URL=" + r.release.url,
		}
		for name, value := range step.Env {
			input := expression.FindStringSubmatch(value)[2]
			given, ok := inputs[input]
			if !ok {
				given = a.Inputs[input].Default
			}
			env = append(env, name+"="+given)
		}
		script := filepath.Join(files, "script.sh")
		if err := os.WriteFile(script, []byte(step.Run), 0o600); err != nil {
			t.Fatal(err)
		}
		command := exec.Command("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script)
		command.Dir, command.Env = r.work, env
		out, err := command.CombinedOutput()
		result.log += string(out)
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			result.code = failed.ExitCode()
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	result.outputs = readOutputs(t, outputs)
	text, _ := os.ReadFile(summary)
	result.summary = string(text)
	return result
}

func appendTo(path, text string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// readOutputs reads what steps wrote to GITHUB_OUTPUT.
func readOutputs(t *testing.T, path string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	outputs := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if _, twice := outputs[name]; !ok || twice {
			t.Errorf("not one output a line: %q", text)
		}
		outputs[name] = value
	}
	return outputs
}

func TestActionChecksStores(t *testing.T) {
	tests := []struct {
		name   string
		inputs map[string]string
		code   int
		log    string // a regular expression
		errors string // the output
	}{
		{"damaged", map[string]string{"stores": "torn.db"}, 1, `(?m)^::error .*SC701`, "1"},
		{"healthy", map[string]string{"stores": "clean.db\n"}, 0, ``, "0"},
		{"several, with Windows line ends", map[string]string{"stores": "clean.db\r\n\r\ntorn.db\r\n"}, 1, `torn\.db`, "1"},
		{"a pattern", map[string]string{"stores": "**/t*n.db"}, 1, `torn\.db`, "1"},
		{"in the home folder", map[string]string{"stores": "~/session.db"}, 1, `SC701`, "1"},
		{"nothing fails", map[string]string{"stores": "torn.db", "fail-on": "never"}, 0, `SC701`, "1"},
		{"other rules", map[string]string{"stores": "torn.db", "args": "--select=SC1\n--profile\nanthropic,gemini\n"}, 0, ``, "0"},
		{"a store that is none", map[string]string{"stores": "clean.db\nnone.db"}, 3, `there is no file none\.db`, "0"},
		{"nothing at the usual places", map[string]string{}, 3, `no session store found`, ""},
		{"a wrong word", map[string]string{"stores": "clean.db", "fail-on": "often"}, 2, `use error, warning, info\s+or never`, ""},
		{"no flag", map[string]string{"stores": "--fail-on=never"}, 3, `there is no file --fail-on=never`, "0"},
	}
	r := newRunner(t)
	writeStore(t, filepath.Join(r.work, "torn.db"), agenttest.WriteLeaky)
	writeStore(t, filepath.Join(r.work, "clean.db"), agenttest.WriteFixed)
	if err := os.Mkdir(filepath.Join(r.work, "h&m"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeStore(t, filepath.Join(r.work, "h&m", "session.db"), agenttest.WriteLeaky)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.inputs["version"] = releaseVersion // downloaded once
			got := r.run(t, tt.inputs)
			if got.code != tt.code || got.outputs["exit-code"] != strconv.Itoa(tt.code) || got.outputs["errors"] != tt.errors {
				t.Errorf("exit code %d, outputs %v, log:\n%s", got.code, got.outputs, got.log)
			}
			if !regexp.MustCompile(tt.log).MatchString(got.log) {
				t.Errorf("not in the log: %s\n%s", tt.log, got.log)
			}
			for _, name := range []string{"sarif", "json"} {
				if _, err := os.Stat(got.outputs[name]); (err == nil) != (tt.errors != "") {
					t.Errorf("the report %s: %v", name, err)
				}
			}
			if tt.errors == "1" && !strings.Contains(got.summary, "SC701") {
				t.Errorf("the summary is %q", got.summary)
			}
		})
	}
}

// What an input says is never run, whatever it is.
func TestActionRunsNoInput(t *testing.T) {
	r := newRunner(t)
	nasty := "$(touch run)`touch run`;touch run\n\"; touch run #\n' || touch run '\n${{ github.token }}\n*"
	for name := range readAction(t).Inputs {
		r.run(t, map[string]string{name: nasty})
	}
	if _, err := os.Stat(filepath.Join(r.work, "run")); err == nil {
		t.Error("a command in an input was run")
	}
}

func TestActionWritesReportsAndTakesABaseline(t *testing.T) {
	r := newRunner(t)
	writeStore(t, filepath.Join(r.work, "torn.db"), agenttest.WriteLeaky)
	if got := r.run(t, map[string]string{"stores": "torn.db", "args": "--write-baseline\nknown.json"}); got.code != 0 {
		t.Fatal(got.log)
	}
	got := r.run(t, map[string]string{"stores": "torn.db", "baseline": "known.json", "report": "junit=out/report.xml\nmarkdown=my report.md\n"})
	if got.code != 2 || !strings.Contains(got.log, "out/report.xml cannot be written") {
		t.Errorf("a folder that is none: %d, %s", got.code, got.log)
	}
	got = r.run(t, map[string]string{"stores": "torn.db", "baseline": "known.json", "report": "junit=report.xml\nmarkdown=my report.md\n"})
	if got.code != 0 {
		t.Errorf("known findings: %d, %s", got.code, got.log)
	}
	for _, name := range []string{"report.xml", "my report.md"} {
		if _, err := os.Stat(filepath.Join(r.work, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestActionInstallsOnce(t *testing.T) {
	r := newRunner(t)
	writeStore(t, filepath.Join(r.work, "clean.db"), agenttest.WriteFixed)
	installed := t.TempDir()
	if err := os.WriteFile(filepath.Join(installed, "sessctl"), builtProgram(t), 0o755); err != nil {
		t.Fatal(err)
	}
	const whole = 2 // checksums.txt and the archive
	for _, job := range []struct {
		name, version string
		path          []string
		requests      int32
	}{
		{"a version", "v" + releaseVersion, nil, whole},
		{"a version that is in the cache", releaseVersion, nil, 0},
		{"a version that is installed", releaseVersion, []string{installed}, 0},
		{"the latest, which may be another by now", "latest", nil, whole},
		{"the latest again", "latest", []string{installed}, whole},
		{"no version, which is the latest", "", nil, whole},
	} {
		before := r.release.requests.Load()
		r.path = job.path
		got := r.run(t, map[string]string{"stores": "clean.db", "version": job.version})
		if requests := r.release.requests.Load() - before; got.code != 0 || requests != job.requests {
			t.Errorf("%s: exit code %d after %d requests, want %d: %s", job.name, got.code, requests, job.requests, got.log)
		}
	}
}

func TestActionInstallsNothingThatIsNotARelease(t *testing.T) {
	r := newRunner(t)
	if got := r.run(t, map[string]string{"version": "9.9.9"}); got.code != 1 || !strings.Contains(got.log, "set VERSION to one of those at") {
		t.Errorf("a version that is none: %d, %s", got.code, got.log)
	}
	before := r.release.requests.Load()
	for _, version := range []string{"main", "1.2", "../1.2.3", "1.2.3/..", "1.2.3\n", "1.2.3 "} {
		got := r.run(t, map[string]string{"version": version})
		if got.code != 2 || !strings.Contains(got.log, "use a release such as 1.2.3, or latest") || r.release.requests.Load() > before {
			t.Errorf("the version %q: %d, %s", version, got.code, got.log)
		}
	}
	r.release.spoil()
	if got := r.run(t, nil); got.code != 1 || !strings.Contains(got.log, "is not what checksums.txt of the release says") || got.outputs["exit-code"] != "" {
		t.Errorf("another archive: %d, %s", got.code, got.log)
	}
}

// Inputs reach the scripts through the environment alone, each is used once, and every
// output is written by the step that it names.
func TestActionIsWired(t *testing.T) {
	a := readAction(t)
	scripts, used := map[string]string{}, []string{}
	for _, step := range a.Runs.Steps {
		if step.Uses != "" {
			for name, value := range step.With {
				if !expression.MatchString(value) {
					t.Errorf("the step %q gives %s: %s", step.Name, name, value)
				}
			}
			continue
		}
		scripts["steps."+step.ID+".outputs"] = step.Run
		if strings.Contains(step.Run, "${{") || step.Shell != "bash" {
			t.Errorf("the step %q is no script for bash, or holds an expression", step.Name)
		}
		for variable, value := range step.Env {
			m := expression.FindStringSubmatch(value)
			if m == nil || m[1] != "inputs" || !regexp.MustCompile(`\$\{?`+variable+`\b`).MatchString(step.Run) {
				t.Errorf("the step %q has the variable %s: %s", step.Name, variable, value)
				continue
			}
			used = append(used, m[2])
		}
	}
	slices.Sort(used)
	if want := slices.Sorted(maps.Keys(a.Inputs)); a.Runs.Using != "composite" || !slices.Equal(used, want) {
		t.Errorf("inputs %v, used are %v", want, used)
	}
	for name, output := range a.Outputs {
		m := expression.FindStringSubmatch(output.Value)
		if m == nil || m[2] != name || !strings.Contains(scripts[m[1]], name) {
			t.Errorf("the output %s is %s", name, output.Value)
		}
	}
}

// The scripts of the action and of the installation are free of what shellcheck knows.
func TestShellScripts(t *testing.T) {
	shellcheck, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Skip("shellcheck is not installed")
	}
	scripts := []string{filepath.Join("..", "..", "install.sh")}
	for _, step := range readAction(t).Runs.Steps {
		if step.Uses != "" {
			continue
		}
		path := filepath.Join(t.TempDir(), "script.sh")
		given := ""
		for variable := range step.Env {
			given += "export " + variable + "=given\n"
		}
		if err := os.WriteFile(path, []byte("#!/bin/bash\nset -e -o pipefail\n"+given+step.Run), 0o600); err != nil {
			t.Fatal(err)
		}
		scripts = append(scripts, path)
	}
	for _, script := range scripts {
		if out, err := exec.Command(shellcheck, script).CombinedOutput(); err != nil {
			t.Errorf("%s: %s", script, out)
		}
	}
}
