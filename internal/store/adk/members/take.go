package members

import (
	"bytes"
	"encoding/base64"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// takeScalar reports whether a reader takes a value for a type. as is what it takes it for, or,
// where it does not, what the value says in that type; nil for the value itself, or nothing.
func takeScalar(reader Reader, kind string, raw jsontext.Value) (as jsontext.Value, takes bool) {
	if bytes.HasSuffix(raw, []byte("NaN")) || bytes.HasSuffix(raw, []byte("Infinity")) {
		return nil, kind == "number"
	}
	is, text := raw.Kind(), ""
	if is == jsontext.KindString && kind != "text" && kind != "label" { // which any is
		unquoted, err := jsontext.AppendUnquote(nil, raw)
		if text = string(unquoted); err != nil && reader == Python {
			return nil, true // what is no Unicode is another matter
		}
	}
	scalar := is == jsontext.KindNumber || is == jsontext.KindTrue || is == jsontext.KindFalse
	switch kind {
	case "object":
		return nil, is == jsontext.KindBeginObject
	case "text", "label", "span":
		if is == jsontext.KindString && kind == "span" && reader == Go && text != "" {
			_, err := time.ParseDuration(text)
			return nil, err == nil
		}
		if scalar && kind != "span" {
			as, _ = jsontext.AppendQuote(nil, string(raw))
		}
		return as, is == jsontext.KindString || kind == "label" && reader == Python && is == jsontext.KindBeginObject
	case "bool":
		if is == jsontext.KindTrue || is == jsontext.KindFalse {
			return nil, true
		}
		as = mendTruth(is, string(raw), text)
		if reader == Kotlin {
			return as, strings.EqualFold(text, "true") || strings.EqualFold(text, "false")
		}
	case "int", "long", "number":
		return takeNumber(reader, kind, raw, text)
	case "bytes":
		data, plain := inBase64(reader, text)
		switch {
		case is != jsontext.KindString || data == nil:
			return nil, false
		case plain:
			return nil, true
		}
		as, _ = jsontext.AppendQuote(nil, base64.StdEncoding.EncodeToString(data))
		return as, false
	}
	return as, as != nil && reader == Python
}

// mendTruth is what pydantic makes a truth value of, nil for anything else.
func mendTruth(is jsontext.Kind, raw, text string) jsontext.Value {
	if f, err := strconv.ParseFloat(raw, 64); is == jsontext.KindNumber && err == nil && (f == 0 || f == 1) {
		text = strconv.Itoa(int(f))
	}
	switch strings.ToLower(text) {
	case "1", "t", "true", "y", "yes", "on":
		return jsontext.Value("true")
	case "0", "f", "false", "n", "no", "off":
		return jsontext.Value("false")
	}
	return nil
}

var (
	wholeText   = regexp.MustCompile(`^\s*[+-]?[0-9]+(_[0-9]+)*(\.0+)?\s*$`)
	decimalText = regexp.MustCompile(`(?i)^\s*[+-]?(([0-9]+(_[0-9]+)*(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|inf|infinity|nan)\s*$`)
)

// takeNumber is take for numbers: pydantic takes truth values and texts with digits, too; Go only
// those that fit in its type, and none with a fraction or an exponent for a whole one.
func takeNumber(reader Reader, kind string, raw jsontext.Value, text string) (as jsontext.Value, takes bool) {
	whole := kind != "number"
	digits := string(raw)
	switch raw.Kind() {
	case jsontext.KindTrue, jsontext.KindFalse:
		return nil, reader == Python
	case jsontext.KindString:
		form := decimalText
		if whole {
			form = wholeText
		}
		if !form.MatchString(text) || reader == Python {
			return nil, form.MatchString(text)
		}
		digits = strings.TrimPrefix(strings.ReplaceAll(strings.TrimSpace(text), "_", ""), "+")
	case jsontext.KindNumber:
	default:
		return nil, false
	}
	f, err := strconv.ParseFloat(digits, 64)
	if !whole {
		if raw.Kind() == jsontext.KindNumber && (err == nil || reader == Python) {
			return nil, true
		}
		if value := jsontext.Value(digits); err == nil && value.IsValid() {
			return value, false
		}
		return nil, false
	}
	plain := !strings.ContainsAny(digits, ".eE")
	if reader == Python {
		return nil, plain || f == math.Trunc(f) && math.Abs(f) < 1<<63
	}
	limit := float64(math.MaxInt32)
	if kind == "long" {
		limit = math.MaxInt64
	}
	if err != nil || f != math.Trunc(f) || math.Abs(f) > limit {
		return nil, false
	}
	if plain && (raw.Kind() == jsontext.KindNumber || reader == Kotlin) {
		return nil, true
	}
	return jsontext.Value(strconv.FormatFloat(f, 'f', -1, 64)), false
}

// inBase64 is what a text says in base64, nil where it says nothing there, and whether the
// reader takes it: pydantic takes both alphabets, with or without padding, Go the first one
// with it.
func inBase64(reader Reader, text string) (data []byte, takes bool) {
	if data, err := base64.StdEncoding.DecodeString(text); err == nil && reader == Go {
		return append([]byte{}, data...), true
	}
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(text, "-_") {
		encoding = base64.RawURLEncoding
	}
	data, err := encoding.Strict().DecodeString(strings.TrimRight(text, "="))
	if err != nil || strings.ContainsAny(text, "\r\n") || len(text)-len(strings.TrimRight(text, "=")) > 2 {
		return nil, false
	}
	return append([]byte{}, data...), reader == Python
}
