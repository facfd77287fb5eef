package cmd

import (
	"time"

	"github.com/sessctl/sessctl/internal/config"
	"github.com/sessctl/sessctl/internal/rules"
)

// isolationSettings are the limits of the isolation rules by their keys in the
// configuration, each with where its value goes to.
var isolationSettings = []struct {
	key string
	set func(*rules.Isolation, *config.Isolation)
	get func(*rules.Isolation) any
}{
	{"passage", func(r *rules.Isolation, c *config.Isolation) { r.Passage = int(c.Passage) }, func(r *rules.Isolation) any { return r.Passage }},
	{"max-steps", func(r *rules.Isolation, c *config.Isolation) { r.MaxSteps = int(c.MaxSteps) }, func(r *rules.Isolation) any { return r.MaxSteps }},
	{"max-tokens-per-step", func(r *rules.Isolation, c *config.Isolation) { r.MaxTokensPerStep = int(c.MaxTokensPerStep) }, func(r *rules.Isolation) any { return r.MaxTokensPerStep }},
	{"max-output-files", func(r *rules.Isolation, c *config.Isolation) { r.MaxOutputFiles = int(c.MaxOutputFiles) }, func(r *rules.Isolation) any { return r.MaxOutputFiles }},
	{"max-output-bytes", func(r *rules.Isolation, c *config.Isolation) { r.MaxOutputBytes = int64(c.MaxOutputBytes) }, func(r *rules.Isolation) any { return r.MaxOutputBytes }},
	{"timeout", func(r *rules.Isolation, c *config.Isolation) { r.Timeout = c.Timeout }, func(r *rules.Isolation) any { return r.Timeout.Round(time.Millisecond).String() }},
	{"shared-paths", func(r *rules.Isolation, c *config.Isolation) { r.Shared = c.SharedPaths }, func(r *rules.Isolation) any { return append([]string{}, r.Shared...) }},
}

// isolationKey is the key of a limit with its section.
func isolationKey(key string) string { return "isolation." + key }

// isolation are the limits: the usual ones, but for those that the configuration has.
func isolation(c *config.Config) *rules.Isolation {
	limits := rules.UsualIsolation
	for _, s := range isolationSettings {
		if c.Sources[isolationKey(s.key)] != "" {
			s.set(&limits, &c.Isolation)
		}
	}
	return &limits
}

// settingsOfIsolation lists the limits, and whether the rules run unasked.
func settingsOfIsolation(c *config.Config) []config.Setting {
	source := func(key string) string {
		if from := c.Sources[key]; from != "" {
			return from
		}
		return "default"
	}
	list := []config.Setting{{Key: isolationKey("enabled"), Value: c.Isolation.Enabled, Source: source(isolationKey("enabled"))}}
	for _, s := range isolationSettings {
		list = append(list, config.Setting{Key: isolationKey(s.key), Value: s.get(isolation(c)), Source: source(isolationKey(s.key))})
	}
	return list
}
