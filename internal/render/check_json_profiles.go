package render

import (
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
)

// jsonUse says for how many sessions a profile was the judge.
type jsonUse struct {
	Name     string `json:"name"`
	Sessions int    `json:"sessions"`
	Why      string `json:"why,omitzero"`
}

func jsonUses(list []check.Use) []jsonUse {
	var out []jsonUse
	for _, use := range list {
		out = append(out, jsonUse{use.Profile.Name, use.Sessions, use.Why})
	}
	return out
}

// jsonJudgement is how one of several profiles minds a finding.
type jsonJudgement struct {
	Profile       string `json:"profile"`
	Severity      string `json:"severity"`
	ProviderError string `json:"provider_error,omitzero"`
}

func jsonJudgements(list []rules.Judgement) []jsonJudgement {
	var out []jsonJudgement
	for _, j := range list {
		out = append(out, jsonJudgement{j.Profile.Name, j.Severity.String(), j.Error})
	}
	return out
}

// jsonRequest is what a provider answers to the next request of a session.
type jsonRequest struct {
	Store   string   `json:"store"`
	Profile string   `json:"profile"`
	Why     string   `json:"why,omitzero"`
	Verdict string   `json:"verdict"`
	Voice   string   `json:"voice,omitzero"`
	Error   string   `json:"error,omitzero"`
	Item    *int     `json:"item,omitzero"`
	Rules   []string `json:"rules,omitempty"`
	Closed  bool     `json:"closed,omitzero"`
}

func jsonRequests(r *check.Result) []jsonRequest {
	var out []jsonRequest
	for _, a := range r.Answers {
		out = append(out, jsonRequest{
			Store: r.Store.Path, Profile: a.Profile.Name, Why: a.Why, Verdict: a.Verdict.String(),
			Voice: a.Voice, Error: a.Error, Item: item(a.Item), Rules: a.Rules, Closed: a.Closed,
		})
	}
	return out
}

func profileNames(list []*rules.Profile) []string {
	var names []string
	for _, p := range list {
		names = append(names, p.Name)
	}
	return names
}
