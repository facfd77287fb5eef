package cmd

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/rules"
)

// The modes of --mode.
const (
	modeResume = "resume"
	modeAsIs   = "as-is"
)

// addProfileFlags declares for whom requests are judged.
func addProfileFlags(cmd *cobra.Command) {
	cmd.Flags().StringSlice("profile", nil, "judge requests for these `PROVIDERS` instead of the one that each session\nhints at: "+strings.Join(profileNames(), ", "))
	addChoice(cmd, "mode", modeResume, []string{modeResume, modeAsIs}, "the request: the session with your next message, or the session as it is")
	completeFlag(cmd, "profile", listOf(always(profileNames())))
}

func profileNames() []string {
	var names []string
	for _, p := range rules.Profiles {
		names = append(names, p.Name)
	}
	return names
}

// judge is what the flags of addProfileFlags say.
func (p *program) judge() (rules.Judge, error) {
	judge := rules.Judge{AsIs: p.config.Mode == modeAsIs, Isolation: isolation(p.config)}
	for _, name := range p.config.Profile {
		profile := rules.FindProfile(name)
		if profile == nil {
			return judge, problem.New(problem.Usage, "", "there is no profile %q: use %s", name, strings.Join(profileNames(), ", "))
		}
		if !slices.Contains(judge.Profiles, profile) {
			judge.Profiles = append(judge.Profiles, profile)
		}
	}
	return judge, nil
}
