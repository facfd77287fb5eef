package view

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// answers says of every call which result it has, and of every result which
// call it answers. Leaked items are paired among themselves: their results are
// never those of the session's own calls.
type answers struct {
	s        *rules.Subject
	started  map[pairing.Occurrence]string // the sessions that calls started
	byCall   map[pairing.Occurrence]pairing.Occurrence
	byResult map[pairing.Occurrence]claim
}

// claim is what a result has to do with a call.
type claim struct {
	call pairing.Occurrence
	how  relation
}

// relation is a result's place, seen from its call.
type relation uint8

const (
	unpaired relation = iota // of an item that reaches no model
	beside                   // directly behind its call: the only right place
	parted                   // it would be, but leaked items stand between
	late
	early
	repeated  // a second one that says the same
	differing // a second one that says something else
	standIn   // a placeholder besides the real one
	orphan    // no call has its id
)

func answersOf(s *rules.Subject) *answers {
	a := &answers{s: s, started: map[pairing.Occurrence]string{}, byCall: map[pairing.Occurrence]pairing.Occurrence{}, byResult: map[pairing.Occurrence]claim{}}
	for _, d := range s.Replay.Delegations {
		if d.Child != nil {
			a.started[pairing.Occurrence{Item: d.Item, Nth: d.Nth}] = d.Child.ID
		}
	}
	a.addPairs(s.SentPairs())
	a.addPairs(pairing.ClaimResults(s.Items, a.isLeaked))
	return a
}

func (a *answers) isLeaked(i int) bool { return a.s.Replay.Steps[i].Action == replay.Skip }

func (a *answers) addPairs(p *pairing.Pairing) {
	for _, pair := range p.Pairs {
		a.byCall[pair.Call] = pair.Result
		a.byResult[pair.Result] = claim{pair.Call, a.relationOf(pair)}
	}
	for _, e := range p.Extras {
		how := differing
		switch {
		case e.Placeholder:
			how = standIn
		case e.Same:
			how = repeated
		}
		a.byResult[e.Result] = claim{p.Pairs[e.Pair].Call, how}
	}
	for _, o := range p.Orphans {
		a.byResult[o] = claim{how: orphan}
	}
}

func (a *answers) relationOf(pair pairing.Pair) relation {
	switch pair.Place {
	case pairing.Late:
		return late
	case pairing.Early:
		return early
	}
	if a.isLeaked(pair.Call.Item) {
		return beside
	}
	for i := pair.Call.Item + 1; i < pair.Result.Item; i++ {
		if a.isLeaked(i) && a.s.Items[i].OnWire() {
			return parted
		}
	}
	return beside
}

// callsAt are the calls of the item at index i with their answers.
func (a *answers) callsAt(i int) []Call {
	it := &a.s.Items[i]
	var list []Call
	for n := range it.Calls {
		c := callOf(&it.Calls[n])
		c.Answer, c.Child = Answer{Item: -1}, a.started[pairing.Occurrence{Item: i, Nth: n}]
		if it.OnWire() {
			c.Answer.State = NoResult
		}
		if at, ok := a.byCall[pairing.Occurrence{Item: i, Nth: n}]; ok {
			c.Answer = answerOf(&a.s.Items[at.Item], at.Nth, at.Item)
		}
		list = append(list, c)
	}
	return list
}

// resultsAt are the results of the item at index i; misplaced reports whether one
// of them stands where it should not.
func (a *answers) resultsAt(i int) (list []Result, misplaced bool) {
	it := &a.s.Items[i]
	for n := range it.Results {
		c := a.byResult[pairing.Occurrence{Item: i, Nth: n}]
		list = append(list, Result{
			Call:   it.Results[n].CallID,
			Label:  a.resultLabel(c, it.Results[n].CallID),
			Answer: answerOf(it, n, i),
		})
		misplaced = misplaced || c.how > beside
	}
	return list, misplaced
}

// canFold reports whether every result of the item stands beside its call.
func (a *answers) canFold(i int) bool {
	for n := range a.s.Items[i].Results {
		if a.byResult[pairing.Occurrence{Item: i, Nth: n}].how != beside {
			return false
		}
	}
	return true
}

func answerOf(it *session.Item, nth, item int) Answer {
	r := &it.Results[nth]
	a := Answer{State: OK, Size: len(r.Text), Text: r.Text, Media: mediaLines(it, nth+1), Item: item}
	switch {
	case r.Pending:
		a.State = Pending
	case r.Synthetic:
		a.State = Placeholder
	case r.IsError:
		a.State = Failed
	}
	return a
}

// resultLabel names a result by its call, and says what is wrong with its place.
func (a *answers) resultLabel(c claim, id string) string {
	switch c.how {
	case unpaired:
		return "result of call " + id
	case orphan:
		return "result of call " + id + ", which this session does not have"
	}
	name := a.s.Items[c.call.Item].Calls[c.call.Nth].Name
	if name == "" {
		name = "call " + id
	}
	if c.how == beside {
		return "result of " + name
	}
	form := map[relation]string{
		parted:    "result of %s (item %d), after leaked items",
		late:      "result of %s (item %d), too late",
		early:     "result of %s (item %d), before its call",
		repeated:  "the result of %s (item %d) again",
		differing: "another result of %s (item %d)",
		standIn:   "placeholder for %s (item %d), besides its real result",
	}[c.how]
	return fmt.Sprintf(form, name, c.call.Item)
}

// Call is one call of an item, with what became of it.
type Call struct {
	ID     string
	Name   string
	Target string // the agent that a delegation or a handoff names
	About  string // the argument that says most, as stored
	Args   string // all arguments, as stored
	Child  string // the id of the session that it started, "" for none that is known
	Answer Answer
}

// Answer is what is known of a call's result.
type Answer struct {
	State  State
	Size   int    // bytes of the text
	Text   string // whole
	Media  []string
	Item   int  // where it stands, -1 when there is none
	Folded bool // it is shown with its call only
}

// Result is one result of a tool item that is not folded into its call.
type Result struct {
	Call   string // the call's id
	Label  string // "result of shell (item 3), too late"
	Answer Answer
}

// State says how a call ended.
type State uint8

// The states. Unsaid is for places where the state is not the question.
const (
	Unsaid State = iota
	OK
	Failed
	NoResult
	Placeholder
	Pending
)

func (s State) String() string {
	return [...]string{"", "ok", "error", "no result", "placeholder", "pending"}[s]
}

// Label is the call in few words: "transfer_task → worker".
func (c *Call) Label() string {
	name := c.Name
	if name == "" {
		name = "(a tool without a name)"
	}
	if c.Target != "" {
		return name + " → " + c.Target
	}
	return name
}

// handoffTools are the tools that hand the session to another agent, and the
// argument that names it.
var handoffTools = map[string]string{"handoff": "agent", "transfer_to_agent": "agent_name"}

func callOf(c *session.Call) Call {
	out := Call{ID: c.ID, Name: c.Name, Args: c.Args}
	args, readable := parseArguments(c.Args)
	out.Target = args.firstText(handoffTools[c.Name])
	if d := c.Delegation; d != nil {
		out.Target, out.About = d.Agent, args.firstText("task", "prompt")
	}
	switch {
	case !readable:
		out.About = c.Args
	case out.Target == "" && out.About == "" && len(args) > 0:
		out.About = args[0].text
	}
	return out
}

// argument is a member of a call's arguments: a string's text, or other JSON as
// it is stored.
type argument struct{ name, text string }

type argumentList []argument

// parseArguments reads the members in stored order; it is false when the text is no
// JSON object.
func parseArguments(text string) (argumentList, bool) {
	dec := jsontext.NewDecoder(strings.NewReader(text), lenient)
	if t, err := dec.ReadToken(); err != nil || t.Kind() != jsontext.KindBeginObject {
		return nil, false
	}
	var list argumentList
	for dec.PeekKind() != jsontext.KindEndObject {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, false
		}
		member := argument{name: name.String()}
		value, err := dec.ReadValue()
		if err != nil {
			return nil, false
		}
		member.text = string(value)
		if value.Kind() == jsontext.KindString {
			if plain, err := jsontext.AppendUnquote(nil, value); err == nil {
				member.text = string(plain)
			}
		}
		list = append(list, member)
	}
	return list, true
}

// firstText is the text of the first of the named members that is there.
func (list argumentList) firstText(names ...string) string {
	for _, name := range names {
		for _, a := range list {
			if name != "" && a.name == name {
				return a.text
			}
		}
	}
	return ""
}
