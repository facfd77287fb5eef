package goose_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/storetest"
	"github.com/sessctl/sessctl/internal/view"
)

// said is what a request says, a line each: texts, calls and results, without the
// instructions. goose joins messages of one role, the texts of the user with a line break,
// so that they are told apart here by what stands between them. It puts calls of one
// answer with thoughts together, before their results: here each stands before its own.
// Before an error it puts a sentence.
type said []string

func (s *said) text(role, text string) {
	if text == "" {
		return
	}
	if n := len(*s); n > 0 && strings.HasPrefix((*s)[n-1], role+" ") {
		(*s)[n-1] += "\n" + text
		return
	}
	*s = append(*s, role+" "+text)
}

func (s *said) result(call, text string) {
	line := "result " + call + " " + strings.TrimPrefix(text, "The tool call returned the following error:\n")
	for i, made := range *s {
		if strings.HasPrefix(made, "call "+call+" ") {
			*s = slices.Insert(*s, i+1, line)
			return
		}
	}
	*s = append(*s, line)
}

func (s *said) call(id, name, args string) {
	*s = append(*s, fmt.Sprintf("call %s %s(%s)", id, name, args))
}

func sent(r *storetest.Request) []string {
	var list said
	for _, m := range r.Body.Messages {
		switch m.Role {
		case "system":
		case "tool":
			list.result(m.CallID, m.Content)
		default:
			list.text(m.Role, m.Content)
			for _, c := range m.Calls {
				list.call(c.ID, c.Function.Name, c.Function.Arguments)
			}
		}
	}
	return list
}

// lines is what the next request says, as `view --model-input` has it, with what it says of
// goose's own corrections.
func lines(r *view.Request, _ *session.Store) []string {
	var list said
	masked := func(among []view.Masked, item int, call string) bool {
		return slices.ContainsFunc(among, func(m view.Masked) bool { return m.Item == item && m.Call == call })
	}
	if r.Masking == nil {
		r.Masking = &view.Masking{}
	}
	for i := range r.Parts {
		p := &r.Parts[i]
		it := p.Row.Stored
		if p.Unsent || p.Message < 0 {
			continue
		}
		if it.Role != session.Tool {
			list.text(it.Role.String(), it.Body.Text)
		}
		for _, c := range it.Calls {
			if !masked(r.Masking.Invented, p.Row.Item, c.ID) {
				list.call(c.ID, c.Name, c.Args)
			}
		}
		for _, res := range it.Results {
			if !masked(r.Masking.Dropped, p.Row.Item, res.CallID) {
				list.result(res.CallID, res.Text)
			}
		}
	}
	return list
}

// TestSent holds what view says of the next request against what goose sent when it
// resumed the session; "What now?" was the user's next message. It joins that with a
// question that nobody answered.
func TestSent(t *testing.T) {
	for _, name := range corpus.Names(t) {
		stored, resumed := strings.CutSuffix(name, "-resumed")
		if !resumed && verdicts[strings.TrimSuffix(name, ".repaired")] == nil || name == "killed-child" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			list := corpus.Requests(t, name)
			sent := sent(&list[len(list)-1])
			last := len(sent) - 1
			before, _, asked := strings.Cut(sent[last], "What now?")
			if !asked {
				t.Fatalf("the last message is %s", sent[last])
			}
			if sent[last] = strings.TrimSuffix(before, "\n"); before == "user " {
				sent = sent[:last]
			}
			if diff := cmp.Diff(sent, storetest.Foretold(t, corpus.Copy(t, stored), lines)[0]); diff != "" {
				t.Errorf("-sent +view:\n%s", diff)
			}
		})
	}
}

// TestOrder: goose sorts by the stored numbers, whatever they mean. 1.50.0 sent a message of a
// tool behind the last text (docs/stores/goose.md#what-is-read).
func TestOrder(t *testing.T) {
	path := corpus.Copy(t, "tools")
	storetest.Change(t, path, `update messages set created_timestamp = created_timestamp * 1000 where content_json like '%"toolResponse","id":"call_t1_0_1"%'`)
	answered := func(r *view.Request, _ *session.Store) (list []string) {
		for i := range r.Parts {
			if it := r.Parts[i].Row.Stored; it != nil && !r.Parts[i].Unsent {
				list = append(list, it.Role.String())
				for _, res := range it.Results {
					list = append(list, res.CallID)
				}
			}
		}
		return list
	}
	got := storetest.Foretold(t, path, answered)[0]
	if last := got[len(got)-3:]; !slices.Equal(last, []string{"assistant", "tool", "call_t1_0_1"}) {
		t.Errorf("it ends with %q", last)
	}
	if outlook := storetest.Outlooks(t, path); outlook[0] != "refused" {
		t.Errorf("it %s", outlook[0])
	}
}

func TestSentAll(t *testing.T) {
	const summed = "a summary stands for it now"
	corpus.SentAll(t, sent, lines, map[string]string{"compaction/0": summed, "compaction/1": summed})
}
