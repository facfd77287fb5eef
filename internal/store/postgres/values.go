package postgres

import (
	"encoding/binary"
	"math"
	"time"
	"unsafe"

	"github.com/sessctl/sessctl/internal/store/table"
)

// The types of columns that are read in their binary form, by the numbers that
// PostgreSQL gives them (pg_type.dat). All others are read as texts.
const (
	typeBool        = 16
	typeBytea       = 17
	typeInt8        = 20
	typeInt2        = 21
	typeInt4        = 23
	typeFloat4      = 700
	typeFloat8      = 701
	typeTimestamp   = 1114
	typeTimestamptz = 1184
)

// The forms in which a server can be asked for a value.
const (
	asText   int16 = 0
	asBinary int16 = 1
)

func formatOf(oid uint32) int16 {
	switch oid {
	case typeBool, typeBytea, typeInt8, typeInt2, typeInt4, typeFloat4, typeFloat8, typeTimestamp, typeTimestamptz:
		return asBinary
	}
	return asText
}

// valueOf is a value as the server sent it; texts and bytes are the server's until the
// next row is read. Times become texts, in UTC where they are instants.
func valueOf(oid uint32, raw []byte) table.Value {
	switch {
	case raw == nil:
		return nil
	case formatOf(oid) == asText:
		return unsafe.String(unsafe.SliceData(raw), len(raw))
	case oid == typeBytea:
		return raw
	case oid == typeTimestamp || oid == typeTimestamptz:
		return timeText(int64(binary.BigEndian.Uint64(raw)), oid == typeTimestamptz)
	case oid == typeFloat4:
		return float64(math.Float32frombits(binary.BigEndian.Uint32(raw)))
	case oid == typeFloat8:
		return math.Float64frombits(binary.BigEndian.Uint64(raw))
	}
	switch len(raw) {
	case 1:
		return int64(raw[0])
	case 2:
		return int64(int16(binary.BigEndian.Uint16(raw)))
	case 4:
		return int64(int32(binary.BigEndian.Uint32(raw)))
	}
	return int64(binary.BigEndian.Uint64(raw))
}

// epoch is PostgreSQL's, the start of 2000, in seconds since 1970.
const epoch = 946_684_800

const time6 = "2006-01-02 15:04:05.000000"

// timeText is a time of so many microseconds since 2000.
func timeText(micros int64, zoned bool) string {
	switch micros {
	case math.MaxInt64:
		return "infinity"
	case math.MinInt64:
		return "-infinity"
	}
	form := time6
	if zoned {
		form += "-07:00"
	}
	return time.Unix(epoch+micros/1e6, micros%1e6*1e3).UTC().Format(form)
}
