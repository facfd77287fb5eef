// Package column says what a stored value is, whatever its type: as a text, as bytes, as
// a number, as a boolean, as a time. It knows columns and no store: an adapter declares
// as a Times in which forms its runtime stores times.
//
// Any column of SQLite can hold a value of any type: nil, int64, float64, string or
// []byte. What a function is handed it does not keep, and what it gives back may be the
// same memory where its comment says so.
package column

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unsafe"
)

// View is a value as text, "" for NULL. It is valid as long as the value.
func View(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case []byte:
		return ViewBytes(v)
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return fmt.Sprint(value)
}

// ViewBytes is View of bytes, which takes no memory.
func ViewBytes(text []byte) string { return unsafe.String(unsafe.SliceData(text), len(text)) }

// Text is a value as a text of its own, "" for NULL.
func Text(value any) string { return strings.Clone(View(value)) }

// OrNull is a text for a column that is NULL where there is none.
func OrNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// Bytes are the bytes of a value as text, nil for NULL. They are valid as long as the
// value, and must not be changed.
func Bytes(value any) []byte {
	switch v := value.(type) {
	case nil:
		return nil
	case []byte:
		return v
	}
	text := View(value)
	if text == "" {
		return []byte{}
	}
	return unsafe.Slice(unsafe.StringData(text), len(text))
}

// Like is a text with the type that a stored value has.
func Like(stored any, text string) any {
	if _, blob := stored.([]byte); blob {
		return []byte(text)
	}
	return text
}

// Int is a value as a whole number, be it stored as one, as a fraction that is none, or
// as a text of digits, which a copy by way of CSV makes of it.
func Int(value any) (n int64, ok bool) {
	switch v := value.(type) {
	case int64:
		return v, true
	case float64:
		n = int64(v)
		return n, float64(n) == v
	}
	text := View(value)
	if strings.LastIndexByte(text, '-') > 0 { // as in a time: an error takes longer to make
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// IntLike is a whole number as a text where the stored value is one.
func IntLike(stored any, n int64) any {
	switch stored.(type) {
	case string, []byte:
		return Like(stored, strconv.FormatInt(n, 10))
	}
	return n
}

// Bool is a boolean, which databases have as a number or as a text; ok is false for what
// is none.
func Bool(value any) (is, ok bool) {
	switch v := value.(type) {
	case int64:
		return v != 0, true
	case string, []byte:
		is, err := strconv.ParseBool(strings.ToLower(View(v)))
		return is, err == nil
	}
	return false, false
}

// BoolLike is a boolean in the form that a stored one has: a number, a word or its first
// letter, in small or capital letters.
func BoolLike(stored any, is bool) any {
	text, isText := stored.(string)
	if !isText || text == "0" || text == "1" {
		if is {
			return int64(1)
		}
		return int64(0)
	}
	word := strconv.FormatBool(is)
	if len(text) == 1 {
		word = word[:1]
	}
	if text == strings.ToUpper(text) {
		word = strings.ToUpper(word)
	}
	return word
}

// Times are the forms in which a store has times, and the words for what is none: in
// these "%d" stands for a year, and "%s" for what numbers count.
type Times struct {
	Forms  []Form // of texts: the first that fits counts
	T      bool   // in a text a "T" may stand between day and hour in place of a space
	Behind string // what begins that of a text which says nothing about the time
	UTC    bool   // times are written in UTC, as Forms say; else as the neighbour's zone is
	Number Unit   // what numbers count
	Whole  bool   // numbers are whole, and a text of digits is one, too
	Years  [2]int // the first and the last that a time can be in

	Formless      string // what is wrong with a value in none of these forms
	Empty         string // with a text without a letter, if it is something else
	Outside       string // with a year that is not among Years
	OutsideNumber string // with that of a number, if it is something else
	Zero          string // with Go's zero time, where its year is among Years
}

// Form is a form of a time in a text.
type Form struct {
	// Layout is that of package time, without the fraction of a second, which a text may
	// always have.
	Layout string
	// Fraction is that of a time that is written, as package time has it. "" stands for
	// one like the neighbour's, and for as many digits as the time needs where these are
	// fewer than microseconds have.
	Fraction string
}

// Unit is how many of what a number counts since 1970 make a second.
type Unit int64

// The units. A number of which only the size tells counts the largest parts of a second
// that put it into these centuries; one with a fraction counts seconds then.
const (
	BySize       Unit = 0
	Seconds      Unit = 1
	Milliseconds Unit = 1e3
	Microseconds Unit = 1e6
	Nanoseconds  Unit = 1e9
)

func (u Unit) String() string {
	return map[Unit]string{Seconds: "seconds", Milliseconds: "milliseconds", Microseconds: "microseconds", Nanoseconds: "nanoseconds"}[u]
}

// wholeTime is a whole number as a time.
func (u Unit) wholeTime(n int64) time.Time {
	if u == BySize {
		switch size := max(n, -n); {
		case size < 1e11:
			u = Seconds
		case size < 1e14:
			u = Milliseconds
		case size < 1e17:
			u = Microseconds
		default:
			u = Nanoseconds
		}
	}
	per := int64(u)
	return time.Unix(n/per, n%per*(1e9/per)).UTC()
}

// Micros are seconds in microseconds, at most 285,000 years of them. A float64 of these
// years holds them only with an error of a tenth of one, which rounding takes away.
func Micros(seconds float64) int64 {
	const most = 9e18 // within int64
	if micros := seconds * 1e6; micros > -most {
		return int64(math.Round(min(most, micros)))
	}
	return -most // and of what is no number
}

// Stamp is a stored time.
type Stamp struct {
	time.Time        // zero when it is absent or wrong
	Zoned     bool   // it is a text that names its offset from UTC
	Wrong     string // why the value is no time, "" for one and for NULL
}

// Read reads the time that a value is. One without an offset from UTC is that of its
// writer's clock, whose zone nobody can tell: it is taken for UTC.
func (ts *Times) Read(value any) Stamp {
	if value == nil {
		return Stamp{}
	}
	if t, ok := ts.readNumber(value); ok {
		return ts.judgeStamp(Stamp{Time: t}, cmp.Or(ts.OutsideNumber, ts.Outside))
	}
	text := View(value)
	t, form := ts.Parse(text)
	switch {
	case form != nil:
		return ts.judgeStamp(Stamp{Time: t, Zoned: strings.Contains(form.Layout, "07")}, ts.Outside)
	case text == "" && ts.Empty != "":
		return Stamp{Wrong: ts.Empty}
	}
	return Stamp{Wrong: ts.wrongText(ts.Formless, "")}
}

func (ts *Times) readNumber(value any) (t time.Time, ok bool) {
	if ts.Whole {
		n, ok := Int(value)
		return ts.Number.wholeTime(n), ok
	}
	switch v := value.(type) {
	case int64:
		return ts.Number.wholeTime(v), true
	case float64:
		return time.UnixMicro(Micros(v / float64(max(ts.Number, Seconds)))).UTC(), true
	}
	return t, false
}

// judgeStamp takes away a time that nothing can have been stored at.
func (ts *Times) judgeStamp(s Stamp, outside string) Stamp {
	switch year := s.Year(); {
	case year < ts.Years[0] || year > ts.Years[1]:
		return Stamp{Zoned: s.Zoned, Wrong: ts.wrongText(outside, strconv.Itoa(year))}
	case year == 1:
		return Stamp{Zoned: s.Zoned, Wrong: ts.Zero}
	}
	return s
}

func (ts *Times) wrongText(wrong, year string) string {
	return strings.NewReplacer("%s", ts.Number.String(), "%d", year).Replace(wrong)
}

// Parse parses the time that a text is, be it in a year in which there can be none, and the
// form of it; nil for none.
func (ts *Times) Parse(text string) (t time.Time, form *Form) {
	text = ts.plainText(text)
	if ts.hasTMark(text) {
		text = text[:day] + " " + text[day+1:]
	}
	for i := range ts.Forms {
		if form := &ts.Forms[i]; form.hasShape(text) {
			if t, err := form.parseText(text); err == nil {
				return t, form
			}
		}
	}
	return t, nil
}

// hasShape reports whether a text can be of the form by what is cheap to see: what stands
// behind the day, and whether an offset from UTC does.
func (f *Form) hasShape(text string) bool {
	if len(f.Layout) <= day || len(text) <= day {
		return len(f.Layout) == len(text)
	}
	return text[day] == f.Layout[day] && strings.Contains(f.Layout, "07") == (strings.LastIndexAny(text[day:], "Z+-") >= 0)
}

// parseText reads a text of the form. RFC 3339 is what package time reads fastest, so that a
// text which differs from it in what stands behind the day is made one.
func (f *Form) parseText(text string) (t time.Time, err error) {
	zone, clock := strings.CutPrefix(f.Layout[min(day+1, len(f.Layout)):], "15:04:05")
	if clock && (zone == "" || zone == time.RFC3339[len("2006-01-02T15:04:05"):]) {
		var buf [40]byte
		same := append(buf[:0], text...)
		same[day] = 'T'
		if zone == "" {
			same = append(same, 'Z')
		}
		if t.UnmarshalText(same) == nil {
			return t, nil
		}
	}
	return time.Parse(f.Layout, text)
}

// day is the length of a text with a day alone.
const day = len("2006-01-02")

// plainText is what a text says of a time.
func (ts *Times) plainText(text string) string {
	if ts.Behind != "" {
		text, _, _ = strings.Cut(text, ts.Behind)
	}
	return text
}

func (ts *Times) hasTMark(text string) bool { return ts.T && len(text) > day && text[day] == 'T' }

// ClockMicros is what a clock showed, in microseconds since it showed the start of 1970: a time
// as a store has it in order that compares texts, whatever their offsets from UTC.
func ClockMicros(t time.Time) int64 {
	_, offset := t.Zone()
	return t.UnixMicro() + int64(offset)*1e6
}

// Like is the text of another time in the form of one that is stored, with the same
// separators and the same offset from UTC: that at which a clock shows so many
// microseconds. A text with an offset gets the one with which it is also the instant,
// where that is not zero. ok is false where the stored text is no time.
func (ts *Times) Like(stored string, clock int64, instant time.Time) (text string, ok bool) {
	t, form := ts.Parse(stored)
	if form == nil {
		return "", false
	}
	stored = ts.plainText(stored)
	name, offset := t.Zone()
	seconds, zone, hasSeconds := strings.Cut(form.Layout, "05")
	if !hasSeconds {
		seconds = "2006-01-02 15:04:"
	}
	switch {
	case ts.UTC:
		offset = 0
	case zone != "" && !instant.IsZero():
		offset = int((clock - instant.UnixMicro()) / 1e6)
	}
	if offset%3600 != 0 && strings.HasSuffix(zone, "07") {
		zone += ":00"
	}
	if !ts.UTC && !strings.HasSuffix(stored, "Z") {
		zone = strings.Replace(zone, "Z07", "-07", 1) // +00:00 where there is no Z
	}
	if ts.hasTMark(stored) {
		seconds = strings.Replace(seconds, " ", "T", 1)
	}
	shown := time.UnixMicro(clock)
	at := time.Unix(shown.Unix()-int64(offset), int64(shown.Nanosecond())).In(time.FixedZone(name, offset))
	return at.Format(seconds + "05" + cmp.Or(form.Fraction, fractionLike(stored)) + zone), true
}

// fractionLike is the form of the fraction of a second that a text has.
func fractionLike(text string) string {
	_, fraction, _ := strings.Cut(text, ".")
	digits := len(fraction) - len(strings.TrimLeft(fraction, "0123456789"))
	if digits < len("000000") {
		return ".999999999"
	}
	return "." + strings.Repeat("0", min(digits, len("000000000")))
}
