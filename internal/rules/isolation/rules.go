// Package isolation holds the rules about what a sub-agent may know, use and return (SC8xx).
// They run where they are named or where the configuration turns isolation on.
package isolation

import "github.com/sessctl/sessctl/internal/rules"

// Rules are the rules of this family, in the order of their ids.
var Rules = []*rules.Rule{
	&goalOnlyPrompt,
	&goalEquality,
	&emptyStart,
	&inheritedSteps,
	&resultOnlyReturn,
	&oneSpawnRecord,
	&sharedWorkspace,
	&danglingOutput,
	&toolScope,
	&siblingIsolation,
	&resultIntegrity,
	&sharedMemory,
	&resultCorrelation,
	&limitsExceeded,
	&aggregation,
}
