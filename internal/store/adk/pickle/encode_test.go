package pickle_test

import (
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/store/adk/pickle"
)

// What CPython wrote is written again, byte by byte.
func TestEncodeWritesWhatPythonDoes(t *testing.T) {
	value, err := pickle.Decode(unhex(t, sample))
	if err != nil {
		t.Fatal(err)
	}
	got, err := pickle.Encode(value)
	if err != nil || hex.EncodeToString(got) != sample {
		t.Errorf("got  %x, %v\nwant %s", got, err, sample)
	}
}

func TestEncode(t *testing.T) {
	class := pickle.Class{Module: "m", Name: "C"}
	for _, value := range []any{
		nil, true, false, int64(0), int64(255), int64(256), int64(65535), int64(65536), int64(-1), int64(math.MaxInt32 + 1), int64(-1 << 39), int64(1<<39 - 1),
		int64(math.MaxInt64), int64(math.MinInt64), 1.5, "", "é", strings.Repeat("long", 100),
		&pickle.List{}, &pickle.List{Items: []any{"a"}}, &pickle.List{Items: []any{"a", "a", int64(2)}},
		&pickle.Dict{}, &pickle.Dict{Pairs: [][2]any{{"a", nil}}}, &pickle.Dict{Pairs: [][2]any{{"a", &pickle.Dict{}}, {"b", "a"}}},
		&pickle.Set{}, &pickle.Set{Items: []any{"a"}},
		&pickle.List{Items: []any{&pickle.Object{Class: class, Args: pickle.Tuple{}}, &pickle.Object{Class: class, Args: pickle.Tuple{}, State: &pickle.Dict{}}}},
	} {
		data, err := pickle.Encode(value)
		if err != nil {
			t.Errorf("%#v: %v", value, err)
			continue
		}
		got, err := pickle.Decode(data)
		if err != nil {
			t.Errorf("%x of %#v: %v", data, value, err)
		}
		if diff := cmp.Diff(value, got); diff != "" {
			t.Errorf("%x: %s", data, diff)
		}
	}
}

// The memo has numbers of one byte and of four.
func TestEncodeManyTexts(t *testing.T) {
	all := &pickle.List{}
	for i := range 600 {
		all.Items = append(all.Items, strings.Repeat("x", i%300))
	}
	data, err := pickle.Encode(all)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pickle.Decode(data)
	if diff := cmp.Diff(any(all), got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

func TestEncodeRefuses(t *testing.T) {
	for _, value := range []any{
		[]byte("x"), &pickle.List{Items: []any{7}}, &pickle.Object{Args: pickle.Tuple{"x"}}, &pickle.Object{Args: pickle.Tuple{}, State: []byte{}},
	} {
		if data, err := pickle.Encode(value); err == nil {
			t.Errorf("%#v became %x", value, data)
		}
	}
}
