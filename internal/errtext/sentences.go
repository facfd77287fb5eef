package errtext

import "strings"

// Which rules find the cause, most likely first.
const (
	unanswered = "SC101 SC701 SC703 SC702 SC716 SC104 SC105 SC109 SC108 SC110 SC102 SC113 SC725"
	surplus    = "SC103 SC701 SC703 SC702 SC104 SC105 SC112 SC106 SC107 SC113 SC108 SC725"
	repeated   = "SC106 SC107 SC112"
	counted    = unanswered + " SC103 " + repeated // providers that only compare numbers
)

// Who words it like that. Claude answers alike at Amazon and at Google, and most servers
// repeat OpenAI's sentences.
const (
	claude = "anthropic bedrock"
	chat   = "openai-chat generic kimi deepseek"
)

// sentences is the table of what is recognised; the first that fits has it. Of each
// wording there is what tells it from others, without the words in backticks, which
// shells take out of a text in double quotes. * stands for few words, {id} for ids, what
// is behind ~ may be cut off, and | parts wordings of the same.
var sentences = []row{
	// Anthropic
	{Refused, "SC114", "anthropic", `unexpected * found in * blocks {id} each * block must have a corresponding * block before it | must have a corresponding * block before it
		| unexpected * found in advisor tool result blocks {id} | unexpected * found in web search tool result blocks {id}
		| tool use with id {id} was found without a corresponding`},
	{Refused, surplus, claude, `unexpected * found in tool result blocks {id} ~each * block must have | messages * content * unexpected * found in * blocks {id} ~each * block must have
		| block must have a corresponding * block in the previous message`},
	{Refused, unanswered, claude, `ids were found without * blocks immediately after {id} ~each * block must have | blocks immediately after {id} ~each * block must have | ids were found without
		| did not find * blocks at the beginning of this message | must begin with a matching number of | block must have a corresponding * block in the next message`},
	{Refused, repeated, claude, `found multiple * blocks with id {id} | must have a single result`},
	{Refused, "SC201 SC202", claude, `tool use ids must be unique | messages * content * ids must be unique`},
	{Refused, "SC203", claude, `tool use id string should match pattern | tooluseid failed to satisfy constraint`},
	{Refused, "SC206", claude, `tool use name string should | custom name string should match pattern | tooluse name failed to satisfy constraint`},
	{Refused, "SC205", claude, `tool use input input should be | tool use input field required | tooluse input is invalid`},
	{Refused, "SC402 SC401", claude, `text content blocks must be non empty | text content blocks must contain non whitespace text`},
	{Refused, "SC401", claude, `messages must have non empty content`},
	{Refused, "SC403", claude, `final assistant content cannot end with trailing whitespace`},
	{Refused, "SC303", claude, `does not support assistant message prefill | prefilling assistant messages is not supported | the conversation must end with a user message
		| when thinking is disabled an * message in the final position cannot contain`},
	{Refused, "SC501", claude, `expected * but found * must start with a thinking block | must start with a thinking block | expected thinking or redacted thinking but found`},
	{Refused, "SC503 SC505", claude, `blocks in the latest assistant message cannot be modified`},
	{Refused, "SC505", claude, `the block is bound to a different conversation`},
	{Refused, "SC502 SC504 SC503 SC505", claude, `invalid signature in thinking block | messages * content * invalid * in * block`},
	{Refused, "SC304 SC308", "anthropic generic", `role system is not supported on this model | unexpected role system the messages api | role unknown variant`},
	{Refused, "SC302", claude, `first message must use the * role`},
	{Refused, "SC601 SC602", claude, `of the image dimensions exceed max allowed size`},
	{Refused, "SC605", claude, `blocks with cache control may be provided`},
	{Refused, "SC606", "anthropic", `no low surrogate in string | surrogates not allowed | lone leading surrogate | lone surrogate | unpaired surrogate`},
	// Bedrock
	{Refused, unanswered, "bedrock", `expected toolresult blocks at * ~for the following ids {id}`},
	{Refused, "SC103 SC106 SC107 SC112 SC701 SC703 SC702 SC104 SC105 SC113 SC108 SC725", "bedrock", `number of toolresult blocks at * exceeds the number of tooluse blocks`},
	{Refused, "SC110", "bedrock", `conversation blocks and tool result blocks cannot be provided in the same turn`},
	{Refused, "", "bedrock", `conversation blocks and tool use blocks cannot be provided in the same turn | toolconfig field must be defined | support the status field`},
	{Refused, "SC302", "bedrock", `a conversation must start with a user message`},
	{Refused, "SC401", "bedrock", `content field in the message object at * is empty`},
	{Refused, "SC402", "bedrock", `text field in the contentblock object at * is blank`},
	{Refused, "SC406", "bedrock", `content field at * toolresult cannot be empty when status value is`},
	// OpenAI Chat Completions, DeepSeek, Kimi, compatible servers
	{Refused, unanswered, "deepseek openai-chat generic", `an assistant message with tool calls * tool call id * did not have response messages {id} insufficient tool messages following
		| an assistant message with tool calls * insufficient tool messages following | insufficient tool messages following`},
	{Refused, unanswered, chat, `an assistant message with tool calls must be followed by tool messages responding to each tool call id ~* did not have response messages {id}
		| did not have response messages {id} | must be followed by tool messages`},
	{Refused, surplus + " SC106", chat, `messages with role tool must be a response to | message has tool role but there was no previous assistant message
		| missing corresponding tool call for tool response | tool result s tool id {id} not found`},
	{Refused, repeated + " SC201 SC202", "openai-chat generic kimi", `duplicate value for tool call id of {id} in messages | duplicate value for tool call id of {id} | duplicate call ids submitted`},
	{Refused, "SC203", "openai-chat generic", `invalid messages * tool calls * id string too long | tool call id string too long | tool call id is invalid`},
	{Refused, "SC404 SC401", "openai-chat generic", `invalid value for content expected a string got null | content expected * but got null`},
	{Refused, "SC405", "openai-chat generic deepseek", `invalid messages * tool calls empty array | tool calls empty array`},
	{Refused, "SC206", "openai-chat openai-responses generic", `invalid messages * function name string | function name string does not match | name string does not match pattern`},
	{Refused, "SC603", "openai-chat generic", `invalid messages * image urls are only allowed | image urls are only allowed for messages with role user`},
	{Refused, "SC509", "deepseek kimi", `thinking mode must be passed back | missing * field in the assistant message at message index | reasoning content is missing in assistant tool call message`},
	{Refused, "SC401", "deepseek", `content or tool calls must be set`},
	{Refused, "SC301", "deepseek", `does not support successive user or assistant messages`},
	{Refused, "SC401", "kimi", `the message at position * with role assistant must not be empty`},
	{Refused, "SC402", "kimi", `text content is empty`},
	{Refused, counted, "generic", `tool call result does not follow tool call | tool call and result not match`},
	{Refused, "SC301 SC302", "generic", `conversation roles must alternate`},
	{Refused, "SC304", "generic", `system message must be at the beginning`},
	{Refused, "SC307", "generic", `no user query found in messages`},
	{Refused, "SC205", "generic kimi", `arguments must be a valid json | arguments must be valid json | invalid function arguments json`},
	// OpenAI Responses
	{Refused, unanswered, "openai-responses deepseek", `no tool output found for function call {id} | no tool output found for tool call {id} | no tool output found for custom tool call {id} | no tool output found for`},
	{Refused, surplus, "openai-responses", `no tool call found for * output with call id {id}`},
	{Refused, "SC507", "openai-responses", `item {id} of type * was provided without its required`},
	{Refused, "SC202 SC201 SC701", "openai-responses", `duplicate item found with id {id} remove duplicate items | duplicate item found with id {id}`},
	{Refused, "SC203", "openai-responses", `invalid input * call id string too long | call id string too long`},
	{Refused, "SC508", "openai-responses", `item with id {id} not found items are not persisted | items are not persisted when`},
	{Refused, repeated + " SC201 SC202", "openai-responses", `duplicate function call output for call id {id} each function call must | duplicate function call output for call id {id}`},
	{Refused, "SC201 SC202 " + repeated, "openai-responses", `duplicate call id`},
	// Gemini, and ADK before it asks
	{Refused, counted, "gemini", `please ensure that the number of function response parts * equal to * number of function call parts | number of function response parts * equal to`},
	{Refused, surplus + " SC106", "gemini", `please ensure that function response turn comes immediately after | function response turn comes immediately after`},
	{Refused, "SC306 SC301", "gemini", `please ensure that function call turn comes immediately after | function call turn comes immediately after`},
	{Refused, "SC506 SC504", "gemini", `function call is missing a thought signature | missing a thought signature in | corrupted thought signature
		| invalid thought signature | thought signature is not valid`},
	{Refused, "SC401", "gemini", `must include at least one parts field | model input cannot be empty`},
	{Refused, "SC303", "gemini", `requests ending with a model turn are not supported | ends with a user role or a function response`},
	{Refused, "SC207", "gemini", `function response name name cannot be empty`},
	{Refused, "SC206", "gemini", `function name must start with a letter or an underscore`},
	{Refused, "SC304 SC308", "gemini", `please use a valid role`},
	{Refused, surplus, "", `no function call event found for function responses ids {id} | no function call event found for function response`},
	// Mistral
	{Refused, "SC203", "mistral", `tool call id was {id} but must be`},
	{Refused, counted, "mistral", `not the same number of function calls and responses`},
	{Refused, "SC305", "mistral", `unexpected role user after role tool`},
	{Refused, surplus, "mistral", `unexpected role tool after role`},
	{Refused, "SC304", "mistral", `unexpected role system after role`},
	{Refused, "SC301", "mistral", `unexpected role assistant after role | unexpected role user after role`},
	{Refused, "SC303", "mistral", `expected last role user or tool`},
	{Refused, "SC401", "mistral", `assistant message must have either content or tool calls`},
	{Refused, "SC305 SC103 SC301 SC303 SC304", "mistral", `invalid request message order`},
	// What clients refuse to send: docker agent, LangChain, the AI SDK
	{Refused, surplus, "anthropic", `tool result messages present but none match pending tool use ids | unexpected tool result tool use id {id}`},
	{Refused, unanswered, "anthropic", `missing tool result for tool use id {id} and * more | assistant tool use present but no subsequent tool results`},
	{Refused, unanswered, "", `tool calls that do not have a corresponding toolmessage | tool results are missing for tool calls {id} | tool result is missing for tool call {id} | toolinvocation must have a result`},

	// What is no matter of what is stored, or of its length alone
	{RateLimited, "", "", `tokens per min | rate limit | ratelimiterror | too many requests | too many tokens please wait | throttlingexception | request rate is too high | resource exhausted
		| resource has been exhausted | quota exceeded | exceeded your current quota | insufficient quota | usage limit reached | credit balance is too low | insufficient balance`},
	{TooLong, "SC604", "anthropic", `request too large | request exceeds the maximum size | payload too large | entity too large | payload size exceeds the limit`},
	{TooLong, "", "", `prompt is too long | prompt too long | input is too long for requested model | maximum context length | context length exceeded | exceeds the context window
		| context window exceeds | exceed context limit | input token count * exceeds the maximum | exceeds the available context size | exceeds context size | exceeded model token limit`},
	{Overloaded, "", "", `overloaded | service unavailable | serviceunavailable | internal server error | internalservererror | bad gateway | gateway timeout | experiencing high demand
		| server had an error while processing | unable to process your request | code 529 | error 529 | status 529 | code 503 | error 503 | status 503 | code 500 | error 500 | status 500`},
	{Authentication, "", "", `authentication error | authenticationerror | invalid authentication | invalid x api key | invalid api key | incorrect api key | api key not valid | api key not found
		| permission error | unauthorized | unauthenticated | forbidden | unrecognizedclient | security token included in the request | expiredtoken | accessdenied
		| oauth token has expired | invalid bearer token | code 401 | error 401 | status 401 | code 403 | error 403 | status 403`},
	{RateLimited, "", "", `code 429 | error 429 | status 429 | http 429`},
	{TooLong, "SC604", "", `code 413 | error 413 | status 413`},
}

// row is a line of the table: what several wordings of the same mean.
type row struct {
	kind                      Kind
	rules, profiles, wordings string
}

// wording is a sentence as letters with gaps between.
type wording struct {
	*row
	pieces []piece
	must   int // how many of them have to be there
	ids    int // the piece behind which ids are, -1 for none
}

type piece struct {
	letters string
	gap     int // how many letters may be before it
}

// How many letters stand for few words, and for a list of ids.
const fewWords, manyIDs = 64, 2048

var wordings = compiled()

func compiled() (list []wording) {
	for i := range sentences {
		for words := range strings.SplitSeq(sentences[i].wordings, "|") {
			w := wording{row: &sentences[i], must: -1, ids: -1}
			gap, open := mostText*2, true // anywhere
			for word := range strings.FieldsSeq(words) {
				if rest, cut := strings.CutPrefix(word, "~"); cut {
					w.must, word, open = len(w.pieces), rest, true
				}
				switch {
				case word == "*":
					gap, open = fewWords, true
				case word == "{id}":
					w.ids, gap, open = len(w.pieces)-1, manyIDs, true
				case open:
					w.pieces = append(w.pieces, piece{word, gap})
					gap, open = 0, false
				default:
					w.pieces[len(w.pieces)-1].letters += word
				}
			}
			if w.must < 0 {
				w.must = len(w.pieces)
			}
			list = append(list, w)
		}
	}
	return list
}

// recognised is the first wording that is in the letters of a text, and where.
func recognised(letters string) (*wording, []span) {
	for i := range wordings {
		if at := wordings[i].find(letters, 0, nil); at != nil {
			return &wordings[i], at
		}
	}
	return nil, nil
}

// find is where the pieces are, of which some are found, and the next one from an index
// on; nil where they are not.
func (w *wording) find(letters string, from int, found []span) []span {
	n := len(found)
	if n == len(w.pieces) {
		return found
	}
	p := w.pieces[n]
	window := letters[from:min(len(letters), from+p.gap+len(p.letters))]
	for i := strings.Index(window, p.letters); i >= 0; {
		at := span{from + i, from + i + len(p.letters)}
		if all := w.find(letters, at.end, append(found[:n:n], at)); all != nil {
			return all
		}
		next := strings.Index(window[i+1:], p.letters)
		if next < 0 {
			break
		}
		i += 1 + next
	}
	if n == w.must {
		return found
	}
	return nil
}
