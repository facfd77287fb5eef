package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC021BrokenChain(t *testing.T) {
	fault := session.Fault{Kind: session.BrokenChain, Detail: "line a names the parent b, which does not exist"}
	above := "c"
	lost := session.Fault{Kind: session.BrokenChain, Detail: "2 of 12 messages would be sent", Field: "parentUuid", Default: &above, Hides: true, Remedy: "join them"}
	runCases(t, []ruleCase{
		{name: "what is lost is joined where that is allowed", tree: quiet, tweak: ofSession(lost), want: "SC021 warning P\n  lossless with guesses: set P parentUuid=c", says: "2 of 12"},
		{name: "of a session: nothing is repaired", tree: quiet, tweak: ofSession(fault), want: `SC021 info P`, says: "line a names"},
	})
}
