// Package recorded holds the rules about recorded streams of events and about what a store has
// besides what the recording of its run has.
package recorded

import "github.com/sessctl/sessctl/internal/rules"

// Rules are the rules of this family, in the order of their ids.
var Rules = []*rules.Rule{
	&switchDepth,
	&childTranscriptLost,
	&lostItem,
	&foreignItem,
	&alteredItem,
	&misplacedItem,
}
