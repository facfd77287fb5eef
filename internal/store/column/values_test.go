package column

import (
	"math"
	"reflect"
	"testing"
	"unsafe"
)

// TestValues says of values of every type what they are.
func TestValues(t *testing.T) {
	for _, tt := range []struct {
		value   any
		text    string
		number  int64
		isInt   bool
		truth   bool
		isTruth bool
	}{
		{value: nil},
		{value: ""},
		{value: []byte{}},
		{value: "word", text: "word"},
		{value: []byte("word"), text: "word"},
		{value: "12", text: "12", number: 12, isInt: true},
		{value: []byte("-12"), text: "-12", number: -12, isInt: true},
		{value: " 12", text: " 12"},
		{value: "12.0", text: "12.0"},
		{value: "9223372036854775808", text: "9223372036854775808"},
		{value: int64(0), text: "0", isInt: true, isTruth: true},
		{value: int64(1), text: "1", number: 1, isInt: true, truth: true, isTruth: true},
		{value: int64(math.MinInt64), text: "-9223372036854775808", number: math.MinInt64, isInt: true, truth: true, isTruth: true},
		{value: 2.0, text: "2", number: 2, isInt: true},
		{value: 2.5, text: "2.5"},
		{value: 1e21, text: "1e+21"},
		{value: math.Inf(1), text: "+Inf"},
		{value: math.NaN(), text: "NaN"},
		{value: "1", text: "1", number: 1, isInt: true, truth: true, isTruth: true},
		{value: "F", text: "F", isTruth: true},
		{value: []byte("tRUE"), text: "tRUE", truth: true, isTruth: true},
		{value: "yes", text: "yes"},
	} {
		if got := Text(tt.value); got != tt.text || View(tt.value) != tt.text {
			t.Errorf("%#v is the text %q", tt.value, got)
		}
		if got := Bytes(tt.value); string(got) != tt.text || (got == nil) != (tt.value == nil) {
			t.Errorf("%#v is the bytes %q", tt.value, got)
		}
		if n, ok := Int(tt.value); ok != tt.isInt || ok && n != tt.number {
			t.Errorf("%#v is the number %d, %v", tt.value, n, ok)
		}
		if is, ok := Bool(tt.value); is != tt.truth || ok != tt.isTruth {
			t.Errorf("%#v is %v, %v", tt.value, is, ok)
		}
	}
}

// TestWhoseMemory holds that only Text copies.
func TestWhoseMemory(t *testing.T) {
	data := []byte("word")
	at := unsafe.SliceData(data)
	if unsafe.StringData(View(data)) != at || unsafe.SliceData(Bytes(data)) != at || unsafe.SliceData(Bytes(View(data))) != at {
		t.Error("a view is a copy")
	}
	if unsafe.StringData(Text(data)) == at || unsafe.StringData(Text(View(data))) == at {
		t.Error("a text of its own is none")
	}
}

// TestLike holds that what is written has the type and the form of what is stored.
func TestLike(t *testing.T) {
	for _, tt := range []struct {
		name      string
		got, want any
	}{
		{"a text", Like("a", "b"), "b"},
		{"a blob", Like([]byte("a"), "b"), []byte("b")},
		{"a text beside NULL", Like(nil, "b"), "b"},
		{"a number", IntLike(int64(1), 2), int64(2)},
		{"a number beside NULL", IntLike(nil, 2), int64(2)},
		{"a number beside a fraction", IntLike(1.0, 2), int64(2)},
		{"digits", IntLike("1", 2), "2"},
		{"digits in a blob", IntLike([]byte("1"), 2), []byte("2")},
		{"true", BoolLike(int64(0), true), int64(1)},
		{"false", BoolLike(nil, false), int64(0)},
		{"true beside a digit", BoolLike("0", true), int64(1)},
		{"true beside a word", BoolLike("false", true), "true"},
		{"true beside a letter", BoolLike("f", true), "t"},
		{"false beside a capital letter", BoolLike("T", false), "F"},
		{"false beside capital letters", BoolLike("TRUE", false), "FALSE"},
	} {
		if !reflect.DeepEqual(tt.got, tt.want) {
			t.Errorf("%s: %#v, want %#v", tt.name, tt.got, tt.want)
		}
	}
}
