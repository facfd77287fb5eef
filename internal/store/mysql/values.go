package mysql

import (
	"database/sql/driver"
	"math"
	"strconv"
	"strings"
	"unsafe"

	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/table"
)

// The kinds of columns whose values are not what the driver makes of them: texts, numbers.
const (
	kindBit      = "bit"
	kindInstant  = "timestamp"
	kindDateTime = "datetime"
)

// isBinary reports whether a kind of columns holds bytes and no text.
func isBinary(kind string) bool {
	return strings.Contains(kind, "blob") || strings.Contains(kind, "binary")
}

// valueOf is a value as the driver read it; texts and bytes are the connection's until the next
// row is read. Times become texts with six digits, in UTC where they are instants.
func valueOf(kind string, raw driver.Value) table.Value {
	switch v := raw.(type) {
	case float32:
		return float64(v)
	case uint64:
		if v > math.MaxInt64 {
			return strconv.FormatUint(v, 10)
		}
		return int64(v)
	case []byte:
		switch {
		case isBinary(kind):
			return v
		case kind == kindBit:
			n := int64(0)
			for _, b := range v {
				n = n<<8 | int64(b)
			}
			return n
		case kind == kindDateTime || kind == kindInstant:
			return timeText(string(v), kind == kindInstant)
		}
		return unsafe.String(unsafe.SliceData(v), len(v))
	}
	return raw
}

const time6 = "2006-01-02 15:04:05.000000"

// timeText is the text of a time with as many digits as PostgreSQL's.
func timeText(text string, zoned bool) string {
	if n := len(text); n == len("2006-01-02 15:04:05") {
		text += time6[n:]
	} else if n < len(time6) {
		text += strings.Repeat("0", len(time6)-n)
	}
	if zoned {
		text += zone
	}
	return text
}

// zone is that of the connection.
const zone = "+00:00"

// parameterOf is a value as the server takes it for a column of a kind.
func parameterOf(kind string, value table.Value) driver.Value {
	switch value.(type) {
	case string, []byte:
		if isBinary(kind) {
			return append([]byte{}, column.Bytes(value)...)
		}
		if kind == kindInstant {
			return strings.TrimSuffix(column.Text(value), zone)
		}
		return column.Text(value)
	}
	return value
}
