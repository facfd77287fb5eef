package dockeragent

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

// A message time that cannot be one of a session is a fault, and is not used.
func TestImplausibleMessageTimes(t *testing.T) {
	for _, tc := range []struct{ createdAt, want string }{
		{"2026-02-03T09:56:40Z", ""},
		{"0001-01-01T00:00:00Z", "it is the zero time"},
		{"9999-02-03T09:56:40Z", "its year is 9999"},
		{"1970-01-21T13:35:00Z", "its year is 1970"},
		{"yesterday", notRFC3339},
	} {
		var got string
		p := newPart(tableItems)
		p.startItem("1", 0)
		p.decodeMessageItem(0, "", false, []byte(`{"role":"user","content":"q","created_at":"`+tc.createdAt+`"}`),
			func(kind session.FaultKind, field, detail string, _ *string) {
				if kind != session.BadTime || field != "created_at" {
					t.Errorf("%s: fault %v in %s", tc.createdAt, kind, field)
				}
				got = detail
			})
		if got != tc.want || p.item.Time.IsZero() != (tc.want != "") {
			t.Errorf("%s: got %q and time %v, want %q", tc.createdAt, got, p.item.Time, tc.want)
		}
	}
}
