package rules

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"strings"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/pattern"
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
	Images   *Images

	// WantsMore: a message of the assistant must have more than its reasoning.
	WantsMore bool
	// NotInResults are the media that the result of a tool must not hold, by the
	// names of blocks.
	NotInResults []string
	// Signers matches the models whose signatures the API reads besides those of
	// Models, nil for none.
	Signers func() *regexp.Regexp
	// Sentinel is what stands for the signature of a call that has none, or a
	// foreign one; "" where calls carry no signatures.
	Sentinel string

	// Models matches the recorded names of its models, in lower case. What stands
	// before a slash says whose API it is: a model behind a gateway is the
	// gateway's. The first profile of the table that matches has it.
	Models func() *regexp.Regexp
}

// Images are the limits of what an API takes of images: docs/profiles.md has their sources. Of
// a limit that is 0 nothing is known.
type Images struct {
	Types      []string
	Bytes      int64 // of one, in base64, wherever the API is offered
	Most       int64 // where it takes the largest
	Side       int   // in pixels
	SideOfMany int   // in a request with more than Many
	Many       int
	Count      int  // in a request
	PerMessage bool // the count is that of a message
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

// isPositional reports whether a result has to stand directly behind its call; else
// its id alone says what it answers.
func (p *Profile) isPositional() bool { return p.Shape != Flat }

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

// ErrorText is what the provider answers to what a rule finds, "" when its text is
// not known.
func (p *Profile) ErrorText(rule string, at Said) string {
	return strings.NewReplacer(
		"{message}", fmt.Sprint(at.Message), "{block}", fmt.Sprint(at.Block), "{id}", at.ID, "{name}", at.Name, "{n}", fmt.Sprint(at.N),
	).Replace(p.Errors[rule])
}

// hintProfile is the profile of a session that nobody named one for, and why: the
// model that answered last says whose API it was, else the form of the calls'
// ids, which tells Anthropic's, else what the parent session hints at, and else
// the runtime's own default.
func (s *Subject) hintProfile(store *session.Store, parent *Subject) (*Profile, string) {
	known := profileOf(s.Model)
	switch {
	case store.Profile != "":
		own := FindProfile(store.Profile)
		return own, store.Title + " stores items of " + own.Title
	case known != nil:
		return known, "model " + s.Model
	case s.Model != "":
		return &Generic, "no profile for model " + s.Model
	case strings.HasPrefix(s.firstCallID(), "toolu_"):
		return &anthropic, "call ids of Anthropic's form"
	case parent != nil && parent.Hint != "":
		return parent.Profiles[0], parent.Hint
	}
	if own := profileOf(store.Model); own != nil {
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
// that has it, or none is recorded.
func profileOf(model string) *Profile {
	model = strings.ToLower(model)
	for _, p := range Profiles {
		if model != "" && p.Models != nil && p.Models().MatchString(model) {
			return p
		}
	}
	return nil
}

// BoundThinking are the models whose thinking is bound to all that stands before
// it (ANT-17).
var BoundThinking = pattern.Lazy(`(fable|mythos)-5-[12]|(opus|sonnet|haiku)-5-5`)

// ProviderError is what a provider would answer to a request with the items as
// they are stored now, if it refuses a pair: the first one at or behind the item,
// or where there is none, the first of all. "" when it refuses none.
func (s *Subject) ProviderError(profile *Profile, item int) string {
	if s.sketched || s.StopReason() != "" {
		return s.StopReason()
	}
	refused := s.RefusedBy(profile)
	for _, from := range []pairing.Occurrence{{Item: item}, {}} {
		if calls := occurrencesFrom(refused.Calls, from); len(calls) > 0 {
			var ids []string
			for _, c := range calls {
				if c.Item != calls[0].Item {
					break
				}
				ids = append(ids, s.CallAt(c).ID)
			}
			return s.UnansweredError(profile, s.WireIndex(profile, calls[0].Item), ids)
		}
		if results := occurrencesFrom(refused.Results, from); len(results) > 0 {
			first := results[0]
			return s.SurplusError(profile, s.WireIndex(profile, first.Item), 0, s.ResultAt(first).CallID, refused.Repeated[first])
		}
	}
	return ""
}

// UnansweredError is what the provider answers when no result stands directly
// behind calls of one message, which it names together.
func (s *Subject) UnansweredError(profile *Profile, message int, calls []string) string {
	return profile.ErrorText("SC101", Said{Message: message, ID: strings.Join(calls, ", ")})
}

// SurplusError is what the provider answers to a result of a call that is not in
// the message before, or that is repeated; block is its place among the
// message's results.
func (s *Subject) SurplusError(profile *Profile, message, block int, call string, repeated bool) string {
	rule := "SC103"
	if repeated {
		rule = "SC106"
	}
	return profile.ErrorText(rule, Said{Message: message, Block: block, ID: call})
}

// The profiles (docs/profiles.md). Where a
// rule's evidence for a provider is doubtful, it is a warning at most.

// ruleLevels lists the rules that a provider minds, each with how much. A rule in two
// lists is a mistake of this file, which the first start of the program shows.
func ruleLevels(errors, warnings, infos []string) map[string]Severity {
	m := map[string]Severity{}
	for severity, rules := range map[Severity][]string{Error: errors, Warning: warnings, Info: infos} {
		for _, id := range rules {
			if _, twice := m[id]; twice {
				panic(id + " has two levels in one profile")
			}
			m[id] = severity
		}
	}
	return m
}

type ids = []string

var (
	plainID    = formOf("", letters+digits+"_-", 1, math.MaxInt)
	serverID   = formOf("srvtoolu_", letters+digits+"_", 1, math.MaxInt)
	shortID    = formOf("", letters+digits+"_-", 1, 64)
	upTo64     = formOf("", "", 1, 64)
	nineID     = formOf("", letters+digits, 9, 9)
	plainName  = formOf("", letters+digits+"_-", 1, 64)
	longName   = formOf("", letters+digits+"_-", 1, 128)
	geminiName = formOf("", letters+digits+"_.-", 1, 64).startWith(letters + "_")

	openAI = pattern.Lazy(`^(openai|azure)/|^(gpt-[0-9]|chatgpt-|o[134](-|$))`)
)

var claudeImages = Images{
	Types: ids{"image/png", "image/jpeg", "image/gif", "image/webp"},
	Bytes: 5 << 20, Most: 10 << 20, Side: 8000, SideOfMany: 2000, Many: 20, Count: 100,
}

var (
	openAIImages = Images{Types: claudeImages.Types, Count: 1500}
	geminiImages = Images{Types: ids{"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"}, Count: 3600}
	amazonImages = Images{Types: claudeImages.Types, Bytes: 5 << 20, Most: 5 << 20, Side: 8000, Count: 20, PerMessage: true}
)

var anthropic = Profile{
	Name: "anthropic", Title: "Anthropic Messages", Shape: Grouped,
	Levels: ruleLevels(
		ids{"SC108", "SC110", "SC201", "SC202", "SC203", "SC204", "SC205", "SC206", "SC401", "SC402", "SC403", "SC501", "SC502", "SC503", "SC606", "SC607", "SC608"},
		ids{"SC109", "SC114", "SC302", "SC303", "SC304", "SC307", "SC504", "SC505", "SC601", "SC602", "SC604", "SC605", "SC609"},
		nil,
	),
	Errors: map[string]string{
		"SC101": "messages.{message}: `tool_use` ids were found without `tool_result` blocks immediately after: {id}. " +
			"Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
		"SC103": "messages.{message}.content.{block}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. " +
			"Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
		"SC110": "messages.{message}: `tool_use` ids were found without `tool_result` blocks immediately after: {id}. " +
			"Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
		"SC106":        "each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}",
		"SC114":        "{name} tool use with id {id} was found without a corresponding {name}_tool_result block",
		"SC201":        "messages.{message}.content.{block}: `tool_use` ids must be unique",
		"SC202":        "messages.{message}.content.{block}: `tool_use` ids must be unique",
		"SC203":        "messages.{message}.content.{block}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
		"SC203 server": "messages.{message}.content.{block}.server_tool_use.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'",
		"SC205":        "messages.{message}.content.{block}.tool_use.input: Input should be a valid dictionary",
		"SC206":        "messages.{message}.content.{block}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
		"SC302":        `messages: first message must use the "user" role`,
		"SC303":        "This model does not support assistant message prefill. The conversation must end with a user message.",
		"SC304":        "role 'system' is not supported on this model",
		"SC401":        "messages.{message}: all messages must have non-empty content except for the optional final assistant message",
		"SC402":        "messages: text content blocks must contain non-whitespace text",
		"SC403":        "messages: final assistant content cannot end with trailing whitespace",
		"SC501": "messages.{message}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{name}`. " +
			"When `thinking` is enabled, a final `assistant` message must start with a thinking block",
		"SC502": "messages.{message}.content.{block}: Invalid `signature` in `thinking` block",
		"SC503": "messages.{message}.content.{block}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. " +
			"These blocks must remain as they were in the original response.",
		"SC504": "messages.{message}.content.{block}: Invalid `signature` in `thinking` block",
		"SC505": "messages.{message}.content.{block}: Invalid `signature` in `thinking` block. The block is bound to a different conversation. " +
			"Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\".",
		"SC601":       "messages.{message}.content.{block}.image.source.base64.data: At least one of the image dimensions exceed max allowed size: {n} pixels",
		"SC601 many":  "messages.{message}.content.{block}.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: {n} pixels",
		"SC604":       "413 request_too_large: Request exceeds the maximum size",
		"SC606":       "The request body is not valid JSON: no low surrogate in string",
		"SC607":       "messages.{message}.content.{block}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
		"SC607 label": "messages.{message}.content.{block}.image.source.base64.data: Image does not match the provided media type {name}",
		"SC607 data":  "messages.{message}.content.{block}.image.source.base64: invalid base64 data",
		"SC608":       "messages.{message}.content.{block}.image.source.base64: image exceeds 5 MB maximum: {n} bytes > 5242880 bytes",
		"SC605":       "A maximum of 4 blocks with cache_control may be provided. Found {n}.",
	},
	CallID: plainID, ServerID: serverID, ToolName: longName, LongName: 64, MaxBytes: 32 << 20, Images: &claudeImages,
	Signers: pattern.Lazy(`claude`), // which signs alike wherever it runs
	Models:  pattern.Lazy(`^anthropic/|^((google-vertex|google|vertex_ai|vertex|azure_ai)/)?claude`),
}

var bedrock = Profile{
	Name: "bedrock", Title: "Bedrock Converse", Shape: Grouped,
	Levels: ruleLevels(
		ids{"SC108", "SC109", "SC110", "SC201", "SC203", "SC204", "SC206", "SC401", "SC402", "SC406", "SC603", "SC606", "SC607"},
		ids{"SC202", "SC205", "SC301", "SC302", "SC303", "SC304", "SC307", "SC601", "SC602", "SC604", "SC608", "SC609"},
		nil,
	),
	Errors: map[string]string{
		"SC101": "Expected toolResult blocks at messages.{message}.content for the following Ids: {id}",
		"SC103": "The number of toolResult blocks at messages.{message}.content exceeds the number of toolUse blocks of previous turn.",
		"SC106": "The number of toolResult blocks at messages.{message}.content exceeds the number of toolUse blocks of previous turn.",
		"SC109": "Expected toolResult blocks at messages.{message}.content for the following Ids: {id}",
		"SC302": "A conversation must start with a user message. Try again with a conversation that starts with a user message.",
		"SC401": "The content field in the Message object at messages.{message} is empty. Add a ContentBlock object to the content field and try again.",
		"SC402": "The text field in the ContentBlock object at messages.{message}.content.{block} is blank. Add text to the text field, and try again.",
		"SC406": "The content field at messages.{message}.content.{block}.toolResult cannot be empty when status value is error.",
	},
	CallID: shortID, ToolName: plainName, MaxBytes: 20 << 20, Images: &amazonImages,
	NotInResults: ids{"document", "video"}, // BDR-03
	Models: pattern.Lazy(`^(amazon-bedrock|aws-bedrock|bedrock)/|` +
		`^((us|eu|apac|jp|au|global)\.)?(anthropic|amazon|meta|mistral|deepseek|openai|qwen|cohere|ai21|moonshot)\.`),
}

// chatErrors are the texts of the Chat Completions API, which most compatible
// servers repeat.
var chatErrors = map[string]string{
	"SC101": "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
		"The following tool_call_ids did not have response messages: {id}",
	"SC103": "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.", //nolint:misspell // the provider's own spelling
	"SC106": "Invalid parameter: Duplicate value for 'tool_call_id' of '{id}'.",
	"SC201": "Invalid parameter: Duplicate value for 'tool_call_id' of '{id}'",
	"SC203": "Invalid 'messages[{message}].tool_calls[{block}].id': string too long. Expected a string with maximum length 64, but got a string with length {n} instead.",
	"SC206": "Invalid 'messages[{message}].tool_calls[{block}].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
	"SC404": "Invalid value for 'content': expected a string, got null.",
	"SC405": "Invalid 'messages[{message}].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.",
	"SC607": "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
	"SC603": "Invalid 'messages[{message}]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL.",
}

// withoutRule are the texts but the one for a rule, where others do not repeat it.
func withoutRule(errors map[string]string, rule string) map[string]string {
	errors = maps.Clone(errors)
	delete(errors, rule)
	return errors
}

var openAIChat = Profile{
	Name: "openai-chat", Title: "OpenAI Chat Completions", Shape: OneEach,
	Levels: ruleLevels(
		ids{"SC201", "SC203", "SC204", "SC206", "SC401", "SC404", "SC405", "SC603", "SC606", "SC607"},
		ids{"SC205", "SC307", "SC602", "SC604"},
		ids{"SC202", "SC402"},
	),
	Errors: chatErrors,
	CallID: upTo64, LongID: 40, ToolName: plainName, MaxBytes: 512 << 20, Images: &openAIImages,
	NotInResults: ids{"image", "document", "audio", "video"}, // OAC-08
	Models:       openAI,
}

var openAIResponses = Profile{
	Name: "openai-responses", Title: "OpenAI Responses", Shape: Flat,
	Levels: ruleLevels(
		ids{"SC202", "SC203", "SC204", "SC206", "SC507", "SC606", "SC607"},
		ids{"SC114", "SC201", "SC205", "SC307", "SC504", "SC508", "SC602", "SC604"},
		ids{"SC104", "SC401", "SC402"},
	),
	Errors: map[string]string{
		"SC101":      "No tool output found for function call {id}.",
		"SC103":      "No tool call found for function call output with call_id {id}.",
		"SC106":      "Duplicate function_call_output for call_id '{id}'. Each function_call must have exactly one matching function_call_output",
		"SC201":      "Duplicate 'call_id'",
		"SC202":      "Duplicate 'call_id'",
		"SC203":      "Invalid 'input[{message}].call_id': string too long. Expected a string with maximum length 64, but got a string with length {n} instead.",
		"SC507":      "Item '{id}' of type 'reasoning' was provided without its required following item.",
		"SC507 call": "Item '{id}' of type 'function_call' was provided without its required 'reasoning' item: '{name}'.",
		"SC607":      "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
		"SC508":      "Item with id '{id}' not found. Items are not persisted when `store` is set to false.",
	},
	Signers: openAI, // both APIs of OpenAI have the same models
	CallID:  upTo64, ToolName: plainName, MaxBytes: 512 << 20, Images: &openAIImages,
}

var gemini = Profile{
	Name: "gemini", Title: "Gemini generateContent", Shape: Contents,
	Levels: ruleLevels(
		ids{"SC205", "SC206", "SC207", "SC304", "SC306", "SC401", "SC506", "SC606"},
		ids{"SC109", "SC303", "SC307", "SC504", "SC602", "SC604", "SC607"},
		ids{"SC201", "SC202", "SC204", "SC402"},
	),
	Errors: map[string]string{
		"SC101": "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
		"SC103": "Please ensure that function response turn comes immediately after a function call turn",
		"SC106": "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
		"SC207": "GenerateContentRequest.contents[{message}].parts[{block}].function_response.name: Name cannot be empty.",
		"SC303": "Requests ending with a model turn are not supported.",
		"SC306": "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
		"SC401": "Unable to submit request because it must include at least one parts field",
		"SC607": "Unsupported MIME type: {name}",
		"SC506": "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly",
	},
	ToolName: geminiName, MaxBytes: 100 << 20, Images: &geminiImages,
	Sentinel: "skip_thought_signature_validator",
	Models:   pattern.Lazy(`^(google|gemini|google-vertex|vertex_ai|vertex)/|^gemini`),
}

var mistral = Profile{
	Name: "mistral", Title: "Mistral", Shape: OneEach,
	Levels: ruleLevels(
		ids{"SC201", "SC203", "SC204", "SC303", "SC401", "SC606"},
		ids{"SC202", "SC206", "SC301", "SC304", "SC305", "SC307", "SC404", "SC604"},
		ids{"SC205", "SC402"},
	),
	Errors: map[string]string{
		"SC101": "Not the same number of function calls and responses",
		"SC103": "Unexpected role 'tool' after role 'user'",
		"SC106": "Not the same number of function calls and responses",
		"SC203": "Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9.",
		"SC303": "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
		"SC305": "Unexpected role 'user' after role 'tool'",
		"SC401": "Assistant message must have either content or tool_calls, but not none.",
	},
	StrictRoles: true, CallID: nineID, ToolName: plainName, MaxBytes: 32 << 20,
	Models: pattern.Lazy(`^(mistral|mistralai)/|^(mistral|magistral|ministral|codestral|devstral|pixtral)-`),
}

var deepseek = Profile{
	Name: "deepseek", Title: "DeepSeek", Shape: OneEach,
	Levels: ruleLevels(
		ids{"SC204", "SC206", "SC401", "SC405", "SC509", "SC606"},
		ids{"SC301", "SC307", "SC404", "SC604"},
		ids{"SC201", "SC202", "SC205", "SC402"},
	),
	Errors: map[string]string{
		"SC101": chatErrors["SC101"] + " (insufficient tool messages following tool_calls message)",
		"SC103": "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
		"SC106": "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
		"SC301": "deepseek-reasoner does not support successive user or assistant messages (messages[{message}] and messages[{n}] in your input).",
		"SC401": "Invalid assistant message: content or tool_calls must be set",
		"SC509": "Missing `reasoning_content` field in the assistant message at message index {message}",
	},
	ToolName: plainName, MaxBytes: 32 << 20,
	WantsMore: true, // DSK-04, and charmbracelet/crush#3794
	Models:    pattern.Lazy(`^deepseek/|^deepseek-`),
}

var kimi = Profile{
	Name: "kimi", Title: "Moonshot Kimi", Shape: OneEach,
	Levels: ruleLevels(
		ids{"SC204", "SC206", "SC401", "SC402", "SC509", "SC606"},
		ids{"SC205", "SC307", "SC404", "SC604"},
		ids{"SC201", "SC202"},
	),
	Errors: map[string]string{
		"SC101": "an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
			"The following tool_call_ids did not have response messages: {id}",
		"SC103": chatErrors["SC103"],
		"SC106": chatErrors["SC106"],
		"SC401": "the message at position {message} with role 'assistant' must not be empty",
		"SC402": "text content is empty",
		"SC509": "thinking is enabled but reasoning_content is missing in assistant tool call message at index {message}",
	},
	ToolName: plainName, MaxBytes: 32 << 20,
	Models: pattern.Lazy(`^(moonshot|moonshotai|kimi)/|^(kimi|moonshot)-`),
}

// Generic is the strictest common form of Chat Completions: every call answered
// directly behind its turn, completely and once.
var Generic = Profile{
	Name: "generic", Title: "any Chat Completions server", Shape: OneEach,
	Levels: ruleLevels(
		ids{"SC201", "SC204", "SC205", "SC401", "SC404", "SC606"},
		ids{"SC202", "SC203", "SC206", "SC302", "SC303", "SC304", "SC305", "SC307", "SC402", "SC604"},
		ids{"SC301"},
	),
	Errors: withoutRule(chatErrors, "SC203"),
	CallID: shortID, ToolName: plainName, MaxBytes: 32 << 20,
}
