package session_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestFormOf(t *testing.T) {
	tests := []struct {
		args string
		want session.ArgsForm
	}{
		{"", session.ArgsObject},
		{"{}", session.ArgsObject},
		{" \r\n\t{\"a\":1} ", session.ArgsObject},
		{`{"a":1,"a":2}`, session.ArgsObject},
		{"[]", session.ArgsValue},
		{"null", session.ArgsValue},
		{`"{}"`, session.ArgsValue},
		{"7", session.ArgsValue},
		{" ", session.ArgsBroken},
		{"{", session.ArgsBroken},
		{"{} {}", session.ArgsBroken},
		{"{'a':1}", session.ArgsBroken},
	}
	for _, tt := range tests {
		if got := session.FormOf(tt.args); got != tt.want {
			t.Errorf("FormOf(%q) = %d, want %d", tt.args, got, tt.want)
		}
	}
}

func TestTextFlags(t *testing.T) {
	tests := []struct {
		text string
		want session.Flags
	}{
		{"", 0},
		{"a", 0},
		{" \na", 0},
		{"a b", 0},
		{"a ", session.TrailingSpace},
		{"a a\u3000", session.TrailingSpace},
		{" ", session.BlankText | session.TrailingSpace},
		{"\n\u00a0", session.BlankText | session.TrailingSpace},
	}
	for _, tt := range tests {
		if got := session.TextFlags(tt.text); got != tt.want {
			t.Errorf("TextFlags(%q) = %b, want %b", tt.text, got, tt.want)
		}
	}
}

func TestIsServerCall(t *testing.T) {
	for id, want := range map[string]bool{"srvtoolu_01": true, "toolu_01": false, "": false} {
		if got := session.IsServerCall(id); got != want {
			t.Errorf("IsServerCall(%q) = %t", id, got)
		}
	}
}
