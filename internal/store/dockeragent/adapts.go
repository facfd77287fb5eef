package dockeragent

// adaptations are what docker agent sees to when it builds a request, in every
// release that writes a store of the generation or a later one, by the rule that
// would report it. What only some releases do is not among them: up to v1.51
// Anthropic's and Bedrock's converters cut white space off (SC402, SC403), and
// newer ones send it; thought signatures that Gemini misses (SC506) and results
// that it wants together (SC109) came later than the newest known schema can tell.
var adaptations = []struct {
	generation int64
	rule, what string
}{
	// pkg/model/provider/anthropic (client.go, beta_converter.go) and bedrock
	// (convert.go): a thinking block is made of reasoning with a signature only.
	// Before v1.7.0 none was made.
	// The same converters take system messages out of the list, wherever they stand;
	// gemini/client.go sends them as a user's.
	{0, "SC304 anthropic", "puts system messages into the system prompt"},
	{0, "SC304 bedrock", "puts system messages into the system prompt"},
	{0, "SC304 gemini", "sends system messages as a user's"},
	// beta_converter.go, all but the oldest client.go, and bedrock/convert.go: what
	// does not decode as an object is sent as an empty one.
	{14, "SC205 anthropic", "sends an empty JSON object in place of other arguments"},
	{14, "SC205 bedrock", "sends an empty JSON object in place of other arguments"},
	{0, "SC502", "sends thinking without a signature to no provider that wants one"},
	// pkg/model/provider/oaistream/messages.go and openai/client.go: the images of
	// a result go into a user's message behind it, before v1.28.1 nowhere.
	{0, "SC603 openai-chat", "sends the images of a result in a user's message"},
	// normalizeMessageContent in pkg/session/session.go: v1.52.0 (#2516). Generation
	// 022 came with v1.110.0.
	{22, "SC401", "leaves blank messages out of the request"},
}

// collectAdaptations collects the adaptations of all releases that can have a store of this
// schema.
func (s *schema) collectAdaptations() map[string]string {
	list := map[string]string{}
	for _, a := range adaptations {
		if s.generation >= a.generation {
			list[a.rule] = a.what
		}
	}
	return list
}
