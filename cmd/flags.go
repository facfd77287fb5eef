package cmd

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/config"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
)

// addChoice declares a flag that takes one of a few words and completes them.
func addChoice(cmd *cobra.Command, name, standard string, values []string, usage string) {
	config.AddChoice(cmd.Flags(), name, standard, values, usage)
	completeFlag(cmd, name, oneOf(values...))
}

// addFormatFlag declares --format; the first format is the default.
func addFormatFlag(cmd *cobra.Command, formats ...string) {
	addChoice(cmd, "format", formats[0], formats, "how to print it")
}

// addFindingFlags declares which findings count and are printed.
func addFindingFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	addChoice(cmd, "fail-on", "error", []string{"error", "warning", "info", "never"}, "fail at")
	flags.StringSlice("select", nil, "run only these `RULES`: ids, beginnings (SC7) or names")
	flags.StringSlice("ignore", nil, "leave these `RULES` out")
	flags.Uint("max-findings", 100, "list `N` findings at most, 0 for all")
}

// selectedRules are those that --select and --ignore leave.
func (p *program) selectedRules() ([]*rules.Rule, error) {
	wanted := p.config.Select
	if len(wanted) == 0 && p.config.Isolation.Enabled {
		wanted = []string{"SC"} // the isolation rules with all others
	}
	selected, err := catalogue.SelectRules(wanted, p.config.Ignore)
	if unknown, is := errors.AsType[catalogue.UnknownRule](err); is {
		err = unknownRule(string(unknown))
	}
	return selected, err
}

// withTexts reports whether texts are loaded for the rules that find more with them:
// where they were chosen, by name or by the configuration.
func (p *program) withTexts(selected []*rules.Rule) bool {
	chosen := len(p.config.Select) > 0 || p.config.Isolation.Enabled
	return chosen && slices.ContainsFunc(selected, func(r *rules.Rule) bool { return r.Bodies })
}

// addProfileFlags declares which request is checked, and for whom.
func addProfileFlags(cmd *cobra.Command) {
	cmd.Flags().StringSlice("profile", nil, "check against `PROVIDERS`, not each session's own")
	cmd.Flags().Bool("as-is", false, "check what is stored, without your next message")
}

func profileNames() []string {
	return lists.MapEach(rules.Profiles, func(p *rules.Profile) string { return p.Name })
}

// parseJudge parses what the flags of addProfileFlags say.
func (p *program) parseJudge() (rules.Judge, error) {
	judge := rules.Judge{AsIs: p.config.AsIs, Isolation: isolationLimits(p.config)}
	for _, name := range p.config.Profile {
		profile := rules.FindProfile(name)
		if profile == nil {
			return judge, problem.New(problem.Usage, problem.DidYouMean(name, profileNames()), "there is no profile %q: use %s", name, strings.Join(profileNames(), ", "))
		}
		if !slices.Contains(judge.Profiles, profile) {
			judge.Profiles = append(judge.Profiles, profile)
		}
	}
	return judge, nil
}

// parseSince reads a date, a time, or how long ago: "2026-02-03",
// "2026-02-03T10:00:00Z", "36h", "7d", "2w". Dates are local. "" is zero: no limit.
func parseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return t, nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	for unit, days := range map[string]int{"d": 1, "w": 7} {
		number, ok := strings.CutSuffix(text, unit)
		if n, err := strconv.ParseUint(number, 10, 16); ok && err == nil {
			return now.AddDate(0, 0, -int(n)*days), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, problem.New(problem.Usage, "Use a date (2026-02-03), a time (2026-02-03T10:00:00Z) or an age (36h, 7d, 2w).",
		"--since %q is no point in time", text)
}

// touchedSince tells the trees in which something happened since, or may have happened:
// where a session says nothing usable of when, nobody knows that it is old.
func touchedSince(since time.Time) func(*session.Tree) bool {
	return func(tree *session.Tree) bool {
		return slices.ContainsFunc(tree.Sessions, func(s *session.Session) bool {
			last, known := lastTouched(s)
			return since.IsZero() || !known || !last.Before(since)
		})
	}
}

// lastTouched is the newest time in a session; known is false where there is none, or one
// of its times cannot be read.
func lastTouched(s *session.Session) (last time.Time, known bool) {
	last = laterTime(s.Created, s.Updated)
	for i := range s.Items {
		last = laterTime(last, s.Items[i].Time)
	}
	unread := slices.ContainsFunc(s.Faults, func(f session.Fault) bool { return f.Kind == session.BadTime })
	return last, !last.IsZero() && !unread
}

func laterTime(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

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

// isolationLimits are the limits: the usual ones, but for those that the configuration has.
func isolationLimits(c *config.Config) *rules.Isolation {
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
		list = append(list, config.Setting{Key: isolationKey(s.key), Value: s.get(isolationLimits(c)), Source: source(isolationKey(s.key))})
	}
	return list
}

// addAssumeDeadFlag declares --assume-dead for a command that says of calls at
// the end of a session whether they are over.
func addAssumeDeadFlag(cmd *cobra.Command) {
	cmd.Flags().Bool("assume-dead", false, "if unsure whether the runtime runs, assume it stopped")
}

// assumeDead takes an unknown writer for dead where --assume-dead says so. It
// is refused where the writer is known to live.
func (p *program) assumeDead(facts *session.Store) error {
	switch {
	case !p.config.AssumeDead:
	case facts.Writer == session.WriterLive:
		return problem.New(problem.Busy, "Close it first, or leave --assume-dead out.",
			"%s is in use: %s has it open, so it cannot be taken for ended", facts.Path, cmp.Or(facts.WriterName, "another process"))
	case facts.Writer == session.WriterUnknown:
		facts.Writer = session.WriterDead
	}
	return nil
}
