package table

import (
	"encoding/binary"
	"math"
	"strings"
)

// Kept is a scanned value that outlives its row.
func Kept(v Value) any {
	switch v := v.(type) {
	case string:
		return strings.Clone(v)
	case []byte:
		return append([]byte{}, v...) // never nil, which would be written as NULL
	}
	return v
}

// AppendExactly appends a value so that no two rows of values end up alike: a
// letter for the type, the length, the bytes.
func AppendExactly(buf []byte, value Value) []byte {
	switch v := value.(type) {
	case int64:
		return binary.BigEndian.AppendUint64(append(buf, 'i'), uint64(v))
	case float64:
		return binary.BigEndian.AppendUint64(append(buf, 'f'), math.Float64bits(v))
	case []byte:
		return append(binary.BigEndian.AppendUint64(append(buf, 'b'), uint64(len(v))), v...)
	case string:
		return append(binary.BigEndian.AppendUint64(append(buf, 't'), uint64(len(v))), v...)
	}
	return append(buf, 'n')
}
