package rules

import (
	"github.com/sessctl/sessctl/internal/replay"
)

var danglingOutput = Rule{
	ID: "SC808", Name: "dangling-output", Severity: Warning, Safety: None, Scope: PerTree, Optional: true, Since: "0.1.0",
	Title: "an item refers to a file that is missing, or whose content is not what its name says",
	Run: func(p *Pass) {
		for _, s := range p.Subjects {
			failed := s.failedItems()
			for i := range s.Items {
				if s.Replay.Steps[i].Action != replay.Persist || failed[i] {
					continue
				}
				for n := range s.Items[i].Outputs {
					p.reportDangling(s, i, n)
				}
			}
		}
	},
}

// failedItems are the items of which every call failed, with the results that say so.
func (s *Subject) failedItems() map[int]bool {
	failed := map[int]bool{}
	for at := range s.failedCalls() {
		failed[at.Item] = true
	}
	for _, pair := range s.Pairs.Pairs {
		if !s.result(pair.Result).IsError {
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
func (p *Pass) reportDangling(s *Subject, i, n int) {
	o := &s.Items[i].Outputs[n]
	if o.Outside || o.Real != "" && !o.Hash {
		return
	}
	f := p.find(s.Session, i)
	f.Nth = n
	f.Message = "the file " + quoted(o.Path) + " does not exist"
	if o.Real != "" {
		f.Message = "the file " + quoted(o.Path) + " has another content than the one that its name has the digest of"
	}
	f.Message += ": whoever follows the reference does not get what was meant"
	p.Report(f)
}
