package jsonedit

import "testing"

func TestWhole(t *testing.T) {
	for text, want := range map[string]bool{
		`{"a":{"b":[]}}`: true, ` [1, 2] `: true, `"{}"`: true, `{"a":1,"a":2}`: true,
		``: false, ` `: false, `{"a":`: false, `{"a":1}}`: false, `{"a":1} x`: false, `12`: false, `null`: false, `true`: false,
		`not JSON`: false, "{\"a\":\"\xff\"}": false, `{"a":"\ud800"}`: false, "\x80\x05N.": false,
	} {
		if got := IsWhole([]byte(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
