package isolation

import "github.com/sessctl/sessctl/internal/rules"

var danglingOutput = rules.Rule{
	ID: "SC808", Name: "dangling-output", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Optional: true, Since: "0.1.0",
	Title: "an item refers to a file that is missing or was changed",
	Run: rules.VisitSubjects(func(p *rules.Pass, s *rules.Subject) {
		failed := failedItems(s)
		for i := range s.Items {
			if !s.IsOwn(i) || failed[i] {
				continue
			}
			for n := range s.Items[i].Outputs() {
				reportDangling(p, s, i, n)
			}
		}
	}),
}

// failedItems are the items of which every call failed, with the results that say so.
func failedItems(s *rules.Subject) map[int]bool {
	failed := map[int]bool{}
	for at := range failedCalls(s) {
		failed[at.Item] = true
	}
	for _, pair := range s.Pairs.Pairs {
		if !s.ResultAt(pair.Result).IsError {
			delete(failed, pair.Call.Item)
		}
	}
	for _, pair := range s.Pairs.Pairs {
		if failed[pair.Call.Item] {
			failed[pair.Result.Item] = true
		}
	}
	return failed
}

// reportDangling tells of a file that is gone or was changed.
func reportDangling(p *rules.Pass, s *rules.Subject, i, n int) {
	o := &s.Items[i].Outputs()[n]
	if o.Outside || o.Real != "" && !o.Hash {
		return
	}
	f := p.FindItem(s.Session, i)
	f.Nth = n
	f.Message = "the file " + rules.QuoteText(o.Path) + " does not exist"
	if o.Real != "" {
		f.Message = "the file " + rules.QuoteText(o.Path) + " was changed, because its content does not match the digest in its name"
	}
	f.AddSentence("A program that follows the reference does not get the intended content")
	p.Report(f)
}
