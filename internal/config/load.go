package config

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"

	"github.com/sessctl/sessctl/internal/problem"
)

// Load brings together the flags of a command, the environment and the
// configuration file at path, or the first of the usual ones if path is "".
// Its errors are usage problems that name where a wrong value stands.
func Load(flags *pflag.FlagSet, getenv func(string) string, path string) (*Config, error) {
	l := loader{
		v:      viper.NewWithOptions(viper.KeyDelimiter(delimiter)),
		config: &Config{Sources: map[string]string{}},
	}
	if err := l.readFile(getenv, path); err != nil {
		return nil, err
	}
	if err := l.readEnvironment(getenv); err != nil {
		return nil, err
	}
	if err := l.readFlags(flags); err != nil {
		return nil, err
	}
	if err := l.decodeConfig(); err != nil {
		return nil, err
	}
	l.clearOthers(flags)
	return l.config, l.checkChoices(flags)
}

// delimiter parts the levels of nested keys; viper's own, the dot, may stand in
// a key.
const delimiter = "::"

type loader struct {
	v      *viper.Viper
	config *Config
	lines  map[string]int // of the settings in the file
}

func (l *loader) readFile(getenv func(string) string, path string) error {
	path, data, err := findFile(getenv, path)
	if err != nil || path == "" {
		return err
	}
	l.v.SetConfigType("yaml")
	if err := l.v.ReadConfig(bytes.NewReader(data)); err != nil {
		reason := errors.Unwrap(err)
		if reason != nil && strings.HasPrefix(reason.Error(), "yaml: unmarshal errors") { // of another form than a map
			reason = errors.New("it is not a list of settings of the form KEY: VALUE")
		}
		return problem.New(problem.Usage, mend, "the configuration file %s cannot be read: %v", path, reason)
	}
	l.config.File, l.lines = path, map[string]int{}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err == nil && len(doc.Content) > 0 { // viper has read it already
		linesOf(doc.Content[0], "", l.lines)
	}
	for _, key := range l.givenKeys() {
		l.config.Sources[key] = path
	}
	return nil
}

// linesOf notes where the keys of a section are, by their names as viper gives them.
func linesOf(node *yaml.Node, section string, lines map[string]int) {
	if node.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := section + strings.ToLower(node.Content[i].Value)
		lines[key] = node.Content[i].Line
		linesOf(node.Content[i+1], key+level, lines)
	}
}

// sourceOf is the source of a setting, with its line in the file.
func (l *loader) sourceOf(key string) string {
	source := l.config.Sources[key]
	if line := l.lines[key]; line > 0 && source == l.config.File {
		source += ":" + strconv.Itoa(line)
	}
	return source
}

// readEnvironment lays the environment over the file. viper could read the
// process's own environment; this way a run depends only on what it is given.
func (l *loader) readEnvironment(getenv func(string) string) error {
	values := map[string]any{}
	for _, key := range allKeys() {
		value := getenv(EnvName(key))
		if value == "" {
			continue
		}
		l.config.Sources[key] = EnvName(key)
		section, name, inside := strings.Cut(key, level)
		if !inside {
			values[key] = value
			continue
		}
		if values[section] == nil {
			values[section] = map[string]any{}
		}
		values[section].(map[string]any)[name] = value
	}
	return l.v.MergeConfigMap(values)
}

func (l *loader) readFlags(flags *pflag.FlagSet) error {
	var failed error
	keys := Keys()
	flags.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(keys, f.Name) {
			return // --help and the like
		}
		failed = errors.Join(failed, l.v.BindPFlag(f.Name, f))
		switch {
		case f.Changed:
			l.config.Sources[f.Name] = "--" + f.Name
		case l.config.Sources[f.Name] == "":
			l.config.Sources[f.Name] = "default"
		}
	})
	return failed
}

// decodeConfig fills the struct.
func (l *loader) decodeConfig() error {
	if err := l.knownKeys(); err != nil {
		return err
	}
	err := l.v.UnmarshalExact(l.config)
	if wrong, ok := errors.AsType[*mapstructure.DecodeError](err); ok {
		key, _, _ := strings.Cut(wrong.Name(), "[") // of a list: the element
		return problem.New(problem.Usage, "", "%s in %s is %q: use %s",
			key, l.sourceOf(key), fmt.Sprint(l.givenValue(key)), ValueForm(key))
	}
	if err != nil {
		return problem.New(problem.Usage, "", "the settings are not valid: %v", err)
	}
	return l.checkNumbers()
}

// checkNumbers tests what the decoder makes a number of: it takes -5 for a huge
// one, 1.5 for 1, and a time without a unit for nanoseconds.
func (l *loader) checkNumbers() error {
	for key, field := range allFields() {
		if l.givenValue(key) == nil {
			continue
		}
		value, err := fmt.Sprint(l.givenValue(key)), error(nil)
		switch {
		case field.Type == reflect.TypeFor[time.Duration]():
			var d time.Duration
			if d, err = time.ParseDuration(value); d < 0 {
				err = strconv.ErrRange
			}
		case field.Type.Kind() == reflect.Uint:
			_, err = strconv.ParseUint(value, 10, strconv.IntSize-1)
		}
		if err != nil {
			return problem.New(problem.Usage, "", "%s in %s is %q: use %s", key, l.sourceOf(key), value, ValueForm(key))
		}
	}
	return nil
}

// clearOthers empties the settings that the command has no flag for: file and
// environment are for all commands.
func (l *loader) clearOthers(flags *pflag.FlagSet) {
	for field, value := range reflect.ValueOf(l.config).Elem().Fields() {
		if key := field.Tag.Get(tag); key != notASetting && field.Type.Kind() != reflect.Struct && flags.Lookup(key) == nil {
			value.SetZero()
			delete(l.config.Sources, key)
		}
	}
}

// knownKeys names keys of the file that are no settings.
func (l *loader) knownKeys() error {
	known := allKeys()
	unknown := slices.DeleteFunc(l.givenKeys(), func(key string) bool { return slices.Contains(known, key) })
	unknown = slices.DeleteFunc(unknown, func(key string) bool { return isSection(key) && l.givenValue(key) == nil })
	for _, key := range unknown {
		if isSection(key) {
			return problem.New(problem.Usage, "`sessctl config` lists its settings.",
				"%s: %s is %q, but it is a section, with settings below it", l.sourceOf(key), key, fmt.Sprint(l.givenValue(key)))
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.SortStableFunc(unknown, func(a, b string) int { return l.lines[a] - l.lines[b] })
	next := "`sessctl config` lists all settings."
	if near := problem.DidYouMean(unknown[0], known); near != "" {
		next = near + " " + next
	}
	return problem.New(problem.Usage, next, "%s: unknown setting %q", l.sourceOf(unknown[0]), unknown[0])
}

// givenKeys are the keys that were given, in alphabetical order: those of the top level,
// and below a section those in it.
func (l *loader) givenKeys() []string {
	keys := l.v.AllKeys()
	for i := range keys {
		first, rest, nested := strings.Cut(keys[i], delimiter)
		keys[i] = first
		if nested && isSection(first) {
			keys[i] += level + strings.ReplaceAll(rest, delimiter, level)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// isSection reports whether settings have this name in front of theirs.
func isSection(name string) bool {
	return slices.ContainsFunc(allKeys(), func(key string) bool { return strings.HasPrefix(key, name+level) })
}

// givenValue is what was given for a setting, nil for nothing.
func (l *loader) givenValue(key string) any {
	return l.v.Get(strings.ReplaceAll(key, level, delimiter))
}

// ValueForm says what a setting takes.
func ValueForm(key string) string {
	for name, field := range allFields() {
		if name != key {
			continue
		}
		if field.Type == reflect.TypeFor[time.Duration]() {
			return "a time with its unit (60s, 5m), from 0 on"
		}
		switch field.Type.Kind() {
		case reflect.Bool:
			return "true or false"
		case reflect.Uint:
			return "a whole number from 0 on"
		case reflect.Slice:
			return "a list of words"
		}
	}
	return "one word"
}

// checkChoices tests values of file and environment that must be one of a few;
// flags were tested when they were parsed. A word that only other commands have
// is passed over, so that one setting can serve all commands.
func (l *loader) checkChoices(flags *pflag.FlagSet) error {
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		c, ok := f.Value.(*choice)
		if !ok || f.Changed || failed != nil {
			return
		}
		value := l.v.GetString(f.Name)
		switch {
		case c.hasWord(value):
		case slices.Contains(shared[f.Name], value):
			l.setDefault(f.Name, f.DefValue)
		default:
			failed = problem.New(problem.Usage, problem.DidYouMean(value, c.values), "%s in %s is %q: %v", f.Name, l.sourceOf(f.Name), value, c.wrongWord())
		}
	})
	return failed
}

// setDefault gives a setting its default back.
func (l *loader) setDefault(key, standard string) {
	l.config.Sources[key] = "default"
	for field, value := range reflect.ValueOf(l.config).Elem().Fields() {
		if field.Tag.Get(tag) == key {
			value.SetString(standard)
		}
	}
}

// shared are the words that some command takes for a setting that means something
// else, or has other words, for another one.
var shared = map[string][]string{
	"format": {"text", "table", "json", "ndjson", "sarif", "markdown", "mermaid", "junit", "github", "html"},
}
