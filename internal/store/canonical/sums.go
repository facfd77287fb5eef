package canonical

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/store"
)

// Sums implements store.Summer. The record of a session is its line and those of
// its items.
func (s *stream) Sums(ctx context.Context, sessions []string) (map[string]store.Sum, error) {
	r := s.newReader()
	sums := make(map[string]store.Sum, len(sessions))
	for _, id := range sessions {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sum, err := r.sum(s.index.byID[id])
		if err != nil {
			return nil, unreadable(s.path, err)
		}
		sums[id] = sum
	}
	return sums, nil
}

func (r *reader) sum(e *entry) (store.Sum, error) {
	if e == nil {
		return store.Sum{}, nil
	}
	all := sha256.New()
	line, err := r.lines.line(e.line)
	if err != nil {
		return store.Sum{}, err
	}
	write(all, line)
	sum := store.Sum{Own: hex.EncodeToString(all.Sum(nil)), Items: make(map[string]string, len(e.items))}
	for _, at := range e.items {
		if line, err = r.lines.line(at.span); err != nil {
			return store.Sum{}, err
		}
		write(all, line)
		digest := sha256.Sum256(withoutPlace(line))
		sum.Items[strconv.FormatInt(at.ordinal, 10)] = hex.EncodeToString(digest[:])
	}
	sum.Record = hex.EncodeToString(all.Sum(nil))
	return sum, nil
}

func write(h hash.Hash, line []byte) {
	h.Write(line)
	h.Write([]byte{'\n'})
}

// withoutPlace is the line of an item without the session that it stands in, so
// that copies in two sessions are equal. A line with doubled names or text that
// is not UTF-8 is equal to itself only.
func withoutPlace(line []byte) []byte {
	var rec struct {
		Session jsontext.Value `json:"session"`
		Rest    jsontext.Value `json:",embed"`
	}
	if json.Unmarshal(line, &rec) != nil {
		return line
	}
	return rec.Rest
}
