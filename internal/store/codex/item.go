package codex

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/responses"
)

// contexts begin what Codex says as the user, and nobody typed.
var contexts = []string{"<environment_context>", "<turn_aborted>", "<subagent_notification>", "<user_instructions>", "<INSTRUCTIONS>", "# AGENTS.md instructions", "<skill>", "<user_shell_command>"}

// itemTypes are those of items that Codex knows (ResponseItem in codex-rs/protocol/src/models.rs of
// 0.169.0). It sends no others.
var itemTypes = []string{
	responses.TypeMessage, "reasoning", responses.TypeCall, "function_call_output", "custom_tool_call", "custom_tool_call_output", "local_shell_call", "tool_search_call", "tool_search_output",
	"web_search_call", "image_generation_call", "compaction", "compaction_summary", "context_compaction",
}

func (r *reader) addItem(x *responses.Item, raw []byte, when time.Time, key string) {
	if x.Type == "ghost_snapshot" { // which is sent to nobody
		return
	}
	it := session.Item{Shared: &session.Shared{Table: session.TableLines, Model: r.model}, Key: key, Time: when}
	if x.ReadItem(&it); !slices.Contains(itemTypes, x.Type) {
		it.Kind, it.Role, it.Calls, it.Results, it.Blocks = session.Other, session.NoRole, nil, nil, nil
	}
	it.Note = it.Role == session.User && slices.ContainsFunc(contexts, func(c string) bool { return strings.HasPrefix(it.Body.Text, c) })
	switch {
	case it.Note:
		it.Flags |= session.Implicit
	case it.Role == session.User && r.Task == 0 && r.Delegated && r.own && r.ordinal >= r.self.Start:
		r.Task = it.Text
	case it.Kind == session.Other:
		defer func() {
			r.addFault(session.Fault{Kind: session.UnknownKind, Item: len(r.Items) - 1, Field: x.Type, Detail: fmt.Sprintf("an item of the type %.40q, which sessctl does not know", x.Type)})
		}()
	case len(it.Calls) > 0:
		r.noteCall(x, &it.Calls[0])
	case len(it.Results) > 0:
		var started struct {
			ID string `json:"agent_id"`
		}
		if json.Unmarshal([]byte(it.Results[0].Text), &started) == nil {
			it.Results[0].Child = started.ID
		}
	}
	if it.Body.Raw = slices.Clone(raw); !r.body {
		it.DropTexts()
	}
	r.sharing.Share(&it)
	r.Items = append(r.Items, it)
}

// noteCall reads what a call says that starts a sub-agent.
func (r *reader) noteCall(x *responses.Item, c *session.Call) {
	if r.made != nil {
		r.made[c.ID] = *x
	}
	if c.Name != "spawn_agent" {
		return
	}
	var asked struct {
		Message string `json:"message"`
		Agent   string `json:"agent_type"`
	}
	_ = json.Unmarshal([]byte(c.Args), &asked) // what does not parse says nothing
	c.Delegation = &session.Delegation{Agent: asked.Agent, Task: session.DigestOf(asked.Message)}
}

// linkChildren lets each call that starts a sub-agent name the session that its result does.
func linkChildren(s *session.Session) {
	asked := map[string]*session.Call{}
	for i := range s.Items {
		it := &s.Items[i]
		if len(it.Calls) > 0 && it.Calls[0].Delegation != nil {
			d := *it.Calls[0].Delegation // other trees share it
			d.Child, it.Calls[0].Delegation = "", &d
			asked[it.Calls[0].ID] = &it.Calls[0]
		} else if len(it.Results) > 0 && asked[it.Results[0].CallID] != nil {
			asked[it.Results[0].CallID].Delegation.Child = it.Results[0].Child
		}
	}
}
