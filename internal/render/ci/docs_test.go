package ci

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/rules"
)

func ciPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// sarifSection is what docs/ci.md says of SARIF, and the rows of its table: what stands
// in the log, and what it is.
func sarifSection(t *testing.T) (section string, rows map[string]string) {
	t.Helper()
	_, section, _ = strings.Cut(ciPage(t), "\n### SARIF\n")
	section, _, _ = strings.Cut(section, "\n### ")
	rows = map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (.+) \\|$").FindAllStringSubmatch(section, -1) {
		rows[strings.ReplaceAll(m[1], "[0]", "[]")] = m[2]
	}
	return section, rows
}

// isKeyOf reports whether a path of keys leads to something in a document.
func isKeyOf(document reflect.Type, path string) bool {
	return slices.ContainsFunc(logKeys(document, ""), func(key string) bool {
		rest, ok := strings.CutPrefix(key, path)
		return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

// The names in the table are keys of the run, or of one of its results.
func TestTheSARIFOfTheCIPageIsThatOfTheLog(t *testing.T) {
	section, rows := sarifSection(t)
	for path := range rows {
		if !isKeyOf(reflect.TypeFor[sarifRun](), path) && !isKeyOf(reflect.TypeFor[sarifResult](), path) {
			t.Errorf("the log has no %s", path)
		}
	}
	keys := strings.Join(logKeys(reflect.TypeFor[sarifRun](), ""), ".")
	for _, m := range regexp.MustCompile("`([a-z]+[A-Z][A-Za-z]+)`").FindAllStringSubmatch(section, -1) {
		if !regexp.MustCompile(`\b` + m[1] + `\b`).MatchString(keys) {
			t.Errorf("the log has no key %s", m[1])
		}
	}
}

// The table has every key of a run, of its invocation and of a result, but for those that
// say enough by their names.
func TestTheCIPageExplainsTheSARIFLog(t *testing.T) {
	section, rows := sarifSection(t)
	unexplained := []string{"originalUriBaseIds", "artifacts", "ruleId", "ruleIndex", "startTimeUtc", "exitCode"}
	var named []string
	for path := range rows {
		named = append(named, regexp.MustCompile(`\w+`).FindAllString(path, -1)...)
	}
	for _, document := range []reflect.Type{reflect.TypeFor[sarifRun](), reflect.TypeFor[sarifInvocation](), reflect.TypeFor[sarifResult]()} {
		for field := range document.Fields() {
			key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			told := slices.Contains(named, key) || strings.Contains(section, "`"+key+"`")
			if told == slices.Contains(unexplained, key) {
				t.Errorf("%s.%s: explained %v", document.Name(), key, told)
			}
		}
	}
}

// The words that the table lists are those of the program.
func TestTheCIPageListsTheWordsOfSARIF(t *testing.T) {
	_, rows := sarifSection(t)
	var levels []string
	for _, s := range []rules.Severity{rules.Error, rules.Warning, rules.Info} {
		levels = append(levels, sarifLevel(s))
	}
	span := regexp.MustCompile("`(\\w+)`")
	listed := func(row string) (words []string) {
		for _, m := range span.FindAllStringSubmatch(row, -1) {
			words = append(words, m[1])
		}
		return words
	}
	if diff := cmp.Diff(levels, listed(rows["results[].level"])); diff != "" {
		t.Errorf("levels (-program +docs/ci.md):\n%s", diff)
	}
	var states []string
	for _, f := range []*check.Finding{{}, {Known: true}, {Was: &check.Extent{}}} {
		states = append(states, baselineState(f, &render.Baseline{}))
	}
	if diff := cmp.Diff(states, listed(rows["baselineState"])); diff != "" {
		t.Errorf("states (-program +docs/ci.md):\n%s", diff)
	}
	extra, _, _ := strings.Cut(rows["properties"], ", as in ")
	var keys []string
	for field := range reflect.TypeFor[sarifFinding]().Fields() {
		key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		keys = append(keys, key)
	}
	if diff := cmp.Diff(keys, regexp.MustCompile(`, | and `).Split(extra, -1)); diff != "" {
		t.Errorf("properties (-program +docs/ci.md):\n%s", diff)
	}
}

// Limits that are ours stand on the page as they are in the program.
func TestTheCIPageTellsOurLimits(t *testing.T) {
	page := strings.Join(strings.Fields(ciPage(t)), " ")
	for sentence, limit := range map[string]int{
		"at most ([0-9,]+) KiB are written":           stepSummarySize >> 10,
		"`relatedLocations` end at ([0-9,]+)":         relatedMax,
		"people and `sarif` get ([0-9,]+) characters": render.LongestMessage,
	} {
		m := regexp.MustCompile(sentence).FindStringSubmatch(page)
		if m == nil {
			t.Errorf("docs/ci.md does not say: %s", sentence)
			continue
		}
		if told, _ := strconv.Atoi(strings.ReplaceAll(m[1], ",", "")); told != limit {
			t.Errorf("docs/ci.md says %q, and it is %d", m[0], limit)
		}
	}
	if !strings.Contains(page, "a log of SARIF "+sarifVersion+" ") {
		t.Errorf("docs/ci.md does not name the version of SARIF, %s", sarifVersion)
	}
}

// logKeys lists the paths of the values in a document.
func logKeys(of reflect.Type, path string) []string {
	switch {
	case of.Kind() == reflect.Pointer:
		return logKeys(of.Elem(), path)
	case of.Kind() == reflect.Slice && of.Elem().Kind() == reflect.Struct:
		return logKeys(of.Elem(), path+"[]")
	case of.Kind() != reflect.Struct || of == reflect.TypeFor[time.Time]():
		return []string{path}
	}
	var keys []string
	for field := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous:
			keys = append(keys, logKeys(field.Type, path)...)
		case path == "":
			keys = append(keys, logKeys(field.Type, name)...)
		default:
			keys = append(keys, logKeys(field.Type, path+"."+name)...)
		}
	}
	return keys
}
