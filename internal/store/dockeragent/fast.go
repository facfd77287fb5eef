package dockeragent

import (
	"context"
	"database/sql/driver"
	"encoding/base64"
	"encoding/json"
	"strconv"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// record is a stored message before anything is derived from it: what either
// path found. Names and ids are unescaped, texts are literals.
type record struct {
	role, callID, createdAt, model    []byte
	content, reasoning, signature     literal // signature is that of the reasoning
	thought                           []byte  // the signature of calls and text, in base64
	parts                             []partRecord
	calls                             []callRecord
	isError, cached, hasUsage, marked bool
	cost                              float64
}

// partRecord is one part of multi_content. image and file tell an empty
// attachment from none; document is normalised JSON, nil for none. mimeType is
// that of the file or the document, and data the document's content in base64.
type partRecord struct {
	kind, text             literal
	image, file            bool
	url, detail            literal
	path, fileID, mimeType literal
	document               []byte
	data                   string
}

type callRecord struct {
	id, name  []byte
	arguments literal
}

// keySet remembers the keys of one object, by a number for each.
type keySet uint16

// addKey is false for a key that was there before: which one counts, and how two
// of them merge, is left to the exact path.
func (k *keySet) addKey(key int) bool {
	bit := keySet(1) << key
	repeated := *k&bit != 0
	*k |= bit
	return !repeated
}

// decodeFast fills the record from the forms that docker agent writes. false means
// that the exact path has to look; it says nothing about the message.
func (d *decoder) decodeFast(data []byte) bool {
	d.scan, d.defined = scanner{Scanner: jsonscan.NewScanner(data)}, d.defined[:0]
	s, r := &d.scan, &d.record
	*r = record{parts: r.parts[:0], calls: r.calls[:0]}
	var seen keySet
	return s.VisitMembers(func(key []byte) bool {
		switch string(key) {
		case "role":
			return seen.addKey(0) && s.readPlain(&r.role)
		case "content":
			return seen.addKey(1) && s.readLiteral(&r.content)
		case "reasoning_content":
			return seen.addKey(2) && s.readLiteral(&r.reasoning)
		case "tool_calls":
			return seen.addKey(3) && d.readToolCalls()
		case "tool_call_id":
			return seen.addKey(4) && s.readPlain(&r.callID)
		case "created_at":
			return seen.addKey(5) && s.readPlain(&r.createdAt)
		case "model":
			return seen.addKey(6) && s.readPlain(&r.model)
		case "usage":
			return seen.addKey(7) && s.usage(&r.hasUsage)
		case "cost":
			return seen.addKey(8) && s.readFloat(&r.cost)
		case "is_error":
			return seen.addKey(9) && s.readBool(&r.isError)
		case "multi_content":
			return seen.addKey(10) && d.readMultiContent()
		case "sessctl":
			return seen.addKey(11) && s.readMarker(&r.marked)
		case "thinking_signature":
			return seen.addKey(12) && s.readLiteral(&r.signature)
		case "thought_signature":
			return seen.addKey(13) && s.readBase64(&r.thought)
		case "cache_control":
			return seen.addKey(14) && s.readBool(&r.cached)
		case "tool_definitions":
			return s.VisitElements(d.consumeDefinition)
		}
		return s.skipMember(messageShape, key)
	}) && s.IsAtEnd()
}

// readMarker consumes the value of sessctl's own key.
func (s *scanner) readMarker(marked *bool) bool {
	s.PeekByte()
	from := s.Pos
	if !s.skipValue(nil) {
		return false
	}
	*marked = string(s.Data[from:s.Pos]) == marker
	return true
}

func (d *decoder) readToolCalls() bool {
	s, r := &d.scan, &d.record
	return s.VisitElements(func() bool {
		var c callRecord
		var seen keySet
		ok := s.VisitMembers(func(key []byte) bool {
			switch string(key) {
			case "id":
				return seen.addKey(0) && s.readPlain(&c.id)
			case "function":
				return seen.addKey(1) && s.readFunction(&c)
			}
			return s.skipMember(callShape, key)
		})
		r.calls = append(r.calls, c)
		return ok
	})
}

func (s *scanner) readFunction(c *callRecord) bool {
	var seen keySet
	return s.VisitMembers(func(key []byte) bool {
		switch string(key) {
		case "name":
			return seen.addKey(0) && s.readPlain(&c.name)
		case "arguments":
			return seen.addKey(1) && s.readLiteral(&c.arguments)
		}
		return s.skipMember(functionShape, key)
	})
}

// usage consumes the usage of a message. Nobody asks more of it than whether there is one.
func (s *scanner) usage(there *bool) bool {
	*there = s.PeekByte() == '{'
	return s.skipValue(usageShape)
}

func (d *decoder) readMultiContent() bool {
	s, r := &d.scan, &d.record
	return s.VisitElements(func() bool {
		var p partRecord
		var seen keySet
		ok := s.VisitMembers(func(key []byte) bool {
			switch string(key) {
			case "type":
				return seen.addKey(0) && s.readLiteral(&p.kind)
			case "text":
				return seen.addKey(1) && s.readLiteral(&p.text)
			case "image_url":
				p.image = true
				return seen.addKey(2) && s.texts(imageShape, [3]string{"url", "detail"}, [3]*literal{&p.url, &p.detail})
			case "file":
				p.file = true
				return seen.addKey(3) && s.texts(fileShape, [3]string{"path", "file_id", "mime_type"}, [3]*literal{&p.path, &p.fileID, &p.mimeType})
			case "document": // its meaning needs normalised JSON
				return false
			}
			return s.skipMember(partShape, key)
		})
		r.parts = append(r.parts, p)
		return ok
	})
}

// texts consumes an object of which some members are texts that the record needs.
func (s *scanner) texts(sh *shape, keys [3]string, to [3]*literal) bool {
	var seen keySet
	return s.VisitMembers(func(key []byte) bool {
		for n, known := range keys {
			if known != "" && known == string(key) {
				return seen.addKey(n) && s.readLiteral(to[n])
			}
		}
		return s.skipMember(sh, key)
	})
}

// scanner reads JSON in one pass without allocating. Its methods consume what
// they name, after white space, and return false both for what is no JSON and
// for forms that they leave to the exact path; the caller gives up at once.
type scanner struct {
	jsonscan.Scanner
	met form // of all strings
}

// strictBase64 takes each sequence of bytes in one form only.
var strictBase64 = base64.StdEncoding.Strict()

// readBase64 consumes a string in the one form of base64 that Go writes. It is tried
// out in pieces of 1 KB.
func (s *scanner) readBase64(to *[]byte) bool {
	if !s.readPlain(to) {
		return false
	}
	rest := *to
	var buf [768]byte
	for len(rest) > 1024 {
		if n, err := strictBase64.Decode(buf[:], rest[:1024]); err != nil || n < len(buf) {
			return false
		}
		rest = rest[1024:]
	}
	_, err := strictBase64.Decode(buf[:], rest)
	return err == nil
}

func (s *scanner) readBool(to *bool) bool {
	*to = s.PeekByte() == 't'
	return *to && s.ReadWord("true") || s.ReadWord("false")
}

// readInteger consumes a whole number, short enough that it cannot overflow.
func (s *scanner) readInteger(to *int64) bool {
	s.PeekByte()
	raw, whole, ok := s.ReadNumber()
	if !ok || !whole || len(raw) > 18 {
		return false
	}
	*to, _ = strconv.ParseInt(viewString(raw), 10, 64) // cannot fail
	return true
}

func (s *scanner) readFloat(to *float64) bool {
	s.PeekByte()
	raw, _, ok := s.ReadNumber()
	n, err := strconv.ParseFloat(viewString(raw), 64)
	*to = n
	return ok && err == nil
}

// idList are the ids of sessions. A query takes them as one parameter, in JSON:
// see amongIDs.
type idList []string

// amongIDs is the condition that a column is one of the ids of a parameter. It
// uses an index of the column where there is one.
const amongIDs = " in (select value from json_each(?))"

// queryParameter is the list as a query takes it.
func (ids idList) queryParameter() string {
	list, _ := json.Marshal([]string(ids)) // never fails on strings
	return string(list)
}

// subset says which rows of each table are read: those of which the first column is one of
// a JSON list, the second; nil for all of them.
type subset map[string][2]string

// rowSubset are the rows of these sessions.
func (ids idList) rowSubset() subset {
	list := ids.queryParameter()
	return subset{tableSessions: {"id", list}, tableItems: {"session_id", list}}
}

// scanTable hands the rows to fn, in the order in which an index has them; all of them in row
// order and over damage, as ScanTable does.
func (s subset) scanTable(ctx context.Context, db *sqlite.DB, sc *schema, table string, columns []string,
	fn func(rowid int64, values []driver.Value) error,
) ([]sqlite.Range, error) {
	if s == nil {
		return db.ScanTable(ctx, table, columns, fn)
	}
	return nil, scanRows(ctx, db, sc, table, s[table][0], columns, s[table][1], fn)
}

// scanRows hands the rows of a table to fn whose column key is one of the
// values of a JSON list. Values live as long as those of DB.Scan.
func scanRows(ctx context.Context, db *sqlite.DB, sc *schema, table, key string, columns []string, list string,
	fn func(rowid int64, values []driver.Value) error,
) error {
	where := sqlite.Selection{Table: table, RowID: sc.rowid[table], Columns: columns, Where: key + amongIDs}
	return db.ScanRows(ctx, where, fn, list)
}

// readSubset reads some sessions, which should be whole trees, and nothing
// about the rest of the store.
func readSubset(ctx context.Context, db *sqlite.DB, path string, bytes int64, sessions []string) (*agentStore, error) {
	st, err := newStore(ctx, db, path, bytes)
	if err == nil {
		err = st.readRows(ctx, idList(sessions).rowSubset(), false)
	}
	return st, err
}
