package canonical

import (
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
)

// composePrologue composes what a child of the call starts with: its task between the tags
// by which a reader knows it, and the word to begin. Arguments that do not
// parse are the task as they are.
func composePrologue(call *session.Call) (title string, items []session.Item) {
	title = "Transferred task"
	if call.Name != "transfer_task" {
		title = "Sub-session of " + call.Name
	}
	var args struct {
		ExpectedOutput string `json:"expected_output"`
	}
	task := ""
	if d := call.Delegation; d != nil && d.Task != 0 {
		if given := stringWithDigest(jsontext.Value(call.Args), d.Task); given != nil {
			task = *given
		}
	}
	if err := json.Unmarshal([]byte(call.Args), &args); err != nil && task == "" {
		task = call.Args
	}
	text := "You are asked to complete this task:\n\n" + taskOpen + task + taskClose
	if args.ExpectedOutput != "" {
		text += "\n\n<expected_output>\n" + args.ExpectedOutput + "\n</expected_output>"
	}
	return title, []session.Item{composeSaidItem(session.System, text, 0), composeSaidItem(session.User, "Please proceed.", session.Implicit)}
}

// composeSaidItem composes a new message without a time, with the digests that it will have when
// it is read.
func composeSaidItem(role session.Role, text string, flags session.Flags) session.Item {
	rec := itemLine{Role: role.String(), Text: textMember{string: text}}
	it := session.Item{
		Kind: session.Message, Role: role, Flags: flags | session.Synthetic,
		Text: session.DigestOf(text), Size: rec.requestSize(), Body: &session.Body{Text: text},
	}
	it.Meaning = newItemReader().meaningOf(&it, &rec)
	return it
}
