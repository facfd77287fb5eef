package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC023MisplacedSession(t *testing.T) {
	fault := session.Fault{Kind: session.Misplaced, Detail: "it is found in /a only", Remedy: "go there"}
	harmless := session.Fault{Kind: session.Misplaced, Detail: "it is found in /a only", Harmless: true}
	runCases(t, []ruleCase{
		{name: "the folder is gone", tree: quiet, tweak: ofSession(fault), want: "SC023 warning P\n  manual:", says: "found in /a only"},
		{name: "the folder is there", tree: quiet, tweak: ofSession(harmless), want: "SC023 info P", says: "found in /a only"},
	})
}
