package isolation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A result is much longer than an answer when it has more than surplusFactor times
// its length and surplusSlack characters besides: runtimes wrap an answer into JSON
// and add ids and usage.
const (
	surplusFactor = 4
	surplusSlack  = 2000
)

// mostWrappings is how deep an answer is looked for in objects.
const mostWrappings = 4

// describeSurplus says what a result has besides the child's last answer, "" for nothing
// worth telling and for what the answer says itself. answer is "" where the child has
// none.
func describeSurplus(result, answer string) string {
	if list := stepList(result, answer, mostWrappings); list != "" && stepList(answer, "", mostWrappings) == "" {
		return "contains a list of " + list + ", not only the final answer"
	}
	n, of := utf8.RuneCountInString(unwrapAnswer(result)), utf8.RuneCountInString(answer)
	if of > 0 && n > surplusFactor*of+surplusSlack {
		return fmt.Sprintf("has %d characters, but the last answer of its sub-session has %d", n, of)
	}
	return ""
}

// answerKeys are the members in which runtimes return an answer: kagent "result", ADK
// "result" and "output", others "response", "answer", "content" and "text".
var answerKeys = []string{"result", "output", "response", "answer", "content", "text"}

// stepKeys are the members that hold what an agent did on the way.
var stepKeys = []string{"steps", "messages", "history", "transcript"}

// unwrapAnswer is the answer in a result: the text itself, or the string that JSON
// objects around it hold.
func unwrapAnswer(text string) string {
	for range mostWrappings {
		inner := answerValues(text)
		if len(inner) == 0 {
			break
		}
		text = inner[0]
	}
	return text
}

// answerValues are the values of an object in JSON that can be an answer, the likeliest
// first: strings as their text, others as JSON.
func answerValues(text string) []string {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &object) != nil {
		return nil
	}
	var list []string
	for _, key := range answerKeys {
		value, has := object[key]
		if !has {
			continue
		}
		var inner string
		if json.Unmarshal(value, &inner) != nil {
			inner = string(value)
		}
		list = append(list, inner)
	}
	return list
}

// stepList names the list of steps that a result in JSON holds, "" for none, and for
// one that the answer says itself: a list of messages with roles, or one of objects
// under a key that means steps.
func stepList(text, answer string, wrappings int) string {
	if wrappings < 0 || answer != "" && strings.Contains(collapseSpaces(answer), collapseSpaces(text)) {
		return ""
	}
	var list []map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &list) == nil {
		if slices.ContainsFunc(list, func(entry map[string]json.RawMessage) bool { return entry["role"] != nil }) {
			return "messages"
		}
		return ""
	}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &object) != nil {
		return ""
	}
	for _, key := range stepKeys {
		var entries []map[string]json.RawMessage
		if value, has := object[key]; has && json.Unmarshal(value, &entries) == nil && len(entries) > 0 {
			return key
		}
	}
	for _, inner := range answerValues(text) {
		if found := stepList(inner, answer, wrappings-1); found != "" {
			return found
		}
	}
	return ""
}
