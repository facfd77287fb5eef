// Package pairs holds the rules about calls and their results (SC1xx), the ids and names that
// join them (SC2xx), and results that a child has (SC716).
package pairs

import "github.com/sessctl/sessctl/internal/rules"

// Rules are the rules of this family, in the order of their ids.
var Rules = []*rules.Rule{
	&summaryBoundary,
	&missingResult,
	&callInFlight,
	&orphanResult,
	&lateResult,
	&earlyResult,
	&duplicateResult,
	&conflictingResults,
	&resultInWrongRole,
	&parallelResultsSplit,
	&resultsNotFirst,
	&resultOrderDiffers,
	&placeholderShadowsReal,
	&pairSplitByCompaction,
	&serverToolUnpaired,
	&duplicateIDInTurn,
	&idReused,
	&idFormat,
	&idEmpty,
	&argumentsInvalid,
	&toolNameInvalid,
	&resultWithoutName,
	&resultInChild,
}
