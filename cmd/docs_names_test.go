package cmd

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/config"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
)

// settingsInTheEnvironment are the variables of all settings, and that of the file.
func settingsInTheEnvironment() []string {
	names := []string{config.EnvName("config")}
	for _, key := range config.Keys() {
		names = append(names, config.EnvName(key))
	}
	for field := range reflect.TypeFor[config.Isolation]().Fields() {
		names = append(names, config.EnvName("isolation."+field.Tag.Get("mapstructure")))
	}
	return names
}

func TestPagesNameOnlySettingsThatThereAre(t *testing.T) {
	known := append(settingsInTheEnvironment(), variablesOfTheProgram(t)...)
	named := 0
	for path, text := range pages(t) {
		for _, name := range regexp.MustCompile(`\bSESSCTL_\w+`).FindAllString(text, -1) {
			named++
			if !slices.Contains(known, name) {
				t.Errorf("%s names %s, which is no setting and which nothing reads", path, name)
			}
		}
	}
	if named == 0 {
		t.Error("no page names a setting in the environment")
	}
}

// read returns a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// installVariables are those that the header of install.sh explains.
func installVariables(t *testing.T) (names []string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`(?m)^# ([A-Z_]+)  `).FindAllStringSubmatch(read(t, "install.sh"), -1) {
		names = append(names, m[1])
	}
	return names
}

// Whoever calls install.sh gives it variables that it knows: before the call, or as the
// environment of the step that calls it.
func TestCIPageGivesTheInstallScriptWhatItTakes(t *testing.T) {
	known := installVariables(t)
	var given []string
	for line := range strings.Lines(ciPage(t)) {
		if strings.Contains(line, "install.sh") {
			for _, m := range regexp.MustCompile(`\b([A-Z][A-Z_]*)=`).FindAllStringSubmatch(line, -1) {
				given = append(given, m[1])
			}
		}
	}
	for _, document := range yamlOf(t, ciPage(t)) {
		given = append(given, environmentOfInstall(document)...)
	}
	if len(given) == 0 {
		t.Error("docs/ci.md gives install.sh no variable")
	}
	for _, name := range given {
		if !slices.Contains(known, name) {
			t.Errorf("docs/ci.md gives install.sh the variable %s; its header explains %v", name, known)
		}
	}
}

func environmentOfInstall(document any) (names []string) {
	switch v := document.(type) {
	case map[string]any:
		environment, _ := v["env"].(map[string]any)
		if script, _ := v["run"].(string); strings.Contains(script, "install.sh") {
			for name := range environment {
				names = append(names, name)
			}
		}
		for _, one := range v {
			names = append(names, environmentOfInstall(one)...)
		}
	case []any:
		for _, one := range v {
			names = append(names, environmentOfInstall(one)...)
		}
	}
	return names
}

// What the page says of other variables is true only of those that something here reads.
func TestCIPageNamesVariablesThatAreRead(t *testing.T) {
	known := append(variablesOfTheProgram(t), installVariables(t)...)
	known = append(known, settingsInTheEnvironment()...)
	for _, name := range []string{"action.yml", "install.sh"} {
		for _, m := range regexp.MustCompile(`\$\{?([A-Z][A-Z_]+)`).FindAllStringSubmatch(read(t, name), -1) {
			known = append(known, m[1])
		}
	}
	named := regexp.MustCompile("\\b(?:GITHUB|RUNNER)_[A-Z_]+|`[A-Z]+(?:_[A-Z]+)+`").FindAllString(ciPage(t), -1)
	if len(named) == 0 {
		t.Error("docs/ci.md names no variable")
	}
	for _, name := range named {
		if name = strings.Trim(name, "`"); !slices.Contains(known, name) {
			t.Errorf("docs/ci.md names the variable %s, which neither the program nor action.yml nor install.sh reads", name)
		}
	}
}

// variablesOfTheProgram are those that its source names where it asks the environment.
func variablesOfTheProgram(t *testing.T) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(".."), ".", func(path string, entry fs.DirEntry, err error) error {
		top, _, _ := strings.Cut(path, "/")
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && top != "cmd" && top != "internal":
			return fs.SkipDir
		case entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		for _, m := range regexp.MustCompile(`(?:[gG]etenv|LookupEnv)\("([A-Z_]+)"\)`).FindAllStringSubmatch(read(t, path), -1) {
			names = append(names, m[1])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// Every exit code that a page speaks of is one that the program ends with.
func TestPagesNameOnlyExitCodesThatThereAre(t *testing.T) {
	known := []int{exitOK, exitClosedPipe}
	for _, m := range meanings {
		known = append(known, m.code)
	}
	spoken := regexp.MustCompile("(?i)\\b(?:exit codes?|exit status|(?:exits?|ends?|and) with(?: code)?)(?: of)? `?(\\d+)\\b")
	found := 0
	for path, text := range pages(t) {
		for _, m := range spoken.FindAllStringSubmatch(strings.Join(strings.Fields(text), " "), -1) {
			found++
			if code, _ := strconv.Atoi(m[1]); !slices.Contains(known, code) {
				t.Errorf("%s: %q, and no run ends so", path, m[0])
			}
		}
	}
	if found == 0 {
		t.Error("no page speaks of an exit code")
	}
}

// The README counts the rules.
func TestReadmeCountsTheRules(t *testing.T) {
	if want := fmt.Sprintf("There are %d [rules]", len(catalogue.All)); !strings.Contains(read(t, "README.md"), want) {
		t.Errorf("the README does not say %q", want)
	}
}
