package request

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/errtext"
	"github.com/sessctl/sessctl/internal/pattern"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var recordedRefusal = rules.Rule{
	ID: "SC309", Name: "recorded-refusal", Severity: rules.Error, Safety: rules.Kept, Scope: rules.PerTree, Since: "0.1.0",
	Title: "the last requests were refused, and nothing was answered since",
	Run: func(p *rules.Pass) {
		for _, s := range p.Subjects {
			refused := lastRefusals(s.Session)
			if refused == nil {
				continue
			}
			last := refused[len(refused)-1]
			is := s.Items[last].Refusal
			said := errtext.Read(is.Text)
			tied := said.IsCause() && (len(said.Stores) == 0 || slices.Contains(said.Stores, p.Store.Kind))
			again := said.Kind == errtext.Unknown && is.Status != 0 && len(refused) > 1
			if !aboutContent(is.Status, said.Kind) || !tied && !again {
				continue
			}
			f := p.Find(s.Session, refused[0])
			f.Items, f.Count = refused, len(refused)
			if tied {
				f.Causes = said.Causes()
			}
			f.Message = rules.Verb(len(refused), "the last request was refused", fmt.Sprintf("the last %d requests were refused alike", len(refused)))
			f.Message += ", and nothing was answered since"
			f.Discreet = f.Message
			sentence := quoted(is.Text, &said)
			f.Message += ". It said: " + strings.TrimRight(sentence, ".") + "."
			switch why := changedSince(s, last); {
			case why != "":
				f.Severity = rules.Info
				f.Then(why)
			default:
				if s.Hint != "" { // else others are asked than the one that refused it
					f.Failing = func(*rules.Profile) string { return sentence }
				}
				if s.Mended {
					f.Fixes = []rules.Fix{{Title: "take out " + rules.Verb(len(refused), "the recorded refusal", "the recorded refusals") + " of what is repaired now; the receipt keeps " + rules.Verb(len(refused), "it", "them"), Safety: rules.Kept}}
					for _, i := range refused {
						f.Fixes[0].Edits = append(f.Fixes[0].Edits, session.Edit{Op: session.Quarantine, Ref: s.ItemRef(i)})
					}
				}
			}
			p.Report(f)
		}
	},
}

// inBody is the sentence in a body that is JSON.
var inBody = pattern.Lazy(`"message": ?("(?:[^"\\]|\\.)+")`)

// quoted is the sentence of a text: the one that is known, or that of a body.
func quoted(text string, said *errtext.Error) string {
	var inner string
	if m := inBody().FindStringSubmatch(text); m != nil && said.Kind == errtext.Unknown && json.Unmarshal([]byte(m[1]), &inner) == nil {
		return errtext.Read(inner).Text
	}
	return said.Text
}

// lastRefusals are the items of the last requests that were refused with one text, where
// nothing but prompts came between them and after them, in stored order; nil for none.
func lastRefusals(s *session.Session) (list []int) {
	for i := range slices.Backward(s.Items) {
		it := &s.Items[i]
		switch {
		case it.Refusal != session.Refusal{}:
			if list != nil && !alike(it.Refusal, s.Items[list[0]].Refusal) {
				return list
			}
			list = slices.Insert(list, 0, i)
		case it.Kind == session.Message && it.Role == session.User && len(it.Results) == 0, it.Kind == session.Other:
		case it.OnWire():
			return list
		}
	}
	return list
}

// varies is what differs between two texts of one refusal: ids, numbers, sizes.
var varies = pattern.Lazy(`[\w-]*\d[\w-]*`)

// alike reports whether two requests were refused with the same text.
func alike(a, b session.Refusal) bool {
	plain := func(text string) string { return varies().ReplaceAllString(text, "#") }
	return a.Status == b.Status && plain(a.Text) == plain(b.Text)
}

// aboutContent reports whether what a request holds can be why it was refused: not the key,
// the account, the model, the length, limits or a fault of the provider.
func aboutContent(status int, kind errtext.Kind) bool {
	switch status {
	case 0, 400, 415, 422:
		return kind == errtext.Unknown || kind.Stored()
	}
	return false
}

// changedSince says what was changed in what is sent since a request was refused, as far as
// the store tells; "" for nothing.
func changedSince(s *rules.Subject, refused int) string {
	it := &s.Items[refused]
	switch {
	case s.Closed:
		return "The sub-session is over, so no further request is made of it"
	case it.Flags&(session.Archived|session.Rewound) != 0:
		return "Its branch is not sent any more"
	case it.Flags.Has(session.Compacted), refused < s.Start:
		return "The session was compacted since"
	case slices.ContainsFunc(s.Items[refused:], func(next session.Item) bool {
		return next.Model != "" && it.Model != "" && next.Model != it.Model
	}):
		return "The last prompt is for another model"
	}
	return ""
}
