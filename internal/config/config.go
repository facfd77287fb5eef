// Package config brings the settings of a command together: flag before
// environment before file before default. Every flag has an environment
// variable (--fail-on is SESSCTL_FAIL_ON) and a key of the same name in the
// configuration file.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/problem"
)

// Config is every setting with its effective value. The tags are the names of
// the flags and of the keys in the file; the meanings and the defaults stand
// where the flags are declared. Settings that the command has no flag for are
// empty, whatever file and environment say.
type Config struct {
	Color string `mapstructure:"color"`
	Quiet bool   `mapstructure:"quiet"`

	NoPager bool `mapstructure:"no-pager"`

	Format  string   `mapstructure:"format"`
	Report  []string `mapstructure:"report"`
	Store   string   `mapstructure:"store"`
	Session string   `mapstructure:"session"`
	ByIndex bool     `mapstructure:"by-index"`

	FailOn      string        `mapstructure:"fail-on"`
	Select      []string      `mapstructure:"select"`
	Ignore      []string      `mapstructure:"ignore"`
	Since       string        `mapstructure:"since"`
	Shard       string        `mapstructure:"shard"`
	App         string        `mapstructure:"app"`
	User        string        `mapstructure:"user"`
	Jobs        uint          `mapstructure:"jobs"`
	MaxMemory   uint          `mapstructure:"max-memory"`
	Profile     []string      `mapstructure:"profile"`
	AsIs        bool          `mapstructure:"as-is"`
	Explain     bool          `mapstructure:"explain-request"`
	Deep        bool          `mapstructure:"deep"`
	AssumeDead  bool          `mapstructure:"assume-dead"`
	LiveWindow  time.Duration `mapstructure:"live-window"`
	MaxFindings uint          `mapstructure:"max-findings"`
	Severity    string        `mapstructure:"severity"`

	Baseline      string `mapstructure:"baseline"`
	WriteBaseline string `mapstructure:"write-baseline"`

	Damaged bool   `mapstructure:"damaged"`
	Health  bool   `mapstructure:"health"`
	Match   string `mapstructure:"match"`
	Sort    string `mapstructure:"sort"`
	Limit   uint   `mapstructure:"limit"`

	Regexp  bool   `mapstructure:"regexp"`
	In      string `mapstructure:"in"`
	Role    string `mapstructure:"role"`
	Tool    string `mapstructure:"tool"`
	Count   bool   `mapstructure:"count"`
	Context uint   `mapstructure:"context"`
	Usual   bool   `mapstructure:"usual"`
	Texts   bool   `mapstructure:"texts"`

	All        bool     `mapstructure:"all"`
	Full       bool     `mapstructure:"full"`
	ModelInput bool     `mapstructure:"model-input"`
	Lanes      bool     `mapstructure:"lanes"`
	Branch     string   `mapstructure:"branch"`
	Agent      string   `mapstructure:"agent"`
	Visibility string   `mapstructure:"visibility"`
	Compared   []string `mapstructure:"compare-visibility"`
	AssignBy   string   `mapstructure:"assign-by"`
	Tokens     bool     `mapstructure:"tokens"`
	Against    string   `mapstructure:"against"`
	Redact     bool     `mapstructure:"redact"`
	Output     string   `mapstructure:"output"`

	DryRun      bool     `mapstructure:"dry-run"`
	List        bool     `mapstructure:"list"`
	Yes         bool     `mapstructure:"yes"`
	Allow       []string `mapstructure:"allow"`
	Plan        string   `mapstructure:"plan"`
	PlanOut     string   `mapstructure:"plan-out"`
	ShowContent bool     `mapstructure:"show-content"`

	// Isolation has no flags: a team says once what its agents may share.
	Isolation Isolation `mapstructure:"isolation"`

	// File is the configuration file that was read, "" for none.
	File string `mapstructure:"-"`
	// Sources says for each key where its value comes from: "--fail-on",
	// "SESSCTL_FAIL_ON", the path of the file, or "default".
	Sources map[string]string `mapstructure:"-"`
}

// Isolation are the settings of the rules about isolation. What is not given has no
// source and is 0.
type Isolation struct {
	Enabled          bool          `mapstructure:"enabled"` // run all of these rules when none are selected
	Passage          uint          `mapstructure:"passage"`
	MaxSteps         uint          `mapstructure:"max-steps"`
	MaxTokensPerStep uint          `mapstructure:"max-tokens-per-step"`
	MaxOutputFiles   uint          `mapstructure:"max-output-files"`
	MaxOutputBytes   uint          `mapstructure:"max-output-bytes"`
	Timeout          time.Duration `mapstructure:"timeout"`
	SharedPaths      []string      `mapstructure:"shared-paths"`
}

// The key of a setting is in its tag; a field of Config that is no setting has
// this one instead.
const (
	tag         = "mapstructure"
	notASetting = "-"
)

// Keys are the names of all settings that have a flag.
func Keys() []string {
	return slices.DeleteFunc(allKeys(), func(key string) bool { return strings.Contains(key, level) })
}

// level parts the names of a section and of a setting in it: "isolation.max-steps".
const level = "."

// allKeys are the names of all settings, those of sections among them.
func allKeys() []string {
	var keys []string
	for key := range allFields() {
		keys = append(keys, key)
	}
	return keys
}

// allFields yields every setting with its field.
func allFields() iter.Seq2[string, reflect.StructField] {
	return func(yield func(string, reflect.StructField) bool) { fieldsOf(reflect.TypeFor[Config](), "", yield) }
}

func fieldsOf(t reflect.Type, section string, yield func(string, reflect.StructField) bool) bool {
	for field := range t.Fields() {
		key := section + field.Tag.Get(tag)
		switch {
		case key == notASetting || field.Tag.Get(tag) == "":
		case field.Type.Kind() == reflect.Struct:
			if !fieldsOf(field.Type, key+level, yield) {
				return false
			}
		case !yield(key, field):
			return false
		}
	}
	return true
}

// EnvName is the environment variable of a setting.
func EnvName(key string) string {
	return "SESSCTL_" + strings.ToUpper(strings.NewReplacer("-", "_", level, "_").Replace(key))
}

// MisspelledVariables says of the variables of an environment ("NAME=VALUE") which are ignored although
// they nearly have the name of a setting, with that name.
func MisspelledVariables(environment []string, getenv func(string) string) (said []string) {
	prefix, known := EnvName(""), []string{"CONFIG"}
	for _, key := range allKeys() {
		known = append(known, strings.TrimPrefix(EnvName(key), prefix))
	}
	for _, variable := range environment {
		name, _, _ := strings.Cut(variable, "=")
		rest, ours := strings.CutPrefix(name, prefix)
		if !ours || getenv(name) == "" || slices.Contains(known, rest) {
			continue
		}
		if near := problem.DidYouMean(rest, known); near != "" {
			said = append(said, "the environment variable "+name+" is ignored: there is no such setting. "+strings.ReplaceAll(near, ` "`, ` "`+prefix))
		}
	}
	return said
}

// Setting is one setting for people.
type Setting struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`  // of the type of the setting
	Source string `json:"source"` // a flag, an environment variable, the path of the file, or `default`
}

// Settings lists the settings that have a flag, in the order of the struct.
func (c *Config) Settings() []Setting {
	var list []Setting
	v := reflect.ValueOf(*c)
	for field, value := range v.Fields() {
		key := field.Tag.Get(tag)
		if source := c.Sources[key]; source != "" {
			set := value.Interface()
			if duration, is := set.(time.Duration); is { // which JSON has no form for
				set = duration.String()
			}
			list = append(list, Setting{key, set, source})
		}
	}
	return list
}

// choice is a flag that takes one of a few words.
type choice struct {
	values   []string
	standard string // the default, which may be "" for none
	value    string
}

// AddChoice declares a flag that takes one of a few words, or none when the
// default is "". The usage goes on with the words, unless they fill a line: the error of
// Set names them, too.
func AddChoice(flags *pflag.FlagSet, name, standard string, values []string, usage string) {
	if list := orList(values); len(list) < 60 {
		usage += ": " + list
	}
	flags.Var(&choice{values: values, standard: standard, value: standard}, name, usage)
}

func (c *choice) String() string { return c.value }

// Type is what the help shows behind the flag.
func (c *choice) Type() string { return "WORD" }

// Set implements pflag.Value.
func (c *choice) Set(word string) error {
	if !c.hasWord(word) {
		return c.wrongWord()
	}
	c.value = word
	return nil
}

// hasWord reports whether the word is the default or one of the values.
func (c *choice) hasWord(word string) bool {
	return word == c.standard || slices.Contains(c.values, word)
}

// wrongWord says what may be chosen.
func (c *choice) wrongWord() error { return fmt.Errorf("use %s", orList(c.values)) }

// Choices are the words that a flag takes, none where it takes others, too.
func Choices(flag *pflag.Flag) []string {
	if c, is := flag.Value.(*choice); is {
		return c.values
	}
	return nil
}

// orList is "a, b or c".
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// largest is more than any configuration file has, in bytes.
const largest = 1 << 20

// localFile is looked for in the current folder.
const localFile = ".sessctl.yaml"

// UsualFiles are the places where a configuration file is looked for when none is
// named. The first one that exists is read.
func UsualFiles(getenv func(string) string) []string {
	files := []string{localFile}
	folder := getenv("XDG_CONFIG_HOME")
	if home := Home(getenv); folder == "" && home != "" {
		folder = filepath.Join(home, ".config")
	}
	if folder != "" {
		files = append(files, filepath.Join(folder, "sessctl", "config.yaml"))
	}
	return files
}

// findFile reads the file that is named by the flag or by SESSCTL_CONFIG, which
// must exist, or else the first usual file that exists. Without any, the path is empty.
func findFile(getenv func(string) string, flag string) (path string, data []byte, err error) {
	if named := cmp.Or(flag, getenv(EnvName("config"))); named != "" {
		data, err = atomicfile.ReadRegular(named, largest)
		return named, data, notReadable(named, err)
	}
	for _, path := range UsualFiles(getenv) {
		data, err := atomicfile.ReadRegular(path, largest)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		return path, data, notReadable(path, err)
	}
	return "", nil, nil
}

// mend is what to do about a configuration file that cannot be read.
const mend = "Correct the file, or name another one with --config."

func notReadable(path string, err error) error {
	if err == nil {
		return nil
	}
	return problem.New(problem.Usage, mend, "the configuration file %s cannot be read: %s", path, problem.Reason(err))
}

// Home is the folder of the user, "" where the environment names none. It is the one
// that Go's os.UserHomeDir gives, and so a runtime that is written in Go: on Windows
// USERPROFILE comes first, because shells that were ported set a HOME of their own.
func Home(getenv func(string) string) string { return homeOn(runtime.GOOS, getenv) }

func homeOn(system string, getenv func(string) string) string {
	if system == "windows" {
		return cmp.Or(getenv("USERPROFILE"), getenv("HOME"))
	}
	return getenv("HOME")
}
