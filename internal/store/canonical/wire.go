package canonical

import (
	"encoding/base64"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
)

// The lines of a stream. docs/canonical.md describes every member; members that
// are not in these types are kept in Rest.

const (
	typeHeader  = "header"
	typeSession = "session"
	typeItem    = "item"
	typeFault   = "fault"
)

type headerLine struct {
	Type           string         `json:"type"`
	Format         string         `json:"format"`
	Kind           string         `json:"kind,omitzero"`
	BranchModel    string         `json:"branch_model,omitzero"`
	MainBranch     string         `json:"main_branch,omitzero"`
	Profile        string         `json:"profile,omitzero"`
	Summaries      string         `json:"summaries,omitzero"`
	Writer         string         `json:"writer,omitzero"`
	Model          string         `json:"model,omitzero"`
	ChildrenClosed bool           `json:"children_closed,omitzero"`
	ForeignText    bool           `json:"foreign_text,omitzero"`
	GathersResults bool           `json:"gathers_results,omitzero"`
	LastResult     bool           `json:"last_result,omitzero"`
	SilentLabels   bool           `json:"silent_labels,omitzero"`
	HidesToolRuns  bool           `json:"hides_tool_runs,omitzero"`
	PrefixReaders  string         `json:"prefix_readers,omitzero"`
	PrefixUntold   bool           `json:"prefix_untold,omitzero"`
	OpenScopes     bool           `json:"open_scopes,omitzero"`
	LikeFilter     bool           `json:"like_filter,omitzero"`
	FoldsBranches  bool           `json:"folds_branches,omitzero"`
	ReusesChildren bool           `json:"reuses_children,omitzero"`
	Rest           jsontext.Value `json:",embed"`
}

type sessionLine struct {
	Type    string    `json:"type"`
	ID      string    `json:"id"`
	Parent  string    `json:"parent,omitzero"`
	App     string    `json:"app,omitzero"`
	User    string    `json:"user,omitzero"`
	Title   string    `json:"title,omitzero"`
	Agent   string    `json:"agent,omitzero"`
	Model   string    `json:"model,omitzero"`
	Created looseText `json:"created,omitzero"`
	Updated looseText `json:"updated,omitzero"`
	Task    *string   `json:"task,omitzero"`
	Agents  []string  `json:"agents,omitempty"`
	// Thinking is nil when the store does not say.
	Thinking *bool          `json:"thinking,omitzero"`
	Unstored bool           `json:"unstored,omitzero"`
	ForkOf   jsontext.Value `json:"fork_of,omitzero"` // anything but null says that it is a fork

	Delegated   bool      `json:"delegated,omitzero"`
	Deleted     bool      `json:"deleted,omitzero"`
	Inseparable string    `json:"inseparable,omitzero"`
	Workspace   string    `json:"workspace,omitzero"`
	Writer      string    `json:"writer,omitzero"`  // absent when it is that of the header
	Version     string    `json:"version,omitzero"` // of the runtime
	Runs        []runLine `json:"runs,omitempty"`

	Stored storedRecord   `json:",embed"`
	Rest   jsontext.Value `json:",embed"`
}

type itemLine struct {
	Type       string         `json:"type"`
	Session    string         `json:"session"`
	Kind       string         `json:"kind"`
	Role       string         `json:"role,omitzero"`
	Agent      string         `json:"agent,omitzero"`
	Model      string         `json:"model,omitzero"`
	Provider   string         `json:"provider,omitzero"`
	Branch     branchLabel    `json:"branch,omitzero"`
	Invocation string         `json:"invocation,omitzero"`
	Scope      string         `json:"scope,omitzero"`
	Node       string         `json:"node,omitzero"`
	Time       looseText      `json:"time,omitzero"`
	Text       textMember     `json:"text,omitzero"`
	Reasoning  string         `json:"reasoning,omitzero"`
	Signature  *string        `json:"signature,omitzero"` // of the reasoning
	Media      bool           `json:"media,omitzero"`
	Calls      []callLine     `json:"calls,omitempty"`
	Results    []resultLine   `json:"results,omitempty"`
	Blocks     []blockLine    `json:"blocks,omitempty"`
	Size       int64          `json:"size,omitzero"`
	Outputs    []outputLine   `json:"outputs,omitempty"`
	Refusal    refusalLine    `json:"refusal,omitzero"`
	Note       bool           `json:"note,omitzero"`
	Child      string         `json:"child,omitzero"`
	KeptFrom   int64          `json:"kept_from,omitzero"`
	Implicit   bool           `json:"implicit,omitzero"`
	Archived   bool           `json:"archived,omitzero"`
	Synthetic  bool           `json:"synthetic,omitzero"`
	Unfinished bool           `json:"unfinished,omitzero"`
	Skipped    bool           `json:"skipped,omitzero"`
	EmptyCalls bool           `json:"empty_calls,omitzero"`
	Rewound    bool           `json:"rewound,omitzero"`
	Compacted  bool           `json:"compacted,omitzero"`
	Unshown    bool           `json:"unshown,omitzero"`
	Summary    bool           `json:"summary_turn,omitzero"`
	BySegments bool           `json:"by_segments,omitzero"`
	Stored     storedRecord   `json:",embed"`
	Rest       jsontext.Value `json:",embed"`
}

type refusalLine struct {
	Status int            `json:"status,omitzero"`
	Text   string         `json:"text"`
	Rest   jsontext.Value `json:",embed"`
}

type callLine struct {
	ID         string           `json:"id"`
	Name       string           `json:"name"`
	Args       looseText        `json:"args"`
	ItemID     string           `json:"item_id,omitzero"`
	With       string           `json:"with,omitzero"`
	Signature  *string          `json:"signature,omitzero"`
	Server     bool             `json:"server,omitzero"`
	Waits      bool             `json:"waits,omitzero"`
	Asked      bool             `json:"asked,omitzero"`
	Delegation delegationMember `json:"delegation,omitzero"`
	Question   questionLine     `json:"question,omitzero"`
	Rest       jsontext.Value   `json:",embed"`
}

// delegationLine tells an absent member from an empty one: absent ones are read
// from the call.
type delegationLine struct {
	Agent    *string `json:"agent,omitzero"`
	Child    string  `json:"child,omitzero"`
	Blocking *bool   `json:"blocking,omitzero"`
	Apart    bool    `json:"apart,omitzero"`
	Task     *string `json:"task,omitzero"`

	Run         string         `json:"run,omitzero"`
	Likely      bool           `json:"likely,omitzero"`
	Tools       []string       `json:"tools,omitzero"` // an empty list grants none
	TimeoutMS   int64          `json:"timeout_ms,omitzero"`
	Correlation string         `json:"correlation,omitzero"`
	Rest        jsontext.Value `json:",embed"`
}

type resultLine struct {
	Call      string     `json:"call"`
	Name      string     `json:"name,omitzero"`
	Text      textMember `json:"text"`
	Error     bool       `json:"error,omitzero"`
	Synthetic bool       `json:"synthetic,omitzero"`
	Pending   bool       `json:"pending,omitzero"`
	Server    bool       `json:"server,omitzero"`

	Child       string         `json:"child,omitzero"`
	Answer      *string        `json:"answer,omitzero"`
	Correlation string         `json:"correlation,omitzero"`
	Question    questionLine   `json:"question,omitzero"`
	Rest        jsontext.Value `json:",embed"`
}

type questionLine struct {
	Child string         `json:"child,omitzero"`
	Run   string         `json:"run,omitzero"`
	Rest  jsontext.Value `json:",embed"`
}

// blockLine tells a signature that is absent from one that is empty.
type blockLine struct {
	Type      string         `json:"type"`
	Nth       *int64         `json:"nth,omitzero"`
	Name      string         `json:"name,omitzero"`
	ID        string         `json:"id,omitzero"`
	With      string         `json:"with,omitzero"`
	Signature *string        `json:"signature,omitzero"`
	Unsigned  bool           `json:"unsigned,omitzero"`
	Empty     bool           `json:"empty,omitzero"`
	Blank     bool           `json:"blank,omitzero"`
	Unsent    bool           `json:"unsent,omitzero"`
	Cached    bool           `json:"cached,omitzero"`
	Width     int64          `json:"width,omitzero"`
	Height    int64          `json:"height,omitzero"`
	Media     string         `json:"media,omitzero"`
	Is        string         `json:"is,omitzero"`
	Bytes     int64          `json:"bytes,omitzero"`
	Broken    bool           `json:"broken,omitzero"`
	In        int64          `json:"in,omitzero"`
	Rest      jsontext.Value `json:",embed"`
}

// faultLine tells of what is stored and is not in the stream.
type faultLine struct {
	Type    string `json:"type"`
	Session string `json:"session,omitzero"`
	Table   string `json:"table,omitzero"`
	Key     string `json:"key,omitzero"`
	Count   int64  `json:"count,omitzero"`
	Detail  string `json:"detail"`
}

// storedRecord is a record in the form of the store that it comes from.
type storedRecord struct {
	Raw       jsontext.Value `json:"raw,omitzero"`
	RawBase64 string         `json:"raw_base64,omitzero"`
}

// setStored keeps the stored bytes: as JSON if they are JSON that every reader takes
// the same way, else encoded.
func (r *storedRecord) setStored(stored []byte) {
	raw := jsontext.Value(stored)
	switch {
	case len(stored) == 0:
	case raw.IsValid():
		r.Raw = raw
	default:
		r.encodeBase64(stored)
	}
}

func (r *storedRecord) encodeBase64(stored []byte) {
	r.Raw, r.RawBase64 = nil, base64.StdEncoding.EncodeToString(stored)
}

// exact keeps numbers and escapes of raw values as they are.
var exact = jsontext.PreserveRawStrings(true)

// tolerant takes what RFC 8259 leaves open and RFC 7493 forbids: doubled names
// (the last one counts) and text that is not UTF-8 (U+FFFD in its place).
var tolerant = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// parseTime reads an RFC 3339 time; the empty text is no time.
func parseTime(text looseText) (time.Time, bool) {
	if text == "" {
		return time.Time{}, true
	}
	t, err := time.Parse(time.RFC3339Nano, string(text))
	return t, err == nil
}

// formatTime formats the inverse of parseTime for years 0 to 9999.
func formatTime(t time.Time) looseText {
	if t.IsZero() {
		return ""
	}
	return looseText(t.UTC().Format(time.RFC3339Nano))
}

// textMember is a text that can be null, which says that the store holds null
// there. Absent, it is the empty text.
type textMember struct {
	string
	null bool
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (t *textMember) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*t = textMember{null: dec.PeekKind() == jsontext.KindNull}
	return json.UnmarshalDecode(dec, &t.string)
}

// MarshalJSONTo implements json.MarshalerTo.
func (t textMember) MarshalJSONTo(enc *jsontext.Encoder) error {
	if t.null {
		return enc.WriteToken(jsontext.Null)
	}
	return enc.WriteToken(jsontext.String(t.string))
}

// looseText is a member that should be a JSON string. Anything else is taken as
// its JSON text, so that arguments given as an object are read, and a time given
// as a number is reported, without losing the item.
type looseText string

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (t *looseText) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	switch v.Kind() {
	case '"':
		*t = looseText(unquoteText(v))
	case 'n':
		*t = ""
	default:
		*t = looseText(scrubJSON(v)) // as the decoder does with a string
	}
	return nil
}

// unquoteText is the text of a JSON string that a decoder accepted. Its error would
// be about bad UTF-8, which the decoder has judged already.
func unquoteText(v jsontext.Value) []byte {
	text, _ := jsontext.AppendUnquote(nil, v)
	return text
}

// branchLabel is the branch of an item: a path, or the compact JSON of one of
// the object forms. These stand side by side in session.Item.Branch, because no
// path is a JSON object.
type branchLabel struct {
	text  string
	wrong bool // neither a string nor one of the object forms
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (b *branchLabel) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	switch {
	case v.Kind() == '"':
		*b = branchLabel{text: string(unquoteText(v))}
	case v.Kind() == 'n':
		*b = branchLabel{}
	case isBranchObject(v):
		v = v.Clone()
		if err := v.Compact(); err != nil {
			return err
		}
		*b = branchLabel{text: string(v)}
	default:
		*b = branchLabel{wrong: true}
	}
	return nil
}

// MarshalJSONTo implements json.MarshalerTo.
func (b branchLabel) MarshalJSONTo(enc *jsontext.Encoder) error {
	if isBranchObject(jsontext.Value(b.text)) {
		return enc.WriteValue(jsontext.Value(b.text))
	}
	return enc.WriteToken(jsontext.String(b.text))
}

// isBranchObject knows {"tokens":[…]} and {"active_forks":{…}}.
func isBranchObject(v jsontext.Value) bool {
	if v.Kind() != '{' {
		return false
	}
	form, usable, _ := decodeLine[struct {
		Tokens []int64        `json:"tokens"`
		Forks  jsontext.Value `json:"active_forks"`
	}](v)
	return usable && (form.Tokens != nil || form.Forks.Kind() == '{')
}

// outputLine is a file that an item refers to.
type outputLine struct {
	Path    string         `json:"path"`
	Real    string         `json:"real,omitzero"`
	Outside bool           `json:"outside,omitzero"`
	Bytes   int64          `json:"bytes,omitzero"`
	Hash    bool           `json:"hash_differs,omitzero"`
	Rest    jsontext.Value `json:",embed"`
}

func decodeOutputs(lines []outputLine) *[]session.Output {
	if len(lines) == 0 {
		return nil
	}
	var list []session.Output
	for _, l := range lines {
		list = append(list, session.Output{Path: l.Path, Real: l.Real, Outside: l.Outside, Bytes: l.Bytes, Hash: l.Hash})
	}
	return &list
}

func encodeOutputs(list []session.Output) []outputLine {
	var lines []outputLine
	for _, o := range list {
		lines = append(lines, outputLine{Path: o.Path, Real: o.Real, Outside: o.Outside, Bytes: o.Bytes, Hash: o.Hash})
	}
	return lines
}
