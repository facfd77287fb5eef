package openaiagents

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/responses"
)

// item is a row as it is sent, or what EncryptedSession makes of it.
type item struct {
	responses.Item
	Envelope jsontext.Value `json:"__enc__"`
}

// parseItem parses a row. The SDK passes over what is no JSON.
func parseItem(doc []byte) (x item, f *session.Fault) {
	err := jsonscan.Exact.Unmarshal(doc, &x)
	whole := err != nil && jsonedit.IsWhole(doc)
	if x.Type == "" { // of the user, and of the system
		x.Type = responses.TypeMessage
	}
	switch {
	case !utf8.Valid(doc):
		f = &session.Fault{Detail: "it has bytes that are not UTF-8, and the SDK cannot read the session", Unloads: true}
	case err != nil && !whole:
		f = &session.Fault{Detail: jsonscan.DescribeError(err, kindTitle), Passed: true}
	case err != nil:
		f = &session.Fault{Detail: jsonscan.DescribeError(err, kindTitle), Whole: true}
	case x.Envelope != nil:
		return x, &session.Fault{Kind: session.SchemaUnknown, Harmless: true, Detail: "encrypted"}
	case x.Type == responses.TypeMessage && session.ParseRole(x.Role) == session.NoRole:
		f = &session.Fault{Detail: fmt.Sprintf("neither its type nor its role %.40q is known", x.Role), Whole: true}
	default:
		return x, nil
	}
	f.Kind, f.Field = session.Undecodable, fieldData
	return x, f
}

// readItem reads what is sent: items of all types are.
func (x *item) readItem(it *session.Item) {
	x.ReadItem(it)
	if it.Kind == session.Other {
		it.Kind, it.Role, it.Blocks = session.Message, session.Assistant, []session.Block{{Kind: session.UnknownBlock, Name: x.Type, ID: x.ID}}
	}
	for i := range it.Results { // nothing else says so
		it.Results[i].IsError = it.Results[i].Synthetic
	}
}

func (j *joined) decodeRow(row eventlog.Row, it *session.Item, body bool) (faults []session.Fault) {
	it.Time, it.Shared.Branch = times.Read(row.Value("created_at")).Time, column.Text(row.Value(fieldBranch))
	place, _ := column.Int(row.Value(fieldPlace))
	unnamed := isUnnamed(place) && j.branchesOf(j.pairOf(column.View(row.Value(fieldPair))), column.View(row.Value(fieldSession))).hasNames()
	if unnamed {
		it.Flags |= session.Unshown
	}
	doc := column.Bytes(row.Value(fieldData))
	x, wrong := parseItem(doc)
	if wrong != nil {
		var said session.Meaning
		said.Reset(session.NoRole, "")
		said.AddDigest(session.DigestOf(doc))
		it.Kind, it.Meaning, it.Body = session.Other, said.Digest(), &session.Body{}
		faults = append(faults, *wrong)
	} else {
		x.readItem(it)
		faults = append(faults, eventlog.NulFaults(it, it.Body.Text, fieldData)...)
	}
	if it.Body.Raw = row.Record(j.pairOf(column.View(row.Value(fieldPair))).columns); !body {
		it.Body = nil
	}
	if unnamed { // nothing of it is sent, and it stays as it is
		faults = slices.DeleteFunc(faults, func(f session.Fault) bool { return f.Kind != session.SchemaUnknown })
	}
	return faults
}

// tellEncrypted makes one fault of all messages that are encrypted.
func tellEncrypted(s *session.Session) {
	all := len(s.Faults)
	s.Faults = slices.DeleteFunc(slices.Clone(s.Faults), func(f session.Fault) bool { return f.Kind == session.SchemaUnknown && f.Item >= 0 })
	encrypted := all - len(s.Faults)
	if encrypted > 0 {
		s.Faults = append(s.Faults, session.Fault{
			Kind: session.SchemaUnknown, Ref: s.Ref(), Item: -1, Count: encrypted, Harmless: true,
			Detail: fmt.Sprintf("%d of %d messages of the session are encrypted (EncryptedSession). The SDK reads them with its key, and sessctl cannot: it finds no damage in them, and a repair leaves them as they are", encrypted, len(s.Items)),
		})
	}
}
