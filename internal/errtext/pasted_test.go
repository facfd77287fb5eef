package errtext_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sessctl/sessctl/internal/errtext"
)

var update = flag.Bool("update", false, "write the sentences of testdata/pasted.txtar")

const pastedFile = "testdata/pasted.txtar"

func readPasted(t testing.TB) *txtar.Archive {
	t.Helper()
	archive, err := txtar.ParseFile(pastedFile)
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

// TestPastedTexts holds what is recognised against the table in testdata. Only the
// sentence that is shown is written by -update.
func TestPastedTexts(t *testing.T) {
	archive := readPasted(t)
	count := map[string]int{}
	for i := 0; i < len(archive.Files); i += 2 {
		name, expected := archive.Files[i].Name, &archive.Files[i+1]
		if expected.Name != name+": expected" {
			t.Fatalf("%s has no expectation behind it", name)
		}
		count[strings.Split(name, "/")[0]]++
		t.Run(name, func(t *testing.T) {
			e := errtext.ParseAnswer(string(archive.Files[i].Data))
			told := strings.TrimSpace("ids: "+strings.Join(e.IDs, " ")) + "\nplace: " + orNone(e.Message) + " " + orNone(e.Block) + "\n"
			told = fmt.Sprintf("%s %s %s\n%s", e.Kind, first(e.Rules), first(e.Profiles), told)
			want, sentence, _ := strings.Cut(string(expected.Data), "text: ")
			if told != want {
				t.Errorf("want\n%sgot\n%s%s", want, told, e.Text)
			}
			if *update {
				expected.Data = []byte(want + "text: " + e.Text + "\n")
			} else if e.Text+"\n" != sentence {
				t.Errorf("want the sentence\n%sgot\n%s", sentence, e.Text)
			}
		})
	}
	if count["mutilated"] < 40 || count["mutilated"]+count["plain"] < 60 {
		t.Errorf("only %v", count)
	}
	if *update {
		if err := os.WriteFile(pastedFile, txtar.Format(archive), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func first(list []string) string {
	if len(list) == 0 {
		return "-"
	}
	return list[0]
}

func orNone(n int) string {
	if n < 0 {
		return "-"
	}
	return fmt.Sprint(n)
}
