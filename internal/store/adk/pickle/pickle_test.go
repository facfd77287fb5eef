package pickle_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/store/adk/pickle"
)

// sample is what CPython writes for an EventActions with a transfer and one key of
// state (docs/stores/adk.md).
const sample = "80059520010000000000008c1f676f6f676c652e61646b2e6576656e74732e6576656e745f616374696f6e73948c0c4576656e74416374696f6e739493942981947d94288c085f5f646963745f5f947d94288c12736b69705f73756d6d6172697a6174696f6e944e8c0b73746174655f64656c7461947d948c016b944b01738c0e61727469666163745f64656c7461947d948c117472616e736665725f746f5f6167656e74948c0762696c6c696e67948c08657363616c617465944e8c167265717565737465645f617574685f636f6e66696773947d94758c125f5f707964616e7469635f65787472615f5f944e8c175f5f707964616e7469635f6669656c64735f7365745f5f948f94286808680d908c145f5f707964616e7469635f707269766174655f5f944e75622e"

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	data, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestPydanticObject(t *testing.T) {
	value, err := pickle.Decode(unhex(t, sample))
	if err != nil {
		t.Fatal(err)
	}
	o, ok := value.(*pickle.Object)
	if !ok || o.Class != (pickle.Class{Module: "google.adk.events.event_actions", Name: "EventActions"}) {
		t.Fatalf("got %#v", value)
	}
	if got := pickle.Field(o, "transfer_to_agent"); got != "billing" {
		t.Errorf("transfer_to_agent is %v", got)
	}
	if got := pickle.Field(pickle.Field(o, "state_delta"), "k"); got != int64(1) {
		t.Errorf("k is %v", got)
	}
	if got := pickle.Field(o, "escalate"); got != nil {
		t.Errorf("escalate is %v", got)
	}
}

func TestDecode(t *testing.T) {
	for _, tc := range []struct {
		name, code string // after the header, in hex
		want       any
	}{
		{"none", "4e 2e", nil},
		{"true", "88 2e", true},
		{"a byte", "4b ff 2e", int64(255)},
		{"two bytes", "4d 00 01 2e", int64(256)},
		{"a negative number", "4a ff ff ff ff 2e", int64(-1)},
		{"a long number", "8a 05 00 00 00 00 01 2e", int64(1) << 32},
		{"a long negative number", "8a 05 00 00 00 00 ff 2e", -(int64(1) << 32)},
		{"a long zero", "8a 00 2e", int64(0)},
		{"a float", "47 3f f8 00 00 00 00 00 00 2e", 1.5},
		{"a text", "58 02 00 00 00 c3 a9 2e", "é"},
		{"bytes", "43 02 00 ff 2e", []byte{0, 255}},
		{"a tuple", "4b 01 4b 02 86 2e", pickle.Tuple{int64(1), int64(2)}},
		{"a tuple of all", "28 4b 01 4b 02 4b 03 4e 74 2e", pickle.Tuple{int64(1), int64(2), int64(3), nil}},
		{"a list", "5d 4b 01 61 28 4b 02 4b 03 65 2e", &pickle.List{Items: []any{int64(1), int64(2), int64(3)}}},
		{"a set", "8f 28 4b 01 90 2e", &pickle.Set{Items: []any{int64(1)}}},
		{"a frozen set", "28 4b 01 91 2e", &pickle.Set{Items: []any{int64(1)}}},
		{"the memo", "8c 01 61 94 30 5d 68 00 61 68 00 61 2e", &pickle.List{Items: []any{"a", "a"}}},
		{"a number of more than 64 bits", "8a 0b 00 00 00 00 00 00 00 00 00 00 01 2e", pickle.Opaque{}},
		{"half a surrogate pair", "8c 04 61 ed a0 80 2e", "a\uFFFD"},
		{"an array of bytes", "96 01 00 00 00 00 00 00 00 78 2e", []byte("x")},
		{"a tuple as a key", "7d 28 8c 01 61 4b 01 86 4b 02 8c 01 62 4b 03 75 2e", &pickle.Dict{Pairs: [][2]any{{"b", int64(3)}}}},
		{"a dictionary of another class", "63 6d 0a 4f 0a 29 52 8c 01 61 4b 01 73 2e", &pickle.Object{Class: pickle.Class{Module: "m", Name: "O"}, Args: pickle.Tuple{}}},
		{"a list of another class", "63 6d 0a 4c 0a 29 52 28 4b 01 4b 02 65 2e", &pickle.Object{Class: pickle.Class{Module: "m", Name: "L"}, Args: pickle.Tuple{}}},
		{"an enumeration", "63 6d 0a 45 0a 8c 01 61 85 52 2e", &pickle.Object{Class: pickle.Class{Module: "m", Name: "E"}, Args: pickle.Tuple{"a"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := pickle.Decode(unhex(t, "80 04"+tc.code))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for _, tc := range []struct{ name, code, want string }{
		{"nothing", "", "is cut off"},
		{"no end", "4e", "is cut off"},
		{"an empty stack", "2e", "more values than there are"},
		{"a text that is cut", "8c 05 61", "is cut off"},
		{"a size beyond the end", "8d ff ff ff ff ff ff ff ff 61", "is cut off"},
		{"a number that is cut", "8a 09 00 01", "is cut off"},
		{"an opcode that calls", "69 6f 73 0a 73 79 73 74 65 6d 0a 2e", "does not make plain data"}, // INST
		{"a persistent id", "50 61 0a 2e", "does not make plain data"},
		{"a call of a text", "8c 01 61 29 52 2e", "wrong kind"},
		{"a state for a number", "4b 01 4e 62 2e", "wrong kind"},
		{"a list as a key", "7d 5d 4e 73 2e", "wrong kind"},
		{"a key without a value", "7d 28 4e 75 2e", "wrong kind"},
		{"below the mark", "4e 28 61 2e", "more values than there are"},
		{"a memo that nobody wrote", "68 07 2e", "never kept"},
		{"a memo that was passed over", "4e 71 03 68 01 2e", "never kept"},
		{"a memo of billions", "4e 72 ff ff ff ff 2e", "no writer gives"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			value, err := pickle.Decode(unhex(t, tc.code))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v and %v, want %q", value, err, tc.want)
			}
		})
	}
}

// TestNothingIsCalled reads the pickle that everybody knows: os.system with a
// command. It is data.
func TestNothingIsCalled(t *testing.T) {
	value, err := pickle.Decode([]byte("\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R."))
	want := &pickle.Object{Class: pickle.Class{Module: "os", Name: "system"}, Args: pickle.Tuple{"true"}}
	if diff := cmp.Diff(any(want), value); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(unhex(f, sample))
	f.Add([]byte("\x80\x04]\x94h\x00a."))
	f.Fuzz(func(t *testing.T, data []byte) {
		value, err := pickle.Decode(data)
		if err != nil && value != nil {
			t.Errorf("an error and the value %T", value)
		}
		pickle.Field(value, "state_delta") // whatever it is
	})
}

func TestObjectThatIsItsOwnState(t *testing.T) {
	value, err := pickle.Decode([]byte("\x80\x04cm\nC\n)\x81\x94h\x00b."))
	if err != nil {
		t.Fatal(err)
	}
	if got := pickle.Field(value, "state_delta"); got != nil {
		t.Errorf("got %v", got)
	}
}
