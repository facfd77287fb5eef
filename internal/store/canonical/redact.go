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

func (r *redactor) redactSession(rec *sessionLine) {
	rec.User, rec.Title = r.fillText(rec.User), r.redactTitle(rec.Title)
	r.fillAt(rec.Task)
	r.redactTime(&rec.Created)
	r.redactTime(&rec.Updated)
	rec.ForkOf = maskJSON(rec.ForkOf)
	rec.Workspace, rec.Inseparable = r.fillText(rec.Workspace), r.fillText(rec.Inseparable)
	for i := range rec.Runs {
		run := &rec.Runs[i]
		run.Asked, run.Answered, run.Rest = r.redactText(run.Asked), r.redactText(run.Answered), maskJSON(run.Rest)
	}
	rec.Stored.redactRecord()
	rec.Rest = maskJSON(rec.Rest)
}

func (r *redactor) redactItem(rec *itemLine) {
	if _, ok := session.ParseKind(rec.Kind); !ok {
		rec.Kind = r.fillText(rec.Kind)
	}
	if session.ParseRole(rec.Role) == session.NoRole {
		rec.Role = r.fillText(rec.Role)
	}
	if rec.Branch.wrong {
		rec.Branch = branchLabel{}
	}
	r.redactTime(&rec.Time)
	rec.Text.string, rec.Reasoning = r.redactText(rec.Text.string), r.redactText(rec.Reasoning)
	r.fillAt(rec.Signature)
	for i := range rec.Calls {
		r.redactCall(&rec.Calls[i])
	}
	for i := range rec.Results {
		res := &rec.Results[i]
		res.Synthetic = res.Synthetic || session.IsPlaceholder(res.Text.string)
		res.Text.string, res.Rest = r.redactText(res.Text.string), maskJSON(res.Rest)
		res.Question.Rest = maskJSON(res.Question.Rest)
		r.fillAt(res.Answer)
	}
	for i := range rec.Blocks {
		r.redactBlock(&rec.Blocks[i])
	}
	for i := range rec.Outputs {
		out := &rec.Outputs[i]
		out.Path, out.Real, out.Rest = r.fillText(out.Path), r.fillText(out.Real), maskJSON(out.Rest)
	}
	if rec.Refusal.Text != "" {
		said := errtext.ParseAnswer(rec.Refusal.Text)
		if rec.Refusal.Text = said.Text; said.Kind == errtext.Unknown { // else the provider's words, and ids
			rec.Refusal.Text = r.fillText(said.Text)
		}
	}
	rec.Refusal.Rest = maskJSON(rec.Refusal.Rest)
	rec.Stored.redactRecord()
	rec.Rest = maskJSON(rec.Rest)
}

// redactBlock keeps the ids of a block, what kind it is of, and whether it is signed.
func (r *redactor) redactBlock(b *blockLine) {
	if blockKind(b.Type) == session.UnknownBlock {
		b.Type = r.fillText(b.Type)
	}
	if !slices.Contains(knownMedia, b.Name) {
		b.Name = r.fillText(b.Name)
	}
	for _, label := range []*string{&b.Media, &b.Is} {
		if !knownLabel().MatchString(*label) {
			*label = r.fillText(*label)
		}
	}
	r.fillAt(b.Signature)
	b.Rest = maskJSON(b.Rest)
}

// knownMedia are the names of media that say nothing of a person.
var knownMedia = []string{"image", "document", "audio", "video"}

// knownLabel matches the types of media that tell of formats alone.
var knownLabel = pattern.Lazy(`^(image/[a-z]+(\+xml)?|application/pdf|text/plain)?$`)

// redactTitle fills a title, unless it is one that a runtime gives its sub-sessions:
// that is no text of a person, and a child is known by it.
func (r *redactor) redactTitle(title string) string {
	child := session.Session{Title: title, Items: []session.Item{{Role: session.System}, {Role: session.User, Flags: session.Implicit}}}
	if child.LooksDelegated() {
		return title
	}
	return r.fillText(title)
}

// redactCall writes the delegation out first: its agent is a name that stays, and its
// place in the arguments is filled.
func (r *redactor) redactCall(c *callLine) {
	if d := c.readDelegation(); d != nil {
		given := cmp.Or(c.Delegation.given, &delegationLine{})
		given.Agent, given.Blocking = &d.Agent, &d.Blocking
		r.fillAt(given.Task)
		given.Rest = maskJSON(given.Rest)
		c.Delegation = delegationMember{given: given}
	} else {
		c.Delegation = encodeDelegation(c.Name, "", nil)
	}
	c.Question.Rest = maskJSON(c.Question.Rest)
	c.Args = looseText(r.redactArgs(string(c.Args)))
	r.fillAt(c.Signature)
	c.Rest = maskJSON(c.Rest)
}

// redactArgs fills the values of JSON arguments and keeps their length, with spaces
// where escapes fell away. Arguments that are no JSON stay none.
func (r *redactor) redactArgs(args string) string {
	filled, ok := mapValues([]byte(args), r.fillText, r.fillNumber)
	if !ok {
		return r.fillText(args)
	}
	return string(filled) + strings.Repeat(" ", max(0, len(args)-len(filled)))
}

// redactText fills a text and keeps the tags of a task: they say what a child was
// asked, which its caller's arguments repeat.
func (r *redactor) redactText(text string) string {
	before, task, after, tagged := cutTask(text)
	if !tagged {
		return r.fillText(text)
	}
	return r.fillText(before) + taskOpen + r.fillText(task) + taskClose + r.fillText(after)
}

// redactTime keeps a time and fills what is none.
func (r *redactor) redactTime(text *looseText) {
	if _, ok := parseTime(*text); !ok {
		*text = looseText(r.fillText(string(*text)))
	}
}

func (r *redactor) fillAt(text *string) {
	if text != nil {
		*text = r.fillText(*text)
	}
}

// fillText replaces a text by letters, and a text of white space, or what a text has
// of it at its end, by spaces, because readers treat such messages in their own
// way.
func (r *redactor) fillText(text string) string {
	return r.replaceByLabel(text, "xabcdeghijklmopqrsuvw") // spells neither true, false nor null
}

// fillNumber replaces a JSON number by another one.
func (r *redactor) fillNumber(number string) string { return r.replaceByLabel(number, "123456789") }

// replaceByLabel replaces a text by its number among the texts of its length, written
// in digits of the given kind in as many bytes as the text has.
func (r *redactor) replaceByLabel(text, digits string) string {
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

// maskJSON makes a row of x of every string value of JSON and a row of 1 of every
// number, of the same length. Keys, true, false and null stay.
func maskJSON(v jsontext.Value) jsontext.Value {
	if v == nil {
		return nil
	}
	row := func(filler string) func(string) string {
		return func(text string) string { return strings.Repeat(filler, len(text)) }
	}
	masked, _ := mapValues(v, row("x"), row("1"))
	return masked
}

func (r *storedRecord) redactRecord() {
	r.Raw = maskJSON(r.Raw)
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

// signatureText is the text of a signature: the one that the stored record has, else its
// name, so that equal signatures stay equal. nil when there is none.
func (n signatureNames) signatureText(signature session.Digest, stored []byte) *string {
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
