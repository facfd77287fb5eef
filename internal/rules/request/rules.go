// Package request holds the rules about what a provider minds in a request besides the pairs:
// roles, empty messages, reasoning, media (SC3xx to SC6xx).
package request

import "github.com/sessctl/sessctl/internal/rules"

// Rules are the rules of this family, in the order of their ids.
var Rules = []*rules.Rule{
	&sameRoleRun,
	&startsNotUser,
	&endsWithAssistant,
	&systemInMiddle,
	&toolThenUser,
	&geminiCallPosition,
	&noUserContent,
	&unknownBlock,
	&recordedRefusal,
	&unansweredPrompts,
	&emptyMessage,
	&blankBlock,
	&trailingWhitespace,
	&nullContent,
	&emptyToolCalls,
	&emptyErrorResult,
	&unfinishedPlaceholder,
	&strayPromptCopy,
	&thinkingMissing,
	&thinkingUnsigned,
	&thinkingEdited,
	&thinkingForeign,
	&prefixChanged,
	&geminiSignatureMissing,
	&reasoningItemUnpaired,
	&itemIDUnresolvable,
	&reasoningContentMissing,
	&imageDimensions,
	&imageCount,
	&mediaInWrongPlace,
	&requestTooLarge,
	&cacheMarks,
	&badUnicode,
	&mediaUnreadable,
	&imageBytes,
	&nulCharacter,
}
