package rules_test

import (
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC805ResultOnlyReturn(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "steps of a background agent behind its call",
			tree: `
P
  user "q"
  root B1>>worker(do it)
  root <B1 "started"
  sub C
  worker "I look" c1(ls)
  worker <c1 "a.txt"
  root "it runs"
C<P
  system(do it)
  worker "I look" c1(ls)
  worker <c1 "a.txt"
  worker "done"`,
			only: "SC805",
			want: `SC805 warning P.4,5 see P.1`,
			says: `the session of "root" contains 2 messages of "worker". Call B1 (run_background_agent) should bring back the result alone`,
		},
		{
			name: "two calls that asked the agent: its steps are told once",
			tree: `
P
  user "q"
  root B1>>worker(do it) B2>>worker(do that)
  root <B1 "started"
  root <B2 "started"
  sub C
  sub D
  worker "I look" c1(ls)
  worker <c1 "a.txt"
  root "both run"
C<P
  system(do it)
  worker "done"
D<P
  system(do that)
  worker "done"`,
			only: "SC805",
			want: `SC805 warning P.6,7 see P.1`,
		},
		{
			name: "what leaked while the caller waited is SC701",
			tree: `
P
  user "q"
  root T1>worker(do it)
  worker "done"
  sub C
  root <T1 "done"
C<P
  system(do it)
  worker "done"`,
			only: "SC805",
		},
		{
			name: "steps behind the caller's own words, before its result",
			tree: `
P
  user "q"
  root T1>worker(do it)
  sub C
  root "it works"
  worker "I look"
  root <T1 "done"
C<P
  system(do it)
  worker "I look"
  worker "done"`,
			only: "SC805",
			want: `SC805 warning P.4 see P.1`,
		},
		{
			name: "steps in a session that a repair rebuilt, of which much is lost",
			tree: `
P
  system(do) synthetic
  root T1>worker(do it)
  sub C
  root "it works"
  worker "I look"
  root <T1 "done"
C<P
  system(do it)
  worker "done"`,
			only: "SC805",
		},
		{
			name: "the user speaks to the agent later",
			tree: `
P
  user "q"
  root B1>>worker(do it)
  root <B1 "started"
  sub C
  root "it runs"
  user "how far are you?"
  worker "half way"
C<P
  system(do it)
  worker "done"`,
		},
		{
			name: "the conversation is handed to the agent later",
			tree: `
P
  user "q"
  root B1>>worker(do it)
  root <B1 "started"
  sub C
  root h1:handoff(worker)
  root <h1
  worker "I go on"
C<P
  system(do it)
  worker "done"`,
		},
		{
			name: "an agent that asks itself",
			tree: `
P
  user "q"
  root B1>>root(do it)
  root <B1 "started"
  sub C
  root "it runs"
C<P
  system(do it)
  root "done"`,
		},
	})
}

// TestSC805WhatAResultBrings: results in the form of other runtimes.
func TestSC805WhatAResultBrings(t *testing.T) {
	const steps = `[{"id":"step_001","tool_name":"ls"}]`
	long := strings.Repeat("I looked at the next file. ", 200)
	for name, tc := range map[string]struct {
		answer, result string
		fails, broken  bool
	}{
		"the answer":                        {answer: "done", result: "done"},
		"the answer in a member":            {answer: "done", result: `{"result":"done","subagent_session_id":"C"}`},
		"a part of the answer":              {answer: "I looked. It is done.", result: "It is done."},
		"another short text":                {answer: "done", result: "(no output)"},
		"an empty one":                      {answer: "done", result: ""},
		"a list of steps":                   {answer: "done", result: `{"result":"done","steps":` + steps + `}`, broken: true},
		"messages below the result":         {answer: "done", result: `{"output":{"messages":[{"role":"user","content":"do it"}]}}`, broken: true},
		"a list of messages":                {answer: "done", result: `[{"role":"user","content":"do it"},{"role":"assistant","content":"done"}]`, broken: true},
		"a list in a string":                {answer: "done", result: `{"result":"{\"history\":[{\"a\":1}]}"}`, broken: true},
		"a list of steps from nowhere":      {answer: "", result: `{"steps":` + steps + `}`, broken: true},
		"an answer that is a plan":          {answer: `{"steps":` + steps + `}`, result: `{"result":"{\"steps\":[{\"id\":\"step_001\",\"tool_name\":\"ls\"}]}"}`},
		"a plan that was written anew":      {answer: `{"steps":` + steps + `}`, result: `{"steps": [{"tool_name":"ls","id":"step_001"}]}`},
		"an empty list":                     {answer: "done", result: `{"result":"done","steps":[]}`},
		"numbers under a name for steps":    {answer: "done", result: `{"result":"done","steps":[1,2]}`},
		"much more than the answer":         {answer: "done", result: long + "done", broken: true},
		"a long answer with a little more":  {answer: long, result: long + " usage: 100 tokens"},
		"an error that lists what was done": {answer: "done", result: `{"steps":` + steps + `}`, fails: true},
	} {
		c := ruleCase{
			name: name, only: "SC805",
			tree: `
P
  user "q"
  root T1>worker(do it)
  sub C
  root <T1 "RESULT"
C<P
  system(do it)
  worker c1()
  worker <c1
  worker "ANSWER"`,
			tweak: func(tree *session.Tree) {
				p, c := tree.Root(), tree.Session("C")
				r, last := &p.Items[3].Results[0], &c.Items[3]
				r.Text, r.Digest, r.IsError = tc.result, session.DigestOf(tc.result), tc.fails
				last.Body.Text, last.Text = tc.answer, session.DigestOf(tc.answer)
			},
		}
		if tc.broken {
			c.want = "SC805 warning P.3 see P.1 see C.3"
			if tc.answer == "" {
				c.want = "SC805 warning P.3 see P.1"
			}
		}
		runCases(t, []ruleCase{c})
	}
}

// TestSC805WhereTheAnswerIsKeptApart: a store that knows the answer in a result.
func TestSC805WhereTheAnswerIsKeptApart(t *testing.T) {
	answer := func(text string) func(*session.Tree) {
		return func(tree *session.Tree) {
			tree.Root().Items[2].Results[0].Answer = session.DigestOf(text)
			tree.Root().Items[2].Results[0].Text = `{"messages":[{"role":"user"}],"result":"done"}`
		}
	}
	const tree = `
P
  user "q"
  root T1>worker(do it)=C
  root <T1
C
  user "do it"
  worker "done"`
	runCases(t, []ruleCase{
		{name: "it is the child's answer", tree: tree, tweak: answer("done"), only: "SC805"},
		{name: "it is another one", tree: tree, tweak: answer("gone"), only: "SC805", want: "SC805 warning P.2 see P.1 see C.1"},
	})
}
