package rules_test

import (
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/rules"
)

func TestShort(t *testing.T) {
	for id, want := range map[string]string{
		"":                                             "",
		"root":                                         "root",
		"ses_dfc75da0cffezZihQgQnl8e5m1":               "ses_dfc75da0cffe",
		"019a1b2c-3d4e-7aaa-8bbb-0123456789ab":         "019a1b2c-3d4e",
		"twelve-chars":                                 "twelve-chars",
		"c0003aaa-4bbb-8ccc-000000000003":              "c0003aaa",
		"alice@x/c0003aaa-4bbb-8ccc-00000000":          "alice@x/c0003aaa",
		"anna@example.com/root":                        "anna@example.com/root",
		"app/anna/c0003aaa-4bbb-8ccc-00000000":         "app/anna/c0003aaa",
		"support-leak-nested":                          "support-leak-nested",
		"session-0123456789abcdef-0123":                "session-01234567",
		"support-2fd0b87d-a648-4888-a832-a53dc8287aa6": "support-2fd0b87d",
		"ü€🙂ü€🙂ü€🙂ü€🙂":                                 "ü€🙂ü€🙂ü€🙂ü€🙂",
		"ü€🙂ü€🙂ü€🙂ü€🙂ü":                                "ü€🙂ü€🙂ü€",
	} {
		got := rules.ShortID(id)
		if got != want {
			t.Errorf("%q is short %q, want %q", id, got, want)
		}
		if !strings.HasPrefix(id, got) {
			t.Errorf("%q does not begin %q: no command finds it by that", got, id)
		}
	}
}
