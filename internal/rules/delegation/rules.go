// Package delegation holds the rules about sub-agents: leaks, references, children that several
// calls share, and what is told of them (SC70x, SC71x, SC72x).
package delegation

import "github.com/sessctl/sessctl/internal/rules"

// Rules are the rules of this family, in the order of their ids.
var Rules = []*rules.Rule{
	&leakDuplicate,
	&leakSoleCopy,
	&leakNoChild,
	&danglingReference,
	&subsessionOrphan,
	&parentCycle,
	&collapsedChildren,
	&isolationBreach,
	&ambiguousParent,
	&interleavedWriters,
	&strayChildRoot,
	&resultAgentMismatch,
	&childPrologueMissing,
	&crossOwnerSession,
}
