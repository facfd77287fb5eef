// Package config brings the settings of a command together: flag before
// environment before file before default. Every flag has an environment
// variable (--fail-on is SESSCTL_FAIL_ON) and a key of the same name in the
// configuration file.
package config

import (
	"reflect"
	"strings"
)

// Config is every setting with its effective value. The tags are the names of
// the flags and of the keys in the file; the meanings and the defaults stand
// where the flags are declared. Settings that the command has no flag for are
// empty, whatever file and environment say.
type Config struct {
	Color string `mapstructure:"color"`
	Quiet bool   `mapstructure:"quiet"`

	Format  string `mapstructure:"format"`
	Store   string `mapstructure:"store"`
	Session string `mapstructure:"session"`

	FailOn      string   `mapstructure:"fail-on"`
	Select      []string `mapstructure:"select"`
	Ignore      []string `mapstructure:"ignore"`
	Since       string   `mapstructure:"since"`
	Profile     []string `mapstructure:"profile"`
	Mode        string   `mapstructure:"mode"`
	Explain     bool     `mapstructure:"explain-request"`
	Deep        bool     `mapstructure:"deep"`
	AssumeDead  bool     `mapstructure:"assume-dead"`
	MaxFindings uint     `mapstructure:"max-findings"`

	All        bool     `mapstructure:"all"`
	Full       bool     `mapstructure:"full"`
	ModelInput bool     `mapstructure:"model-input"`
	Branch     string   `mapstructure:"branch"`
	Agent      string   `mapstructure:"agent"`
	Model      string   `mapstructure:"model"`
	Diff       []string `mapstructure:"diff"`
	Tokens     bool     `mapstructure:"tokens"`
	Against    string   `mapstructure:"against"`
	Redact     bool     `mapstructure:"redact"`
	Output     string   `mapstructure:"output"`

	DryRun      bool     `mapstructure:"dry-run"`
	Yes         bool     `mapstructure:"yes"`
	Allow       []string `mapstructure:"allow"`
	Plan        string   `mapstructure:"plan"`
	PlanOut     string   `mapstructure:"plan-out"`
	ShowContent bool     `mapstructure:"show-content"`

	// File is the configuration file that was read, "" for none.
	File string `mapstructure:"-"`
	// Sources says for each key where its value comes from: "--fail-on",
	// "SESSCTL_FAIL_ON", the path of the file, or "default".
	Sources map[string]string `mapstructure:"-"`
}

// The key of a setting is in its tag; a field of Config that is no setting has
// this one instead.
const (
	tag         = "mapstructure"
	notASetting = "-"
)

// Keys are the names of all settings.
func Keys() []string {
	var keys []string
	for field := range reflect.TypeFor[Config]().Fields() {
		if key := field.Tag.Get(tag); key != notASetting {
			keys = append(keys, key)
		}
	}
	return keys
}

// EnvName is the environment variable of a setting.
func EnvName(key string) string {
	return "SESSCTL_" + strings.ToUpper(strings.ReplaceAll(key, "-", "_"))
}

// Setting is one setting for people.
type Setting struct {
	Key    string
	Value  any
	Source string
}

// Settings lists the settings that have a flag, in the order of the struct.
func (c *Config) Settings() []Setting {
	var list []Setting
	v := reflect.ValueOf(*c)
	for field, value := range v.Fields() {
		key := field.Tag.Get(tag)
		if source := c.Sources[key]; source != "" {
			list = append(list, Setting{key, value.Interface(), source})
		}
	}
	return list
}
