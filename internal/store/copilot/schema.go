package copilot

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/pattern"
)

//go:embed schema.txt
var schemaText string

// field is what the runtime asks of one value.
type field struct {
	name   string
	kind   byte // of schema.txt
	absent bool // it may be absent
	null   bool // it may be null
}

// schema are the fields by the type of a line; those of what is in a field are behind its name, as in
// "assistant.message/toolRequests".
var schema = sync.OnceValue(func() map[string][]field {
	all, last := map[string][]field{}, ""
	for line := range strings.Lines(schemaText) {
		words := strings.Fields(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		name := strings.Trim(words[0], "[]{}")
		if name == words[0] {
			last = name
		} else {
			name = last + "/" + name
		}
		for _, word := range words[1:] {
			is, kind, _ := strings.Cut(word, ":")
			all[name] = append(all[name], field{is, kind[0], len(kind) > 1, strings.HasSuffix(kind, "?")})
		}
	}
	return all
})

// forms are the kinds of values: in the runtime's words, and those of JSON that they can be.
var forms = map[byte]struct{ name, kinds string }{
	's': {"a string", `"`}, 'i': {"i64", "0"}, 'n': {"a number", "0"}, 'b': {"a boolean", "tf"}, 'o': {"an object", "{"}, 'a': {"a sequence", "["}, '*': {"a value", `"0tf{[`},
}

// fits reports whether a value is of a kind.
func fits(v jsontext.Value, kind byte) bool {
	return strings.IndexByte(forms[kind].kinds, byte(v.Kind())) >= 0 && (kind != 'i' || !strings.ContainsAny(string(v), ".eE"))
}

// mend is a value because of which the runtime loads nothing of the session, and what lets it.
type mend struct {
	pointer string
	says    string // what is wrong with it, in the runtime's words
	wanted  bool   // it has to be there
	value   string // JSON that takes its place, "" where it leaves
	guess   bool   // nothing in the file says that it is so
}

// isUUID and isNumber are forms of values. A number that is quoted in a message tells nothing.
var (
	isUUID   = pattern.Lazy(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	isNumber = pattern.Lazy(`^"[0-9.]{1,12}"$`)
)

func isTime(v jsontext.Value) bool {
	_, err := time.Parse(time.RFC3339, textOf(v))
	return err == nil
}

// describeValue names a value as the runtime does, without what a text says.
func describeValue(v jsontext.Value) string {
	words := map[jsontext.Kind]string{'n': "null", 't': "boolean `true`", 'f': "boolean `false`", '{': "map", '[': "sequence", '"': "string", '0': "number `" + string(v) + "`"}
	if isNumber().Match(v) {
		return "string " + string(v)
	}
	return words[v.Kind()]
}

// checkFields holds an object against the schema, and what is in it.
func checkFields(name, pointer string, object map[string]jsontext.Value) (flaws []mend) {
	for _, f := range schema()[name] {
		v, there := object[f.name]
		at := pointer + "/" + f.name
		switch {
		case !there && !f.absent:
			flaws = append(flaws, mend{pointer: at, says: "missing field `" + f.name + "`", wanted: true})
		case there && (!f.null || v.Kind() != 'n') && !fits(v, f.kind):
			flaws = append(flaws, mend{pointer: at, says: "invalid type: " + describeValue(v) + ", expected " + forms[f.kind].name, wanted: !f.absent})
		case there && schema()[name+"/"+f.name] != nil && f.kind == 'o' && v.Kind() == '{':
			flaws = append(flaws, checkFields(name+"/"+f.name, at, membersOf(v))...)
		case there && schema()[name+"/"+f.name] != nil && v.Kind() == '[':
			var list []jsontext.Value
			_ = jsonscan.Exact.Unmarshal(v, &list)
			for n, element := range list {
				flaws = append(flaws, checkFields(name+"/"+f.name, fmt.Sprintf("%s/%d", at, n), membersOf(element))...)
			}
		}
	}
	return flaws
}

// checkEvent holds a line against what the runtime insists on. A line without a type is passed over.
func (e *event) checkEvent() (flaws []mend) {
	envelope := func(pointer, must string, ok bool) {
		if !ok {
			flaws = append(flaws, mend{pointer: pointer, says: "invalid session event envelope: `" + pointer[1:] + "` must be " + must, wanted: pointer != "/agentId" && pointer != "/ephemeral"})
		}
	}
	envelope("/id", "a UUID string", isUUID().MatchString(textOf(e.ID)))
	envelope("/timestamp", "an ISO 8601 date-time string with a timezone offset", isTime(e.Time))
	envelope("/parentId", "a UUID string or null", e.Parent.Kind() == 'n' || isUUID().MatchString(textOf(e.Parent)))
	envelope("/agentId", "a string", len(e.Agent) == 0 || e.Agent.Kind() == '"')
	envelope("/ephemeral", "a boolean", len(e.Ephemeral) == 0 || fits(e.Ephemeral, 'b'))
	envelope("/data", "an object", e.Data.Kind() == '{')
	if e.Data.Kind() != '{' {
		return flaws
	}
	return append(flaws, checkFields(e.Type, "/data", e.members)...)
}
