// Package branches holds the rules about branch labels, and about who sees what of a
// session that several agents share.
package branches

import "github.com/sessctl/sessctl/internal/rules"

// Rules are the rules of this family, in the order of their ids.
var Rules = []*rules.Rule{
	&branchMalformed,
	&branchPrefixAmbiguous,
	&summaryBranchScope,
	&visibilityGap,
	&legacyPrefixLeak,
	&unscopedSubAgentEvent,
	&branchWildcard,
	&activeViewUnpaired,
	&lateAppendBeforeSummary,
	&branchCase,
}
