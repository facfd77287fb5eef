package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
)

// Request is what the next run of a session sends to its model: every stored
// item from session.Start on, leaked ones included, since runtimes do not know
// better. Messages have the numbers of rules.(*Subject).NumberMessages.
type Request struct {
	Profile *rules.Profile // who gets it
	Why     string         // why this one, "" when it was asked for
	Viewer  string         // who sends it, where several agents share the session; "" otherwise
	Main    bool           // that is whoever goes on, and not who spoke last
	Retold  bool           // what other agents said comes as texts of the user
	AsIs    bool           // the stored messages alone, without a next one of the user

	Covered int      // items at the beginning that are not sent because a summary stands for them
	Parts   []Part   // in the order in which they are sent
	Live    bool     // another process has the store open
	Closed  bool     // a finished sub-session: the runtime never sends this session to a model again
	Masking *Masking // what the runtime's sanitiser does instead; nil without one, and when it has nothing to do

	Runtime  string // its name, for people
	Adjusted int    // defects that an adapter has to send otherwise than they are stored
	Eased    int    // defects that the runtime sends otherwise by itself

	Answer check.Answer // what becomes of it

	sentBy *session.Runtime
	mender *session.Sanitiser
}

// Part is a stored item, or something that the runtime adds. What is to be said
// of the request as a whole stands at the first part.
type Part struct {
	Message  int    // number in the request of the first message that it is, -1 without one
	Last     int    // number of the last one
	Role     string // on the wire; "" when it is not sent
	Row      Row    // Item is -1 for what the runtime adds
	Unsent   bool
	Why      string // why it is not sent, where its kind does not say so
	Rejected []Rejection
	Adjusted []Adjustment
	Renamed  []Renaming
}

// Kind says what a part is: the kind of its item, or what the runtime adds.
func (p *Part) Kind() string {
	switch {
	case p.Row.Stored != nil:
		return p.Row.Stored.Kind.String()
	case p.Message < 0:
		return "instructions"
	case p.Row.Text != "":
		return "summary"
	}
	return "input"
}

// FirstRefusal is the first place that the provider refuses, nil when there is none.
func (r *Request) FirstRefusal() *Rejection {
	for i := range r.Parts {
		if rejected := r.Parts[i].Rejected; len(rejected) > 0 {
			return &rejected[0]
		}
	}
	return nil
}

// CountMessages counts the messages of a session, those of them that tell people of an error and
// are for no model, and those that the request is made of.
func (r *Request) CountMessages(s *session.Session) (stored, notices, sent int) {
	for i := range s.Items {
		if it := &s.Items[i]; it.Kind == session.Message {
			stored++
			if it.Flags.Has(session.Skipped) {
				notices++
			}
		}
	}
	counted := map[*session.Item]bool{} // one can be several parts
	for i := range r.Parts {
		if p := &r.Parts[i]; p.Message >= 0 && !p.Unsent && p.Row.Stored != nil && p.Row.Stored.Kind == session.Message {
			counted[p.Row.Stored] = true
		}
	}
	return stored, notices, len(counted)
}

// buildRequest builds the request of one session, for the first profile that judges it.
func (b *builder) buildRequest(s *rules.Subject) *Request {
	r := &Request{
		Profile: s.Profiles[0], Why: s.Hint, Viewer: s.ViewerName(), Main: b.in.Store.MainBranch != "", Retold: b.in.Store.ForeignText, AsIs: b.in.Judge.AsIs,
		Closed: s.Closed, Live: b.in.Store.Writer == session.WriterLive, Runtime: b.in.Store.Title,
		sentBy: &b.in.Store.Runtime, mender: s.Mender,
	}
	roles, numbers := &wireRoles[r.Profile.Shape], s.NumberMessages(r.Profile)
	r.Parts = append(r.Parts, Part{Message: -1, Role: roles.system, Row: Row{Item: -1, Label: "the agent's instructions (not stored)"}})
	if last := s.LastSummary(); last >= 0 {
		r.Covered = coveredTo(s.Session, last)
		before := cmp.Or(b.in.Store.Retells.Summary, "Session Summary: ")
		if b.in.Store.Retells.Bare {
			before = ""
		}
		r.Parts = append(r.Parts, Part{Role: roles.user, Row: Row{Item: -1, Text: before + textOf(&s.Items[last])}})
	}
	r.Parts = append(r.Parts, b.requestParts(s, roles, numbers)...)
	r.Parts = append(r.Parts, Part{Message: numbers[len(numbers)-1], Role: roles.user, Row: Row{Item: -1, Label: "(your next message)"}})
	r.setLastMessages()
	if r.AsIs {
		r.Parts = r.Parts[:len(r.Parts)-1]
	}
	b.judgeRequest(s, r)
	r.Answer = check.AskProfiles(b.pass, b.in.Tree.Session(b.in.Session), b.treeFindings())[0]
	for i := range r.Parts {
		if row := &r.Parts[i].Row; row.Stored != nil {
			row.Item = s.PlaceInSession(row.Item)
		}
	}
	return r
}

// requestParts are the items of the next request in the order in which they are sent, and between
// them those that are not, where they are stored.
func (b *builder) requestParts(s *rules.Subject, roles *roleNames, numbers []int) (parts []Part) {
	answers, n := answersOf(s), 0
	var messages []rules.Sent
	for _, m := range s.ArrangedMessages() {
		messages = append(messages, m)
	}
	for i := s.Start; i < len(s.Items); i++ {
		if !s.SendsItem(i) {
			p := Part{Message: -1, Row: b.bareRow(s, answers, i)}
			p.Unsent, p.Why = b.isUnsent(s, i)
			parts = append(parts, p)
		}
		for n < len(messages) && (messages[n].Items[0] == i || messages[n].Behind) {
			m, number := &messages[n], numbers[n]
			for _, item := range m.Items {
				p := Part{Message: number, Row: b.bareRow(s, answers, item)}
				if p.Unsent, p.Why = b.isUnsent(s, item); !p.Unsent {
					p.Role = roles.roleOf(&s.Items[m.Items[0]])
				}
				p.Row.Results = resultsOf(p.Row.Results, m, item)
				parts = append(parts, p)
			}
			n++
		}
	}
	return parts
}

// resultsOf are those of an item's results that a message holds.
func resultsOf(list []Result, m *rules.Sent, item int) (kept []Result) {
	for n := range list {
		if slices.Contains(m.Results, pairing.Occurrence{Item: item, Nth: n}) {
			kept = append(kept, list[n])
		}
	}
	return kept
}

// treeFindings are the findings of the tree.
func (b *builder) treeFindings() []*check.Finding {
	if b.in.Findings != nil {
		return b.in.Findings
	}
	return check.RunTree(b.in.Store, b.in.Tree, catalogue.UsualRules(), b.in.Judge)
}

// judgeRequest says what the provider refuses, and what has to be sent otherwise.
func (b *builder) judgeRequest(s *rules.Subject, r *Request) {
	found := viewerFindings(s, b.askedFindings(s))
	b.placeObjections(s, r, found, rejectParts(s, r, found))
	r.noteRenamings()
	if r.Masking = maskingOf(s); r.Masking != nil {
		r.Masking.Refused = slices.ContainsFunc(s.Objections(r.Profile), func(o rules.Objection) bool { return !o.Mended }) ||
			slices.ContainsFunc(found, func(f *check.Finding) bool {
				return f.Session == s.ID && f.Severity == rules.Error && len(f.Judged) > 0 && !f.AboutPairs()
			})
	}
}

// viewerFindings are the findings with the places that their items have for a viewer.
func viewerFindings(s *rules.Subject, found []*check.Finding) []*check.Finding {
	list := make([]*check.Finding, len(found))
	for i, f := range found {
		told := *f
		if list[i] = &told; f.Session == s.ID {
			told.Item = s.ViewerIndex(f.Item)
			told.Items = nil
			for _, item := range f.Items {
				if n := s.ViewerIndex(item); n >= 0 {
					told.Items = append(told.Items, n)
				}
			}
		}
	}
	return list
}

// setLastMessages finds the last message of every part: the next number stands at the
// next part that has one.
func (r *Request) setLastMessages() {
	next := 0
	for i := len(r.Parts) - 1; i >= 0; i-- {
		p := &r.Parts[i]
		p.Last = max(p.Message, next-1)
		if p.Message >= 0 {
			next = p.Message
		} else {
			p.Last = -1
		}
	}
}

// bareRow is a row without what became of its calls: in a request only what is
// sent counts.
func (b *builder) bareRow(s *rules.Subject, answers *answers, i int) Row {
	row := b.buildRow(s, answers, i)
	for n := range row.Calls {
		row.Calls[n].Answer = Answer{Item: -1}
	}
	row.Folded = false
	if row.Stored.Kind == session.SubSession {
		row.Label = strings.TrimSpace("sub-session " + rules.ShortID(row.Stored.Child()))
	}
	return row
}

// isUnsent reports whether an item is not part of the request, and why.
func (b *builder) isUnsent(s *rules.Subject, item int) (unsent bool, why string) {
	it := &s.Items[item]
	switch {
	case it.Kind == session.Other && rules.HidesMessages(s.Session) && !s.FaultyItems(session.Undecodable)[item]:
		return false, "it is sent, and sessctl cannot read it"
	case it.Kind != session.Message:
		return true, ""
	case it.Flags.Has(session.Skipped):
		return true, "the runtime skips it"
	case !it.OnWire():
		return true, "" // its flags say why
	case it.Passed:
		return true, "the runtime passes over it"
	case s.LeavesOut(item) && len(it.Results) == 0:
		return true, "the runtime leaves out what comes between a call and its result at the end"
	case s.LeavesOut(item):
		return true, "the runtime sends only the last result of each call"
	case !it.Flags.Has(session.Blank):
		return false, ""
	}
	return true, cmp.Or(b.in.Store.BlankMessages, "runtimes drop blank messages, or providers refuse them")
}

func textOf(it *session.Item) string {
	if it.Body == nil {
		return ""
	}
	return it.Body.Text
}

// Masking is what the runtime's sanitiser makes of a request that a provider would
// refuse: an error result behind every call that lacks one, and no result that answers
// no call of the message before it.
type Masking struct {
	Invented []Masked // calls: they get a result, or are left out
	Dropped  []Masked // results
	Refused  bool     // what is sent then is refused all the same
}

// Masked is a call or a result that the model sees otherwise than it is stored.
type Masked struct {
	Item   int    `json:"item"`
	Call   string `json:"call"` // the id of the call
	Name   string `json:"-"`    // of the tool, "" when no call of the session has that id
	Result string `json:"-"`    // of a call: the text that is sent as its result, "" where the call is left out
}

// maskingOf is nil when there is no sanitiser, or nothing for it to do.
func maskingOf(s *rules.Subject) *Masking {
	names, answered := map[string]string{}, map[string]bool{}
	for i := range s.Items {
		for _, c := range s.Items[i].Calls {
			names[c.ID] = c.Name
		}
		for _, r := range s.Items[i].Results {
			answered[r.CallID] = answered[r.CallID] || s.Items[i].OnWire()
		}
	}
	m, refused := &Masking{}, s.SanitisedParts()
	for _, at := range refused.Calls {
		c := &s.Items[at.Item].Calls[at.Nth]
		changed := Masked{Item: at.Item, Call: c.ID, Name: c.Name, Result: s.Mender.Result}
		switch {
		case slices.Contains(refused.Again, at):
			changed.Result = ""
		case answered[c.ID] && s.Mender.Elsewhere != "":
			changed.Result = s.Mender.Elsewhere
		case s.Mender.Tail != "" && slices.Contains(s.Pairs.Missing, pairing.Missing{Call: at, Tail: true}):
			changed.Result = s.Mender.Tail
		}
		m.Invented = append(m.Invented, changed)
	}
	for _, at := range refused.Results {
		id := s.Items[at.Item].Results[at.Nth].CallID
		m.Dropped = append(m.Dropped, Masked{Item: at.Item, Call: id, Name: names[id]})
	}
	if len(m.Invented)+len(m.Dropped) == 0 {
		return nil
	}
	return m
}

// maskingWords say what the sanitiser does instead of letting the request fail, or with
// one that would not.
func (m *Masking) maskingWords(by *session.Sanitiser, fails bool) string {
	var acts []string
	var left, answered []Masked
	for _, c := range m.Invented {
		if c.Result == "" {
			left = append(left, c)
		} else {
			answered = append(answered, c)
		}
	}
	if len(answered) > 0 {
		acts = append(acts, "send an error result "+strconv.Quote(answered[0].Result)+" after "+maskedList(answered, "%s (item %d)"))
	}
	if len(left) > 0 {
		acts = append(acts, "leave out "+maskedList(left, "%s (item %d)"))
	}
	if len(m.Dropped) > 0 {
		acts = append(acts, "leave out the result of "+maskedList(m.Dropped, "%s at item %d"))
	}
	text := by.By + " hide this error: they "
	if !fails {
		text = by.By + " change the request all the same: they "
	}
	text += strings.Join(acts, " and ")
	if len(answered) > 0 {
		text += ", so the model believes that those calls failed"
	}
	if len(left) > 0 {
		text += ", so the model does not learn of those calls"
	}
	return text + "."
}

// maskedList lists calls or results: "shell (item 3) and read_file (item 5)".
func maskedList(list []Masked, form string) string {
	const most = 6
	var words []string
	for _, m := range list[:min(len(list), most)] {
		name := m.Name
		if name == "" {
			name = "call " + m.Call
		}
		words = append(words, fmt.Sprintf(form, name, m.Item))
	}
	if more := len(list) - most; more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	return rules.JoinWords(words)
}

// Adjustment is something that is sent otherwise than it is stored.
type Adjustment struct {
	Rule     string
	Severity rules.Severity // how much the provider minds it as it is stored
	Runtime  bool           // the runtime does it by itself; else an adapter for the provider has to
	Sent     string         // what is sent: "the two messages as one"; of a runtime, what it does: "joins them"
	Error    string         // what the provider answers to what is stored, "" when that is not known
}

// askedFindings are the findings with the profile of the session named: what its runtime
// sees to by itself is reported then too.
func (b *builder) askedFindings(s *rules.Subject) []*check.Finding {
	if len(b.in.Judge.Profiles) > 0 {
		return b.in.Findings
	}
	return check.RunTree(b.in.Store, b.in.Tree, catalogue.UsualRules(), rules.Judge{Profiles: s.Profiles, AsIs: b.in.Judge.AsIs})
}

// placeObjections puts what the provider minds of the request, beside the pairs that are
// explained already, at the parts that the findings name.
func (b *builder) placeObjections(s *rules.Subject, r *Request, found []*check.Finding, said explained) {
	for _, f := range found {
		j := judgementOf(f, r.Profile)
		if f.Session != s.ID || j == nil || said.findings[f] || said.texts[j.Error] {
			continue
		}
		parts := r.partsAbout(f)
		if len(parts) == 0 {
			continue
		}
		// The other findings are about pairs, and whether those are refused was said
		// before.
		_, minded := r.Profile.Levels[f.Rule.ID]
		does := ""
		if f.Rule.Profiled {
			does = b.in.Store.Adaptation(f.Rule.ID, r.Profile.Name)
		}
		switch {
		case does != "":
			r.Eased++
			addAdjustment(parts, Adjustment{Rule: f.Rule.ID, Severity: j.Severity, Runtime: true, Sent: does})
		case f.Sent != "":
			if j.Severity > rules.Info {
				r.Adjusted++
			}
			addAdjustment(parts, Adjustment{Rule: f.Rule.ID, Severity: j.Severity, Sent: f.Sent, Error: j.Error})
		case minded && j.Severity == rules.Error:
			parts[0].addRejection(f.Rule.ID, j.Error, r.Profile)
		}
	}
}

// judgementOf is what a profile makes of a finding, nil when it was not asked.
func judgementOf(f *check.Finding, profile *rules.Profile) *rules.Judgement {
	for i := range f.Judged {
		if f.Judged[i].Profile == profile {
			return &f.Judged[i]
		}
	}
	return nil
}

// partsAbout are the parts that a finding names: the first one, if it is about the
// session. A finding about history that is not sent names none.
func (r *Request) partsAbout(f *check.Finding) []*Part {
	if len(f.Items) == 0 {
		return []*Part{&r.Parts[0]}
	}
	var parts []*Part
	for i := range r.Parts {
		if item := r.Parts[i].Row.Item; item >= 0 && slices.Contains(f.Items, item) {
			parts = append(parts, &r.Parts[i])
		}
	}
	return parts
}

// addAdjustment says of parts what is sent instead. That the rule has a finding there,
// and why the runtime leaves a part out, needs no other word.
func addAdjustment(parts []*Part, a Adjustment) {
	for _, p := range parts {
		if a.Runtime && p.Unsent {
			p.Why = ""
		}
		p.Adjusted = append(p.Adjusted, a)
		p.Row.Notes = slices.DeleteFunc(slices.Clone(p.Row.Notes), func(n Note) bool { return n.Rule == a.Rule })
	}
}

// addRejection adds a rejection that is not about pairs. A blank message that is
// refused is one that was sent.
func (p *Part) addRejection(rule, text string, profile *rules.Profile) {
	if p.Unsent && p.Row.Stored.Flags.Has(session.Blank) {
		p.Unsent, p.Role = false, wireRoles[profile.Shape].roleOf(p.Row.Stored)
	}
	for i := range p.Rejected {
		if known := &p.Rejected[i]; text != "" && known.Error == text {
			known.Rules = lists.AppendNew(known.Rules, rule)
			return
		}
	}
	p.Rejected = append(p.Rejected, Rejection{Rules: []string{rule}, Error: text})
}

// Rejection is a place where a provider refuses the request.
type Rejection struct {
	Rules []string `json:"rules,omitempty"` // rules whose findings are about the place
	Error string   `json:"error,omitzero"`  // in the words of the provider; left out when they are not known
}

// explained are the findings about pairs that a rejection speaks for, and the
// texts of these rejections.
type explained struct {
	findings map[*check.Finding]bool
	texts    map[string]bool
}

// rejectParts puts what is wrong with the calls and results at their parts.
func rejectParts(s *rules.Subject, r *Request, found []*check.Finding) explained {
	said := explained{map[*check.Finding]bool{}, map[string]bool{}}
	objections := map[int][]rules.Objection{}
	for _, o := range s.Objections(r.Profile) {
		objections[o.Item] = append(objections[o.Item], o)
	}
	for i := range r.Parts {
		p := &r.Parts[i]
		if p.Unsent || p.Row.Item < 0 {
			continue
		}
		for _, o := range objections[p.Row.Item] {
			said.rejectPart(s, r, p, &o, found)
		}
		delete(objections, p.Row.Item)
	}
	return said
}

// rejectPart adds a rejection at a part, with the rules of the findings that are
// about it.
func (said *explained) rejectPart(s *rules.Subject, r *Request, p *Part, o *rules.Objection, found []*check.Finding) {
	rejection := Rejection{Error: o.Error}
	for _, f := range found {
		if f.Session != s.ID || !f.IsAbout(r.Profile, o, p.Row.Item) {
			continue
		}
		said.findings[f] = true
		rejection.Rules = lists.AppendNew(rejection.Rules, f.Rule.ID)
	}
	said.texts[o.Error], said.texts[o.Told] = true, true
	p.Rejected = append(p.Rejected, rejection)
}

// Renaming is an id of a call or the name of a tool that the provider does not
// take, and what an adapter sends instead, everywhere in the request.
type Renaming struct {
	From string `json:"from"` // an id of a call or the name of a tool that the provider does not take
	To   string `json:"to"`   // what an adapter sends instead, wherever it occurs
}

// noteRenamings says at every part which of its ids and names are sent otherwise.
func (r *Request) noteRenamings() {
	var own, server, names []string
	for i := range r.Parts {
		if it := r.Parts[i].Row.Stored; it != nil && !r.Parts[i].Unsent {
			eachName(it, &own, &server, &names)
		}
	}
	toOwn, toServer, toNames := r.Profile.WireIDs(own, false), r.Profile.WireIDs(server, true), r.Profile.WireNames(names)
	for i := range r.Parts {
		p := &r.Parts[i]
		if p.Row.Stored == nil || p.Unsent {
			continue
		}
		var own, server, names []string
		eachName(p.Row.Stored, &own, &server, &names)
		p.noteRenamed(own, toOwn)
		p.noteRenamed(server, toServer)
		p.noteRenamed(names, toNames)
	}
}

// eachName collects the ids of calls and results, those of tools that the
// provider ran apart, and the names of tools.
func eachName(it *session.Item, own, server, names *[]string) {
	add := func(id, name string, ran bool) {
		ids := own
		if ran {
			ids = server
		}
		if id != "" {
			*ids = append(*ids, id)
		}
		if name != "" {
			*names = append(*names, name)
		}
	}
	for _, c := range it.Calls {
		add(c.ID, c.Name, c.Server)
	}
	for _, result := range it.Results {
		add(result.CallID, result.Name, result.Server)
	}
}

func (p *Part) noteRenamed(stored []string, sent map[string]string) {
	for _, from := range stored {
		if to := sent[from]; to != from {
			p.Renamed = lists.AppendNew(p.Renamed, Renaming{from, to})
		}
	}
}
