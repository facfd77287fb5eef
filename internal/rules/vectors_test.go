package rules_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// The vectors are conversations with what every provider makes of them and what
// a default repair leaves. They lie beside the module, not in it.
const vectorsFile = "../../../shared/vectors/provider.json"

type vector struct {
	ID, Name, Encoding, Mode string
	Messages, Repaired       []vectorMessage
	Context                  struct{ Writer string }
	Expect                   map[string]struct{ Verdict, Rule, Confidence string }
	Finding                  struct{ Rule, Severity string }
	Any                      []string `json:"findings_any_profile"`
}

type vectorMessage struct {
	Role, Text string
	Calls      []struct{ ID, Name, Args string }
	Results    []struct {
		ID, Text                  string
		Error, Synthetic, Pending bool
	}
}

func readVectors(t *testing.T, into any) {
	t.Helper()
	data, err := os.ReadFile(vectorsFile)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the vectors are not beside the module")
	}
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestVectorsOfConversations(t *testing.T) {
	var file struct{ Vectors []vector }
	readVectors(t, &file)
	for _, v := range file.Vectors {
		if v.Encoding != "neutral" {
			continue
		}
		store := &session.Store{Writer: map[string]session.Writer{"alive": session.WriterLive, "dead": session.WriterDead}[v.Context.Writer]}
		for name := range v.Expect {
			t.Run(v.ID+" "+v.Name+" for "+name, func(t *testing.T) {
				judge := rules.Judge{Profiles: []*rules.Profile{rules.FindProfile(name)}, AsIs: v.Mode == "as-is"}
				v.check(t, name, findFor(store, []*session.Tree{{Sessions: []*session.Session{conversation(v.Messages)}}}, judge))
			})
		}
		t.Run(v.ID+" "+v.Name+" repaired", func(t *testing.T) {
			after, _ := repaired(t, store, &session.Tree{Sessions: []*session.Session{conversation(v.Messages)}})
			if diff := cmp.Diff(flat(conversation(v.left())), flat(after.Root())); diff != "" {
				t.Errorf("after the repair, want (-), got (+):\n%s", diff)
			}
		})
	}
}

// check holds what one provider is expected to mind against what was found.
func (v *vector) check(t *testing.T, profile string, found []*rules.Finding) {
	t.Helper()
	sayPlainly(t, found)
	expect := v.Expect[profile]
	met := expect.Rule == ""
	for _, f := range found {
		if !slices.Contains(v.Any, f.Rule.ID) {
			t.Errorf("%s is not expected under any profile (%v)", f.Rule.ID, v.Any)
		}
		if expect.Verdict == "accept" && f.Severity > rules.Info && expect.Confidence != "low" {
			t.Errorf("it is accepted, but there is a %s of %s", f.Severity, f.Rule.ID)
		}
		met = met || f.Rule.ID == expect.Rule && f.Severity >= v.least(profile)
	}
	if !met && expect.Confidence != "low" {
		t.Errorf("want %s at %s or above, found:\n%s", expect.Rule, v.least(profile), messages(found))
	}
}

// least is how much a profile has to mind the rule that it is expected to. Where
// the vector names a severity for the finding itself, that holds.
func (v *vector) least(profile string) rules.Severity {
	expect := v.Expect[profile]
	switch {
	case v.Finding.Rule == expect.Rule && v.Finding.Severity == "info":
		return rules.Info
	case expect.Verdict == "reject" && v.Finding.Rule != expect.Rule:
		return rules.Error
	}
	return rules.Warning
}

// left is what the default repair leaves. What only a request would have
// otherwise stays as it is stored.
func (v *vector) left() []vectorMessage {
	for _, expect := range v.Expect {
		if r := catalogue.FindRule(expect.Rule); r != nil && r.Safety != rules.None && !r.Wire {
			return v.Repaired
		}
	}
	return v.Messages
}

// conversation is a session of messages; results of one message are one item
// each, as most stores have it.
func conversation(messages []vectorMessage) *session.Session {
	s := &session.Session{ID: "P"}
	add := func(it session.Item) {
		it.Own().Table, it.Key, it.Position = "items", fmt.Sprint(len(s.Items)), int64(len(s.Items))
		it.Body = &session.Body{Text: it.Body.Text}
		it.Text = session.DigestOf(it.Body.Text)
		it.Flags = flagsOf(&it)
		s.Items = append(s.Items, it)
	}
	for _, m := range messages {
		it := session.Item{Role: session.ParseRole(m.Role), Body: &session.Body{Text: m.Text}}
		for _, c := range m.Calls {
			it.Calls = append(it.Calls, session.Call{ID: c.ID, Name: c.Name, Args: c.Args, Form: formOf(c.Args)})
		}
		for _, r := range m.Results {
			it.Results = []session.Result{{
				CallID: r.ID, Text: r.Text, Digest: session.DigestOf(r.Text), IsError: r.Error, Pending: r.Pending,
				Synthetic: r.Synthetic || session.IsPlaceholder(r.Text),
			}}
			add(it)
		}
		if len(m.Results) == 0 {
			add(it)
		}
	}
	return s
}

// flagsOf are the flags that an adapter sets for what a message says.
func flagsOf(it *session.Item) session.Flags {
	var flags session.Flags
	trimmed := strings.TrimSpace(it.Body.Text)
	if trimmed == "" && it.Body.Text != "" {
		flags |= session.BlankText
	}
	if trimmed == "" && len(it.Calls)+len(it.Results) == 0 {
		flags |= session.Blank
	}
	if strings.TrimRight(it.Body.Text, " \t\r\n") != it.Body.Text {
		flags |= session.TrailingSpace
	}
	return flags
}

// formOf is what arguments are.
func formOf(args string) session.ArgsForm {
	var value any
	if err := json.Unmarshal([]byte(args), &value); err != nil {
		return session.ArgsBroken
	}
	if _, object := value.(map[string]any); !object {
		return session.ArgsValue
	}
	return session.ArgsObject
}

// flat lists what a session says, one line a message; the results that stand
// together are one line, because their order means nothing, and a placeholder
// has no text.
func flat(s *session.Session) []string {
	var lines, results []string
	flush := func() {
		slices.Sort(results)
		if len(results) > 0 {
			lines = append(lines, "results "+strings.Join(results, ", "))
		}
		results = nil
	}
	for i := range s.Items {
		it := &s.Items[i]
		for _, r := range it.Results {
			if r.Synthetic {
				r.Text = "placeholder"
			}
			results = append(results, r.CallID+"="+r.Text)
		}
		if len(it.Results) > 0 {
			continue
		}
		flush()
		line := it.Role.String() + " " + it.Body.Text
		for _, c := range it.Calls {
			line += " " + c.ID
		}
		lines = append(lines, line)
	}
	flush()
	return lines
}

func idsOf(found []*rules.Finding) []string {
	var ids []string
	for _, f := range found {
		ids = append(ids, f.Rule.ID)
	}
	return ids
}

type treeVector struct {
	ID, Name           string
	Sessions, Repaired []vectorSession
	Expect             struct{ Rule, Severity string }
}

type vectorSession struct {
	ID, Agent string
	Parent    string
	Agents    []string
	ForkOf    json.RawMessage `json:"fork_of"`
	Items     []struct {
		K, Role, Text, Agent, Ref, Branch string
		For                               string `json:"result_for"`
		Calls                             []struct{ ID, Name string }
	}
}

func TestVectorsOfTrees(t *testing.T) {
	var file struct {
		Vectors []treeVector `json:"multi_agent_vectors"`
	}
	readVectors(t, &file)
	for _, v := range file.Vectors {
		t.Run(v.ID+" "+v.Name, func(t *testing.T) {
			trees := treetest.Trees(t, v.notation())
			for _, s := range v.Sessions {
				trees[0].Session(s.ID).Forked = s.ForkOf != nil
			}
			found := findAll(&session.Store{Writer: session.WriterDead}, trees)
			if v.Expect.Rule == "" && len(found) > 0 || v.Expect.Rule != "" && !slices.ContainsFunc(found, func(f *rules.Finding) bool {
				return f.Rule.ID == v.Expect.Rule && f.Severity.String() == v.Expect.Severity
			}) {
				t.Errorf("want %s %s, found:\n%s%s", v.Expect.Rule, v.Expect.Severity, messages(found), v.notation())
			}
			if want := branches(v.Repaired); len(want) > 0 {
				after, _ := repaired(t, &session.Store{}, treetest.Tree(t, v.notation()))
				var got []string
				for i := range after.Root().Items {
					got = append(got, after.Root().Items[i].Branch())
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("after the repair, want the branches (-), got (+):\n%s", diff)
				}
			}
		})
	}
}

// branches are those of the items, where any has one.
func branches(sessions []vectorSession) []string {
	var list []string
	for _, s := range sessions {
		for _, it := range s.Items {
			list = append(list, it.Branch)
		}
	}
	if slices.ContainsFunc(list, func(branch string) bool { return branch != "" }) {
		return list
	}
	return nil
}

// notation is the vector in the notation of treetest.
func (v *treeVector) notation() string {
	var b strings.Builder
	for _, s := range v.Sessions {
		b.WriteString(s.ID)
		if s.Parent != "" {
			b.WriteString("<" + s.Parent)
		}
		if s.Agent != "" {
			b.WriteString(" agent=" + s.Agent)
		}
		if s.Agents != nil {
			b.WriteString(" agents=" + strings.Join(s.Agents, ","))
		}
		for _, it := range s.Items {
			agent := it.Agent
			switch {
			case it.K == "sub":
				agent = "sub " + it.Ref
			case it.K == "summary":
				agent = "summary"
			case it.For != "":
				agent += " <" + it.For
			case it.Role == "user":
				agent = "user"
			}
			if it.Branch != "" {
				agent += " branch=" + it.Branch
			}
			b.WriteString("\n  " + agent)
			if it.Text != "" {
				fmt.Fprintf(&b, " %q", it.Text)
			}
			for _, c := range it.Calls {
				if c.Name == "transfer_task" {
					b.WriteString(" " + c.ID + ">()")
				} else {
					b.WriteString(" " + c.ID + "()")
				}
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}
