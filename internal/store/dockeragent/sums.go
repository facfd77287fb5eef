package dockeragent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/sqlite"
	"github.com/sessctl/sessctl/internal/store/table"
)

// following are the columns of sessions that only store.Sum.Exact covers. messages
// is a copy that follows the items, and branch_parent_position an index into the list
// of another session, which a repair of that one moves.
var following = []string{"messages", "branch_parent_position"}

// contentColumns are the columns of an item that say something by themselves, as may
// those that are not known. The others say where it stands.
var contentColumns = []string{
	"item_type", "message_json", "subsession_id", "summary_text", "usage_json", "cost", "model", "implicit",
}

// summer collects what sums are made of.
type summer struct {
	rows     map[string]digest     // of a session's own row
	follow   map[string]digest     // of the columns that follow others, nil where they are not read
	items    map[string]*[]itemSum // by session
	children map[string][]string   // ids, by parent
	buf      []byte
}

type digest = [sha256.Size]byte

type itemSum struct {
	id             int64
	place, content digest
}

// readSums reads the digests of sessions, those that do not exist included; with exact,
// those of every column.
func readSums(ctx context.Context, db *sqlite.DB, sc *schema, sessions []string, exact bool) (map[string]store.Sum, error) {
	s := summer{rows: map[string]digest{}, items: map[string]*[]itemSum{}, children: map[string][]string{}}
	if exact {
		s.follow = map[string]digest{}
	}
	list := idList(sessions)
	if err := s.readSessions(ctx, db, sc, list); err != nil {
		return nil, err
	}
	if err := s.readItems(ctx, db, sc, list); err != nil {
		return nil, err
	}
	result := make(map[string]store.Sum, len(sessions))
	for _, id := range sessions {
		result[id] = s.sumSession(id)
	}
	return result, nil
}

func (s *summer) readSessions(ctx context.Context, db *sqlite.DB, sc *schema, list idList) error {
	columns := slices.DeleteFunc(slices.Sorted(slices.Values(sc.columns[tableSessions])), func(c string) bool {
		return slices.Contains(following, c)
	})
	var others []string
	if s.follow != nil {
		others = sc.pickColumns(tableSessions, following...)
	}
	id, own := slices.Index(columns, "id"), len(columns)
	_, err := list.rowSubset().scanTable(ctx, db, sc, tableSessions, sqlite.QuotedAll(slices.Concat(columns, others)), func(_ int64, values []driver.Value) error {
		text, ok := values[id].(string)
		if !ok {
			return nil // of another type, nothing refers to it
		}
		session := strings.Clone(text)
		s.rows[session] = s.digestColumns(columns, values[:own])
		if s.follow != nil {
			s.follow[session] = s.digestColumns(others, values[own:])
		}
		return nil
	})
	if err != nil {
		return err
	}
	return scanRows(ctx, db, sc, tableSessions, "parent_id", []string{"parent_id", "id"}, list.queryParameter(),
		func(_ int64, values []driver.Value) error {
			parent := column.Text(values[0])
			s.children[parent] = append(s.children[parent], column.Text(values[1]))
			return nil
		})
}

func (s *summer) readItems(ctx context.Context, db *sqlite.DB, sc *schema, list idList) error {
	content := append(sc.pickColumns(tableItems, contentColumns...), sc.unknownColumns(tableItems)...)
	place := slices.DeleteFunc(slices.Sorted(slices.Values(sc.columns[tableItems])), func(c string) bool {
		return slices.Contains(content, c)
	})
	owner := slices.Index(place, "session_id")
	_, err := list.rowSubset().scanTable(ctx, db, sc, tableItems, sqlite.QuotedAll(slices.Concat(place, content)), func(id int64, values []driver.Value) error {
		list, ok := s.items[column.View(values[owner])]
		if !ok { // a map may take over the bytes of a key that it knows, so a view is only looked up
			list = new([]itemSum)
			s.items[strings.Clone(column.View(values[owner]))] = list
		}
		*list = append(*list, itemSum{id, s.digestColumns(place, values[:len(place)]), s.digestColumns(content, values[len(place):])})
		return nil
	})
	return err
}

// sumSession puts together what was read of a session.
func (s *summer) sumSession(id string) store.Sum {
	own, ok := s.rows[id]
	if !ok {
		return store.Sum{}
	}
	var items []itemSum
	if list := s.items[id]; list != nil {
		items = *list
	}
	slices.SortFunc(items, func(a, b itemSum) int { return cmp.Compare(a.id, b.id) })
	sum := store.Sum{Own: hex.EncodeToString(own[:]), Items: make(map[string]string, len(items))}
	all := slices.Clone(own[:])
	for _, it := range items {
		sum.Items[rowKey(it.id)] = hex.EncodeToString(it.content[:])
		all = append(append(all, it.place[:]...), it.content[:]...)
	}
	for _, child := range slices.Sorted(slices.Values(s.children[id])) {
		all = table.AppendExactly(all, child)
	}
	record := sha256.Sum256(all)
	sum.Record = hex.EncodeToString(record[:])
	if s.follow != nil {
		follow := s.follow[id]
		exact := sha256.Sum256(append(record[:], follow[:]...))
		sum.Exact = hex.EncodeToString(exact[:])
	}
	return sum
}

// digestColumns is the digest of columns with their values, each with its exact type.
func (s *summer) digestColumns(columns []string, values []driver.Value) digest {
	s.buf = s.buf[:0]
	for i, c := range columns {
		s.buf = table.AppendExactly(table.AppendExactly(s.buf, c), values[i])
	}
	return sha256.Sum256(s.buf)
}

// Sums implements store.Summer.
func (st *agentStore) Sums(ctx context.Context, sessions []string) (map[string]store.Sum, error) {
	found, err := readSums(ctx, st.db, &st.schema, sessions, false)
	return found, st.db.Explain(err)
}

// Copy implements store.Copier.
func (st *agentStore) Copy(ctx context.Context, path string, progress func(done int64)) (*store.Source, error) {
	return &store.Source{Path: path}, st.db.Copy(ctx, path, progress)
}

// chatMessage has the Go types of docker agent's own message, so that decoding
// into it accepts and refuses what docker agent accepts and refuses. The fast
// path takes the types of the keys that it only checks from here. The names are
// docker agent's, package and type, because errors quote them.
type chatMessage struct {
	Role              string             `json:"role"`
	Content           string             `json:"content"`
	MultiContent      []chatMessagePart  `json:"multi_content"`
	ReasoningContent  string             `json:"reasoning_content"`
	ThinkingSignature string             `json:"thinking_signature"`
	ThoughtSignature  []byte             `json:"thought_signature"`
	FunctionCall      *toolsFunctionCall `json:"function_call"`
	ToolCalls         []toolsToolCall    `json:"tool_calls"`
	ToolDefinitions   []toolsTool        `json:"tool_definitions"`
	ToolCallID        string             `json:"tool_call_id"`
	IsError           bool               `json:"is_error"`
	CreatedAt         string             `json:"created_at"`
	Usage             *chatUsage         `json:"usage"`
	Model             string             `json:"model"`
	Cost              float64            `json:"cost"`
	CacheControl      bool               `json:"cache_control"`
	FinishReason      string             `json:"finish_reason"`

	// Marker is sessctl's own (column.go). docker agent passes over a key that
	// it does not know, so every value is accepted.
	Marker json.RawMessage `json:"sessctl"`
}

type chatMessagePart struct {
	Type     string               `json:"type"`
	Text     string               `json:"text"`
	ImageURL *chatMessageImageURL `json:"image_url"`
	File     *chatMessageFile     `json:"file"`
	Document any                  `json:"document"`
}

type chatMessageImageURL struct {
	URL    string `json:"url"`
	Detail string `json:"detail"`
}

type chatMessageFile struct {
	Path     string `json:"path"`
	FileID   string `json:"file_id"`
	MimeType string `json:"mime_type"`
}

type toolsToolCall struct {
	ID       string            `json:"id"`
	Type     string            `json:"type"`
	Function toolsFunctionCall `json:"function"`
}

type toolsFunctionCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type toolsTool struct {
	Name         string               `json:"name"`
	Category     string               `json:"category"`
	Description  string               `json:"description"`
	Parameters   any                  `json:"parameters"`
	Annotations  toolsToolAnnotations `json:"annotations"`
	OutputSchema any                  `json:"outputSchema"`
}

type toolsToolAnnotations struct {
	Title           string `json:"title"`
	ReadOnlyHint    bool   `json:"readOnlyHint"`
	DestructiveHint *bool  `json:"destructiveHint"`
	IdempotentHint  bool   `json:"idempotentHint"`
	OpenWorldHint   *bool  `json:"openWorldHint"`
}

type chatUsage struct {
	InputTokens       int64 `json:"input_tokens"`
	OutputTokens      int64 `json:"output_tokens"`
	CachedInputTokens int64 `json:"cached_input_tokens"`
	CachedWriteTokens int64 `json:"cached_write_tokens"`
	ReasoningTokens   int64 `json:"reasoning_tokens"`
}

// decodeExact fills the record as docker agent would read the message.
func (d *decoder) decodeExact(data []byte) error {
	var m chatMessage
	r := &d.record
	*r = record{parts: r.parts[:0], calls: r.calls[:0]}
	if err := json.Unmarshal(data, &m); err != nil {
		return decodeError(err)
	}
	r.role, r.callID = []byte(m.Role), []byte(m.ToolCallID)
	r.createdAt, r.model = []byte(m.CreatedAt), []byte(m.Model)
	r.content, r.reasoning = quoteText(m.Content), quoteText(m.ReasoningContent)
	r.signature, r.thought = quoteText(m.ThinkingSignature), inBase64(m.ThoughtSignature)
	r.isError, r.cached, r.cost = m.IsError, m.CacheControl, m.Cost
	r.marked = string(m.Marker) == marker
	r.hasUsage = m.Usage != nil
	for _, p := range m.MultiContent {
		r.parts = append(r.parts, p.convertPart())
	}
	for _, c := range m.ToolCalls {
		r.calls = append(r.calls, callRecord{
			id: []byte(c.ID), name: []byte(c.Function.Name), arguments: quoteText(c.Function.Arguments),
		})
	}
	return nil
}

func (p *chatMessagePart) convertPart() partRecord {
	r := partRecord{kind: quoteText(p.Type), text: quoteText(p.Text)}
	if p.ImageURL != nil {
		r.image, r.url, r.detail = true, quoteText(p.ImageURL.URL), quoteText(p.ImageURL.Detail)
	}
	if p.File != nil {
		r.file, r.path, r.fileID, r.mimeType = true, quoteText(p.File.Path), quoteText(p.File.FileID), quoteText(p.File.MimeType)
	}
	if p.Document != nil {
		r.document, _ = json.Marshal(p.Document) // never fails on decoded JSON
		r.mimeType, r.data = p.documentData()
	}
	return r
}

// documentData is what the part says of its document (v1.55.0 and later).
func (p *chatMessagePart) documentData() (mimeType literal, data string) {
	members, _ := p.Document.(map[string]any)
	source, _ := members["source"].(map[string]any)
	kind, _ := members["mime_type"].(string)
	data, _ = source["inline_data"].(string)
	return quoteText(kind), data
}

// inBase64 is the form of bytes that Go writes into JSON; nil for none.
func inBase64(b []byte) []byte { return base64.StdEncoding.AppendEncode(nil, b) }

// upstreamNames turns the names of the types above into docker agent's.
var upstreamNames = strings.NewReplacer("dockeragent.chat", "chat.", "dockeragent.tools", "tools.")

// decodeError says what docker agent's log would say, and where. A type error
// can quote a number of the message; only the word "number" stays.
func decodeError(err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("%w (byte %d)", err, syntax.Offset)
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		wrong.Value, _, _ = strings.Cut(wrong.Value, " ")
		wrong.Struct = strings.TrimPrefix(strings.TrimPrefix(wrong.Struct, "chat"), "tools")
		return fmt.Errorf("%s (byte %d)", upstreamNames.Replace(wrong.Error()), wrong.Offset)
	}
	return err // base64, which counts in its own bytes
}
