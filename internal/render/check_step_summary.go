package render

import (
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/ui"
)

// stepSummarySize is how much of a report goes to GitHub, in bytes. It refuses what
// one step writes as a whole above 1024 KiB ("supports content up to a size of
// 1024k"); several checks of a step share that.
const stepSummarySize = 256 << 10

// upTo is the report in at most so many bytes: whole lines, and what is missing.
func (p *checkPage) upTo(size int) string {
	text := p.out.String()
	if len(text) <= size {
		return text
	}
	const room = 500 // for the last paragraph
	end := strings.LastIndexByte(text[:size-room], '\n') + 1
	behind := func(at int) bool { return at >= end }
	stores, rows := slices.IndexFunc(p.begins, behind), slices.IndexFunc(p.rows, behind)
	var missing []string
	if rows >= 0 {
		missing = append(missing, ui.Count(len(p.rows)-rows, "finding"))
	}
	if stores >= 0 {
		missing = append(missing, ui.Count(len(p.begins)-stores, "store"))
	}
	if missing == nil {
		missing = []string{"the end"}
	}
	return text[:end] + "\n**Cut here:** " + strings.Join(missing, " and ") + " left out, because GitHub takes no larger summary. `--report markdown=FILE` writes everything.\n"
}
