package request

import (
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/rules"
)

var imageCount = rules.Rule{
	ID: "SC602", Name: "image-count", Severity: rules.Warning, Safety: rules.None, Allow: lossy, Scope: rules.PerTree, Since: "0.1.0",
	Title: "more images than the provider accepts in a request", Profiled: true,
	Run: rules.VisitJudged(func(p *rules.Pass, j rules.Judged) {
		surplus, most := surplusImages(&j)
		p.ReportBlocks(j, surplus, rules.Said{N: most}, func(f *rules.Finding) {
			f.Message = fmt.Sprintf("the next request contains %d images, but the provider accepts %d", most, j.Profile.Images.Count)
			if j.Profile.Images.PerMessage {
				f.Message = fmt.Sprintf("a message of the next request contains %d images, but the provider accepts %d in one", most, j.Profile.Images.Count)
			}
			f.Sent = "a note in place of the oldest " + rules.CountedNoun(len(surplus), "image")
			f.Fixes = omitBlocks(p, j.Subject, surplus)
		})
	}),
}

// surplusImages are the oldest images beyond as many as the provider takes, and how many there are
// at most where it counts them.
func surplusImages(j *rules.Judged) (surplus []rules.Spot, most int) {
	counts := map[int]int{} // by the message of the request
	for _, at := range slices.Backward(sentImages(j.Subject)) {
		message := 0
		if j.Profile.Images.PerMessage {
			message = j.WireIndex(j.Profile, at.Item)
		}
		if counts[message]++; counts[message] > j.Profile.Images.Count {
			surplus = append(surplus, at)
		}
		most = max(most, counts[message])
	}
	slices.Reverse(surplus)
	return surplus, most
}
