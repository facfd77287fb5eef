package rules

import (
	"fmt"
	"slices"
	"strings"
)

// All is the catalogue in the order of ids: the one table of all rules.
var All = []*Rule{
	&ruleCrashed,
	&storeDamaged,
	&schemaUnknown,
	&foreignKey,
	&setAsideBackup,
	&legacyCopyFuller,
	&requiredNull,
	&badMetadataJSON,
	&badTimestamp,
	&unknownItemKind,
	&undecodableRecord,
	&positionCollision,
	&emptySummary,
	&summaryBoundary,
	&staleIndexReference,
	&timeGoesBack,
	&duplicatedKeyCopies,
	&mixedDialects,
	&orphanRecord,
	&housekeeping,
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
	&sameRoleRun,
	&startsNotUser,
	&endsWithAssistant,
	&systemInMiddle,
	&toolThenUser,
	&geminiCallPosition,
	&noUserContent,
	&unknownBlock,
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
	&leakDuplicate,
	&leakSoleCopy,
	&leakNoChild,
	&danglingReference,
	&subsessionOrphan,
	&parentCycle,
	&collapsedChildren,
	&isolationBreach,
	&branchMalformed,
	&branchPrefixAmbiguous,
	&summaryBranchScope,
	&visibilityGap,
	&switchDepth,
	&ambiguousParent,
	&resultInChild,
	&childTranscriptLost,
	&interleavedWriters,
	&strayChildRoot,
	&resultAgentMismatch,
	&childPrologueMissing,
	&legacyPrefixLeak,
	&unscopedSubAgentEvent,
	&branchWildcard,
	&activeViewUnpaired,
	&lateAppendBeforeSummary,
	&crossOwnerSession,
	&lostItem,
	&foreignItem,
	&alteredItem,
	&misplacedItem,
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

// Find looks a rule up by id or name, in any case; nil when there is none.
func Find(word string) *Rule {
	for _, r := range All {
		if strings.EqualFold(r.ID, word) || strings.EqualFold(r.Name, word) {
			return r
		}
	}
	return nil
}

// Usual are the rules that run when nobody names any.
func Usual() []*Rule {
	return slices.DeleteFunc(slices.Clone(All), func(r *Rule) bool { return r.Optional })
}

// Select returns the rules that the words choose: ids, names or prefixes of ids
// ("SC7"), in any case. No words of select means the usual rules; ignore takes away.
// A word that matches nothing is an error.
func Select(selected, ignored []string) ([]*Rule, error) {
	matches := func(words []string, r *Rule) bool {
		for _, w := range words {
			if strings.HasPrefix(r.ID, strings.ToUpper(w)) || strings.EqualFold(r.Name, w) {
				return true
			}
		}
		return false
	}
	for _, w := range append(append([]string{}, selected...), ignored...) {
		if !anyMatches(w, matches) {
			return nil, fmt.Errorf("no rule is called %q", w)
		}
	}
	var chosen []*Rule
	for _, r := range All {
		wanted := matches(selected, r) || len(selected) == 0 && !r.Optional
		if wanted && !matches(ignored, r) {
			chosen = append(chosen, r)
		}
	}
	return chosen, nil
}

func anyMatches(word string, matches func([]string, *Rule) bool) bool {
	for _, r := range All {
		if word != "" && matches([]string{word}, r) {
			return true
		}
	}
	return false
}
