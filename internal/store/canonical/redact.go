package canonical

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/errtext"
	"github.com/sessctl/sessctl/internal/pattern"
	"github.com/sessctl/sessctl/internal/session"
)

// redactor takes what was said out of a stream and keeps its structure: types,
// kinds, roles, flags, ids, times, names of agents, tools, models and apps,
// branches, the keys of JSON, and every length. Texts that are equal stay equal,
// and different ones stay different as long as there are enough fillers of their
// length (21 of a single byte), so that calls, results, twins and tasks compare
// as before.
type redactor struct {
	labels map[session.Digest]uint64 // of a text, counted among those of its length
	next   map[int]uint64            // by length
}

func (r *redactor) session(rec *sessionLine) {
	rec.User, rec.Title = r.fill(rec.User), r.title(rec.Title)
	r.fillAt(rec.Task)
	r.time(&rec.Created)
	r.time(&rec.Updated)
	rec.ForkOf = mask(rec.ForkOf)
	rec.Workspace, rec.Inseparable = r.fill(rec.Workspace), r.fill(rec.Inseparable)
	for i := range rec.Runs {
		run := &rec.Runs[i]
		run.Asked, run.Answered, run.Rest = r.text(run.Asked), r.text(run.Answered), mask(run.Rest)
	}
	rec.Stored.redact()
	rec.Rest = mask(rec.Rest)
}

func (r *redactor) item(rec *itemLine) {
	if _, ok := session.ParseKind(rec.Kind); !ok {
		rec.Kind = r.fill(rec.Kind)
	}
	if session.ParseRole(rec.Role) == session.NoRole {
		rec.Role = r.fill(rec.Role)
	}
	if rec.Branch.wrong {
		rec.Branch = branchLabel{}
	}
	r.time(&rec.Time)
	rec.Text.string, rec.Reasoning = r.text(rec.Text.string), r.text(rec.Reasoning)
	r.fillAt(rec.Signature)
	for i := range rec.Calls {
		r.call(&rec.Calls[i])
	}
	for i := range rec.Results {
		res := &rec.Results[i]
		res.Synthetic = res.Synthetic || session.IsPlaceholder(res.Text.string)
		res.Text.string, res.Rest = r.text(res.Text.string), mask(res.Rest)
		res.Question.Rest = mask(res.Question.Rest)
		r.fillAt(res.Answer)
	}
	for i := range rec.Blocks {
		r.block(&rec.Blocks[i])
	}
	for i := range rec.Outputs {
		out := &rec.Outputs[i]
		out.Path, out.Real, out.Rest = r.fill(out.Path), r.fill(out.Real), mask(out.Rest)
	}
	if rec.Refusal.Text != "" {
		said := errtext.Read(rec.Refusal.Text)
		if rec.Refusal.Text = said.Text; said.Kind == errtext.Unknown { // else the provider's words, and ids
			rec.Refusal.Text = r.fill(said.Text)
		}
	}
	rec.Refusal.Rest = mask(rec.Refusal.Rest)
	rec.Stored.redact()
	rec.Rest = mask(rec.Rest)
}

// block keeps the ids of a block, what kind it is of, and whether it is signed.
func (r *redactor) block(b *blockLine) {
	if blockKind(b.Type) == session.UnknownBlock {
		b.Type = r.fill(b.Type)
	}
	if !slices.Contains(knownMedia, b.Name) {
		b.Name = r.fill(b.Name)
	}
	for _, label := range []*string{&b.Media, &b.Is} {
		if !knownLabel().MatchString(*label) {
			*label = r.fill(*label)
		}
	}
	r.fillAt(b.Signature)
	b.Rest = mask(b.Rest)
}

// knownMedia are the names of media that say nothing of a person.
var knownMedia = []string{"image", "document", "audio", "video"}

// knownLabel matches the types of media that tell of formats alone.
var knownLabel = pattern.Lazy(`^(image/[a-z]+(\+xml)?|application/pdf|text/plain)?$`)

// title fills a title, unless it is one that a runtime gives its sub-sessions:
// that is no text of a person, and a child is known by it.
func (r *redactor) title(title string) string {
	child := session.Session{Title: title, Items: []session.Item{{Role: session.System}, {Role: session.User, Flags: session.Implicit}}}
	if child.LooksDelegated() {
		return title
	}
	return r.fill(title)
}

// call writes the delegation out first: its agent is a name that stays, and its
// place in the arguments is filled.
func (r *redactor) call(c *callLine) {
	if d := c.delegation(); d != nil {
		given := cmp.Or(c.Delegation.given, &delegationLine{})
		given.Agent, given.Blocking = &d.Agent, &d.Blocking
		r.fillAt(given.Task)
		given.Rest = mask(given.Rest)
		c.Delegation = delegationMember{given: given}
	} else {
		c.Delegation = encodeDelegation(c.Name, "", nil)
	}
	c.Question.Rest = mask(c.Question.Rest)
	c.Args = looseText(r.args(string(c.Args)))
	r.fillAt(c.Signature)
	c.Rest = mask(c.Rest)
}

// args fills the values of JSON arguments and keeps their length, with spaces
// where escapes fell away. Arguments that are no JSON stay none.
func (r *redactor) args(args string) string {
	filled, ok := mapValues([]byte(args), r.fill, r.count)
	if !ok {
		return r.fill(args)
	}
	return string(filled) + strings.Repeat(" ", max(0, len(args)-len(filled)))
}

// text fills a text and keeps the tags of a task: they say what a child was
// asked, which its caller's arguments repeat.
func (r *redactor) text(text string) string {
	before, task, after, tagged := cutTask(text)
	if !tagged {
		return r.fill(text)
	}
	return r.fill(before) + taskOpen + r.fill(task) + taskClose + r.fill(after)
}

// time keeps a time and fills what is none.
func (r *redactor) time(text *looseText) {
	if _, ok := parseTime(*text); !ok {
		*text = looseText(r.fill(string(*text)))
	}
}

func (r *redactor) fillAt(text *string) {
	if text != nil {
		*text = r.fill(*text)
	}
}

// fill replaces a text by letters, and a text of white space, or what a text has
// of it at its end, by spaces, because readers treat such messages in their own
// way.
func (r *redactor) fill(text string) string {
	return r.number(text, "xabcdeghijklmopqrsuvw") // spells neither true, false nor null
}

// count replaces a JSON number by another one.
func (r *redactor) count(number string) string { return r.number(number, "123456789") }

// number replaces a text by its number among the texts of its length, written
// in digits of the given kind in as many bytes as the text has.
func (r *redactor) number(text, digits string) string {
	key := session.DigestOf(text)
	label, known := r.labels[key]
	if !known {
		label = r.next[len(text)]
		r.next[len(text)]++
		r.labels[key] = label
	}
	filler := bytes.Repeat([]byte(digits[:1]), len(strings.TrimRightFunc(text, unicode.IsSpace)))
	for i := len(filler) - 1; i >= 0 && label > 0; i-- {
		filler[i] = digits[label%uint64(len(digits))]
		label /= uint64(len(digits))
	}
	return string(filler) + strings.Repeat(" ", len(text)-len(filler))
}

// mask makes a row of x of every string value of JSON and a row of 1 of every
// number, of the same length. Keys, true, false and null stay.
func mask(v jsontext.Value) jsontext.Value {
	if v == nil {
		return nil
	}
	row := func(filler string) func(string) string {
		return func(text string) string { return strings.Repeat(filler, len(text)) }
	}
	masked, _ := mapValues(v, row("x"), row("1"))
	return masked
}

func (r *storedRecord) redact() {
	r.Raw = mask(r.Raw)
	r.RawBase64 = strings.Repeat("x", len(r.RawBase64)) // still base64
}

// mapValues replaces the strings and the numbers in v, but not its keys; false
// means that v is not one JSON value.
func mapValues(v jsontext.Value, text, number func(string) string) (jsontext.Value, bool) {
	if !v.IsValid(tolerant) {
		return nil, false
	}
	var out bytes.Buffer
	dec := jsontext.NewDecoder(bytes.NewReader(v), tolerant)
	enc := jsontext.NewEncoder(&out, exact, tolerant)
	for {
		within, count := dec.StackIndex(dec.StackDepth())
		isName := within == jsontext.KindBeginObject && count%2 == 0
		token, err := dec.ReadToken()
		if err != nil { // the end: v is valid
			return bytes.TrimSuffix(out.Bytes(), []byte("\n")), true
		}
		switch {
		case token.Kind() == jsontext.KindString && !isName:
			err = enc.WriteToken(jsontext.String(text(token.String())))
		case token.Kind() == jsontext.KindNumber:
			err = enc.WriteValue(jsontext.Value(number(token.String())))
		default:
			err = enc.WriteToken(token)
		}
		if err != nil {
			return nil, false
		}
	}
}

// signatureNames names signatures whose texts are not found: the model keeps
// the digest only, which differs from run to run, so they are counted. The
// records of one store have the texts of all its signatures, or of none.
type signatureNames map[session.Digest]string

// text is the text of a signature: the one that the stored record has, else its
// name, so that equal signatures stay equal. nil when there is none.
func (n signatureNames) text(signature session.Digest, stored []byte) *string {
	if signature == 0 {
		return nil
	}
	if text := stringWithDigest(jsontext.Value(stored), signature); text != nil {
		return text
	}
	name, known := n[signature]
	if !known {
		name = fmt.Sprintf("signature %d", len(n)+1)
		n[signature] = name
	}
	return &name
}
