package rules

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/session"
)

// Profile is what one provider's API minds in a request: a row of the table of
// profiles, without code of its own.
type Profile struct {
	Name  string // "anthropic": what --profile takes and machine formats print
	Title string // "Anthropic Messages"

	// Levels are how the API minds what a rule finds, by the rule's id. A rule
	// that depends on the provider and is not listed finds nothing here.
	Levels map[string]Severity
	// Errors are what the API answers, by the id of the rule, with a word behind
	// it where a rule has several texts. {message}, {block}, {id}, {name} and {n}
	// stand for the numbers and names in it. What is not listed has no known text.
	Errors map[string]string

	Shape Shape

	// StrictRoles: a user's message behind results is refused wherever it
	// stands, not only at the end.
	StrictRoles bool

	CallID   *Form // what an id of a call may be, nil for anything
	ServerID *Form // what an id of a call of a tool that the provider runs may be
	LongID   int   // ids that are longer are refused by older models, 0 for none
	ToolName *Form // what the name of a tool may be, nil for anything
	LongName int   // as LongID
	MaxBytes int64 // of a request

	// NotInResults are the media that the result of a tool must not hold, by the
	// names of blocks.
	NotInResults []string
	// Signers matches the models whose signatures the API reads besides those of
	// Models, nil for none.
	Signers *regexp.Regexp
	// Sentinel is what stands for the signature of a call that has none, or a
	// foreign one; "" where calls carry no signatures.
	Sentinel string

	// Models matches the recorded names of its models, in lower case. What stands
	// before a slash says whose API it is: a model behind a gateway is the
	// gateway's. The first profile of the table that matches has it.
	Models *regexp.Regexp
}

// Shape says what the messages of an API are made of.
type Shape uint8

// The shapes of a request (docs/profiles.md).
const (
	Grouped  Shape = iota // results that follow each other are one message, with the user text behind them
	Contents              // results that follow each other are one message, user text is another
	OneEach               // every result is a message
	Flat                  // every call and every result is an item of its own
)

// Profiles is the table of profiles, in the order in which they are listed.
var Profiles = []*Profile{
	&anthropic, &bedrock, &openAIChat, &openAIResponses, &gemini, &mistral, &deepseek, &kimi, &Generic,
}

// positional reports whether a result has to stand directly behind its call; else
// its id alone says what it answers.
func (p *Profile) positional() bool { return p.Shape != Flat }

// FindProfile looks a profile up by its name, in any case; nil when there is none.
func FindProfile(name string) *Profile {
	for _, p := range Profiles {
		if strings.EqualFold(p.Name, name) {
			return p
		}
	}
	return nil
}

// Said are the numbers and names of an error text.
type Said struct {
	Message, Block int
	ID, Name       string
	N              int
}

// Error is what the provider answers to what a rule finds, "" when its text is
// not known.
func (p *Profile) Error(rule string, at Said) string {
	return strings.NewReplacer(
		"{message}", fmt.Sprint(at.Message), "{block}", fmt.Sprint(at.Block), "{id}", at.ID, "{name}", at.Name, "{n}", fmt.Sprint(at.N),
	).Replace(p.Errors[rule])
}

// hint is the profile of a session that nobody named one for, and why: the
// model that answered last says whose API it was, else the form of the calls'
// ids, which tells Anthropic's, else what the parent session hints at, and else
// the runtime's own default.
func (s *Subject) hint(store *session.Store, parent *Subject) (*Profile, string) {
	known := profileOf(s.Model)
	switch {
	case known != nil:
		return known, "model " + s.Model
	case s.Model != "":
		return &Generic, "no profile for model " + s.Model
	case strings.HasPrefix(s.firstCallID(), "toolu_"):
		return &anthropic, "call ids of Anthropic's form"
	case parent != nil && parent.Hint != "":
		return parent.Profiles[0], parent.Hint
	}
	if own := profileOf(store.Model); own != nil && store.Model != "" {
		return own, "no model recorded; " + store.Title + " uses " + store.Model + " by default"
	}
	return &Generic, "no model recorded"
}

// firstCallID is the id of the first call that the session makes or answers.
func (s *Subject) firstCallID() string {
	for i := range s.Items {
		switch it := &s.Items[i]; {
		case len(it.Calls) > 0:
			return it.Calls[0].ID
		case len(it.Results) > 0:
			return it.Results[0].CallID
		}
	}
	return ""
}

// profileOf is the profile of a recorded model, nil when no provider is known
// that has it.
func profileOf(model string) *Profile {
	model = strings.ToLower(model)
	for _, p := range Profiles {
		if p.Models != nil && p.Models.MatchString(model) {
			return p
		}
	}
	return nil
}

// BoundThinking are the models whose thinking is bound to all that stands before
// it (ANT-17).
var BoundThinking = regexp.MustCompile(`(fable|mythos)-5-[12]|(opus|sonnet|haiku)-5-5`)

// ProviderError is what a provider would answer to a request with the items as
// they are stored now, if it refuses a pair: the first one at or behind the item,
// or where there is none, the first of all. "" when it refuses none.
func (s *Subject) ProviderError(profile *Profile, item int) string {
	if s.sketched {
		return ""
	}
	refused := s.Refused(profile)
	for _, from := range []pairing.Occurrence{{Item: item}, {}} {
		if calls := behind(refused.Calls, from); len(calls) > 0 {
			var ids []string
			for _, c := range calls {
				if c.Item != calls[0].Item {
					break
				}
				ids = append(ids, s.CallAt(c).ID)
			}
			return s.UnansweredError(profile, s.WireIndex(profile, calls[0].Item), ids)
		}
		if results := behind(refused.Results, from); len(results) > 0 {
			first := results[0]
			return s.SurplusError(profile, s.WireIndex(profile, first.Item), 0, s.ResultAt(first).CallID, refused.Repeated[first])
		}
	}
	return ""
}

// UnansweredError is what the provider answers when no result stands directly
// behind calls of one message, which it names together.
func (s *Subject) UnansweredError(profile *Profile, message int, calls []string) string {
	return profile.Error("SC101", Said{Message: message, ID: strings.Join(calls, ", ")})
}

// SurplusError is what the provider answers to a result of a call that is not in
// the message before, or that is repeated; block is its place among the
// message's results.
func (s *Subject) SurplusError(profile *Profile, message, block int, call string, repeated bool) string {
	rule := "SC103"
	if repeated {
		rule = "SC106"
	}
	return profile.Error(rule, Said{Message: message, Block: block, ID: call})
}
