package ui

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestAskTakesNothingButYesForYes(t *testing.T) {
	for answer, want := range map[string]bool{
		"y\n": true, "Y\r\n": true, " yes \n": true, "YES\n": true,
		"y": false, "\n": false, "": false, "n\n": false, "yep\n": false, "\ny\n": false, "no\ny\n": false,
	} {
		var out bytes.Buffer
		got, err := AskYesNo(strings.NewReader(answer), &out, "Apply?")
		if got != want || err != nil {
			t.Errorf("%q: got %v, %v, want %v", answer, got, err, want)
		}
		if !strings.HasPrefix(out.String(), "Apply? [y/N] ") {
			t.Errorf("%q: printed %q", answer, out.String())
		}
	}
}

func TestAskDoesNotTakeAnInterruptionForAnAnswer(t *testing.T) {
	broken := errors.New("interrupted")
	in := io.MultiReader(strings.NewReader("y"), iotest.ErrReader(broken))
	if got, err := AskYesNo(in, io.Discard, "Apply?"); got || !errors.Is(err, broken) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestOnlyFilesCanBeTerminals(t *testing.T) {
	if IsTerminal(strings.NewReader("")) || IsTerminal(nil) {
		t.Error("a reader in memory is no terminal")
	}
}
