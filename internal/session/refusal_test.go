package session_test

import (
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestRefusalOf(t *testing.T) {
	for text, status := range map[string]int{
		"API Error: 400 Could not process image":       400,
		"all models failed: error 400 Bad Request: no": 400,
		"Error code: 429 - {'error': 1}":               429,
		"Request failed: Bad request (400): no":        400,
		"messages.2.content.400: no":                   0,
		`{"error":{"message":"error 400"}}`:            0,
		"request (id 5001) failed":                     0,
		"":                                             0,
	} {
		if got := session.RefusalOf(0, text); got.Status != status || got.Text != text {
			t.Errorf("%q: %+v", text, got)
		}
	}
	if got := session.RefusalOf(422, "error 400 "+strings.Repeat("é", 5000)); got.Status != 422 || len(got.Text) > 1000 {
		t.Errorf("%d, %d bytes", got.Status, len(got.Text))
	}
}
