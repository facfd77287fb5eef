// Package damage holds the rules about what a store can no longer tell or what its reader
// fails on (SC0xx): one table of faults, and what is odd about rows, positions and times.
package damage

import "github.com/sessctl/sessctl/internal/rules"

// Rules are the rules of this family.
var Rules = append([]*rules.Rule{
	&ruleCrashed,
	&undecodableRecord,
	&positionCollision,
	&staleIndexReference,
	&timeGoesBack,
	&foreignOwner,
	&outOfSchema,
}, faults...)
