package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC603MediaInWrongPlace(t *testing.T) {
	document := session.Block{Kind: session.MediaBlock, Name: "document"}
	video := session.Block{Kind: session.MediaBlock, Name: "video"}
	audio := session.Block{Kind: session.MediaBlock, Name: "audio"}
	result := session.Block{Kind: session.ResultBlock}
	runCases(t, []ruleCase{
		{
			name: "an image in a tool message", profile: "openai-chat", tree: oneStep, tweak: inBlocks(2, result, picture),
			want: `SC603 error P.2`, says: `1 part of tool results is media ("image")`,
		},
		{name: "a document in a tool message", profile: "openai-chat", tree: oneStep, tweak: inBlocks(2, result, document), want: `SC603 error P.2`},
		{name: "a document in a result for Bedrock", profile: "bedrock", tree: oneStep, tweak: inBlocks(2, result, document), want: `SC603 error P.2`},
		{name: "a video in a result for Bedrock", profile: "bedrock", tree: oneStep, tweak: inBlocks(2, result, video), want: `SC603 error P.2`},
		{name: "Bedrock takes images there, and of sound nothing is known", profile: "bedrock", tree: oneStep, tweak: inBlocks(2, result, picture, audio)},
		{name: "the user may send both", profile: "openai-chat bedrock", tree: oneStep, tweak: inBlocks(0, sentence, picture, document)},
		{name: "Anthropic takes both", profile: "anthropic", tree: oneStep, tweak: inBlocks(2, result, picture, document)},
	})
}
